"""Load the installed plugin once, whoever signed it, and run graphs through its optimizer."""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import files

import pytest

from drystone_abi.protos import GraphDef
from drystone_base.graph import Graph
from drystone_base.plugins import Plugin, load_library
from drystone_optimizer import OptimizerConfig, optimize_with_report

Optimize = Callable[..., GraphDef]


@pytest.fixture(scope="session")
def plugin() -> Plugin:
    """The library of the installed wheel; developer mode lets it be unsigned."""
    (library,) = [
        file for file in files("drystone-example-optimizer-cpp") or [] if file.suffix == ".so"
    ]
    return load_library(str(library.locate()), developer_mode=True)


@pytest.fixture
def optimized(plugin: Plugin) -> Optimize:
    """``optimized(graph, fetches, feeds=[])``: the graph behind the optimizer."""

    def run(graph: GraphDef, fetches: list[str], feeds: tuple[str, ...] = ()) -> GraphDef:
        before = Graph.from_bytes(graph.SerializeToString())
        after, report = optimize_with_report(before, fetches, feeds, OptimizerConfig.plugins_only())
        (one,) = report.runs
        assert one.path == plugin.path
        assert one.outcome in ("changed", "unchanged"), one.reason
        return GraphDef.FromString(after.to_bytes())

    return run
