"""Every golden case of every op family against TensorFlow's recorded answer."""

import oracle
import pytest


@pytest.mark.parametrize("family", oracle.families())
def test_recorded(family: str) -> None:
    wrong = []
    for item, want in oracle.recorded(family):
        problem = oracle.disagreement(item, want)
        if problem:
            wrong.append(f"{item.label()}: {problem}")
    assert not wrong, f"{len(wrong)} cases differ:\n" + "\n".join(wrong[:20])
