"""Ops of StableHLO over windows, indices and orders, with NumPy.

What a region combines is combined one after another, for all places at once: regions are made of
ops on elements, which take arrays as well.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from typing import Any, Final

import numpy as np

from drystone_pjrt.portable.numeric import Array, Op, Region, padded, wide

__all__ = ["OPS"]

Numbers = Sequence[int]


def _folded(rows: Sequence[Array], first: Sequence[Array], region: Region) -> list[Array]:
    """Arrays combined along their last axis, one element after another."""
    found = [np.broadcast_to(a, x.shape[:-1]) for a, x in zip(first, rows, strict=True)]
    for k in range(rows[0].shape[-1]):
        given = [*found, *(x[..., k] for x in rows)]
        made = region(given)
        found = [np.broadcast_to(m, f.shape).astype(f.dtype)
                 for m, f in zip(made, found, strict=True)]  # fmt: skip
    return found


def _quick(region: Region, x: Array) -> Any:
    """The function of NumPy that a region is, told by what it makes of two pairs; or None.

    Sums, products and extremes give different answers.
    """
    if x.dtype.kind not in "fiu" or x.dtype.itemsize < 4:
        return None
    try:
        first = float(region([np.asarray(2, x.dtype), np.asarray(3, x.dtype)])[0])
        second = float(region([np.asarray(7, x.dtype), np.asarray(5, x.dtype)])[0])
    except (ValueError, TypeError, IndexError):
        return None
    wanted = {(5.0, 12.0): np.add, (6.0, 35.0): np.multiply, (3.0, 7.0): np.maximum,
              (2.0, 5.0): np.minimum}  # fmt: skip
    return wanted.get((first, second))


def _reduce(op: Op) -> list[Array]:
    """Of arrays, along dimensions, from first values."""
    count, axes = len(op.given) // 2, op.whole("dimensions")
    kept = [k for k in range(op.given[0].ndim) if k not in axes]
    rows = []
    for x in op.given[:count]:
        shape = [x.shape[k] for k in kept]
        size = int(np.prod([x.shape[k] for k in axes], dtype=np.int64))
        rows.append(x.transpose(*kept, *axes).reshape(*shape, size))
    return _reduced(rows, op.given[count:], op.regions[0])


def _reduced(rows: list[Array], first: list[Array], region: Region) -> list[Array]:
    if len(rows) == 1 and rows[0].shape[-1] > 2 and _is_plain(region):
        function = _quick(region, rows[0])
        if function is not None:
            return [function(function.reduce(rows[0], axis=-1), first[0])]
    return _folded(rows, first, region)


def _is_plain(region: Region) -> bool:
    """Whether a region is one operation on its arguments, in their order or the other."""
    block = region.args[0]  # type: ignore[attr-defined]
    if len(block.operations) != 2 or len(block.arguments) != 2:
        return False
    operation, back = block.operations
    numbers = sorted(number for number, _ in block.arguments)
    return sorted(operation.operands) == numbers and back.operands == operation.results


def _windows(x: Array, sizes: Numbers, steps: Numbers, wide_by: Numbers) -> Array:
    """A view of the windows: places, then elements."""
    reach = [(size - 1) * by + 1 for size, by in zip(sizes, wide_by, strict=True)]
    if any(a > b for a, b in zip(reach, x.shape, strict=True)):
        places = [max(0, b - a + 1) for a, b in zip(reach, x.shape, strict=True)]
        places = [-(-p // s) for p, s in zip(places, steps, strict=True)]
        return np.empty((*places, *sizes), x.dtype)
    view = np.lib.stride_tricks.sliding_window_view(x, reach)
    outer = tuple(slice(None, None, step) for step in steps)
    inner = tuple(slice(None, None, by) for by in wide_by)
    return view[outer + inner]


def _reduce_window(op: Op) -> list[Array]:
    """The same within windows; the last five operands of a call are what the op has stated."""
    names = ("window_dimensions", "window_strides", "base_dilations", "window_dilations", "padding")
    given = op.given
    if "padding" in op.attrs:
        sizes, steps, apart, wide_by, around = (op.whole(name) for name in names)
    else:
        given, last = given[:-5], given[-5:]
        sizes, steps, apart, wide_by, around = ([int(n) for n in v.reshape(-1)] for v in last)
    count = len(given) // 2
    rows = []
    for x, first in zip(given[:count], given[count:], strict=True):
        more = [n - 1 for n in apart]
        windows = _windows(padded(x, first, around[::2], around[1::2], more), sizes, steps, wide_by)
        rows.append(windows.reshape(*windows.shape[: x.ndim], -1))
    return _reduced(rows, list(given[count:]), op.regions[0])


# ---- orders --------------------------------------------------------------------------------------


def _sort(op: Op) -> list[Array]:
    """By a comparison of each with each, so that equal ones keep their order."""
    (axis,) = op.whole("dimension")
    rows = [np.moveaxis(x, axis, -1) for x in op.given]
    size = rows[0].shape[-1]
    rank = np.zeros(rows[0].shape, np.int64)
    for k in range(size):
        one = [x[..., k : k + 1] for x in rows]
        before = _compared(op.regions[0], one, rows)
        after = _compared(op.regions[0], rows, one)
        earlier = np.arange(size) > k
        rank += np.where(before, 1, np.where(after, 0, earlier))
    place = np.argsort(rank, axis=-1, kind="stable")
    return [np.moveaxis(np.take_along_axis(x, place, -1), -1, axis) for x in rows]


def _compared(region: Region, left: Sequence[Array], right: Sequence[Array]) -> Array:
    pairs = [value for pair in zip(left, right, strict=True) for value in pair]
    shape = np.broadcast_shapes(*(value.shape for value in pairs))
    return region([np.broadcast_to(value, shape) for value in pairs])[0]


# ---- indices -------------------------------------------------------------------------------------


def _starts(op: Op, x: Array, indices: Array, names: Sequence[str]) -> Array:
    """Where windows begin, ``[..., rank of x]``; ``names``: of attributes."""
    to, own, others = (op.whole(name) if name in op.attrs else [] for name in names)
    (axis,) = op.whole("index_vector_dim")
    vectors = indices[..., None] if axis == indices.ndim else np.moveaxis(indices, axis, -1)
    out = np.zeros((*vectors.shape[:-1], x.ndim), np.int64)
    for k, dim in enumerate(to):
        out[..., dim] = vectors[..., k]
    for dim, other in zip(own, others, strict=True):
        at = other - (axis < other)
        between = [-1 if k == at else 1 for k in range(vectors.ndim - 1)]
        out[..., dim] = np.arange(vectors.shape[at]).reshape(between)
    return out


def _gather(op: Op) -> Array:
    x, indices = op.given[:2]
    sizes = [int(n) for n in op.given[2]] if len(op.given) > 2 else op.whole("slice_sizes")
    names = ("start_index_map", "operand_batching_dims", "start_indices_batching_dims")
    starts = _starts(op, x, indices, names)
    starts = np.clip(starts, 0, np.asarray(x.shape) - sizes)
    own = op.whole("operand_batching_dims") if "operand_batching_dims" in op.attrs else []
    gone = {*op.whole("collapsed_slice_dims"), *own}
    inner = [k for k in range(x.ndim) if k not in gone]
    outer = starts.ndim - 1
    index = []
    for k in range(x.ndim):
        place = starts[..., k].reshape(*starts.shape[:-1], *[1] * len(inner))
        if k in inner:
            between = [1] * (outer + len(inner))
            between[outer + inner.index(k)] = sizes[k]
            place = place + np.arange(sizes[k]).reshape(between)
        index.append(place)
    shape = (*starts.shape[:-1], *(sizes[k] for k in inner))
    found = np.broadcast_to(x[tuple(index)], shape)
    apart = op.whole("offset_dims")
    rest = iter(range(outer))
    order = [outer + apart.index(k) if k in apart else next(rest) for k in range(found.ndim)]
    return found.transpose(order)


def _scatter(op: Op) -> list[Array]:
    count = (len(op.given) - 1) // 2
    indices, news = op.given[count], op.given[count + 1 :]
    outs = [x.copy() for x in op.given[:count]]
    names = ("scatter_dims_to_operand_dims", "input_batching_dims",
             "scatter_indices_batching_dims")  # fmt: skip
    starts = _starts(op, outs[0], indices, names)
    own = op.whole("input_batching_dims") if "input_batching_dims" in op.attrs else []
    gone = {*op.whole("inserted_window_dims"), *own}
    inner = [k for k in range(outs[0].ndim) if k not in gone]
    apart = op.whole("update_window_dims")
    order = [*(k for k in range(news[0].ndim) if k not in apart), *apart]
    turned = [new.transpose(order) for new in news]
    sizes = np.ones(outs[0].ndim, np.int64)
    sizes[inner] = [news[0].shape[k] for k in apart]
    for place in product(*map(range, starts.shape[:-1])):
        start = starts[place]
        if (start < 0).any() or (start + sizes > outs[0].shape).any():
            continue
        part = tuple(slice(a, a + n) if k in inner else int(a)
                     for k, (a, n) in enumerate(zip(start, sizes, strict=True)))  # fmt: skip
        given = [*(x[part] for x in outs), *(new[place] for new in turned)]
        for x, value in zip(outs, op.regions[0](given), strict=True):
            x[part] = value
    return outs


def _select_and_scatter(op: Op) -> Array:
    """Each source goes to the element of its window that is selected."""
    x, source, first = op.given
    ones, around = [1] * x.ndim, op.whole("padding")
    sizes, steps = op.whole("window_dimensions"), op.whole("window_strides")
    low, high = around[::2], around[1::2]
    none = [0] * x.ndim
    size = x.size
    numbers = padded(np.arange(size).reshape(x.shape), np.asarray(-1), low, high, none)
    values = padded(x, np.zeros((), x.dtype), low, high, none)
    n = x.ndim
    of, at = (_windows(v, sizes, steps, ones) for v in (values, numbers))
    of, at = of.reshape(*of.shape[:n], -1), at.reshape(*at.shape[:n], -1)
    best, place = of[..., 0], at[..., 0]
    for k in range(1, of.shape[-1]):
        stays = op.regions[0]([best, of[..., k]])[0] & (place >= 0) | (at[..., k] < 0)
        best, place = np.where(stays, best, of[..., k]), np.where(stays, place, at[..., k])
    out = np.broadcast_to(first, (size,)).astype(x.dtype)
    for to, value in zip(place.reshape(-1), source.reshape(-1), strict=True):
        out[to] = op.regions[1]([out[to], value])[0]
    return out.reshape(x.shape)


# ---- convolution ---------------------------------------------------------------------------------


def _convolution(op: Op) -> Array:
    x, kernel = map(wide, op.given[:2])
    if "padding" in op.attrs:
        around = op.whole("padding")
    else:
        around = [int(n) for n in op.given[2].reshape(-1)]
    spatial, inside = op.whole("input_spatial_dimensions"), op.whole("kernel_spatial_dimensions")
    x = x.transpose(*op.whole("input_batch_dimension"), *op.whole("input_feature_dimension"),
                    *spatial)  # fmt: skip
    kernel = kernel.transpose(*op.whole("kernel_output_feature_dimension"),
                              *op.whole("kernel_input_feature_dimension"), *inside)  # fmt: skip
    turned = [k + 2 for k, is_turned in enumerate(op.whole("window_reversal")) if is_turned]
    kernel = np.flip(kernel, tuple(turned))
    more = [0, 0, *(n - 1 for n in op.whole("lhs_dilation"))]
    x = padded(x, np.zeros((), x.dtype), [0, 0, *around[::2]], [0, 0, *around[1::2]], more)
    (batches,), (groups,) = op.whole("batch_group_count"), op.whole("feature_group_count")
    steps, wide_by = op.whole("window_strides"), op.whole("rhs_dilation")
    parts = max(batches, groups)
    xs = np.split(x, batches, 0) if batches > 1 else np.split(x, groups, 1)
    kernels = np.split(kernel, parts, 0)
    found = [_convolved(a, b, steps, wide_by) for a, b in zip(xs, kernels, strict=True)]
    out = np.concatenate(found, 1)
    order = [0] * out.ndim
    places = (*op.whole("output_batch_dimension"), *op.whole("output_feature_dimension"),
              *op.whole("output_spatial_dimensions"))  # fmt: skip
    for k, at in enumerate(places):
        order[at] = k
    return out.transpose(order)


def _convolved(x: Array, kernel: Array, steps: Numbers, wide_by: Numbers) -> Array:
    """``[n, c, ...]`` with ``[f, c, ...]``."""
    n = x.ndim - 2
    views = _windows(x, [1, 1, *kernel.shape[2:]], [1, 1, *steps], [1, 1, *wide_by])
    views = views.reshape(*views.shape[: n + 2], *kernel.shape[2:])
    axes = [1, *range(n + 2, 2 * n + 2)], [1, *range(2, n + 2)]
    return np.moveaxis(np.tensordot(views, kernel, axes), -1, 1)


OPS: Final[dict[str, Callable[[Op], Any]]] = {
    "convolution": _convolution, "dynamic_conv": _convolution, "dynamic_gather": _gather,
    "gather": _gather, "reduce": _reduce, "reduce_window": _reduce_window, "scatter": _scatter,
    "select_and_scatter": _select_and_scatter, "sort": _sort,
    "stablehlo.dynamic_reduce_window": _reduce_window,
}  # fmt: skip
