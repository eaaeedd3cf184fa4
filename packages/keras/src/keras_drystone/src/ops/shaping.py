"""Shapes and the order of elements."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
from keras.src.backend.common.backend_utils import normalize_shift_and_axis

from keras_drystone.src.dispatch import emit, is_symbolic, outputs
from keras_drystone.src.ops.core import as_tensor, cast, convert_to_tensor, shape
from keras_drystone.src.ops.operands import alike, kind_of, like, one_axis, sizes

__all__ = [
    "append", "array_split", "broadcast_to", "column_stack", "concatenate", "copy", "diag",
    "diagflat", "diagonal", "diff", "dsplit", "dstack", "expand_dims", "flip", "fliplr", "flipud",
    "hsplit", "hstack", "meshgrid", "moveaxis", "ndim", "pad", "ravel", "repeat", "reshape", "roll",
    "rot90", "split", "squeeze", "stack", "swapaxes", "tile", "transpose", "tril", "triu", "vsplit",
    "vstack",
]  # fmt: skip


def along(x: Any, axis: int, start: Any, stop: Any, step: int | None = None) -> Any:
    """A slice of one axis."""
    key = [slice(None)] * x.ndim
    key[axis] = slice(start, stop, step)
    from keras_drystone.src.ops.indexing import getitem

    return getitem(x, tuple(key))


def reshape(x: Any, newshape: Any) -> Any:
    """The elements in another shape; of its sizes one may be -1, and some symbolic."""
    x = as_tensor(x)
    wanted = newshape
    if isinstance(wanted, list | tuple) and None in [d for d in wanted if not is_symbolic(d)]:
        wanted = tuple(-1 if not is_symbolic(d) and d is None else d for d in wanted)
    return emit("Reshape", x, sizes(wanted))


def ravel(x: Any) -> Any:
    """The elements in one row."""
    return reshape(x, (-1,))


def transpose(x: Any, axes: Any = None) -> Any:
    """The axes in another order, reversed by default."""
    x = as_tensor(x)
    order = range(x.ndim)[::-1] if axes is None else [one_axis(a, x.ndim) for a in axes]
    return emit("Transpose", x, np.asarray(list(order), np.int32))


def swapaxes(x: Any, axis1: int, axis2: int) -> Any:
    """Two axes in each other's place."""
    x = as_tensor(x)
    order = list(range(x.ndim))
    order[axis1], order[axis2] = order[axis2], order[axis1]
    return transpose(x, order)


def moveaxis(x: Any, source: Any, destination: Any) -> Any:
    """Axes at other places, the rest in their order."""
    x = as_tensor(x)
    first = [source] if isinstance(source, int) else list(source)
    second = [destination] if isinstance(destination, int) else list(destination)
    first, second = ([one_axis(a, x.ndim) for a in axes] for axes in (first, second))
    order = [k for k in range(x.ndim) if k not in first]
    for to, source_axis in sorted(zip(second, first, strict=True)):
        order.insert(to, source_axis)
    return transpose(x, order)


def expand_dims(x: Any, axis: Any) -> Any:
    """Axes of size 1 at places of the result."""
    x = as_tensor(x)
    axes = [axis] if isinstance(axis, int | np.integer) else list(axis)
    rank = x.ndim + len(axes)
    for place in sorted(one_axis(a, rank) for a in axes):
        x = emit("ExpandDims", x, np.int32(place))
    return x


def squeeze(x: Any, axis: Any = None) -> Any:
    """Without axes of size 1: all of them, or those that are named."""
    x = as_tensor(x)
    if axis is None:
        axes = [k for k, d in enumerate(x.shape) if d == 1]
    else:
        chosen = [axis] if isinstance(axis, int) else list(axis)
        axes = [one_axis(a, x.ndim) for a in chosen]
        wrong = [a for a in axes if x.shape[a] not in (1, None)]
        if wrong:
            raise ValueError(f"cannot squeeze axis {wrong[0]} of size {x.shape[wrong[0]]}")
    return emit("Squeeze", x, squeeze_dims=axes) if axes else x


def broadcast_to(x: Any, shape: Any) -> Any:
    """The elements repeated to a shape."""
    return emit("BroadcastTo", convert_to_tensor(x), sizes(shape))


def concatenate(xs: Any, axis: int | None = 0) -> Any:
    """One after another along an axis; all their elements in one row where it is None."""
    parts = alike(xs)
    if axis is None:
        parts, axis = [ravel(part) for part in parts], 0
    if len(parts) == 1:
        return parts[0]
    return emit("ConcatV2", parts, np.int32(one_axis(axis, parts[0].ndim)))


def stack(x: Any, axis: int = 0) -> Any:
    """One beside another along a new axis."""
    parts = alike(x)
    return emit("Pack", parts, axis=one_axis(axis, parts[0].ndim + 1))


def append(x1: Any, x2: Any, axis: Any = None) -> Any:
    """The second one behind the first one."""
    x, y = alike([x1, x2])
    return concatenate([ravel(x), ravel(y)], 0) if axis is None else concatenate([x, y], axis)


def at_least(x: Any, rank: int) -> Any:
    """With axes of size 1, as NumPy's ``atleast_2d`` and ``atleast_3d``."""
    x = as_tensor(x)
    if x.ndim == 0:
        return reshape(x, (1,) * rank)
    if x.ndim == 1:
        return expand_dims(x, 0 if rank == 2 else (0, 2))
    return expand_dims(x, 2) if x.ndim == 2 and rank == 3 else x


def vstack(xs: Any) -> Any:
    """One below another."""
    return concatenate([at_least(x, 2) for x in alike(xs)], 0)


def hstack(xs: Any) -> Any:
    """One beside another."""
    parts = [reshape(x, (1,)) if x.ndim == 0 else x for x in alike(xs)]
    return concatenate(parts, 0 if parts[0].ndim == 1 else 1)


def dstack(xs: Any) -> Any:
    """One behind another."""
    return concatenate([at_least(x, 3) for x in alike(xs)], 2)


def column_stack(xs: Any) -> Any:
    """Rows as columns, beside one another."""
    parts = [reshape(x, (-1, 1)) if x.ndim < 2 else x for x in alike(xs)]
    return concatenate(parts, 1)


def split(x: Any, indices_or_sections: Any, axis: int = 0) -> list[Any]:
    """Equal parts, or parts between indices."""
    x = as_tensor(x)
    place = one_axis(axis, x.ndim)
    if not isinstance(indices_or_sections, int | np.integer):
        return _between(x, [int(i) for i in indices_or_sections], place)
    size = x.shape[place]
    count = int(indices_or_sections)
    if size is not None and size % count:
        raise ValueError(f"array split does not result in an equal division: {size} by {count}")
    return outputs("Split", np.int32(place), x, num_split=count)


def _between(x: Any, indices: Sequence[int], axis: int) -> list[Any]:
    bounds = [None, *indices, None]
    return [along(x, axis, a, b) for a, b in itertools.pairwise(bounds)]


def array_split(x: Any, indices_or_sections: Any, axis: int = 0) -> list[Any]:
    """Parts of sizes that differ by 1 at most, or parts between indices."""
    x = as_tensor(x)
    place = one_axis(axis, x.ndim)
    if not isinstance(indices_or_sections, int):
        return split(x, indices_or_sections, axis)
    size = x.shape[place]
    if size is None:
        raise ValueError("array_split needs a known size of the axis")
    each, more = divmod(size, indices_or_sections)
    lengths = [each + 1] * more + [each] * (indices_or_sections - more)
    return _between(x, list(np.cumsum(lengths)[:-1].tolist()), place)


def vsplit(x: Any, indices_or_sections: Any) -> list[Any]:
    """Parts of rows."""
    return split(x, indices_or_sections, 0)


def hsplit(x: Any, indices_or_sections: Any) -> list[Any]:
    """Parts of columns."""
    x = as_tensor(x)
    return split(x, indices_or_sections, 0 if x.ndim == 1 else 1)


def dsplit(x: Any, indices_or_sections: Any) -> list[Any]:
    """Parts of the third axis."""
    return split(x, indices_or_sections, 2)


def tile(x: Any, repeats: Any) -> Any:
    """The whole several times."""
    x = as_tensor(x)
    given = [repeats] if isinstance(repeats, int) else repeats
    if isinstance(given, list | tuple):
        given = [1] * (x.ndim - len(given)) + list(given)
        rank = len(given)
    else:
        given = convert_to_tensor(given)
        rank = x.ndim
    if rank > x.ndim:
        x = expand_dims(x, tuple(range(rank - x.ndim)))
    return emit("Tile", x, sizes(given))


def repeat(x: Any, repeats: Any, axis: int | None = None) -> Any:
    """Each element several times."""
    x = as_tensor(x)
    if axis is None:
        x, axis = ravel(x), 0
    axis = one_axis(axis, x.ndim)
    counts = convert_to_tensor(repeats)
    if not is_symbolic(counts) and np.size(counts) == 1:
        count = int(np.reshape(counts, ()))
        wide = expand_dims(x, axis + 1)
        wide = tile(wide, [count if k == axis + 1 else 1 for k in range(wide.ndim)])
        new = list(shape(x))
        new[axis] = new[axis] * count if new[axis] is not None else -1
        return reshape(wide, new)
    return _repeated(x, cast(counts, "int32"), axis)


def _repeated(x: Any, counts: Any, axis: int) -> Any:
    """Element k comes where the running sum of counts first exceeds the place."""
    from keras_drystone.src.ops import reducing
    from keras_drystone.src.ops.creating import arange
    from keras_drystone.src.ops.indexing import take

    ends = reducing.cumsum(counts)
    places = arange(reducing.sum(counts), dtype="int32")
    found = emit("UpperBound", expand_dims(ends, 0), expand_dims(places, 0))
    return take(x, squeeze(found, 0), axis)


def flip(x: Any, axis: Any = None) -> Any:
    """Axes the other way round, all by default."""
    x = as_tensor(x)
    axes = range(x.ndim) if axis is None else [axis] if isinstance(axis, int) else axis
    return emit("ReverseV2", x, np.asarray([one_axis(a, x.ndim) for a in axes], np.int32))


def fliplr(x: Any) -> Any:
    """Left and right exchanged."""
    return flip(x, 1)


def flipud(x: Any) -> Any:
    """Up and down exchanged."""
    return flip(x, 0)


def rot90(array: Any, k: int = 1, axes: Sequence[int] = (0, 1)) -> Any:
    """Rotated by quarters in the plane of two axes."""
    x = as_tensor(array)
    if x.ndim < 2:
        raise ValueError(
            f"Input array must have at least 2 dimensions. Received: array.ndim={x.ndim}"
        )
    if len(axes) != 2 or axes[0] == axes[1]:
        raise ValueError(f"Invalid axes: {axes}. Axes must be a tuple of two different dimensions.")
    first, second = axes
    k %= 4
    if k == 0:
        return x
    if k == 2:
        return flip(flip(x, first), second)
    return (
        swapaxes(flip(x, second), first, second)
        if k == 1
        else flip(swapaxes(x, first, second), second)
    )


def roll(x: Any, shift: Any, axis: Any = None) -> Any:
    """Shifted along axes; what leaves at one end comes in at the other."""
    x = as_tensor(x)
    if axis is None:
        return reshape(roll(ravel(x), np.sum(shift).tolist(), 0), shape(x))
    shifts, axes = normalize_shift_and_axis(shift, axis)
    places = [one_axis(a, x.ndim) for a in axes]
    return emit("Roll", x, np.asarray(shifts, np.int32), np.asarray(places, np.int32))


_MODES = {"reflect": "REFLECT", "symmetric": "SYMMETRIC"}


def pad(x: Any, pad_width: Any, mode: str = "constant", constant_values: Any = None) -> Any:
    """More elements at both ends of axes: constants, or mirrored ones."""
    x = as_tensor(x)
    if mode != "constant" and constant_values is not None:
        raise ValueError(
            "Argument `constant_values` can only be provided when `mode == 'constant'`. "
            f"Received: mode={mode}"
        )
    widths = _widths(pad_width, x.ndim)
    if mode == "constant":
        return emit("PadV2", x, widths, like(0 if constant_values is None else constant_values, x))
    if mode == "edge":
        return _edges(x, widths)
    if mode not in _MODES:
        raise ValueError(f"Invalid mode: {mode}. Expected constant, edge, reflect or symmetric.")
    return emit("MirrorPad", x, widths, mode=_MODES[mode])


def _widths(pad_width: Any, rank: int) -> Any:
    widths = convert_to_tensor(pad_width, "int32")
    return widths if is_symbolic(widths) else np.broadcast_to(widths, (rank, 2)).astype(np.int32)


def _edges(x: Any, widths: Any) -> Any:
    for axis, (before, after) in enumerate(np.asarray(widths).tolist()):
        parts = [along(x, axis, 0, 1)] * before + [x] + [along(x, axis, -1, None)] * after
        x = concatenate(parts, axis)
    return x


def copy(x: Any) -> Any:
    """A copy."""
    x = as_tensor(x)
    return emit("Identity", x) if is_symbolic(x) else np.array(x)


def ndim(x: Any) -> Any:
    """The number of axes."""
    return as_tensor(x).ndim


def meshgrid(*x: Any, indexing: str = "xy") -> list[Any]:
    """Coordinates of a grid."""
    if indexing not in ("xy", "ij"):
        raise ValueError(f"Valid values for `indexing` are 'xy' and 'ij', but received {indexing}.")
    parts = [convert_to_tensor(v) for v in x]
    count = len(parts)
    full = []
    places = list(range(count))
    if indexing == "xy" and count > 1:
        places[0], places[1] = 1, 0
    lengths: list[Any] = [None] * count
    for part, place in zip(parts, places, strict=True):
        flat = ravel(part)
        lengths[place] = shape(flat)[0]
        full.append(reshape(flat, [-1 if k == place else 1 for k in range(count)]))
    return [broadcast_to(part, tuple(lengths)) for part in full]


def diagonal(x: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    """A diagonal of the plane of two axes, as the last axis."""
    x = as_tensor(x)
    if x.ndim < 2:
        raise ValueError("`x` must be at least 2-D")
    moved = moveaxis(x, (axis1, axis2), (-2, -1))
    return emit("MatrixDiagPartV3", moved, np.int32(offset), like(0, x))


def diag(x: Any, k: int = 0) -> Any:
    """The diagonal of a matrix, or the matrix with a diagonal."""
    x = as_tensor(x)
    if x.ndim == 1 and x.shape[0] == 0:  # no diagonal, and the zeros beside it
        return emit("Fill", np.array([abs(k), abs(k)], np.int32), like(0, x))
    if x.ndim == 1:
        return emit("MatrixDiagV3", x, np.int32(k), np.int32(-1), np.int32(-1), like(0, x))
    if x.ndim == 2:
        return diagonal(x, k)
    raise ValueError("Input must be 1- or 2-d.")


def diagflat(x: Any, k: int = 0) -> Any:
    """The matrix with all elements on a diagonal."""
    return diag(ravel(x), k)


def tril(x: Any, k: int = 0) -> Any:
    """The lower triangle; 0 above a diagonal."""
    return _triangle(x, k, lower=True)


def triu(x: Any, k: int = 0) -> Any:
    """The upper triangle; 0 below a diagonal."""
    return _triangle(x, k, lower=False)


def _triangle(x: Any, k: int, lower: bool) -> Any:
    from keras_drystone.src.ops.creating import arange

    x = as_tensor(x)
    rows, columns = shape(x)[-2:]
    row, column = arange(rows, dtype="int32"), arange(columns, dtype="int32")
    distance = emit("Sub", expand_dims(column, 0), expand_dims(row, 1))
    kept = emit("LessEqual" if lower else "GreaterEqual", distance, np.int32(k))
    return emit("SelectV2", kept, x, like(0, x) if kind_of(x) != "bool" else like(False, x))


def diff(a: Any, n: int = 1, axis: int = -1) -> Any:
    """Differences of neighbours along an axis."""
    x = as_tensor(a)
    axis = one_axis(axis, x.ndim)
    op = "NotEqual" if kind_of(x) == "bool" else "Sub"
    for _ in range(n):
        x = emit(op, along(x, axis, 1, None), along(x, axis, None, -1))
    return x
