"""Every program of several nodes and steps against TensorFlow's recorded answers."""

from importlib.util import find_spec

import pytest
from scenarios import families
from scenarios._answers import ours, problems, read
from scenarios._registry import load

# Of the draws of one program the gate runs every other one without drystone-cpu, and all with it.
ODD = [] if find_spec("drystone_cpu") else [pytest.mark.nightly]
HALVES = [
    pytest.param(family, odd, id=f"{family}-{'odd' if odd else 'even'}", marks=ODD * odd)
    for family in families()
    for odd in (False, True)
    if not odd or any(item.draw % 2 for item in load(family))
]


@pytest.mark.parametrize(("family", "odd"), HALVES)
def test_recorded(family: str, odd: bool) -> None:
    wrong = [
        f"{item.label}: {problem}"
        for item, graph, steps, want in read(family, lambda item: item.draw % 2 == odd)
        for problem in problems(ours(graph, steps), want, item.tol)
    ]
    assert not wrong, f"{len(wrong)} steps differ:\n" + "\n".join(wrong[:20])
