"""Rows by their numbers. A number beyond its bounds is an error, which the program can only notice:
each run checks what it notices, and the host executor says the rest."""

from __future__ import annotations

import numpy as np

from drystone_pjrt.stablehlo.ops import Site, emits
from drystone_pjrt.stablehlo.writer import Refused, Value, Writer, integers

__all__: list[str] = []


@emits("GatherV2", static=(2,))
def gather_along(w: Writer, s: Site) -> Value:
    """Elements by numbers along an axis; dimensions of both in front may go together."""
    axis = s.integers(2)[0]
    return _gathered(w, s, axis, s.attr("batch_dims", 0))


@emits("Gather")
def gather(w: Writer, s: Site) -> Value:
    """Rows by their numbers."""
    return _gathered(w, s, 0, 0)


def _gathered(w: Writer, s: Site, axis: int, batch: int) -> Value:
    x, places = s.inputs[:2]
    axis += len(x.shape) if axis < 0 else 0
    if batch or not 0 <= axis < len(x.shape):
        raise Refused(f"axis {axis} with {batch} dimensions together")
    if not x.shape[axis]:
        raise Refused("there is nothing to take from")
    _within(w, s, places, x.shape[axis])
    shape = (*x.shape[:axis], *places.shape, *x.shape[axis + 1 :])
    count = len(places.shape)
    apart = [*range(axis), *range(axis + count, len(shape))]
    sizes = [1 if k == axis else n for k, n in enumerate(x.shape)]
    numbers = (
        f"#stablehlo.gather<offset_dims = {apart}, collapsed_slice_dims = [{axis}], "
        f"start_index_map = [{axis}], index_vector_dim = {count}>"
    )
    attrs = (
        f"dimension_numbers = {numbers}, slice_sizes = {integers(sizes)}, "
        "indices_are_sorted = false"
    )
    return w.op("stablehlo.gather", [x, places], shape, x.dtype, attrs)


def _within(w: Writer, s: Site, places: Value, size: int) -> None:
    """Each run must meet this."""
    low = w.compare("GE", places, w.full(0, places.shape, places.dtype))
    high = w.compare("LT", places, w.full(size, places.shape, places.dtype))
    if places.known is not None:
        if not np.all((places.known >= 0) & (places.known < size)):
            raise Refused("an index is beyond its bounds")
        return
    text = f"indices of {s.op} (node {s.node.name!r}) must be from 0 to {size - 1}"
    w.require(w.same("stablehlo.and", low, high), text)


@emits("OneHot", static=(1,))
def one_hot(w: Writer, s: Site) -> Value:
    """A value where a number is that of the place, another one elsewhere."""
    places, (depth,), on, off = s.inputs[0], s.integers(1), s.inputs[2], s.inputs[3]
    if depth < 0:
        raise Refused(f"its depth is {depth}")
    rank = len(places.shape)
    axis = s.attr("axis") if s.attr("axis") >= 0 else rank
    shape = (*places.shape[:axis], depth, *places.shape[axis:])
    numbers = w.op("stablehlo.iota", [], shape, places.dtype, f"iota_dimension = {axis} : i64")
    given = w.broadcast(places, shape, [k for k in range(rank + 1) if k != axis])
    where = w.compare("EQ", given, numbers)
    return w.select(where, w.broadcast(on, shape), w.broadcast(off, shape))
