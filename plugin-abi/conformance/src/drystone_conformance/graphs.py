"""Small graphs on which every optimizer must keep its promises."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from drystone_base import Graph, Node, as_dtype
from drystone_base.ops.attrs import TensorAttr

__all__ = ["GRAPHS", "Case", "build", "chain"]

Array = np.ndarray[Any, Any]
FLOAT32 = as_dtype("float32")


@dataclass(frozen=True)
class Case:
    """A graph with feeds, the fetches that must stay, and nodes that must stay besides."""

    graph: Graph
    fetches: list[str]
    feeds: dict[str, Array] = field(default_factory=dict)
    preserve: list[str] = field(default_factory=list)

    @property
    def kept(self) -> list[str]:
        """Every node that must stay: those of fetches and feeds, and the preserved ones."""
        tensors = (*self.fetches, *self.feeds)
        return sorted({name.split(":")[0] for name in tensors} | set(self.preserve))


def _constant(graph: Graph, name: str, value: Array) -> Node:
    attrs = {"dtype": FLOAT32, "value": TensorAttr(array=value.astype(np.float32))}
    return graph.add("Const", name, attrs=attrs)


def _input(graph: Graph, name: str, shape: tuple[int, ...]) -> Node:
    return graph.add("Placeholder", name, attrs={"dtype": FLOAT32, "shape": shape})


def _unary(graph: Graph, op: str, name: str, source: Node) -> Node:
    return graph.add(op, name, [source], attrs={"T": FLOAT32})


def dense() -> Case:
    """MatMul, BiasAdd, Relu: what most optimizers fuse."""
    random, graph = np.random.default_rng(1), Graph()
    x = _input(graph, "x", (4, 8))
    w, b = _constant(graph, "w", random.normal(size=(8, 6))), _constant(graph, "b", np.ones(6))
    product = graph.add("MatMul", "product", [x, w], attrs={"T": FLOAT32})
    total = graph.add("BiasAdd", "total", [product, b], attrs={"T": FLOAT32})
    relu = _unary(graph, "Relu", "relu", total)
    _unary(graph, "Identity", "out", relu)
    return Case(graph, ["out:0"], {"x:0": random.normal(size=(4, 8)).astype(np.float32)})


def shared() -> Case:
    """The same, where a node in the middle is fetched, too: fusing it away loses a fetch."""
    case = dense()
    return Case(case.graph, ["out:0", "total:0"], case.feeds)


def preserved() -> Case:
    """The same, where a node in the middle must be preserved though it is not fetched."""
    case = dense()
    return Case(case.graph, case.fetches, case.feeds, ["product"])


def convolution() -> Case:
    """Conv2D, BiasAdd, Relu."""
    random, graph = np.random.default_rng(2), Graph()
    x = _input(graph, "x", (1, 8, 8, 3))
    w = _constant(graph, "w", random.normal(size=(3, 3, 3, 4)))
    attrs = {"T": FLOAT32, "strides": [1, 1, 1, 1], "padding": "SAME"}
    product = graph.add("Conv2D", "conv", [x, w], attrs=attrs)
    bias = _constant(graph, "b", random.normal(size=4))
    total = graph.add("BiasAdd", "total", [product, bias], attrs={"T": FLOAT32})
    relu = _unary(graph, "Relu", "relu", total)
    _unary(graph, "Identity", "out", relu)
    return Case(graph, ["out:0"], {"x:0": random.normal(size=(1, 8, 8, 3)).astype(np.float32)})


def identities() -> Case:
    """Identities, double negation, and a control edge that orders two of them."""
    graph = Graph()
    x = _input(graph, "x", (3,))
    first = _unary(graph, "Neg", "neg1", _unary(graph, "Identity", "id1", x))
    second = _unary(graph, "Neg", "neg2", first)
    watched = graph.add("Identity", "id2", [second], controls=[first], attrs={"T": FLOAT32})
    _unary(graph, "Identity", "out", watched)
    return Case(graph, ["out:0"], {"x:0": np.array([1, -2, 3], np.float32)})


def placed() -> Case:
    """Nodes with device strings of their own, which are to stay."""
    case = dense()
    for name in ("product", "total"):
        case.graph[name].device = "/job:localhost/replica:0/task:0/device:CPU:0"
    return case


def chain(length: int) -> Case:
    """A long chain, to see that the time grows with the length and no faster."""
    graph = Graph()
    node = _input(graph, "x", (2,))
    for k in range(length):
        node = _unary(graph, "Abs" if k % 2 else "Neg", f"n{k}", node)
    return Case(graph, [f"{node.name}:0"], {"x:0": np.array([1, -1], np.float32)})


GRAPHS = {f.__name__: f for f in (dense, shared, preserved, convolution, identities, placed)}
"""Builders of cases by name."""


def build(name: str) -> Case:
    """The case of that name, made again."""
    return GRAPHS[name]()
