"""Fourier transforms. Source: TensorFlow ``fft_ops.py``.

A transform is a product with a matrix F; its gradient one with its adjoint, which is the inverse
transform times the number of points.
"""

from __future__ import annotations

from typing import Any, Final

from drystone_base.autodiff._registry import Grads, rule
from drystone_base.core.dtypes import INT32
from drystone_base.graph.builder import Builder
from drystone_base.graph.node import Node, Output

__all__: list[str] = []

_RANKS: Final = {"FFT": 1, "FFT2D": 2, "FFT3D": 3}


def _rank(op: str) -> int:
    return _RANKS[op[op.index("FFT") :]]


def _lengths(b: Builder, x: Output, rank: int) -> Output:
    """The sizes of the last dimensions."""
    size = b.shape(x)
    begin = b("Sub", b("Rank", x), b.const(rank, INT32))
    return b("Slice", size, b("ExpandDims", begin, b.const(0, INT32)), b.const([rank], INT32))


def _points(b: Builder, lengths: Output, like: Output) -> Output:
    """The number of points, as a number of another one's dtype."""
    count = b("Prod", lengths, b.const([0], INT32), keep_dims=False)
    return b("Cast", count, DstT=b.dtype(like))


def _fit(b: Builder, x: Output, lengths: Output, rank: int) -> Output:
    """The last dimensions cut, or filled up with zeros, to these sizes."""
    leading = b("Sub", b("Rank", x), b.const(rank, INT32))
    zero = b.const([0], INT32)
    ahead = b("Slice", b.shape(x), zero, b("ExpandDims", leading, b.const(0, INT32)))
    wanted = b("ConcatV2", [ahead, lengths], b.const(0, INT32))
    more = b("Maximum", b("Sub", wanted, b.shape(x)), b.const(0, INT32))
    pads = b("Pack", [b("ZerosLike", more), more], axis=1)
    return b("Slice", b("Pad", x, pads), b("ZerosLike", wanted), wanted)


@rule("FFT", "FFT2D", "FFT3D")
def _forward(b: Builder, node: Node, grads: list[Any]) -> Grads:
    g = grads[0]
    points = _points(b, _lengths(b, g, _rank(node.op)), g)
    return [b("Mul", b(f"I{node.op}", g), points)]


@rule("IFFT", "IFFT2D", "IFFT3D")
def _inverse(b: Builder, node: Node, grads: list[Any]) -> Grads:
    g = grads[0]
    points = _points(b, _lengths(b, g, _rank(node.op)), g)
    return [b("RealDiv", b(node.op[1:], g), points)]


@rule("RFFT", "RFFT2D")
def _of_reals(b: Builder, node: Node, grads: list[Any]) -> Grads:
    """Bins that are left out have no gradient; the result is real."""
    (x, lengths), g, rank = node.inputs, grads[0], _rank(node.op)
    full = _fit(b, g, lengths, rank)
    back = b("Mul", b(f"I{node.op[1:]}", full), _points(b, lengths, full))
    real = b("Real", back, Tout=b.dtype(x))
    return [_fit(b, real, _lengths(b, x, rank), rank), None]


@rule("IRFFT", "IRFFT2D")
def _to_reals(b: Builder, node: Node, grads: list[Any]) -> Grads:
    """Each bin counts twice but for the first, and the middle one of an even length."""
    (x, lengths), g, rank = node.inputs, grads[0], _rank(node.op)
    bins = b(node.op[1:], g, lengths, Tcomplex=b.dtype(x))
    last = b("Reshape", b("Slice", lengths, b.const([rank - 1], INT32), b.const([1], INT32)),
             b.const([], INT32))  # fmt: skip
    two, one, zero = (b.const(value, INT32) for value in (2, 1, 0))
    count = b("Add", b("FloorDiv", last, two), one)
    place = b("Range", zero, count, one)
    alone = b("LogicalOr", b("Equal", place, zero), b("Equal", b("Mul", place, two), last))
    weight = b("Sub", two, b("Cast", alone, DstT=INT32))
    share = b("RealDiv", b("Cast", weight, DstT=b.dtype(x)), _points(b, lengths, bins))
    return [_fit(b, b("Mul", bins, share), _lengths(b, x, rank), rank), None]
