"""Reductions and running sums. Source: TensorFlow ``math_grad.py``."""

from __future__ import annotations

from typing import Any

from drystone_base.autodiff._registry import Grads, rule
from drystone_base.core.dtypes import INT32
from drystone_base.graph.builder import Builder
from drystone_base.graph.node import Node, Output

__all__: list[str] = []


def _axes(b: Builder, node: Node) -> tuple[Output, Output]:
    """The axes of a reduction as a vector of indices from the front, and the rank."""
    x, axes = node.inputs
    rank = b("Rank", x)
    turned = b("FloorMod", b("Add", b("Cast", axes, DstT=INT32), rank), rank)
    return b("Reshape", turned, b.const([-1], INT32)), rank


def _kept(b: Builder, node: Node, value: Output) -> Output:
    """A result of a reduction with its reduced dimensions as 1."""
    flat, rank = _axes(b, node)
    ones = b("Fill", b("Shape", flat, out_type=INT32), b.const(1, INT32))
    every = b("Range", b.const(0, INT32), rank, b.const(1, INT32))
    shape = b("DynamicStitch", [every, flat], [b.shape(node.inputs[0]), ones])
    return b("Reshape", value, shape)


@rule("Sum")
def _sum(b: Builder, node: Node, grads: list[Any]) -> Grads:
    x = node.inputs[0]
    return [b("BroadcastTo", _kept(b, node, grads[0]), b.shape(x)), None]


@rule("Mean")
def _mean(b: Builder, node: Node, grads: list[Any]) -> Grads:
    x = node.inputs[0]
    sizes = [b("Size", v, out_type=INT32) for v in (x, (node, 0))]
    count = b("Div", sizes[0], b("Maximum", sizes[1], b.const(1, INT32)))
    spread = b("BroadcastTo", _kept(b, node, grads[0]), b.shape(x))
    return [b("Div", spread, b("Cast", count, DstT=b.dtype(x))), None]


@rule("Max", "Min")
def _extreme(b: Builder, node: Node, grads: list[Any]) -> Grads:
    """Those that are equal share the gradient."""
    x = node.inputs[0]
    hit = b("Cast", b("Equal", x, _kept(b, node, (node, 0))), DstT=b.dtype(x))
    ties = b("Sum", hit, node.inputs[1], keep_dims=node.full_attrs()["keep_dims"])
    share = b("Div", hit, _kept(b, node, ties))
    return [b("Mul", share, _kept(b, node, grads[0])), None]


@rule("Prod")
def _prod(b: Builder, node: Node, grads: list[Any]) -> Grads:
    """Of each factor the product of all others, which may hold a zero: those before and behind."""
    x = node.inputs[0]
    flat, rank = _axes(b, node)
    zero, one = b.const(0, INT32), b.const(1, INT32)
    others = b("ListDiff", b("Range", zero, rank, one), flat)
    order = b("ConcatV2", [flat, others], zero)
    sizes = [
        b("Prod", b("GatherV2", b.shape(x), axes, zero), zero, keep_dims=False)
        for axes in (flat, others)
    ]
    turned = b("Transpose", x, order)
    rows = b("Reshape", turned, b("Pack", sizes, axis=0))
    before = b("Cumprod", rows, zero, exclusive=True)
    behind = b("Cumprod", rows, zero, exclusive=True, reverse=True)
    product = b("Reshape", b("Mul", before, behind), b.shape(turned))
    back = b("Transpose", product, b("InvertPermutation", order))
    return [b("Mul", back, _kept(b, node, grads[0])), None]


@rule("EuclideanNorm")
def _norm(b: Builder, node: Node, grads: list[Any]) -> Grads:
    share = b("Div", _kept(b, node, grads[0]), _kept(b, node, (node, 0)))
    return [b("Mul", node.inputs[0], share), None]


@rule("Cumsum")
def _cumsum(b: Builder, node: Node, grads: list[Any]) -> Grads:
    attrs = node.full_attrs()
    given = {"exclusive": attrs["exclusive"], "reverse": not attrs["reverse"]}
    return [b("Cumsum", grads[0], node.inputs[1], **given), None]


@rule("Cumprod")
def _cumprod(b: Builder, node: Node, grads: list[Any]) -> Grads:
    """As TensorFlow's: not a number where an element is zero."""
    attrs = node.full_attrs()
    given = {"exclusive": attrs["exclusive"], "reverse": not attrs["reverse"]}
    total = b("Cumsum", b("Mul", (node, 0), grads[0]), node.inputs[1], **given)
    return [b("RealDiv", total, node.inputs[0]), None]


@rule("NthElement")
def _nth_element(b: Builder, node: Node, grads: list[Any]) -> Grads:
    """Those that are equal share the gradient."""
    x, last = node.inputs[0], b.const(-1, INT32)
    hit = b("Cast", b("Equal", b("ExpandDims", (node, 0), last), x), DstT=b.dtype(x))
    share = b("RealDiv", b("ExpandDims", grads[0], last), b("Sum", hit, last, keep_dims=True))
    return [b("Mul", share, hit), None]
