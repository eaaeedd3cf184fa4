"""Single ops of training for the device ``GPU``: gradients, losses, sums of segments."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import numpy as np

from ci.scripts.gpu.cases import FLOATS, OpCase
from drystone_base import as_dtype

__all__ = ["gradient_cases"]

Array = np.ndarray[Any, Any]
_OF_INPUT: Final = ("ReluGrad", "Relu6Grad", "LeakyReluGrad", "SoftplusGrad", "SoftsignGrad",
                    "EluGrad", "SeluGrad")  # fmt: skip
_OF_RESULT: Final = ("SigmoidGrad", "TanhGrad", "SqrtGrad", "RsqrtGrad", "InvGrad",
                     "ReciprocalGrad")  # fmt: skip


def gradient_cases(seed: int = 1) -> Iterator[OpCase]:
    """All of them; the same seed gives the same."""
    rng = np.random.default_rng(seed)
    for dtype in FLOATS:
        for op in _OF_INPUT:
            pair = [_draw(rng, dtype, 7, 9), _draw(rng, dtype, 7, 9)]
            yield OpCase(op, pair, attrs=_typed(dtype))
        for op in _OF_RESULT:
            pair = [np.abs(_draw(rng, dtype, 7, 9)) + 1, _draw(rng, dtype, 7, 9)]
            yield OpCase(op, [a.astype(as_dtype(dtype).np) for a in pair], attrs=_typed(dtype))
        for name in ("NHWC", "NCHW"):
            attrs = _typed(dtype) | {"data_format": name}
            yield OpCase("BiasAddGrad", [_draw(rng, dtype, 2, 5, 6, 4)], attrs=attrs, sums=60)
        yield OpCase("L2Loss", [_draw(rng, dtype, 5, 8)], attrs=_typed(dtype), sums=40)
        yield from _losses(rng, dtype)
        yield from _pictures(rng, dtype)
        parts = [_draw(rng, dtype, 6, 3), _whole(2, 0, 2, -1, 1, 2), _whole(4)[0]]
        attrs = _typed(dtype) | {"Tindices": as_dtype("int32"), "Tnumsegments": as_dtype("int32")}
        yield OpCase("UnsortedSegmentSum", parts, [2], attrs, sums=6)
        given = [_whole(4, 6), _whole(1, 0), _whole(4, 6), _whole(2, 3), _draw(rng, dtype, 2, 2)]
        attrs = _typed(dtype) | {"Index": as_dtype("int32")}
        yield OpCase("StridedSliceGrad", given, [0, 1, 2, 3], attrs)
    yield from _normalizations(rng)


def _draw(rng: np.random.Generator, dtype: str, *shape: int) -> Array:
    return (rng.standard_normal(shape) * 2).astype(as_dtype(dtype).np)


def _typed(dtype: str) -> dict[str, Any]:
    return {"T": as_dtype(dtype)}


def _whole(*values: int) -> Array:
    return np.array(values, np.int32)


def _losses(rng: np.random.Generator, dtype: str) -> Iterator[OpCase]:
    logits = _draw(rng, dtype, 5, 9)
    likely = rng.random((5, 9))
    labels = (likely / likely.sum(1, keepdims=True)).astype(logits.dtype)
    yield OpCase("SoftmaxCrossEntropyWithLogits", [logits, labels], attrs=_typed(dtype), sums=9,
                 outputs=2)  # fmt: skip
    attrs = _typed(dtype) | {"Tlabels": as_dtype("int32")}
    yield OpCase("SparseSoftmaxCrossEntropyWithLogits", [logits, _whole(0, 8, 3, 3, 1)],
                 attrs=attrs, sums=9, outputs=2)  # fmt: skip


def _pictures(rng: np.random.Generator, dtype: str) -> Iterator[OpCase]:
    x = _draw(rng, dtype, 2, 9, 8, 6)
    for size, stride, padding in ((3, 1, "SAME"), (3, 2, "SAME"), (2, 2, "VALID"), (1, 1, "VALID")):
        along = [(n + stride - 1) // stride if padding == "SAME" else (n - size) // stride + 1
                 for n in (9, 8)]  # fmt: skip
        attrs = _typed(dtype) | {"strides": [1, stride, stride, 1], "padding": padding}
        gradient = _draw(rng, dtype, 2, *along, 5)
        yield OpCase("Conv2DBackpropFilter", [x, _whole(size, size, 6, 5), gradient], [1], attrs,
                     sums=2 * along[0] * along[1])  # fmt: skip
        given = _draw(rng, dtype, 2, *along, 12)
        yield OpCase("DepthwiseConv2dNativeBackpropFilter", [x, _whole(size, size, 6, 2), given],
                     [1], attrs, sums=2 * along[0] * along[1])  # fmt: skip
        yield OpCase("Conv2DBackpropFilter", [x, _whole(size, size, 3, 12), given], [1], attrs,
                     sums=2 * along[0] * along[1])  # fmt: skip
        window = attrs | {"ksize": [1, size, size, 1]}
        given = _draw(rng, dtype, 2, *along, 6)
        yield OpCase("AvgPoolGrad", [_whole(2, 9, 8, 6), given], [0], window, sums=9)
        largest = _largest(x, size, stride, padding, along)
        yield OpCase("MaxPoolGrad", [x, largest, given], attrs=window, sums=9)


def _largest(x: Array, size: int, stride: int, padding: str, along: list[int]) -> Array:
    """What MaxPool gives."""
    before = [0, 0]
    if padding == "SAME":
        before = [max((n - 1) * stride + size - m, 0) // 2
                  for n, m in zip(along, x.shape[1:3], strict=True)]  # fmt: skip
    out = np.empty((x.shape[0], *along, x.shape[3]), x.dtype)
    for i in range(along[0]):
        for j in range(along[1]):
            top, left = i * stride - before[0], j * stride - before[1]
            part = x[:, max(top, 0) : top + size, max(left, 0) : left + size]
            out[:, i, j] = part.max((1, 2))
    return out


def _normalizations(rng: np.random.Generator) -> Iterator[OpCase]:
    for dtype in ("float32", "bfloat16"):
        own = {"T": as_dtype(dtype), "U": as_dtype("float32"), "epsilon": 1e-3}
        x, dy = _draw(rng, dtype, 3, 4, 5, 6), _draw(rng, dtype, 3, 4, 5, 6)
        scale, shift, mean = (_draw(rng, "float32", 6) for _ in range(3))
        variance, none = np.abs(mean) + 0.5, np.zeros(0, np.float32)
        for factor, old in ((1.0, [none, none]), (0.1, [mean, variance])):
            attrs = own | {"is_training": True, "exponential_avg_factor": factor}
            yield OpCase("FusedBatchNormV3", [x, scale, shift, *old], attrs=attrs, sums=60,
                         outputs=6)  # fmt: skip
        for trains in (True, False):
            given = [dy, x, scale, mean, variance, np.zeros((), np.float32)]
            attrs = own | {"is_training": trains}
            yield OpCase("FusedBatchNormGradV3", given, attrs=attrs, sums=600, outputs=5)
