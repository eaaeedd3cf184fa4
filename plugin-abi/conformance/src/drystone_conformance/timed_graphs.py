"""Networks on which it is measured what passes are worth: such as exporters write them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from drystone_base import Graph, Node, as_dtype
from drystone_base.ops.attrs import TensorAttr
from drystone_conformance.graphs import Case

__all__ = ["TIMED"]

Array = np.ndarray[Any, Any]
FLOAT32, INT32 = as_dtype("float32"), as_dtype("int32")
F = {"T": FLOAT32}


def _const(graph: Graph, name: str, value: Array) -> Node:
    dtype = FLOAT32 if value.dtype == np.float32 else INT32
    return graph.add("Const", name, attrs={"dtype": dtype, "value": TensorAttr(array=value)})


def _begin(*shape: int) -> tuple[Graph, Node, dict[str, Array]]:
    graph = Graph()
    x = graph.add("Placeholder", "x", attrs={"dtype": FLOAT32, "shape": shape})
    values = np.linspace(-1, 1, int(np.prod(shape)), dtype=np.float32)
    return graph, x, {"x:0": values.reshape(shape)}


def _normal(*shape: int, seed: int = 0) -> Array:
    scale = np.float32(1 / np.sqrt(np.prod(shape[:-1])))
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32) * scale


def layers(count: int) -> Case:
    """Dense layers: weights behind an Identity each, a bias, an activation."""
    graph, last, feeds = _begin(4, 64)
    for k in range(count):
        weights = _const(graph, f"w{k}", _normal(64, 64, seed=k))
        bias = _const(graph, f"b{k}", _normal(1, 64, seed=k)[0])
        read = graph.add("Identity", f"w{k}/read", [weights], attrs=F)
        last = graph.add("MatMul", f"product{k}", [last, read], attrs=F)
        last = graph.add("BiasAdd", f"biased{k}", [last, bias], attrs=F)
        last = graph.add(("Relu", "Tanh")[k % 2], f"layer{k}", [last], attrs=F)
    return Case(graph, [f"{last.name}:0"], feeds)


def images(count: int) -> Case:
    """Convolutions with a bias and an activation, and the sum with what went in."""
    graph, last, feeds = _begin(1, 16, 16, 16)
    attrs = {**F, "strides": [1, 1, 1, 1], "padding": "SAME"}
    for k in range(count):
        before = last
        weights = _const(graph, f"w{k}", _normal(3, 3, 16, 16, seed=k))
        bias = _const(graph, f"b{k}", _normal(1, 16, seed=k)[0])
        last = graph.add("Conv2D", f"product{k}", [last, weights], attrs=attrs)
        last = graph.add("BiasAdd", f"biased{k}", [last, bias], attrs=F)
        last = graph.add("AddV2", f"sum{k}", [last, before], attrs=F)
        last = graph.add("Relu", f"layer{k}", [last], attrs=F)
    return Case(graph, [f"{last.name}:0"], feeds)


def chains(count: int) -> Case:
    """Arithmetic, element by element, on one tensor."""
    graph, last, feeds = _begin(64, 64)
    for k in range(count):
        factor = _const(graph, f"factor{k}", np.array(0.9, np.float32))
        scaled = graph.add("Mul", f"scaled{k}", [last, factor], attrs=F)
        bent = graph.add("Sigmoid", f"bent{k}", [scaled], attrs=F)
        last = graph.add("Sub", f"step{k}", [scaled, bent], attrs=F)
    return Case(graph, [f"{last.name}:0"], feeds)


def twins(count: int) -> Case:
    """Steps that do the same twice, and reshape by way of shapes."""
    graph, last, feeds = _begin(4, 6)
    for k in range(count):
        flat = _const(graph, f"flat{k}", np.array([-1], np.int32))
        sides = []
        for side in "ab":
            scale = _const(graph, f"scale{k}{side}", np.array(0.5, np.float32))
            scaled = graph.add("Mul", f"scaled{k}{side}", [last, scale], attrs=F)
            sides.append(graph.add("Tanh", f"tanh{k}{side}", [scaled], attrs=F))
        total = graph.add("AddV2", f"total{k}", sides, attrs=F)
        shape = graph.add("Shape", f"shape{k}", [total], attrs={**F, "out_type": INT32})
        line = graph.add("Reshape", f"line{k}", [total, flat], attrs={**F, "Tshape": INT32})
        last = graph.add("Reshape", f"step{k}", [line, shape], attrs={**F, "Tshape": INT32})
    return Case(graph, [f"{last.name}:0"], feeds)


TIMED: dict[str, Callable[[], Case]] = {
    "dense layers": lambda: layers(20),
    "images": lambda: images(8),
    "chains": lambda: chains(20),
    "twins": lambda: twins(20),
}
"""Builders by name."""
