"""Counting: how often integers occur, and histograms.

Source: TensorFlow ops Bincount, DenseBincount, RaggedBincount, SparseBincount, HistogramFixedWidth,
Bucketize.
"""

from __future__ import annotations

import numpy as np

from drystone_base.kernels._indices import bad_rows, only_scalar_int
from drystone_base.kernels._limits import check_size
from drystone_base.kernels._registry import Array, Call, kernel
from drystone_base.kernels._widen import quiet, widen
from drystone_base.kernels.sparse._sparse import check_sparse, check_splits


def _bin_count(call: Call, size: Array) -> int:
    call.require(size.ndim == 0, "size must be a scalar", found=list(size.shape))
    count = int(size)
    call.require(count >= 0, "size must not be negative", found=count, needed="0 or more")
    return count


def _checked(call: Call, values: Array, weights: Array) -> None:
    if values.size and int(values.min()) < 0:
        call.fail("values must not be negative", found=int(values.min()), needed="0 or more")
    fits = weights.shape == values.shape
    if call.op == "Bincount":  # which looks at how many there are
        fits = weights.size == values.size
    call.require(
        weights.size == 0 or fits,
        "weights must fit the values",
        found=f"weights {list(weights.shape)}, values {list(values.shape)}",
        needed="equal shapes, or no weights",
    )


def _count(call: Call, rows: Array, values: Array, weights: Array, shape: tuple[int, int]) -> Array:
    """Weights added up per row and value; values beyond the last bin are left out."""
    check_size(call, shape, weights.dtype)
    inside = values < shape[1]
    place = (rows[inside], values[inside])
    if call.attrs.get("binary_output"):
        marks = np.zeros(shape, weights.dtype)
        marks[place] = 1
        return marks
    wide = widen(weights)
    bins = np.zeros(shape, wide.dtype)
    np.add.at(bins, place, wide.reshape(-1)[inside] if wide.size else wide.dtype.type(1))
    return bins.astype(weights.dtype)


@kernel("Bincount", "DenseBincount")
@quiet
def bincount(call: Call, values: Array, size: Array, weights: Array) -> Array:
    """Occurrences (or summed weights) of 0 ... size-1: [size], of a matrix's rows [rows, size].

    Only DenseBincount looks at rows. Larger values are left out, negative ones refused;
    ``binary_output`` only marks presence.
    """
    count = _bin_count(call, size)
    _checked(call, values, weights)
    flat = values.reshape(-1)
    if call.op == "DenseBincount" and values.ndim == 2:
        rows = np.repeat(np.arange(values.shape[0]), values.shape[1])
        return _count(call, rows, flat, weights, (values.shape[0], count))
    call.require(
        call.op == "Bincount" or values.ndim < 2,
        "the input must be a vector or a matrix",
        found=list(values.shape),
        needed="rank 2 or less",
    )
    return _count(call, np.zeros(flat.size, np.int64), flat, weights, (1, count)).reshape(count)


@kernel("RaggedBincount")
@quiet
def ragged_bincount(call: Call, splits: Array, values: Array, size: Array, weights: Array) -> Array:
    """Occurrences (or summed weights) of 0 ... size-1 in each ragged row: [rows, size]."""
    count = _bin_count(call, size)
    _checked(call, values, weights)
    check_splits(call, splits, values.size)
    lengths = np.diff(splits)
    rows = np.repeat(np.arange(lengths.size), lengths)
    return _count(call, rows, values.reshape(-1), weights, (lengths.size, count))


@kernel("SparseBincount")
@quiet
def sparse_bincount(
    call: Call, indices: Array, values: Array, dense_shape: Array, size: Array, weights: Array
) -> Array:
    """Occurrences (or summed weights) of 0 ... size-1 among the values of a sparse tensor.

    A sparse vector gives [size], a sparse matrix [rows, size].
    """
    count = _bin_count(call, size)
    check_sparse(call, indices, values, dense_shape)
    limits = dense_shape.tolist()
    call.require(len(limits) in (1, 2), "the tensor must have rank 1 or 2", found=limits)
    bad_rows(call, indices, limits)
    _checked(call, values, weights)
    if len(limits) == 1:
        rows = np.zeros(values.size, np.int64)
        return _count(call, rows, values, weights, (1, count)).reshape(count)
    return _count(call, indices[:, 0], values, weights, (limits[0], count))


@kernel("Bucketize")
def bucketize(call: Call, x: Array) -> Array:
    """How many ``boundaries`` (an attribute) each value reaches, int32; NaN reaches all."""
    edges = np.array(call.attrs["boundaries"], np.float32)
    call.require(not (np.diff(edges) < 0).any(), "boundaries must be sorted", found=edges.tolist())
    return np.searchsorted(edges, x, side="right").astype(np.int32).reshape(x.shape)


@kernel("HistogramFixedWidth")
@quiet
def histogram_fixed_width(call: Call, values: Array, value_range: Array, nbins: Array) -> Array:
    """Counts of values in ``nbins`` bins of equal width; outer values fall into the outer bins."""
    call.require(
        value_range.shape == (2,), "value_range must be two numbers", found=list(value_range.shape)
    )
    count = only_scalar_int(call, nbins, "nbins")
    call.require(count > 0, "nbins must be positive", found=count, needed="1 or more")
    low, high = (float(v) for v in value_range)
    call.require(low < high, "the range must not be empty", found=[low, high], needed="low < high")
    dtype = call.attrs["dtype"].np
    check_size(call, [count], dtype)
    wide = values.reshape(-1).astype(np.float64)
    call.require(not np.isnan(wide).any(), "values must not be NaN", found="NaN")
    step = (high - low) / count
    bins = np.floor(np.clip((wide - low) / step, 0, count - 1)).astype(np.int64)
    return np.bincount(bins, minlength=count).astype(dtype)
