"""Every program of several nodes and steps against the installed TensorFlow."""

import pytest
from scenarios import families, load
from scenarios._answers import ours, problems, theirs
from scenarios._built import built

pytest.importorskip("tensorflow", reason="tensorflow is not installed; run nox -s tf_parity")


@pytest.mark.parametrize("family", families())
def test_live(family: str) -> None:
    wrong = [
        f"{item.label}: {problem}"
        for item, (graph, steps) in ((item, built(item)) for item in load(family))
        for problem in problems(ours(graph, steps), theirs(graph, steps), item.tol)
    ]
    assert not wrong, f"{len(wrong)} steps differ:\n" + "\n".join(wrong[:20])
