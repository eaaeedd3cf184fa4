"""Ops that move elements, and the shapes of values, which are known."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from drystone_pjrt.stablehlo.layouts import text_of
from drystone_pjrt.stablehlo.ops import Site, emits
from drystone_pjrt.stablehlo.writer import Refused, Value, Writer

__all__: list[str] = []


def _axis(number: int, rank: int) -> int:
    """A dimension from the front."""
    axis = number + rank if number < 0 else number
    if not 0 <= axis < max(rank, 1):
        raise Refused(f"axis {number} of {rank} dimensions")
    return axis


# ---- shapes as values ------------------------------------------------------------------------


@emits("Shape", "ShapeN")
def shape(w: Writer, s: Site) -> list[Value]:
    """The sizes of dimensions."""
    out = s.dtype("out_type")
    return [w.known(np.asarray(x.shape, out)) for x in s.inputs]


@emits("Size", "Rank")
def size(w: Writer, s: Site) -> Value:
    """How many elements, or dimensions."""
    (x,) = s.inputs
    if s.op == "Rank":
        return w.known(np.asarray(len(x.shape), np.int32))
    return w.known(np.asarray(np.prod(x.shape, dtype=np.int64), s.dtype("out_type")))


# ---- other shapes of the same elements -----------------------------------------------------------


@emits("Reshape", static=(1,))
def reshape(w: Writer, s: Site) -> Value:
    """The elements in another shape, of which one size may follow from the others."""
    x, sizes = s.inputs[0], s.integers(1)
    count = int(np.prod(x.shape, dtype=np.int64))
    rest = int(np.prod([n for n in sizes if n >= 0], dtype=np.int64))
    if sizes.count(-1) == 1 and rest:
        sizes[sizes.index(-1)] = count // rest
    if min(sizes, default=0) < 0 or int(np.prod(sizes, dtype=np.int64)) != count:
        raise Refused(f"{count} elements in shape {s.integers(1)}")
    return w.reshape(x, tuple(sizes))


@emits("Squeeze")
def squeeze(w: Writer, s: Site) -> Value:
    """Without dimensions of 1."""
    x, rank = s.inputs[0], len(s.inputs[0].shape)
    axes = {_axis(k, rank) for k in s.attr("squeeze_dims") or ()}
    axes = axes or {k for k, n in enumerate(x.shape) if n == 1}
    if any(x.shape[k] != 1 for k in axes):
        raise Refused(f"dimensions {sorted(axes)} of {list(x.shape)} are not all 1")
    return w.reshape(x, tuple(n for k, n in enumerate(x.shape) if k not in axes))


@emits("ExpandDims", static=(1,))
def expand_dims(w: Writer, s: Site) -> Value:
    """With a dimension of 1."""
    x, (number,) = s.inputs[0], s.integers(1)
    axis = _axis(number, len(x.shape) + 1)
    return w.reshape(x, (*x.shape[:axis], 1, *x.shape[axis:]))


@emits("Transpose", static=(1,))
def transpose(w: Writer, s: Site) -> Value:
    """Dimensions in another order."""
    x = s.inputs[0]
    order = [_axis(k, len(x.shape)) for k in s.integers(1)]
    if sorted(order) != list(range(len(x.shape))):
        raise Refused(f"its order is {s.integers(1)}")
    return w.transpose(x, order)


@emits("ReverseV2", static=(1,))
def reverse(w: Writer, s: Site) -> Value:
    """Elements in the other order along axes."""
    x = s.inputs[0]
    axes = [_axis(k, len(x.shape)) for k in s.integers(1)]
    if len(set(axes)) < len(axes):
        raise Refused(f"its axes are {s.integers(1)}")
    return w.reverse(x, axes)


@emits("Reverse", static=(1,))
def reverse_marked(w: Writer, s: Site) -> Value:
    """Elements in the other order along the dimensions that are marked."""
    x, marks = s.inputs[0], s.array(1)
    if marks.shape != (len(x.shape),):
        raise Refused(f"{list(marks.shape)} marks for {len(x.shape)} dimensions")
    return w.reverse(x, np.flatnonzero(marks).tolist())


# ---- joined and taken apart ----------------------------------------------------------------------


def _joined(w: Writer, parts: Sequence[Value], axis: int) -> Value:
    if len(parts) == 1:
        return parts[0]
    first = parts[0].shape
    if any(p.shape[:axis] + p.shape[axis + 1 :] != first[:axis] + first[axis + 1 :] for p in parts):
        raise Refused(f"shapes {[list(p.shape) for p in parts]} along {axis}")
    total = (*first[:axis], sum(p.shape[axis] for p in parts), *first[axis + 1 :])
    return w.op("stablehlo.concatenate", parts, total, attrs=f"dimension = {axis} : i64")


@emits("ConcatV2", static=(-1,))
def concat(w: Writer, s: Site) -> Value:
    """Values one after another along an axis."""
    parts, (number,) = s.inputs[:-1], s.integers(len(s.inputs) - 1)
    return _joined(w, parts, _axis(number, len(parts[0].shape)))


@emits("Pack")
def pack(w: Writer, s: Site) -> Value:
    """Values along a new dimension."""
    axis = _axis(s.attr("axis"), len(s.inputs[0].shape) + 1)
    parts = [w.reshape(x, (*x.shape[:axis], 1, *x.shape[axis:])) for x in s.inputs]
    return _joined(w, parts, axis)


@emits("Unpack")
def unpack(w: Writer, s: Site) -> list[Value]:
    """Values along a dimension, which goes."""
    (x,) = s.inputs
    axis = _axis(s.attr("axis"), len(x.shape))
    rest = (*x.shape[:axis], *x.shape[axis + 1 :])
    return [w.reshape(part, rest) for part in _split(w, x, axis, [1] * x.shape[axis])]


@emits("Split", static=(0,))
def split(w: Writer, s: Site) -> list[Value]:
    """Equal parts along an axis."""
    x, count, (number,) = s.inputs[1], s.attr("num_split"), s.integers(0)
    axis = _axis(number, len(x.shape))
    if x.shape[axis] % count:
        raise Refused(f"{x.shape[axis]} into {count} parts")
    return _split(w, x, axis, [x.shape[axis] // count] * count)


@emits("SplitV", static=(1, 2))
def split_sizes(w: Writer, s: Site) -> list[Value]:
    """Parts of given sizes along an axis; one may follow from the others."""
    x, sizes, (number,) = s.inputs[0], s.integers(1), s.integers(2)
    axis = _axis(number, len(x.shape))
    if sizes.count(-1) == 1:
        sizes[sizes.index(-1)] = x.shape[axis] - sum(n for n in sizes if n >= 0)
    if min(sizes, default=0) < 0 or sum(sizes) != x.shape[axis]:
        raise Refused(f"{x.shape[axis]} into {s.integers(1)}")
    return _split(w, x, axis, sizes)


def _split(w: Writer, x: Value, axis: int, sizes: Sequence[int]) -> list[Value]:
    found, begin = [], 0
    for length in sizes:
        low, high = [0] * len(x.shape), list(x.shape)
        low[axis], high[axis] = begin, begin + length
        found.append(w.slice(x, low, high))
        begin += length
    return found


@emits("Slice", static=(1, 2))
def slice_(w: Writer, s: Site) -> Value:
    """Elements from a place on, so many in each dimension (-1: the rest)."""
    x, low, sizes = s.inputs[0], s.integers(1), s.integers(2)
    high = [
        size if n == -1 else begin + n for size, begin, n in zip(x.shape, low, sizes, strict=True)
    ]
    if any(not 0 <= a <= b <= n for a, b, n in zip(low, high, x.shape, strict=True)):
        raise Refused(f"{low} and {sizes} of {list(x.shape)}")
    return w.slice(x, low, high)


@emits("StridedSlice", static=(1, 2, 3))
def strided_slice(w: Writer, s: Site) -> Value:
    """Elements as Python's slices take them."""
    x = s.inputs[0]
    rows, final = _indices(s, len(x.shape))
    low, high, steps, back = [], [], [], []
    for axis, row in enumerate(rows):
        begin, end, step = row.indices(x.shape[axis])
        count = len(range(begin, end, step))
        if step < 0:
            begin, step = begin + (count - 1) * step, -step
            back.append(axis)
        begin = begin if count else 0
        low.append(begin)
        high.append(begin + (count - 1) * step + 1 if count else begin)
        steps.append(step)
    made = w.reverse(w.slice(x, low, high, steps), back)
    if any(kind == "drop" and made.shape[k] != 1 for k, kind in enumerate(_own(final))):
        raise Refused("an index is beyond its bounds")
    sizes = iter(made.shape)
    left = [(kind, 1 if kind == "new" else next(sizes)) for kind in final]
    return w.reshape(made, tuple(n for kind, n in left if kind != "drop"))


def _own(final: Sequence[str]) -> list[str]:
    """What becomes of the dimensions that there were."""
    return [kind for kind in final if kind != "new"]


def _indices(s: Site, rank: int) -> tuple[list[slice], list[str]]:
    """A slice for each dimension, and what becomes of it: kept or dropped; or a new one."""
    begins, ends, steps = (s.integers(k) for k in (1, 2, 3))
    masks = [s.attr(f"{name}_mask") for name in
             ("begin", "end", "ellipsis", "new_axis", "shrink_axis")]  # fmt: skip
    rows, final = list[slice](), list[str]()
    for k, (begin, end, step) in enumerate(zip(begins, ends, steps, strict=True)):
        of_begin, of_end, ellipsis, new_axis, shrink = (mask >> k & 1 for mask in masks)
        if ellipsis:
            left = rank - len(rows) - (len(begins) - k - 1) + _later(masks[3], k, len(begins))
            rows += [slice(None)] * left
            final += ["keep"] * left
        elif new_axis:
            final.append("new")
        elif shrink:
            rows.append(slice(begin, begin + 1 if begin != -1 else None, 1))
            final.append("drop")
        else:
            rows.append(slice(None if of_begin else begin, None if of_end else end, step))
            final.append("keep")
    if len(rows) > rank:
        raise Refused(f"{len(begins)} indices of {rank} dimensions")
    left = rank - len(rows)
    return rows + [slice(None)] * left, final + ["keep"] * left


def _later(mask: int, k: int, count: int) -> int:
    """How many bits of a mask are set after place ``k``."""
    return sum(mask >> j & 1 for j in range(k + 1, count))


# ---- larger ------------------------------------------------------------------------------------


@emits("Pad", "PadV2", static=(1,))
def pad(w: Writer, s: Site) -> Value:
    """A number around the elements."""
    x, around = s.inputs[0], s.array(1).reshape(-1, 2)
    number = s.inputs[2] if s.op == "PadV2" else w.scalar(0, x.dtype)
    pairs = [(int(low), int(high)) for low, high in around]
    if min((n for pair in pairs for n in pair), default=0) < 0 or len(pairs) != len(x.shape):
        raise Refused(f"its paddings are {around.tolist()}")
    return w.pad(x, number, pairs)


@emits("MirrorPad", static=(1,))
def mirror_pad(w: Writer, s: Site) -> Value:
    """What is inside again around it, with the edge (SYMMETRIC) or without."""
    x, pairs = s.inputs[0], s.array(1).reshape(-1, 2).tolist()
    offset = {"REFLECT": 1, "SYMMETRIC": 0}.get(text_of(s.attr("mode")))
    if offset is None or len(pairs) != len(x.shape):
        raise Refused(f"its paddings are {pairs}, its mode is {s.attr('mode')}")
    for axis, (before, after) in enumerate(pairs):
        size = x.shape[axis]
        if min(before, after) < 0 or max(before, after) > size - offset:
            raise Refused(f"borders of {before} and {after} mirror {size} elements")
        parts = [
            w.reverse(_split(w, x, axis, [begin, count])[1], [axis]) if count else None
            for count, begin in ((before, offset), (after, size - offset - after))
        ]
        x = _joined(w, [p for p in (parts[0], x, parts[1]) if p is not None], axis)
    return x


@emits("Tile", static=(1,))
def tile(w: Writer, s: Site) -> Value:
    """The elements again and again along each dimension."""
    x, times = s.inputs[0], s.integers(1)
    if min(times, default=0) < 0 or len(times) != len(x.shape):
        raise Refused(f"{times} times {list(x.shape)}")
    pairs = [n for pair in zip(times, x.shape, strict=True) for n in pair]
    spread = w.broadcast(x, tuple(pairs), range(1, 2 * len(times), 2))
    return w.reshape(spread, tuple(a * b for a, b in zip(times, x.shape, strict=True)))


@emits("BroadcastTo", static=(1,))
def broadcast_to(w: Writer, s: Site) -> Value:
    """The value in every place of a shape."""
    made = tuple(s.integers(1))
    if min(made, default=0) < 0 or np.broadcast_shapes(s.inputs[0].shape, made) != made:
        raise Refused(f"{list(s.inputs[0].shape)} to {list(made)}")
    return w.broadcast(s.inputs[0], made)


@emits("Range", static=(0, 1, 2))
def range_(w: Writer, s: Site) -> Value:
    """Whole numbers in equal steps; short rows are constants, as all that follows from such."""
    (start,), (limit,), (step,) = (s.integers(k) for k in range(3))
    dtype = s.dtype("Tidx")
    if dtype.kind not in "iu" or not step:
        raise Refused(f"steps of {step} {dtype}")
    count = max(0, -(-(limit - start) // step))
    numbers = w.op("stablehlo.iota", [], (count,), dtype, "iota_dimension = 0 : i64")
    spread = w.same("stablehlo.multiply", numbers, w.full(step, (count,), dtype))
    return w.same("stablehlo.add", spread, w.full(start, (count,), dtype))


@emits("Fill", static=(0,))
def fill(w: Writer, s: Site) -> Value:
    """A number in every place of a shape."""
    return w.broadcast(s.inputs[1], tuple(s.integers(0)))
