"""Every golden case of every op family against the installed TensorFlow."""

import os

import oracle
import pytest

pytest.importorskip("tensorflow", reason="tensorflow is not installed; run nox -s tf_parity")


ONEDNN = "TF_ENABLE_ONEDNN_OPTS"


@pytest.mark.parametrize("family", oracle.families())
def test_live(family: str) -> None:
    if oracle.needs_onednn(oracle.load(family)[0]) and os.environ.get(ONEDNN) != "1":
        pytest.skip(f"TensorFlow runs these kernels only with {ONEDNN}=1")
    wrong = []
    for item in oracle.load(family):
        problem = oracle.disagreement(item, oracle.theirs(item))
        if problem:
            wrong.append(f"{item.label()}: {problem}")
    assert not wrong, f"{len(wrong)} cases differ:\n" + "\n".join(wrong[:20])
