"""Order, places, counts and quantiles."""

from __future__ import annotations

from typing import Any

import numpy as np
from keras.src.backend import config
from keras.src.backend.common.dtypes import result_type

from keras_drystone.src.dispatch import emit, is_symbolic, outputs
from keras_drystone.src.ops import creating, reducing, shaping
from keras_drystone.src.ops import elementwise as e
from keras_drystone.src.ops.core import cast, convert_to_tensor, shape
from keras_drystone.src.ops.indexing import getitem, take, take_along_axis
from keras_drystone.src.ops.operands import floating, is_integer, kind_of, like, one_axis, promoted

__all__ = [
    "argpartition", "argsort", "bincount", "corrcoef", "correlate", "cov", "digitize", "histogram",
    "isin", "median", "nanmedian", "nanpercentile", "nanquantile", "percentile", "quantile",
    "searchsorted", "sort", "unique",
]  # fmt: skip


def argsort(x: Any, axis: int | None = -1) -> Any:
    """Indices that sort along an axis; equal elements stay in their order."""
    x = convert_to_tensor(x)
    if kind_of(x) == "bool":
        x = cast(x, "uint8")
    if x.ndim == 0:  # NumPy sorts it as a vector of one
        return cast(shaping.reshape(emit("ZerosLike", x), (1,)), "int32")
    if axis is None:
        x, axis = shaping.ravel(x), 0
    axis = one_axis(axis, x.ndim)
    moved = shaping.moveaxis(x, axis, -1)
    # TopKV2 gives the largest first, equal ones by index: of what is reversed, that is the
    # smallest last, equal ones with the last index first.
    turned = shaping.flip(moved, -1)
    count = cast(convert_to_tensor(shape(moved)[-1]), "int32")
    found = outputs("TopKV2", turned, count, sorted=True)[1]
    order = emit("Sub", emit("Sub", count, np.int32(1)), shaping.flip(found, -1))
    return shaping.moveaxis(order, -1, axis)


def sort(x: Any, axis: int | None = -1) -> Any:
    """The elements in order along an axis."""
    x = convert_to_tensor(x)
    if axis is None:
        x, axis = shaping.ravel(x), 0
    if x.ndim == 0:
        return x
    return take_along_axis(x, argsort(x, axis), axis)


def argpartition(x: Any, kth: int, axis: int = -1) -> Any:  # noqa: ARG001
    """Indices with the ``kth`` smallest at its place: the whole order is one such."""
    return argsort(x, axis)


def searchsorted(sorted_sequence: Any, values: Any, side: str = "left") -> Any:
    """Places in a sorted row where values belong."""
    row, given = convert_to_tensor(sorted_sequence), convert_to_tensor(values)
    if row.ndim != 1:
        raise ValueError(
            "`searchsorted` only supports 1-D sorted sequences. You can use "
            "`keras.ops.vectorized_map` to extend it to N-D sequences. Received: "
            f"sorted_sequence.shape={row.shape}"
        )
    if side not in ("left", "right"):
        raise ValueError(f"`side` must be either 'left' or 'right'. Received: side={side}")
    row, given = promoted(row, given)
    flat = shaping.reshape(given, (1, -1))
    op = "LowerBound" if side == "left" else "UpperBound"
    found = emit(op, shaping.expand_dims(row, 0), flat)
    return shaping.reshape(found, shape(given))


def digitize(x: Any, bins: Any) -> Any:
    """The bin of each element."""
    return searchsorted(bins, x, side="right")


def bincount(x: Any, weights: Any = None, minlength: int = 0, sparse: bool = False) -> Any:
    """How often each number comes, or the sum of its weights."""
    if sparse:
        raise ValueError("drystone has no sparse tensors")
    x = convert_to_tensor(x)
    kind = "int32"
    if weights is not None:
        weights = convert_to_tensor(weights)
        kind = result_type(x.dtype, weights.dtype)
    x = cast(x, "int32")
    inner = kind if kind in ("int32", "int64", "float32", "float64") else (
        "int32" if is_integer(kind) else "float32")  # fmt: skip
    given = np.zeros(0, np.int32) if weights is None else cast(weights, inner)
    size = _bins(x, minlength)
    found = emit("DenseBincount", x, size, given, binary_output=False)
    return cast(found, kind)


def _bins(x: Any, minlength: Any) -> Any:
    """One more than the largest number, and not fewer than asked for."""
    if not is_symbolic(x):
        return np.int32(max(int(np.max(x, initial=-1)) + 1, int(minlength or 0)))
    largest = emit("Add", reducing.max(x), np.int32(1))
    return emit("Maximum", largest, np.int32(minlength or 0))


def isin(
    x1: Any,
    x2: Any,
    assume_unique: bool = False,  # noqa: ARG001
    invert: bool = False,
) -> Any:
    """Whether each element is among others."""
    x, y = promoted(convert_to_tensor(x1), convert_to_tensor(x2))
    same = e.equal(shaping.expand_dims(x, -1), shaping.ravel(y))
    found = reducing.any(same, -1)
    return e.logical_not(found) if invert else found


def _interpolated(x: Any, q: Any, method: str) -> Any:
    """Quantiles of a sorted last axis: q first."""
    count = shape(x)[-1]
    last = cast(convert_to_tensor(count), "int32") - np.int32(1)
    place = e.multiply(q, cast(last, kind_of(q)))
    low, high = e.floor(place), e.ceil(place)
    if method == "nearest":
        low = high = e.round(place)
    elif method == "lower":
        high = low
    elif method == "higher":
        low = high
    found = [take(x, e.clip(cast(p, "int32"), 0, last), -1) for p in (low, high)]
    rank = q.ndim
    share = (
        e.subtract(place, low) if method != "midpoint" else e.multiply(e.subtract(high, low), 0.5)
    )
    share = cast(share, kind_of(x))
    mixed = e.add(found[0], e.multiply(e.subtract(found[1], found[0]), share))
    mixed = e.where(e.equal(found[0], found[1]), found[0], mixed)
    return shaping.moveaxis(mixed, -1, 0) if rank else mixed


def quantile(
    x: Any, q: Any, axis: Any = None, method: str = "linear", keepdims: bool = False
) -> Any:
    """Quantiles along axes."""
    return _quantile(x, q, axis, method, keepdims, skip=False)


def nanquantile(
    x: Any, q: Any, axis: Any = None, method: str = "linear", keepdims: bool = False
) -> Any:
    """Quantiles of what is no NaN."""
    return _quantile(x, q, axis, method, keepdims, skip=True)


def _quantile(x: Any, q: Any, axis: Any, method: str, keepdims: bool, *, skip: bool) -> Any:
    x = floating(x)
    kind = kind_of(x)
    q = convert_to_tensor(q)
    inner = result_type(kind, "float32")
    x, q = cast(x, inner), cast(q, inner)
    rank = x.ndim
    axes = list(range(rank)) if axis is None else [axis] if isinstance(axis, int) else list(axis)
    axes = [one_axis(a, rank) for a in axes]
    kept = [k for k in range(rank) if k not in axes]
    rows = shaping.transpose(x, kept + axes)
    rows = shaping.reshape(rows, [shape(x)[k] for k in kept] + [-1])
    found = (_skipping if skip else _poisoned)(rows, q, method)
    if keepdims:
        places = [a + q.ndim for a in axes]
        found = shaping.expand_dims(found, tuple(places))
    return cast(found, kind)


def _poisoned(rows: Any, q: Any, method: str) -> Any:
    """Quantiles; NaN of rows with one."""
    found = _interpolated(sort(rows, -1), q, method)
    bad = reducing.any(e.isnan(rows), -1)
    return e.where(bad, like(np.nan, found), found)


def _skipping(rows: Any, q: Any, method: str) -> Any:
    """Quantiles of rows without their NaN: each has its own count."""
    empty = e.isnan(rows)
    full = sort(e.where(empty, like(np.inf, rows), rows), -1)
    count = reducing.sum(cast(e.logical_not(empty), "int32"), -1, True)
    last = e.maximum(e.subtract(count, 1), 0)
    flat = shaping.reshape(q, (-1,))
    place = e.multiply(cast(last, kind_of(q)), flat)
    low, high = e.floor(place), e.ceil(place)
    if method == "nearest":
        low = high = e.round(place)
    elif method in ("lower", "higher"):
        low = high = low if method == "lower" else high
    share = (
        e.multiply(e.subtract(high, low), 0.5) if method == "midpoint" else e.subtract(place, low)
    )
    a, b = (take_along_axis(full, cast(p, "int32"), -1) for p in (low, high))
    mixed = e.where(e.equal(a, b), a, e.add(a, e.multiply(e.subtract(b, a), share)))
    mixed = e.where(e.equal(count, 0), like(np.nan, mixed), mixed)
    return shaping.moveaxis(mixed, -1, 0) if q.ndim else shaping.squeeze(mixed, -1)


def median(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """The median."""
    return quantile(x, 0.5, axis, "linear", keepdims)


def nanmedian(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """The median of what is no NaN."""
    return nanquantile(x, 0.5, axis, "linear", keepdims)


def percentile(
    x: Any, q: Any, axis: Any = None, method: str = "linear", keepdims: bool = False
) -> Any:
    """Percentiles along axes."""
    return quantile(x, _hundredth(q), axis, method, keepdims)


def nanpercentile(
    x: Any, q: Any, axis: Any = None, method: str = "linear", keepdims: bool = False
) -> Any:
    """Percentiles of what is no NaN."""
    return nanquantile(x, _hundredth(q), axis, method, keepdims)


def _hundredth(q: Any) -> Any:
    return e.divide(floating(q), 100.0)


def histogram(x: Any, bins: int = 10, range: Any = None) -> tuple[Any, Any]:
    """How many elements fall into each of equal bins, and the bounds of the bins."""
    from keras_drystone.src.ops.creating import linspace

    x = convert_to_tensor(x)
    kind = result_type(x.dtype, float) if is_integer(kind_of(x)) else kind_of(x)
    values = shaping.ravel(cast(x, kind))
    if range is None:
        low, high = reducing.min(values), reducing.max(values)
    else:
        low, high = (like(v, values) for v in range)
    same = e.equal(low, high)
    low, high = (e.where(same, e.add(v, like(d, v)), v) for v, d in ((low, -0.5), (high, 0.5)))
    edges = linspace(low, high, bins + 1, dtype=kind)
    place = e.subtract(searchsorted(edges, values, "right"), 1)
    place = e.where(e.equal(values, high), like(bins - 1, place), place)
    inside = e.logical_and(e.greater_equal(values, low), e.less_equal(values, high))
    place = e.where(inside, place, like(-1, place))
    ones = cast(emit("OnesLike", place), "int32")
    return emit("UnsortedSegmentSum", ones, place, np.int32(bins)), edges


def _statistics(x: Any, dtype: str) -> Any:
    x = cast(x, dtype)
    rows = shaping.reshape(x, (1, -1)) if x.ndim < 2 else x
    apart = e.subtract(rows, reducing.mean(rows, 1, True))
    other = e.conjugate(shaping.transpose(apart))
    from keras_drystone.src.ops.products import matmul

    found = matmul(apart, other)
    count = cast(convert_to_tensor(shape(rows)[1]), "int32") - np.int32(1)
    found = (
        e.divide(found, cast(count, dtype))
        if dtype not in ("float64", "complex128")
        else emit("RealDiv", found, cast(count, dtype))
    )
    return found if x.ndim == 2 and x.shape[0] != 1 else shaping.reshape(found, ())


def cov(x: Any) -> Any:
    """The covariance of rows."""
    x = convert_to_tensor(x)
    kind = kind_of(x)
    if kind in ("int64", "float64"):
        kind = "float64"
    elif is_integer(kind):
        kind = config.floatx()
    return cast(_statistics(x, "float32" if kind in ("float16", "bfloat16") else kind), kind)


def corrcoef(x: Any) -> Any:
    """The correlation of rows."""
    x = convert_to_tensor(x)
    kind = kind_of(x)
    if kind in ("int64", "float64"):
        kind = "float64"
    elif kind not in ("bfloat16", "float16", "complex64", "complex128"):
        kind = config.floatx()
    found = _statistics(x, "float32" if kind in ("float16", "bfloat16") else kind)
    if found.ndim == 0:
        return cast(emit("RealDiv", found, found), kind)
    own = emit("Sqrt", shaping.diagonal(found))
    scale = emit("Mul", shaping.expand_dims(own, 1), shaping.expand_dims(own, 0))
    if kind.startswith("complex"):
        return emit("RealDiv", found, scale)
    return cast(e.clip(emit("RealDiv", found, scale), -1, 1), kind)


def correlate(x1: Any, x2: Any, mode: str = "valid") -> Any:
    """The correlation of two rows at all shifts."""
    x, y = convert_to_tensor(x1), convert_to_tensor(x2)
    kind = result_type(x.dtype, y.dtype)
    if kind == "int64":
        kind = "float64"
    elif kind not in ("bfloat16", "float16", "float64"):
        kind = "float32"
    if x.ndim != 1 or y.ndim != 1:
        raise ValueError("correlate() only support 1-dimensional inputs.")
    if mode not in ("full", "same", "valid"):
        raise ValueError(f"Unsupported mode: {mode}")
    x, y = cast(x, kind), cast(y, kind)
    swapped = x.shape[0] < y.shape[0]
    long, short = (y, x) if swapped else (x, y)
    n, m = long.shape[0], short.shape[0]
    before = {"full": m - 1, "same": m - 1 - (m - 1) // 2, "valid": 0}[mode]
    total = {"full": n + m - 1, "same": n, "valid": n - m + 1}[mode]
    if mode == "same":
        before = m // 2 if not swapped else (m - 1) - m // 2
    padded = shaping.pad(long, [[before, total + m - 1 - n - before]])
    windows = np.arange(total)[:, None] + np.arange(m)[None]
    parts = take(padded, windows.astype(np.int32), 0)
    found = reducing.sum(emit("Mul", parts, short), 1)
    return shaping.flip(found, 0) if swapped else found


def unique(
    x: Any,
    sorted: bool = True,  # noqa: ARG001 — they are
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: int | None = None,
    size: int | None = None,
    fill_value: Any = None,
) -> Any:
    """Elements, or parts of an axis, that differ, in order."""
    x = convert_to_tensor(x)
    given = x.shape
    if axis is None:
        rows, place = shaping.reshape(x, (-1, 1)), 0
    else:
        place = one_axis(axis, x.ndim)
        rows = shaping.moveaxis(x, place, 0)
        rest = rows.shape[1:]
        width = -1 if None in rest else int(np.prod([d for d in rest if d is not None]))
        rows = shaping.reshape(rows, (shape(rows)[0], width))
    order = _row_order(rows)
    ordered = take(rows, order, 0)
    differ = reducing.any(e.not_equal(shaping.along(ordered, 0, 1, None),
                                      shaping.along(ordered, 0, None, -1)), 1)  # fmt: skip
    first = shaping.concatenate([np.ones(1, bool), differ], 0)
    if rows.shape[0] == 0:
        first = np.zeros(0, bool)
    starts = getitem(cast(emit("Where", first), "int32"), (slice(None), 0))
    index = take(order, starts, 0)
    values = take(x if axis is not None else shaping.ravel(x), index, place)
    found = [_sized(values, size, place, fill_value)]
    if return_index:
        found.append(_sized(index, size, 0, 1))
    if return_inverse:
        ranks = emit("Sub", emit("Cumsum", cast(first, "int32"), np.int32(0)), np.int32(1))
        inverse = emit("TensorScatterUpdate", emit("ZerosLike", order),
                       shaping.expand_dims(order, 1), ranks)  # fmt: skip
        found.append(shaping.reshape(inverse, given) if axis is None else inverse)
    if return_counts:
        total = cast(convert_to_tensor(shape(order)[0]), "int32")
        ends = shaping.concatenate(
            [shaping.along(starts, 0, 1, None), shaping.reshape(total, (1,))], 0
        )
        found.append(_sized(emit("Sub", ends, starts), size, 0, 0))
    return found[0] if len(found) == 1 else tuple(found)


def _row_order(rows: Any) -> Any:
    """Indices that sort rows: by the last column first, each time keeping the order before."""
    order: Any = creating.arange(shape(rows)[0], dtype="int32") if rows.shape[1] == 0 else None
    for column in reversed(range(rows.shape[1])):
        values = getitem(rows, (slice(None), column))
        order = (
            argsort(values) if order is None else take(order, argsort(take(values, order, 0)), 0)
        )
    return order


def _sized(x: Any, size: int | None, axis: int, fill: Any) -> Any:
    """Cut or filled up to a size."""
    if size is None:
        return x
    if x.shape[axis] is None:
        x = shaping.pad(x, [[0, size if k == axis else 0] for k in range(x.ndim)],
                        constant_values=fill or 0)  # fmt: skip
        return shaping.along(x, axis, 0, size)
    if x.shape[axis] >= size:
        return shaping.along(x, axis, 0, size)
    widths = [[0, size - x.shape[axis] if k == axis else 0] for k in range(x.ndim)]
    return shaping.pad(x, widths, constant_values=fill or 0)
