"""Shapes of counts and histograms."""

from __future__ import annotations

from drystone_base.inference.shapes._registry import UNKNOWN, Shape, ShapeCall, shape


def _bins(c: ShapeCall, index: int) -> int:
    count = c.int_value(index)
    if count is not None and count < 0:
        c.fail("the number of bins must not be negative", found=count, needed="0 or more")
    return UNKNOWN if count is None else count


@shape("Bincount")
def bincount(c: ShapeCall) -> list[Shape]:
    """A vector of ``size`` elements."""
    return [(_bins(c, 1),)]


@shape("DenseBincount")
def dense_bincount(c: ShapeCall) -> list[Shape]:
    """``size`` bins, for each row of a matrix."""
    given, count = c.shape(0), _bins(c, 1)
    if given is None:
        return [None]
    if len(given) > 2:
        c.fail("the input must be a vector or a matrix", found=list(given), needed="rank 2 or less")
    return [(given[0], count) if len(given) == 2 else (count,)]


@shape("RaggedBincount")
def ragged_bincount(c: ShapeCall) -> list[Shape]:
    """``size`` bins for each row that ``splits`` bounds."""
    splits = c.with_rank(c.shape(0), 1)[0]
    return [(splits - 1 if splits > 0 else UNKNOWN, _bins(c, 2))]


@shape("SparseBincount")
def sparse_bincount(c: ShapeCall) -> list[Shape]:
    """``size`` bins, for each row of a sparse matrix."""
    dense, count = c.value_as_shape(2), _bins(c, 3)
    if dense is None:
        return [None]
    return [(dense[0], count) if len(dense) == 2 else (count,)]


@shape("Bucketize")
def bucketize(c: ShapeCall) -> list[Shape]:
    """The input's shape."""
    return [c.shape(0)]


@shape("HistogramFixedWidth")
def histogram_fixed_width(c: ShapeCall) -> list[Shape]:
    """A vector of ``nbins`` elements."""
    c.with_rank(c.shape(1), 1)
    return [(_bins(c, 2),)]
