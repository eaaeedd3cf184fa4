"""Small models written to files, for tests of the command line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from drystone_base import write_graph
from drystone_base.core.dtypes import FLOAT32, STRING, from_numpy
from drystone_base.graph import Graph, Node
from drystone_base.ops.attrs import TensorAttr

__all__ = ["affine", "constant", "echo", "placeholder", "unsupported", "write"]


def constant(graph: Graph, name: str, value: Any, dtype: Any = np.float32) -> Node:
    """A Const node."""
    array = np.asarray(value, dtype)
    attrs = {"dtype": from_numpy(array.dtype), "value": TensorAttr(array=array)}
    return graph.add("Const", name, attrs=attrs)


def placeholder(
    graph: Graph, name: str, shape: tuple[int, ...] | None, dtype: Any = FLOAT32
) -> Node:
    """A Placeholder node."""
    return graph.add("Placeholder", name, attrs={"dtype": dtype, "shape": shape})


def affine(scale: float = 2.0) -> Graph:
    """``y = relu(x * scale + 1)`` with ``x`` of shape [?, 3]."""
    graph = Graph()
    typed = {"T": FLOAT32}
    x = placeholder(graph, "x", (-1, 3))
    product = graph.add(
        "Mul", "layer/product", [x, constant(graph, "layer/scale", scale)], attrs=typed
    )
    total = graph.add("AddV2", "layer/sum", [product, constant(graph, "layer/one", 1)], attrs=typed)
    graph.add("Relu", "y", [total], attrs=typed)
    return graph


def echo() -> Graph:
    """A string in, the same string out."""
    graph = Graph()
    text = placeholder(graph, "text", (-1,), STRING)
    graph.add("Identity", "same", [text], attrs={"T": STRING})
    return graph


def unsupported() -> Graph:
    """A graph with one sink of a known op without a kernel, and one that runs."""
    graph = Graph()
    x = placeholder(graph, "x", (2,))
    graph.add("Relu", "fine", [x], attrs={"T": FLOAT32})
    graph.add("TPUReplicatedInput", "known", [x], attrs={"T": FLOAT32, "N": 1})
    return graph


def write(graph: Graph, path: Path) -> str:
    """Write the graph and give the path as text."""
    write_graph(graph, path)
    return str(path)
