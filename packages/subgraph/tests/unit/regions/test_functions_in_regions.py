"""Functions that regions call stay whole: who compiles a region compiles them with it."""

from __future__ import annotations

import pytest
from calls import graph_of
from partitions import only

from drystone_subgraph import PartitionConfig, partition_with_report


@pytest.mark.parametrize("called", [("outer",), ("outer", "inner"), ("inner", "outer")])
def test_what_a_region_of_a_body_calls_stays_whole(called: tuple[str, ...]) -> None:
    config = PartitionConfig((only("b", {"Neg", "Exp", "PartitionedCall"}),))
    fetches = [f"call_{name}:0" for name in called]
    after, report = partition_with_report(graph_of(*called), fetches, ["x:0"], config)
    assert [(s.where, s.nodes) for s in report.taken] == [("outer", ("z", "w"))]
    assert sorted(after.functions["inner"].ops()) == ["Exp", "Neg"]
    assert list(after.functions["outer"].ops()) == ["PartitionedCall"]
