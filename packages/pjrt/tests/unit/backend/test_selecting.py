"""What the backend takes and leaves, and why, without a plugin."""

from __future__ import annotations

import numpy as np
import pytest

from drystone_base.core.dtypes import FLOAT32, INT32, STRING
from drystone_base.graph import Graph, Node
from drystone_base.ops.attrs import TensorAttr
from drystone_pjrt.backend import pjrt
from drystone_subgraph import PartitionConfig, PartitionReport, partition_with_report

F = {"T": FLOAT32}


@pytest.fixture(autouse=True)
def a_client(monkeypatch: pytest.MonkeyPatch) -> None:
    """Selecting asks only whether there is one."""
    monkeypatch.setattr(pjrt, "client", lambda: None)


def layer() -> tuple[Graph, Node]:
    """A product of two placeholders."""
    graph = Graph()
    x = graph.add("Placeholder", "x", attrs={"dtype": FLOAT32, "shape": (-1, 4)})
    w = graph.add("Placeholder", "w", attrs={"dtype": FLOAT32, "shape": (4, 4)})
    return graph, graph.add("MatMul", "product", [x, w], attrs=F)


def report(graph: Graph, *fetches: str) -> PartitionReport:
    feeds = [node.name for node in graph if node.op == "Placeholder"]
    return partition_with_report(graph, fetches, feeds, PartitionConfig(("pjrt",), why=True))[1]


def test_shapes_that_follow_from_the_region_are_taken() -> None:
    graph, product = layer()
    sizes = graph.add("Shape", "sizes", [product], attrs={"T": FLOAT32, "out_type": INT32})
    bent = graph.add("Tanh", "bent", [product], attrs=F)
    graph.add("Reshape", "y", [bent, sizes], attrs={"T": FLOAT32, "Tshape": INT32})
    (taken,) = report(graph, "y").taken
    assert set(taken.nodes) == {"product", "sizes", "bent", "y"}


def test_a_shape_that_is_fed_stays_outside_with_its_reader() -> None:
    graph, product = layer()
    sizes = graph.add("Placeholder", "sizes", attrs={"dtype": INT32, "shape": (2,)})
    bent = graph.add("Tanh", "bent", [product], attrs=F)
    graph.add("Reshape", "y", [bent, sizes], attrs={"T": FLOAT32, "Tshape": INT32})
    found = report(graph, "y")
    assert [set(segment.nodes) for segment in found.taken] == [{"product", "bent"}]
    assert "Reshape needs 'sizes' beforehand" in str(found.why)


def test_a_shape_of_what_is_outside_leaves_its_reader_outside() -> None:
    graph, product = layer()
    text = graph.add("Placeholder", "text", attrs={"dtype": STRING, "shape": (-1, 4)})
    sizes = graph.add("Shape", "sizes", [text], attrs={"T": STRING, "out_type": INT32})
    bent = graph.add("Tanh", "bent", [product], attrs=F)
    graph.add("Reshape", "y", [bent, sizes], attrs={"T": FLOAT32, "Tshape": INT32})
    assert [set(segment.nodes) for segment in report(graph, "y").taken] == [{"product", "bent"}]


def test_regions_without_a_product_are_refused() -> None:
    graph = Graph()
    x = graph.add("Placeholder", "x", attrs={"dtype": FLOAT32, "shape": (4,)})
    bent = graph.add("Tanh", "bent", [x], attrs=F)
    graph.add("Exp", "y", [bent], attrs=F)
    (segment,) = report(graph, "y").segments
    assert (segment.outcome, segment.reason) == ("refused", "no product or convolution in it")


def test_ops_and_types_that_cannot_be_written_are_named() -> None:
    graph, product = layer()
    value = TensorAttr(array=np.ones(2, np.int32))
    two = graph.add("Const", "two", attrs={"dtype": INT32, "value": value})
    graph.add("Div", "whole", [two, two], attrs={"T": INT32})
    graph.add("Cholesky", "root", [product], attrs=F)
    why = str(report(graph, "whole", "root").why)
    assert "Div: it is of int32" in why
    assert "Cholesky is not in the backend's list of ops" in why
