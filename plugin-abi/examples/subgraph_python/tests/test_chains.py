"""Regions of the installed backend compute what the host does."""

from __future__ import annotations

import numpy as np

import drystone_base as ds
from drystone_subgraph import executables, partition_with_report

FLOAT = ds.as_dtype("float32")


def graph_of() -> ds.Graph:
    """``y = tanh(-(x + x) * x)``."""
    graph, types = ds.Graph(), {"T": FLOAT}
    x = graph.add("Placeholder", "x", attrs={"dtype": FLOAT, "shape": None})
    total = graph.add("AddV2", "total", [x, x], attrs=types)
    product = graph.add("Mul", "m", [graph.add("Neg", "n", [total], attrs=types), x], attrs=types)
    graph.add("Tanh", "y", [product], attrs=types)
    return graph


def test_the_backend_is_found_and_takes_the_chain() -> None:
    _, report = partition_with_report(graph_of(), ["y"], ["x"], "chains")
    assert [segment.nodes for segment in report.taken] == [("total", "n", "m", "y")]


def test_it_computes_what_the_host_does() -> None:
    session = ds.Session(graph_of(), ds.SessionConfig(subgraphs="chains", optimizer="off"))
    for shape in ((), (3,), (2, 2)):
        x = np.full(shape, 0.5, np.float32)
        np.testing.assert_allclose(session.run("y:0", {"x:0": x}), np.tanh(-2 * x * x), rtol=1e-6)
    assert [status.state for status in executables(session)] == ["ready"] * 3
