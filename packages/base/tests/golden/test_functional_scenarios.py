"""Programs lowered to frames and made functional again give TensorFlow's recorded answers."""

from __future__ import annotations

import pytest
from scenarios._answers import ours, problems, read

from drystone_base import Graph
from drystone_base.passes import Grouping, PassOptions, run_grouping

FRAMES = {"Merge", "Enter", "Exit", "NextIteration", "LoopCond"}


@pytest.mark.cases_in_gate(2)
@pytest.mark.parametrize("family", ["control_flow", "leftovers_tf"])
def test_functional_again(family: str) -> None:
    """Row H17. S3-functionalize."""
    wrong, count = [], 0
    for item, data, steps, want in read(family):
        graph = Graph.from_bytes(data)
        names = [name for step in steps for name in step.fetches]
        options = PassOptions(
            graph=graph, feeds=[name for step in steps for name in step.feeds], fetches=names
        )
        run_grouping(Grouping.PRE_PLACEMENT, options, {"LowerFunctionalOpsPass": True})
        if FRAMES.isdisjoint(node.op for node in graph):
            continue
        count += 1
        run_grouping(Grouping.PRE_PLACEMENT, options, {"FunctionalizeControlFlowPass": True})
        assert FRAMES.isdisjoint(node.op for node in graph), item.label
        found = problems(ours(graph.to_bytes(), steps), want, item.tol)
        wrong += [f"{item.label}: {problem}" for problem in found]
    assert count
    assert not wrong, f"{len(wrong)} steps differ:\n" + "\n".join(wrong[:20])
