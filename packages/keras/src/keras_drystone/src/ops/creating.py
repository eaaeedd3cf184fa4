"""Tensors from sizes and numbers: constants, ranges, windows."""

from __future__ import annotations

from typing import Any

import numpy as np
from keras.src.backend import config
from keras.src.backend.common import standardize_dtype
from keras.src.backend.common.dtypes import result_type

from drystone_base.core.dtypes import as_dtype
from keras_drystone.src.dispatch import emit, is_symbolic
from keras_drystone.src.ops import curves
from keras_drystone.src.ops import elementwise as e
from keras_drystone.src.ops.core import cast, convert_to_tensor
from keras_drystone.src.ops.operands import is_integer, kind_of, like, sizes
from keras_drystone.src.ops.shaping import expand_dims, flip, moveaxis, reshape, tril

__all__ = [
    "arange", "array", "bartlett", "blackman", "empty", "empty_like", "eye", "full", "full_like",
    "geomspace", "hamming", "hanning", "identity", "kaiser", "linspace", "logspace", "ones",
    "ones_like", "tri", "vander", "zeros", "zeros_like",
]  # fmt: skip


def array(x: Any, dtype: Any = None) -> Any:
    """A tensor."""
    return convert_to_tensor(x, dtype=dtype)


def full(shape: Any, fill_value: Any, dtype: Any = None) -> Any:
    """One value everywhere."""
    kind = dtype or config.floatx()
    value = convert_to_tensor(fill_value, kind)
    op = "Fill" if value.ndim == 0 else "BroadcastTo"
    return emit(op, sizes(shape), value) if op == "Fill" else emit(op, value, sizes(shape))


def zeros(shape: Any, dtype: Any = None) -> Any:
    """Zeros."""
    return full(shape, 0, dtype)


def ones(shape: Any, dtype: Any = None) -> Any:
    """Ones."""
    return full(shape, 1, dtype)


def empty(shape: Any, dtype: Any = None) -> Any:
    """Zeros."""
    return zeros(shape, dtype)


def full_like(x: Any, fill_value: Any, dtype: Any = None) -> Any:
    """One value everywhere, in the shape of another tensor."""
    x = convert_to_tensor(x)
    value = convert_to_tensor(fill_value, standardize_dtype(dtype or x.dtype))
    return emit("BroadcastTo", value, emit("Shape", x, out_type=as_dtype("int32")))


def zeros_like(x: Any, dtype: Any = None) -> Any:
    """Zeros in the shape of another tensor."""
    return full_like(x, 0, dtype)


def ones_like(x: Any, dtype: Any = None) -> Any:
    """Ones in the shape of another tensor."""
    return full_like(x, 1, dtype)


def empty_like(x: Any, dtype: Any = None) -> Any:
    """Zeros in the shape of another tensor."""
    return zeros_like(x, dtype)


def arange(start: Any, stop: Any = None, step: Any = None, dtype: Any = None) -> Any:
    """Numbers from one to another."""
    if dtype is None:
        given = [v for v in (start, stop, step) if v is not None]
        dtype = result_type(*[getattr(v, "dtype", type(v)) for v in given])
    kind = standardize_dtype(dtype)
    if stop is None:
        start, stop = 0, start
    step = 1 if step is None else step
    if not is_symbolic([start, stop, step]):
        bounds: Any = [np.asarray(v) for v in (start, stop, step)]
        return np.arange(*bounds).astype(as_dtype(kind).np)
    inner = "int32" if kind == "bool" else kind
    return cast(emit("Range", *(convert_to_tensor(v, inner) for v in (start, stop, step))), kind)


def linspace(
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    retstep: bool = False,
    dtype: Any = None,
    axis: int = 0,
) -> Any:
    """Numbers at equal distances."""
    first, last = convert_to_tensor(start), convert_to_tensor(stop)
    kind = dtype or result_type(first.dtype, last.dtype, float)
    inner = kind if not is_integer(standardize_dtype(kind)) else config.floatx()
    first, last = cast(first, inner), cast(last, inner)
    width = emit("Sub", last, first)  # by ops: Keras promotes float64 to float32
    parts = num - 1 if endpoint else num
    step = emit("RealDiv", width, like(parts, width)) if parts > 0 else full_like(width, np.nan)
    steps = np.arange(num).astype(as_dtype(inner).np)
    steps = reshape(steps, (-1,) + (1,) * width.ndim)
    found = emit("AddV2", emit("Mul", steps, step if parts > 0 else width), first)
    if endpoint and num > 1:
        at_end = np.arange(num) == num - 1
        found = emit("SelectV2", reshape(at_end, (-1,) + (1,) * width.ndim), last, found)
    found = _rounded_down(found, kind)
    found = moveaxis(found, 0, axis) if axis else found
    return (found, step) if retstep else found


def _rounded_down(x: Any, kind: Any) -> Any:
    return cast(e.floor(x) if is_integer(standardize_dtype(kind)) else x, kind)


def logspace(
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    base: Any = 10,
    dtype: Any = None,
    axis: int = 0,
) -> Any:
    """Powers of a base at equal distances of the exponent."""
    first, last = convert_to_tensor(start), convert_to_tensor(stop)
    kind = dtype or result_type(first.dtype, last.dtype, float)
    inner = "float64" if not is_symbolic([first, last]) else config.floatx()
    exponents = linspace(cast(first, inner), cast(last, inner), num, endpoint, False, inner, axis)
    return cast(emit("Pow", like(base, exponents), exponents), kind)


def geomspace(
    start: Any, stop: Any, num: int = 50, endpoint: bool = True, dtype: Any = None, axis: int = 0
) -> Any:
    """Numbers at equal ratios."""
    first, last = convert_to_tensor(start), convert_to_tensor(stop)
    kind = dtype or result_type(first.dtype, last.dtype, float)
    inner = "float64" if not is_symbolic([first, last]) else config.floatx()
    first, last = cast(first, inner), cast(last, inner)
    ratio = emit("RealDiv", last, first)
    steps = linspace(like(0, first), like(1, first), num, endpoint, False, inner)
    steps = reshape(steps, (-1,) + (1,) * ratio.ndim)
    found = emit("Mul", emit("Pow", ratio, steps), first)
    found = moveaxis(found, 0, axis) if axis else found
    return cast(found, kind)


def tri(N: int, M: int | None = None, k: int = 0, dtype: Any = None) -> Any:  # noqa: N803
    """Ones at and below a diagonal."""
    return tril(ones((N, N if M is None else M), dtype), k)


def eye(N: int, M: int | None = None, k: int = 0, dtype: Any = None) -> Any:  # noqa: N803
    """Ones on a diagonal."""
    rows, columns = arange(N, dtype="int32"), arange(N if M is None else M, dtype="int32")
    distance = emit("Sub", expand_dims(columns, 0), expand_dims(rows, 1))
    return cast(emit("Equal", distance, np.int32(k)), dtype or config.floatx())


def identity(n: int, dtype: Any = None) -> Any:
    """Ones on the diagonal."""
    return eye(n, dtype=dtype)


def _cosines(x: Any, *factors: float) -> Any:
    """A window that is a sum of cosines."""
    count = int(convert_to_tensor(x))
    if count == 1:
        return ones(1)
    angle = 2 * np.pi * np.arange(count) / (count - 1)
    found = np.sum([f * np.cos(k * angle) for k, f in enumerate(factors)], axis=0)
    return cast(found, config.floatx())


def hanning(x: Any) -> Any:
    """Hann's window of a size."""
    return _cosines(x, 0.5, -0.5)


def hamming(x: Any) -> Any:
    """Hamming's window of a size."""
    return _cosines(x, 0.54, -0.46)


def blackman(x: Any) -> Any:
    """Blackman's window of a size."""
    return _cosines(x, 0.42, -0.5, 0.08)


def bartlett(x: Any) -> Any:
    """The triangular window of a size."""
    count = int(convert_to_tensor(x))
    if count == 1:
        return ones(1)
    places = np.arange(count)
    return cast(1 - np.abs(2 * places / (count - 1) - 1), config.floatx())


def kaiser(x: Any, beta: Any) -> Any:
    """Kaiser's window of a size."""
    count = int(convert_to_tensor(x))
    if count == 1:
        return ones(1)
    half = (count - 1) / 2
    inside = np.sqrt(np.maximum(0, 1 - ((np.arange(count) - half) / half) ** 2))
    beta = convert_to_tensor(beta, "float64")
    found = emit("RealDiv", curves.i0(emit("Mul", beta, inside)), curves.i0(beta))
    return cast(found, config.floatx())


def vander(x: Any, N: int | None = None, increasing: bool = False) -> Any:  # noqa: N803
    """Powers of the elements as columns."""
    x = convert_to_tensor(x)
    kind = result_type(x.dtype)
    inner = cast(x, result_type(x.dtype, config.floatx()))
    count = x.shape[0] if N is None else N
    powers = np.arange(count).astype(as_dtype(kind_of(inner)).np)
    found = emit("Pow", expand_dims(inner, -1), powers)
    return cast(found if increasing else flip(found, 1), kind)
