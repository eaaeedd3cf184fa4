"""XLA's gather and scatter, and its loops over windows and dimensions by functions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from drystone_base.kernels._indices import int_vector, scalar_int, wrap_axis
from drystone_base.kernels._limits import check_size
from drystone_base.kernels._registry import Array, Call, kernel
from drystone_base.kernels.control_flow.functional import if_, while_
from drystone_base.kernels.nn._windows import Window
from drystone_base.kernels.xla._elementwise_calls import accumulate, elementwise, fold
from drystone_base.ops.dimension_numbers import parse_numbers

__all__: list[str] = []

kernel("XlaIf")(if_)
kernel("XlaWhile")(while_)


class _Places(NamedTuple):
    """Gather's and scatter's dimension numbers; the two messages number them alike."""

    window: list[int]
    dropped: list[int]
    to_operand: list[int]
    vector: int
    operand_batch: list[int]
    index_batch: list[int]


def _places(call: Call) -> _Places:
    found = parse_numbers(call.attrs["dimension_numbers"])
    rows = [found.get(k, []) for k in range(1, 7)]
    window, dropped, to_operand, vector, operand_batch, index_batch = rows
    place = (vector or [0])[-1]
    return _Places(window, dropped, to_operand, place, operand_batch, index_batch)


def _starts(call: Call, x: Array, indices: Array, at: _Places) -> Array:
    """Where each slice starts: ``[*batch, rank of x]``."""
    wide = indices[..., None] if at.vector == indices.ndim else np.moveaxis(indices, at.vector, -1)
    call.require(
        0 <= at.vector <= indices.ndim
        and wide.shape[-1] == len(at.to_operand)
        and all(0 <= d < x.ndim for d in [*at.to_operand, *at.operand_batch])
        and len(at.operand_batch) == len(at.index_batch),
        "the index vectors must have one entry for each dimension that they index",
        found=f"{list(indices.shape)}, vectors along {at.vector}, for {at.to_operand}",
        needed=f"{len(at.to_operand)} entries, dimensions below {x.ndim}",
    )
    lead = wide.shape[:-1]
    out = np.zeros((*lead, x.ndim), np.int64)
    for k, d in enumerate(at.to_operand):
        out[..., d] = wide[..., k]
    for d, place in zip(at.operand_batch, at.index_batch, strict=True):
        own = place - (place > at.vector)
        shape = [-1 if k == own else 1 for k in range(len(lead))]
        out[..., d] = np.arange(lead[own]).reshape(shape)
    return out


def _flat(starts: Array, sizes: Sequence[int], shape: Sequence[int]) -> Array:
    """Flat places of every element of every slice: ``[*batch, *sizes]``."""
    rank, lead = len(shape), starts.ndim - 1
    out = np.zeros((*starts.shape[:-1], *[1] * rank), np.int64)
    for d, (n, size) in enumerate(zip(shape, sizes, strict=True)):
        along = np.arange(size).reshape([-1 if k == d else 1 for k in range(rank)])
        place = starts[..., d].reshape(*starts.shape[:lead], *[1] * rank) + along
        out = out * n + place
    return out


@kernel("XlaGather")
def xla_gather(call: Call, x: Array, indices: Array, slice_sizes: Array) -> Array:
    """Slices of one size from many places, moved inside where they reach out."""
    at, sizes = _places(call), int_vector(call, slice_sizes, "slice_sizes")
    call.require(
        len(sizes) == x.ndim and all(0 <= k <= n for k, n in zip(sizes, x.shape, strict=True)),
        "slices must fit the operand",
        found=list(sizes),
        needed=f"at most {list(x.shape)}",
    )
    gone = [*at.dropped, *at.operand_batch]
    call.require(
        all(sizes[d] <= 1 for d in gone) and len(at.window) == x.ndim - len(gone),
        "dropped dimensions must have slices of 1, the others a place in the output",
        found=f"{list(sizes)}, dropped {gone}, offset dimensions {at.window}",
        needed=f"{x.ndim - len(gone)} offset dimensions",
    )
    starts = np.clip(_starts(call, x, indices, at), 0, np.array(x.shape) - np.array(sizes, int))
    places = _flat(starts, sizes, x.shape)
    lead = starts.ndim - 1
    check_size(call, places.shape, x.dtype)
    taken = x.reshape(-1)[places] if x.size else np.zeros(places.shape, x.dtype)
    shape = [n for k, n in enumerate(places.shape) if k - lead not in gone]
    check_size(call, shape, x.dtype)
    out = taken.reshape(shape) if taken.size else np.zeros(shape, x.dtype)
    batch = [k for k in range(out.ndim) if k not in at.window]
    order = [0] * out.ndim
    for k, place in enumerate([*batch, *at.window]):
        order[place] = k
    return out.transpose(order)


@kernel("XlaScatter")
def xla_scatter(call: Call, x: Array, indices: Array, updates: Array) -> Array:
    """Slices joined with those of the operand by a function; those that reach out are skipped."""
    at = _places(call)
    starts = _starts(call, x, indices, at)
    gone = [*at.dropped, *at.operand_batch]
    kept = [d for d in range(x.ndim) if d not in gone]
    batch = [k for k in range(updates.ndim) if k not in at.window]
    call.require(
        len(at.window) == len(kept)
        and tuple(updates.shape[k] for k in batch) == starts.shape[:-1]
        and all(0 <= k < updates.ndim for k in at.window),
        "updates must have the batch of the indices, and a window dimension for each kept one",
        found=f"{list(updates.shape)}, windows {at.window}",
        needed=f"batch {list(starts.shape[:-1])}, {len(kept)} windows",
    )
    sizes = [1] * x.ndim
    for d, k in zip(kept, at.window, strict=True):
        sizes[d] = updates.shape[k]
    inside = ((starts >= 0) & (starts + np.array(sizes, int) <= np.array(x.shape, int))).all(-1)
    places = _flat(starts, sizes, x.shape)[inside]
    values = updates.transpose(*batch, *at.window).reshape(*starts.shape[:-1], *sizes)[inside]
    out = x.reshape(-1).copy()
    accumulate(
        elementwise(call, call.attrs["update_computation"]), out, places.ravel(), values.ravel()
    )
    return out.reshape(x.shape)


def _folded(
    call: Call, values: Sequence[Array], first: Sequence[Array], axes: Sequence[int]
) -> list[Array]:
    shape = values[0].shape
    call.require(
        all(x.shape == shape for x in values) and all(v.ndim == 0 for v in first),
        "inputs must have one shape, and initial values be scalars",
        found=f"{[list(x.shape) for x in values]} and {[list(v.shape) for v in first]}",
        needed="equal shapes, rank 0",
    )
    call.require(
        len(set(axes)) == len(axes) and all(0 <= a < len(shape) for a in axes),
        "dimensions_to_reduce must be dimensions of the input",
        found=list(axes),
        needed=f"numbers below {len(shape)}",
    )
    if not axes:
        return list(values)
    kept = [d for d in range(len(shape)) if d not in axes]
    lead = [shape[d] for d in kept]
    count = math.prod(shape[a] for a in axes)
    parts = [x.transpose(*kept, *sorted(axes)).reshape(*lead, count) for x in values]
    return fold(elementwise(call, call.attrs["reducer"]), parts, first)


@kernel("XlaReduce", "XlaVariadicReduce", "XlaVariadicReduceV2")
def xla_reduce(call: Call, *args: Array) -> list[Array]:
    """Dimensions folded by a function of two elements (of each of the inputs)."""
    count = len(args) // 2
    return _folded(call, args[:count], args[count:], call.attrs["dimensions_to_reduce"])


def _window(call: Call, x: Array, vectors: Sequence[Array], pads: Array) -> Window:
    """Window over all dimensions of ``[1, *x, 1]``: sizes, strides, dilations."""
    sizes, strides, rates = (int_vector(call, v, "a window") for v in vectors)
    call.require(
        len(sizes) == len(strides) == len(rates) == x.ndim
        and pads.shape == (x.ndim, 2)
        and min([*sizes, *strides, *rates], default=1) >= 1,
        "a window must have a positive size, stride and dilation for each dimension",
        found=f"{list(sizes)}, {list(strides)}, {list(rates)}, padding {list(pads.shape)}",
        needed=f"{x.ndim} of each",
    )
    before, after = (tuple(int(v) for v in column) for column in pads.T)
    full = [n + a + b for n, a, b in zip(x.shape, before, after, strict=True)]
    rows = zip(full, sizes, strides, rates, strict=True)
    out = tuple(max((n - (k - 1) * r - 1) // s + 1, 0) for n, k, s, r in rows)
    return Window(x.shape, sizes, strides, rates, before, after, out)


@kernel("XlaReduceWindow")
def reduce_window(call: Call, x: Array, first: Array, *rest: Array) -> Array:
    """The elements of every window folded by a function; holes and padding count for nothing."""
    sizes, strides, spread, rates, pads = rest
    holes = int_vector(call, spread, "base_dilations")
    call.require(
        len(holes) == x.ndim and min(holes, default=1) >= 1 and pads.shape == (x.ndim, 2),
        "base_dilations and padding must have an entry for each dimension",
        found=f"{list(holes)} and {list(pads.shape)}",
        needed=f"{x.ndim}",
    )
    shape = [(n - 1) * r + 1 if n else 0 for n, r in zip(x.shape, holes, strict=True)]
    rows = zip(pads.tolist(), shape, strict=True)
    cut = [slice(max(-a, 0), n - max(-b, 0)) for (a, b), n in rows]
    base, there = np.zeros(shape, x.dtype), np.zeros(shape, bool)
    grid = tuple(slice(None, None, r) for r in holes)
    base[grid], there[grid] = x, True
    base, there = base[tuple(cut)], there[tuple(cut)]
    window = _window(call, base, (sizes, strides, rates), np.maximum(pads, 0))
    check_size(call, (*window.out, window.taps), x.dtype)
    view, present = (
        window.view(np.ascontiguousarray(window.pad(v[None, ..., None])))[0, ..., 0].reshape(
            *window.out, window.taps
        )
        for v in (base, there)
    )
    return fold(elementwise(call, call.attrs["computation"]), [view], [first], present)[0]


@kernel("XlaSelectAndScatter")
def select_and_scatter(call: Call, x: Array, *rest: Array) -> Array:
    """The source's elements joined into where a function selects in each window."""
    sizes, strides, pads, source, first = rest
    window = _window(call, x, (sizes, strides, np.ones_like(sizes)), pads)
    call.require(
        source.shape == window.out, "the source must have one element for each window",
        found=list(source.shape), needed=list(window.out),
    )  # fmt: skip
    select = elementwise(call, call.attrs["select"])
    flat = np.arange(x.size, dtype=np.int64).reshape(x.shape)
    places = window.pad(flat[None, ..., None], -1)
    chosen = np.full(window.out, -1, np.int64)
    values = x.reshape(-1)
    for _, tap in window.each_tap(places):
        given = tap[0, ..., 0]
        better = (given >= 0) & (chosen < 0)
        both = (given >= 0) & (chosen >= 0)
        if both.any():
            (keep,) = select([values[chosen[both]], values[given[both]]])
            better[both] = ~keep
        chosen = np.where(better, given, chosen)
    out = np.full(x.size, first, x.dtype)
    taken = chosen >= 0
    accumulate(elementwise(call, call.attrs["scatter"]), out, chosen[taken], source[taken])
    return out.reshape(x.shape)


@kernel("XlaVariadicSort")
def variadic_sort(call: Call, *args: Array) -> list[Array]:
    """Tensors sorted together along a dimension by a function that compares two rows; stable."""
    *values, dimension = args
    axis = wrap_axis(call, scalar_int(call, dimension, "dimension"), values[0].ndim, "dimension")
    call.require(
        all(x.shape == values[0].shape for x in values), "inputs must have one shape",
        found=[list(x.shape) for x in values], needed="equal shapes",
    )  # fmt: skip
    moved = [np.moveaxis(x, axis, -1) for x in values]
    order = _sorted_order(call, moved)
    return [np.moveaxis(np.take_along_axis(x, order, -1), -1, axis) for x in moved]


def _sorted_order(call: Call, values: Sequence[Array]) -> Array:
    """The stable order along the last dimension: a network that compares many pairs at once."""
    apply = elementwise(call, call.attrs["comparator"])
    count = values[0].shape[-1]
    size = 1 << max(count - 1, 0).bit_length()
    order = np.broadcast_to(np.arange(size), (*values[0].shape[:-1], size)).copy()

    def less(a: Array, b: Array) -> Array:
        """Whether the elements numbered ``a`` come before those numbered ``b``."""
        real = (a < count) & (b < count)
        first, second = (np.where(real, v, 0) for v in (a, b))
        pairs = [np.take_along_axis(x, v, -1) for x in values for v in (first, second)]
        turned = [pairs[k ^ 1] for k in range(len(pairs))]
        before, after = (apply(p)[0].astype(bool) for p in (pairs, turned))
        return np.where(real, before | (~after & (a < b)), a < b)

    step = 2
    while step <= size:
        gap = step // 2
        while gap:
            left = np.flatnonzero(~np.arange(size) & gap)
            right = left | gap
            a, b = order[..., left], order[..., right]
            swap = less(b, a) == ((left & step) == 0)
            order[..., left], order[..., right] = np.where(swap, b, a), np.where(swap, a, b)
            gap //= 2
        step *= 2
    return order[..., :count]
