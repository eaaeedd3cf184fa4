"""Graphs for the sanitized programs, of what no recorded model has: boxes, attention, dense layers.

Each is large enough for its kernels to be split among threads.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import numpy as np

from drystone_base.core.dtypes import FLOAT32, INT32, from_numpy
from drystone_base.graph import Graph, Output
from drystone_base.ops.attrs import TensorAttr

__all__ = ["Case", "layers"]

Case = tuple[str, Graph, list[str], dict[str, Any]]
"""A name, a graph, what is fetched, and what is fed."""
_F: Final[dict[str, Any]] = {"T": FLOAT32}


class _Layers:
    """Builds a graph; every method gives an output."""

    def __init__(self) -> None:
        self.graph = Graph()
        self.rng = np.random.default_rng(0)
        self.feeds: dict[str, Any] = {}

    def op(self, op: str, *inputs: Output, name: str = "", **attrs: Any) -> Output:
        return (self.graph.add(op, self.graph.unique_name(name or op), inputs, attrs=attrs), 0)

    def fed(self, name: str, *shape: int) -> Output:
        value = self.rng.normal(size=shape).astype(np.float32)
        self.feeds[f"{name}:0"] = value
        return self.op("Placeholder", name=name, dtype=FLOAT32, shape=shape)

    def const(self, value: Any) -> Output:
        array = np.asarray(value)
        held = TensorAttr(array=array)
        return self.op("Const", dtype=from_numpy(array.dtype), value=held)

    def weight(self, *shape: int) -> Output:
        return self.const((self.rng.normal(size=shape) / 8).astype(np.float32))

    def case(self, name: str, end: Output) -> Case:
        return name, self.graph, [f"{end[0].name}:0"], self.feeds


def _boxes() -> Case:
    """The best of many boxes, as they are gathered."""
    m = _Layers()
    corner, size = m.fed("corner", 700, 2), m.op("Exp", m.fed("size", 700, 2), **_F)
    axis = m.const(np.int32(1))
    end = m.op("AddV2", corner, size, **_F)
    boxes = m.op("ConcatV2", corner, end, axis, N=2, Tidx=INT32, **_F)
    limits = (m.const(np.int32(300)), m.const(np.float32(0.3)), m.const(np.float32(-9)))
    kept = m.op("NonMaxSuppressionV3", boxes, m.fed("scores", 700), *limits, **_F)
    types: dict[str, Any] = {"Tparams": FLOAT32, "Tindices": INT32, "Taxis": INT32}
    return m.case("boxes", m.op("GatherV2", boxes, kept, m.const(np.int32(0)), **types))


def _dense() -> Case:
    """Each layer reads what all layers before it gave."""
    m = _Layers()
    parts = [m.fed("x", 256, 64)]
    axis = m.const(np.int32(1))
    for _ in range(4):
        width = 64 * len(parts)
        all_ = parts[0]
        if parts[1:]:
            all_ = m.op("ConcatV2", *parts, axis, N=len(parts), Tidx=INT32, **_F)
        scaled = m.op("AddV2", m.op("Mul", all_, m.weight(width), **_F), m.weight(width), **_F)
        parts.append(m.op("MatMul", m.op("Relu", scaled, **_F), m.weight(width, 64), **_F))
    return m.case("dense", m.op("Tanh", parts[-1], **_F))


def _attention() -> Case:
    """Two heads, and the normalization of a layer after them."""
    m = _Layers()
    x = m.fed("x", 128, 64)
    heads = m.const(np.array([1, 128, 2, 32], np.int32))
    order = m.const(np.array([0, 2, 1, 3], np.int32))

    def split() -> Output:
        product = m.op("BiasAdd", m.op("MatMul", x, m.weight(64, 64), **_F), m.weight(64), **_F)
        cut = m.op("Reshape", product, heads, Tshape=INT32, **_F)
        return m.op("Transpose", cut, order, Tperm=INT32, **_F)

    queries, keys, values = split(), split(), split()
    scale = m.const(np.float32(32**-0.5))
    scores = m.op("Mul", m.op("BatchMatMulV2", queries, keys, adj_y=True, **_F), scale, **_F)
    mixed = m.op("BatchMatMulV2", m.op("Softmax", scores, **_F), values, **_F)
    flat = m.const(np.array([128, 64], np.int32))
    back = m.op("Transpose", mixed, order, Tperm=INT32, **_F)
    joined = m.op("AddV2", x, m.op("Reshape", back, flat, Tshape=INT32, **_F), **_F)
    return m.case("attention", _normalized(m, joined))


def _normalized(m: _Layers, x: Output) -> Output:
    """As Keras normalizes a layer."""
    mean_of = {"keep_dims": True, "Tidx": INT32, **_F}
    axes = m.const(np.array([1], np.int32))
    mean = m.op("Mean", x, axes, **mean_of)
    variance = m.op("Mean", m.op("SquaredDifference", x, mean, **_F), axes, **mean_of)
    root = m.op("Rsqrt", m.op("AddV2", variance, m.const(np.float32(1e-3)), **_F), **_F)
    factor = m.op("Mul", root, m.weight(64), **_F)
    rest = m.op("Sub", m.weight(64), m.op("Mul", mean, factor, **_F), **_F)
    return m.op("AddV2", m.op("Mul", x, factor, **_F), rest, **_F)


def layers() -> Iterator[Case]:
    """All of them."""
    for make in (_boxes, _dense, _attention):
        name, graph, fetches, feeds = make()
        yield f"layers-{name}", graph, fetches, feeds
