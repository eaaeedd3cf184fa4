"""Every program of several nodes and steps against TensorFlow's recorded answers."""

import pytest
from scenarios import families
from scenarios._answers import ours, problems, read


@pytest.mark.parametrize("family", families())
def test_recorded(family: str) -> None:
    wrong = [
        f"{item.label}: {problem}"
        for item, graph, steps, want in read(family)
        for problem in problems(ours(graph, steps), want, item.tol)
    ]
    assert not wrong, f"{len(wrong)} steps differ:\n" + "\n".join(wrong[:20])
