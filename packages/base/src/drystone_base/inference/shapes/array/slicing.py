"""Shapes of the ops that cut a region out of a tensor, or write one."""

from __future__ import annotations

from drystone_base.inference.shapes._registry import UNKNOWN, PartialValue, Shape, ShapeCall, shape
from drystone_base.ops.strided import Entry, entries, extent, interval

__all__ = ["known_item", "strided_entries"]


@shape("Slice")
def slice_(c: ShapeCall) -> list[Shape]:
    """``size``, with -1 standing for what is left after ``begin``."""
    dims, begin, size = c.shape(0), c.partial(1), c.partial(2)
    vectors = [v.items for v in (begin, size) if v is not None]
    rank = next((len(s) for s in (dims, *vectors) if s is not None), None)
    if rank is None:
        return [None]
    full = c.with_rank(dims, rank)
    for given in (begin, size):
        if given is not None and len(given.items) != rank:
            c.fail("begin and size must hold one number for each dimension", found=given)
    if size is None:
        return [(UNKNOWN,) * rank]
    return [tuple(_taken(c, d, known_item(begin, k), size, k) for k, d in enumerate(full))]


def _taken(c: ShapeCall, dim: int, begin: int | None, size: PartialValue, k: int) -> int:
    count = known_item(size, k)
    if count is None:
        return size.items[k]
    if count >= 0:
        if dim >= 0 and (begin or 0) + count > dim:
            c.fail("a slice must lie inside the tensor", found=f"size {count}", needed=dim)
        return count
    if begin == 0:
        return dim
    return dim - begin if begin is not None and dim >= begin else UNKNOWN


def known_item(value: PartialValue | None, k: int | None) -> int | None:
    """Element ``k`` if it is known."""
    return value.items[k] if value is not None and k is not None and value.known[k] else None


def strided_entries(c: ShapeCall, rank: int, first: int = 1) -> list[Entry] | None:
    """The walk of a strided slice whose begin is input ``first``; None without its length."""
    merged: Shape = (UNKNOWN,)
    for given in c.shapes[first : first + 3]:
        merged = c.merge(merged, given)
    length = merged[0] if merged else UNKNOWN
    return None if length < 0 else entries(rank, length, c.attrs, c.fail)


@shape("StridedSlice")
def strided_slice(c: ShapeCall) -> list[Shape]:
    """The extent of each range that is kept, and a 1 for each new dimension."""
    dims = c.shape(0)
    walk = None if dims is None else strided_entries(c, len(dims))
    if dims is None or walk is None:
        return [None]
    begin, end, strides = c.partial(1), c.partial(2), c.partial(3)
    out = []
    for e in walk:
        spec = (known_item(begin, e.at), known_item(end, e.at), known_item(strides, e.at))
        if e.kind == "new":
            out.append(1)
        elif e.kind == "range":
            out.append(extent(e, dims[e.dim], (0, 0, 1) if e.at is None else spec, c.fail))
        elif dims[e.dim] >= 0 and spec[0] is not None:
            interval(e, dims[e.dim], spec[0], 0, 1, c.fail)
    return [tuple(out)]


@shape("StridedSliceGrad")
def strided_slice_grad(c: ShapeCall) -> list[Shape]:
    """The value of ``shape``."""
    return [c.value_as_shape(0)]


@shape("TensorStridedSliceUpdate", "StridedSliceAssign")
def updated(c: ShapeCall) -> list[Shape]:
    """The shape of the tensor that is written."""
    return [c.shape(0)]


@shape("ResourceStridedSliceAssign")
def nothing(_: ShapeCall) -> list[Shape]:
    """No outputs."""
    return []
