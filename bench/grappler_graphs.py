"""Synthetic graphs such as exporters write: layers that can be fused, towers of equal parts."""

from __future__ import annotations

from typing import Any

import numpy as np

from drystone_base.core.dtypes import FLOAT32, INT32
from drystone_base.graph import Graph, Node
from drystone_base.ops.attrs import TensorAttr

__all__ = ["dense_layers", "towers"]

Made = tuple[Graph, list[str], dict[str, Any]]
F = {"T": FLOAT32}


def _const(graph: Graph, name: str, value: np.ndarray[Any, Any]) -> Node:
    dtype = FLOAT32 if value.dtype == np.float32 else INT32
    return graph.add("Const", name, attrs={"dtype": dtype, "value": TensorAttr(array=value)})


def _input(width: int) -> tuple[Graph, Node, dict[str, Any]]:
    graph = Graph()
    x = graph.add("Placeholder", "x", attrs={"dtype": FLOAT32, "shape": (4, width)})
    return graph, x, {"x:0": np.linspace(-1, 1, 4 * width, dtype=np.float32).reshape(4, width)}


def dense_layers(count: int) -> Made:
    """``count`` dense layers: weights and biases behind an Identity each, a sum, an activation."""
    graph, last, feeds = _input(8)
    rng = np.random.default_rng(0)
    for k in range(count):
        weights = _const(graph, f"w{k}", (rng.normal(size=(8, 8)) / 8).astype(np.float32))
        bias = _const(graph, f"b{k}", rng.normal(size=8).astype(np.float32))
        read = graph.add("Identity", f"w{k}/read", [weights], attrs=F)
        last = graph.add("MatMul", f"product{k}", [last, read], attrs=F)
        last = graph.add("BiasAdd", f"biased{k}", [last, bias], attrs=F)
        last = graph.add(("Relu", "Tanh")[k % 2], f"layer{k}", [last], attrs=F)
    return graph, [f"layer{count - 1}:0"], feeds


def towers(count: int) -> Made:
    """``count`` steps, each of which does the same twice, and reshapes by way of shapes."""
    graph, last, feeds = _input(6)
    for k in range(count):
        flat = _const(graph, f"flat{k}", np.array([-1], np.int32))
        twins = []
        for side in "ab":
            scale = _const(graph, f"scale{k}{side}", np.array(0.5, np.float32))
            scaled = graph.add("Mul", f"scaled{k}{side}", [last, scale], attrs=F)
            twins.append(graph.add("Tanh", f"tanh{k}{side}", [scaled], attrs=F))
        total = graph.add("AddV2", f"total{k}", twins, attrs=F)
        shape = graph.add("Shape", f"shape{k}", [total], attrs={**F, "out_type": INT32})
        line = graph.add("Reshape", f"line{k}", [total, flat], attrs={**F, "Tshape": INT32})
        last = graph.add("Reshape", f"step{k}", [line, shape], attrs={**F, "Tshape": INT32})
    return graph, [f"step{count - 1}:0"], feeds
