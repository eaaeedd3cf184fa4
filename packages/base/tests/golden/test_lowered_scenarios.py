"""Programs with If, Case and While give TensorFlow's recorded answers lowered to frames, too."""

from __future__ import annotations

from typing import Final

import pytest
from scenarios._answers import ours, problems, read

from drystone_base import Graph
from drystone_base.passes import Grouping, PassOptions, run_grouping

FUNCTIONAL: Final = {"If", "StatelessIf", "Case", "StatelessCase", "While", "StatelessWhile"}


@pytest.mark.cases_in_gate(2)
@pytest.mark.parametrize("family", ["control_flow", "leftovers_tf"])
def test_lowered(family: str) -> None:
    """Row H12. S3-lower."""
    wrong, count = [], 0
    for item, data, steps, want in read(family):
        graph = Graph.from_bytes(data)
        if FUNCTIONAL.isdisjoint(node.op for node in graph):
            continue
        count += 1
        options = PassOptions(graph=graph, feeds=[name for step in steps for name in step.feeds])
        run_grouping(Grouping.PRE_PLACEMENT, options, {"LowerFunctionalOpsPass": True})
        assert FUNCTIONAL.isdisjoint(node.op for node in graph), item.label
        found = problems(ours(graph.to_bytes(), steps), want, item.tol)
        wrong += [f"{item.label}: {problem}" for problem in found]
    assert count
    assert not wrong, f"{len(wrong)} steps differ:\n" + "\n".join(wrong[:20])
