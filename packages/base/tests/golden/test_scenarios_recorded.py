"""Every program of several nodes and steps against TensorFlow's recorded answers."""

from importlib.util import find_spec

import pytest
from scenarios import families
from scenarios._answers import ours, problems, read
from scenarios._registry import Scenario, load

NATIVE = find_spec("drystone_cpu") is not None


def in_gate(item: Scenario) -> bool:
    """Whether the gate runs it: of the draws of one program every other one, the others natively.

    A program that is drawn once is run both with drystone-cpu and without.
    """
    return not item.drawn or item.draw % 2 == NATIVE


PARTS = [
    pytest.param(family, gate, id=f"{family}-{name}", marks=marks)
    for family in families()
    for gate, name, marks in ((True, "gate", ()), (False, "rest", pytest.mark.nightly))
    if any(in_gate(item) == gate for item in load(family))
]


@pytest.mark.cases_in_gate(3)
@pytest.mark.parametrize(("family", "gate"), PARTS)
def test_recorded(family: str, gate: bool) -> None:
    wrong = [
        f"{item.label}: {problem}"
        for item, graph, steps, want in read(family, lambda item: in_gate(item) == gate)
        for problem in problems(ours(graph, steps), want, item.tol)
    ]
    assert not wrong, f"{len(wrong)} steps differ:\n" + "\n".join(wrong[:20])
