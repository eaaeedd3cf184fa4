"""Random graphs on which an optimizer must not change a value: the same for the same seed.

A seed draws arithmetic on matrices with products, or layers of images. Both have what optimizers
look for: layers to fuse, constants to fold, equal nodes to join, pairs that undo each other,
neutral elements; and what must keep them from it: nodes that are read twice, fetched, preserved,
ordered by control edges.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from drystone_base import Graph, Node, as_dtype
from drystone_base.ops.attrs import TensorAttr
from drystone_conformance.graphs import Case

__all__ = ["random_case", "with_special_values"]

Array = np.ndarray[Any, Any]
FLOAT32, INT32 = as_dtype("float32"), as_dtype("int32")
_SIDE = 4
_UNARY = ("Abs", "Identity", "Neg", "Relu", "Relu6", "Sigmoid", "Square", "Tanh", "Elu")
_BINARY = ("AddV2", "Maximum", "Minimum", "Mul", "SquaredDifference", "Sub")
_NEUTRAL = {"AddV2": 0.0, "Sub": 0.0, "Mul": 1.0}


class _Maker:
    """Adds random nodes to a graph; every value has one shape, so that all fit together."""

    def __init__(self, seed: int) -> None:
        self.random = np.random.default_rng(seed)
        self.graph = Graph()
        self.values: list[Node] = []
        self.feeds: dict[str, Array] = {}
        self.count = 0

    def node(self, op: str, inputs: list[Node], **attrs: Any) -> Node:
        """A node; now and then ordered behind another one."""
        self.count += 1
        controls = [self.pick()] if self.values and self.random.random() < 0.1 else []
        name = f"n{self.count}_{op}"
        return self.graph.add(op, name, inputs, controls=controls, attrs={"T": FLOAT32, **attrs})

    def constant(self, value: Array) -> Node:
        """A constant of its own."""
        self.count += 1
        dtype = INT32 if value.dtype == np.int32 else FLOAT32
        attrs = {"dtype": dtype, "value": TensorAttr(array=value)}
        return self.graph.add("Const", f"n{self.count}_Const", attrs=attrs)

    def normal(self, *shape: int) -> Node:
        """A constant of random numbers."""
        return self.constant(self.random.normal(size=shape).astype(np.float32))

    def placeholder(self, name: str, shape: tuple[int, ...]) -> None:
        """A value that is fed."""
        attrs = {"dtype": FLOAT32, "shape": shape}
        self.values.append(self.graph.add("Placeholder", name, attrs=attrs))
        self.feeds[f"{name}:0"] = self.random.normal(size=shape).astype(np.float32)

    def pick(self) -> Node:
        """One of the values, a late one rather than an early one."""
        late = self.random.random() < 0.6
        return self.values[-1 - int(self.random.integers(min(3, len(self.values))))] if late else (
            self.values[int(self.random.integers(len(self.values)))]
        )  # fmt: skip

    def choose(self, names: tuple[str, ...]) -> str:
        """One of the names."""
        return names[int(self.random.integers(len(names)))]

    def flag(self) -> bool:
        """True or False."""
        return bool(self.random.random() < 0.5)


def _unary(make: _Maker) -> Node:
    return make.node(make.choose(_UNARY), [make.pick()])


def _binary(make: _Maker) -> Node:
    return make.node(make.choose(_BINARY), [make.pick(), make.pick()])


def _twice(make: _Maker) -> Node:
    """An op that is undone by itself, with or without something between."""
    inner = make.node("Neg", [make.pick()])
    if make.flag():
        make.values.append(inner)
    return make.node("Neg", [make.node("Identity", [inner]) if make.flag() else inner])


def _neutral(make: _Maker) -> Node:
    """Something that changes nothing, or nearly so."""
    op = make.choose(tuple(_NEUTRAL))
    value = _NEUTRAL[op] if make.flag() else 0.5
    return make.node(op, [make.pick(), make.constant(np.full((), value, np.float32))])


def _equal(make: _Maker) -> Node:
    """Two nodes that compute the same, and their difference."""
    op, value = make.choose(_UNARY), make.pick()
    return make.node("Sub", [make.node(op, [value]), make.node(op, [value])])


def _of_constants(make: _Maker) -> Node:
    """Arithmetic that can be done beforehand."""
    op = make.choose(_BINARY)
    known = make.node(op, [make.normal(_SIDE, _SIDE), make.normal(_SIDE, _SIDE)])
    return make.node("AddV2", [make.pick(), known])


def _dense(make: _Maker) -> Node:
    """A layer: product, bias, activation; a node of it may be read by other nodes."""
    flags = {"transpose_a": make.flag(), "transpose_b": make.flag()}
    weight = make.normal(_SIDE, _SIDE) if make.random.random() < 0.7 else make.pick()
    node = make.node("MatMul", [make.pick(), weight], **flags)
    return _biased(make, node, _SIDE)


def _biased(make: _Maker, node: Node, channels: int) -> Node:
    op = "BiasAdd" if make.flag() else "AddV2"
    steps: list[Callable[[Node], Node]] = [
        lambda value: make.node(op, [value, make.normal(channels)]),
        lambda value: make.node(make.choose(("Relu", "Relu6", "Elu", "Tanh")), [value]),
    ]
    for step in steps:
        if make.random.random() < 0.25:
            make.values.append(node)
        node = step(node)
    return node


def _convolution(make: _Maker) -> Node:
    """A layer of images that keeps the shape."""
    attrs = {"strides": [1, 1, 1, 1], "padding": "SAME"}
    op, shape = ("Conv2D", (3, 3, 2, 2)) if make.flag() else ("DepthwiseConv2dNative", (3, 3, 2, 1))
    return _biased(make, make.node(op, [make.pick(), make.normal(*shape)], **attrs), 2)


def _normalized(make: _Maker) -> Node:
    """A batch norm of inference."""
    parts = [make.normal(2), make.normal(2), make.normal(2)]
    variance = make.constant(np.abs(make.random.normal(size=2)).astype(np.float32))
    attrs = {"U": FLOAT32, "is_training": False, "epsilon": 1e-3}
    return make.node("FusedBatchNormV3", [make.pick(), *parts, variance], **attrs)


def _pooled(make: _Maker) -> Node:
    attrs = {"ksize": [1, 3, 3, 1], "strides": [1, 1, 1, 1], "padding": "SAME"}
    return make.node("MaxPool" if make.flag() else "AvgPool", [make.pick()], **attrs)


_COMMON = (_unary, _unary, _binary, _binary, _twice, _neutral, _equal)
_KINDS = {
    (_SIDE, _SIDE): (*_COMMON, _of_constants, _dense, _dense, _dense),
    (1, _SIDE, _SIDE, 2): (*_COMMON, _convolution, _convolution, _normalized, _pooled),
}


def random_case(seed: int) -> Case:
    """The case of a seed: 5 to 25 values, some fetched, sometimes one preserved."""
    make = _Maker(seed)
    shape = tuple(_KINDS)[seed % len(_KINDS)]
    for name in ("x", "y"):
        make.placeholder(name, shape)
    for _ in range(int(make.random.integers(5, 26))):
        kinds = _KINDS[shape]
        make.values.append(kinds[int(make.random.integers(len(kinds)))](make))
    fetched = {make.values[-1].name, *(make.pick().name for _ in range(2))}
    kept = [make.pick().name] if make.flag() else []
    return Case(make.graph, sorted(f"{name}:0" for name in fetched), make.feeds, kept)


def with_special_values(case: Case, seed: int) -> Case:
    """The same graph, fed NaN, infinities, zeros of both signs and large numbers here and there."""
    random = np.random.default_rng(seed)
    special = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1e20, -1e20], np.float32)
    feeds = {}
    for name, value in case.feeds.items():
        where = random.random(value.shape) < 0.2
        feeds[name] = np.where(where, random.choice(special, value.shape), value)
    return Case(case.graph, case.fetches, feeds, case.preserve)
