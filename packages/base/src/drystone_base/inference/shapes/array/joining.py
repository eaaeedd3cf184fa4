"""Shapes of the ops that join tensors, or take them apart."""

from __future__ import annotations

from collections.abc import Sequence

from drystone_base.inference.shapes._registry import UNKNOWN, Shape, ShapeCall, shape

__all__ = ["concatenated"]


def _axis(c: ShapeCall, axis: int, rank: int) -> int:
    if not -rank <= axis < rank:
        c.fail("axis must be a dimension", found=axis, needed=f"a value in [{-rank}, {rank})")
    return axis % rank


def _ranked(shapes: Sequence[Shape]) -> int | None:
    """The rank that any of the shapes has."""
    return next((len(s) for s in shapes if s is not None), None)


def concatenated(c: ShapeCall, shapes: Sequence[Shape], axis: int | None) -> Shape:
    """The shapes merged, their sizes along the axis added."""
    rank = _ranked(shapes)
    if rank is None:
        return None
    full = [c.with_rank(s, rank) for s in shapes]
    if axis is None:
        return (UNKNOWN,) * rank
    place = _axis(c, axis, rank)
    joined = 0
    for dims in full:
        joined = UNKNOWN if joined < 0 or dims[place] < 0 else joined + dims[place]
    merged: Shape = None
    for dims in full:
        merged = c.merge(merged, (*dims[:place], UNKNOWN, *dims[place + 1 :]))
    assert merged is not None
    return (*merged[:place], joined, *merged[place + 1 :])


@shape("Concat")
def concat(c: ShapeCall) -> list[Shape]:
    """The inputs' shapes merged, their sizes along the axis added."""
    return [concatenated(c, c.shapes[1:], c.int_value(0))]


@shape("ConcatV2")
def concat_v2(c: ShapeCall) -> list[Shape]:
    """The inputs' shapes merged, their sizes along the axis added."""
    return [concatenated(c, c.shapes[:-1], c.int_value(len(c.shapes) - 1))]


@shape("ParallelConcat")
def parallel_concat(c: ShapeCall) -> list[Shape]:
    """The attribute ``shape``."""
    return [c.attrs["shape"]]


@shape("ConcatOffset")
def concat_offset(c: ShapeCall) -> list[Shape]:
    """Vectors like the shapes given."""
    merged: Shape = (UNKNOWN,)
    for given in c.shapes[1:]:
        merged = c.merge(merged, given)
    return [merged] * (len(c.shapes) - 1)


@shape("Pack")
def pack(c: ShapeCall) -> list[Shape]:
    """The inputs' shapes merged, with the number of inputs put in at ``axis``."""
    merged: Shape = None
    for given in c.shapes:
        merged = c.merge(merged, given)
    if merged is None:
        return [None]
    place = _axis(c, c.attrs["axis"], len(merged) + 1)
    return [(*merged[:place], len(c.shapes), *merged[place:])]


@shape("Unpack")
def unpack(c: ShapeCall) -> list[Shape]:
    """The shape without the unpacked dimension, ``num`` times."""
    dims, count = c.shape(0), c.attrs["num"]
    if dims is None:
        return [None] * count
    place = _axis(c, c.attrs["axis"], len(dims))
    c.merge_dim(dims[place], count)
    return [(*dims[:place], *dims[place + 1 :])] * count


@shape("Split")
def split(c: ShapeCall) -> list[Shape]:
    """``num_split`` equal shapes."""
    axis, dims, count = c.int_value(0), c.shape(1), c.attrs["num_split"]
    if dims is None:
        return [None] * count
    if axis is None:
        return [(UNKNOWN,) * len(dims)] * count
    place = _axis(c, axis, len(dims))
    whole = dims[place]
    if whole >= 0 and whole % count:
        c.fail("the split dimension must be a multiple of num_split", found=whole, needed=count)
    part = whole // count if whole >= 0 else (whole if count == 1 else UNKNOWN)
    return [(*dims[:place], part, *dims[place + 1 :])] * count


@shape("SplitV")
def split_v(c: ShapeCall) -> list[Shape]:
    """One shape per size; a size of -1 is the rest."""
    dims, axis, count = c.shape(0), c.int_value(2), c.attrs["num_split"]
    if dims is None:
        return [None] * count
    if axis is None:
        return [(UNKNOWN,) * len(dims)] * count
    place = _axis(c, axis, len(dims))
    sizes = list(c.value_as_shape(1) or (UNKNOWN,) * count)
    if len(sizes) != count:
        c.fail("size_splits must hold num_split numbers", found=len(sizes), needed=count)
    if sum(n < 0 for n in sizes) == 1 and dims[place] >= 0:
        rest = dims[place] - sum(n for n in sizes if n >= 0)
        if rest < 0:
            c.fail("the parts must fit the split dimension", found=sizes, needed=dims[place])
        sizes = [rest if n < 0 else n for n in sizes]
    elif min(sizes) >= 0:
        c.merge_dim(dims[place], sum(sizes))
    return [(*dims[:place], n, *dims[place + 1 :]) for n in sizes]
