"""Every golden case of every op family against the installed TensorFlow."""

import oracle
import pytest

pytest.importorskip("tensorflow", reason="tensorflow is not installed; run nox -s tf_parity")


@pytest.mark.parametrize("family", oracle.families())
def test_live(family: str) -> None:
    wrong = []
    for item in oracle.load(family):
        problem = oracle.disagreement(item, oracle.theirs(item))
        if problem:
            wrong.append(f"{item.label()}: {problem}")
    assert not wrong, f"{len(wrong)} cases differ:\n" + "\n".join(wrong[:20])
