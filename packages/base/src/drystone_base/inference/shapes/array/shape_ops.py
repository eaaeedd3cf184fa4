"""Shapes of the ops that read or change a shape; these also make shapes into known values."""

from __future__ import annotations

import math

import numpy as np

from drystone_base.inference.shapes._registry import UNKNOWN, PartialValue, Shape, ShapeCall, shape

__all__: list[str] = []


def _value(c: ShapeCall, value: PartialValue) -> object:
    """``value``, as an array of ``out_type`` where it is complete."""
    found = value.array(c.attrs["out_type"])
    return value if found is None else found


@shape("Shape", "ShapeN")
def shape_of(c: ShapeCall) -> list[Shape]:
    """Vectors as long as the inputs' ranks, with the dimensions as partly known values."""
    c.output_values = [None if s is None else _value(c, PartialValue.of_shape(s)) for s in c.shapes]
    return [(UNKNOWN,) if s is None else (len(s),) for s in c.shapes]


@shape("Size")
def size(c: ShapeCall) -> list[Shape]:
    """A scalar, known when every dimension is."""
    dims = c.shape(0)
    if dims is not None:
        c.output_values = [_value(c, PartialValue.of_dim(_product(dims)))]
    return [()]


def _product(dims: tuple[int, ...]) -> int:
    """The product, a symbol when that is the only factor besides ones, or unknown."""
    if 0 in dims:
        return 0
    rest = [d for d in dims if d < 0]
    known = math.prod(d for d in dims if d >= 0)
    if not rest:
        return known
    return rest[0] if len(rest) == 1 and known == 1 else UNKNOWN


@shape("Rank")
def rank(c: ShapeCall) -> list[Shape]:
    """A scalar, known when the rank is."""
    dims = c.shape(0)
    if dims is not None:
        c.output_values = [np.array(len(dims), np.int32)]
    return [()]


@shape("Reshape")
def reshape(c: ShapeCall) -> list[Shape]:
    """The target, with an inferred dimension worked out where the element count allows it."""
    target = c.partial(1)
    if target is None:
        given = c.shape(1)
        return [(UNKNOWN,) * given[0] if given and len(given) == 1 and given[0] >= 0 else None]
    if len(target.shape) > 1:
        c.fail("the new shape must be a vector", found=list(target.shape), needed="rank 1")
    infer = [
        k for k, (d, sure) in enumerate(zip(target.items, target.known, strict=True))
        if sure and d < 0
    ]  # fmt: skip
    if len(infer) > 1 or any(target.items[k] < -1 for k in infer):
        c.fail("a new shape may hold one -1", found=list(target.items), needed="at most one -1")
    return [_filled(c, target.items, infer)]


def _filled(c: ShapeCall, items: tuple[int, ...], infer: list[int]) -> Shape:
    """``items`` with the open dimension (a -1 to infer, or the only unknown) divided out."""
    source = c.shape(0)
    open_ = infer or [k for k, d in enumerate(items) if d < 0]
    if source is None or len(open_) > 1:
        return items
    left, right = list(source), [d for k, d in enumerate(items) if k not in open_]
    for symbol in [d for d in right if d <= -2 and d in left]:
        if symbol in left:
            left.remove(symbol)
            right.remove(symbol)
    have, used = _product(tuple(left)), _product(tuple(right))
    if not open_:
        if have >= 0 and used >= 0 and have != used:
            c.fail(
                "a reshape must keep the number of elements",
                found=f"{have} elements",
                needed=f"{used} elements for {list(items)}",
            )
        return items
    return (*items[: open_[0]], _quotient(c, tuple(left), have, used), *items[open_[0] + 1 :])


def _quotient(c: ShapeCall, left: tuple[int, ...], have: int, used: int) -> int:
    if have <= -2 and used == 1:
        return have
    if used <= 0 or have < 0:
        return _symbolic_quotient(left, used)
    if have % used:
        c.fail(
            "the inferred dimension must be whole",
            found=f"{have} elements",
            needed=f"a multiple of {used}",
        )
    return have // used


def _symbolic_quotient(left: tuple[int, ...], used: int) -> int:
    """A symbol when it is the only unknown and the known dimensions divide out to 1."""
    symbols = [d for d in left if d < 0]
    known = math.prod(d for d in left if d >= 0)
    return symbols[0] if len(symbols) == 1 and used > 0 and known == used else UNKNOWN


@shape("Squeeze")
def squeeze(c: ShapeCall) -> list[Shape]:
    """The shape without its ones; unknown rank when a dimension might be one."""
    dims, given = c.shape(0), c.attrs["squeeze_dims"]
    if dims is None:
        return [None]
    if not given:
        return [None if any(d < 0 for d in dims) else tuple(d for d in dims if d != 1)]
    axes = {_axis(c, axis, len(dims)) for axis in given}
    for axis in axes:
        if dims[axis] >= 0 and dims[axis] != 1:
            c.fail("a squeezed dimension must be 1", found=dims[axis], needed=1)
    return [tuple(d for k, d in enumerate(dims) if k not in axes)]


def _axis(c: ShapeCall, axis: int, rank: int) -> int:
    if not -rank <= axis < rank:
        c.fail("axis must be a dimension", found=axis, needed=f"a value in [{-rank}, {rank})")
    return axis % rank


@shape("ExpandDims")
def expand_dims(c: ShapeCall) -> list[Shape]:
    """The shape with a one put in, when the place is known."""
    dims, place = c.shape(0), c.int_value(1)
    if dims is None:
        return [None]
    if place is None:
        return [(UNKNOWN,) * (len(dims) + 1)]
    axis = _axis(c, place, len(dims) + 1)
    return [(*dims[:axis], 1, *dims[axis:])]


@shape("BroadcastTo")
def broadcast_to(c: ShapeCall) -> list[Shape]:
    """The shape asked for."""
    target, source = c.value_as_shape(1), c.shape(0)
    if target is not None and source is not None:
        if len(source) > len(target):
            c.fail("broadcasting cannot lower the rank", found=list(source), needed=list(target))
        c.broadcast(source, target)
    return [target]


@shape("Fill")
def fill(c: ShapeCall) -> list[Shape]:
    """The value of ``dims``."""
    value = c.shape(1)
    if value is not None and (len(value) > 1 or any(d > 1 for d in value)):
        c.fail("value must be a scalar", found=list(value), needed="rank 0")
    return [c.value_as_shape(0)]


@shape("Empty")
def empty(c: ShapeCall) -> list[Shape]:
    """The value of ``shape``."""
    return [c.value_as_shape(0)]


@shape("Tile", "TileGrad")
def tile(c: ShapeCall) -> list[Shape]:
    """Each dimension times (divided by, for the gradient) its multiple."""
    dims, counts = c.shape(0), c.value_as_shape(1)
    if dims is None:
        return [None if counts is None else (UNKNOWN,) * len(counts)]
    counts = c.with_rank(counts, len(dims))
    step = _times if c.op == "Tile" else _divided
    return [tuple(step(d, m) for d, m in zip(dims, counts, strict=True))]


def _times(dim: int, count: int) -> int:
    if 1 in (dim, count):
        return count if dim == 1 else dim
    if 0 in (dim, count):
        return 0
    return dim * count if dim > 0 and count > 0 else UNKNOWN


def _divided(dim: int, count: int) -> int:
    if count == 1:
        return dim
    return dim // count if dim >= 0 and count > 0 else UNKNOWN


@shape("Transpose", "ConjugateTranspose")
def transpose(c: ShapeCall) -> list[Shape]:
    """The dimensions in the order of ``perm``."""
    dims, perm = c.shape(0), c.value(1)
    if perm is not None:
        dims = c.with_rank(dims, perm.size)
        order = [_axis(c, int(axis), len(dims)) for axis in perm.reshape(-1)]
        return [tuple(dims[k] for k in order)]
    if dims is None:
        length = c.with_rank(c.shape(1), 1)[0]
        return [(UNKNOWN,) * length if length >= 0 else None]
    return [dims if len(dims) < 2 else (UNKNOWN,) * len(dims)]


@shape("InvertPermutation")
def invert_permutation(c: ShapeCall) -> list[Shape]:
    """A vector like the input."""
    return [c.with_rank(c.shape(0), 1)]
