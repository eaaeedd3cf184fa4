"""Ops that sort, select, search, reverse or rotate."""

from __future__ import annotations

import numpy as np

from drystone_base.kernels._indices import check_below, int_vector, scalar_int, wrap_axis
from drystone_base.kernels._registry import Array, Call, kernel

__all__: list[str] = []


def _top(call: Call, x: Array, k: int, index_type: np.dtype[np.generic]) -> tuple[Array, Array]:
    call.require(
        x.ndim >= 1 and 0 <= k <= x.shape[-1],
        "the last dimension must have at least k elements",
        found=f"k {k}, shape {list(x.shape)}",
        needed="0 <= k <= the last dimension",
    )
    # A stable sort of the reversed rows, reversed, is a descending sort with ties in input order.
    last = x.shape[-1] - 1
    order = (last - np.argsort(x[..., ::-1], axis=-1, kind="stable"))[..., ::-1][..., :k]
    return np.take_along_axis(x, order, -1), order.astype(index_type)


@kernel("TopK")
def top_k(call: Call, x: Array) -> tuple[Array, Array]:
    """The ``k`` (attribute) largest elements of each row, largest first, and their places."""
    return _top(call, x, call.attrs["k"], np.dtype(np.int32))


@kernel("TopKV2")
def top_k_v2(call: Call, x: Array, k: Array) -> tuple[Array, Array]:
    """The ``k`` largest elements of each row, largest first, and their places.

    Of equal elements the first comes first; the order is the same with ``sorted=False``.
    """
    call.require(k.ndim == 0, "k must be a scalar", found=list(k.shape), needed=[])
    return _top(call, x, int(k), call.attrs["index_type"].np)


@kernel("NthElement")
def nth_element(call: Call, x: Array, n: Array) -> Array:
    """The n-th smallest (largest, with ``reverse``) element of each row."""
    place = scalar_int(call, n, "n")
    call.require(
        x.ndim >= 1 and n.ndim == 0 and 0 <= place < x.shape[-1],
        "n must be a scalar, a place in the last dimension",
        found=f"n {place}, shape {list(x.shape)}",
        needed="0 <= n < the last dimension",
    )
    ordered = np.sort(x, axis=-1)
    out: Array = np.asarray(ordered[..., -1 - place if call.attrs["reverse"] else place])
    return out


@kernel("Where")
def where(call: Call, x: Array) -> Array:
    """The int64 index vectors of the elements that are not zero, in row-major order."""
    call.require(x.ndim, "the input must not be a scalar", found=[], needed="rank 1 or more")
    return np.argwhere(x).astype(np.int64, copy=False)


def _bound(call: Call, rows: Array, values: Array, side: str) -> Array:
    call.require(
        rows.ndim == values.ndim == 2 and rows.shape[0] == values.shape[0],
        "sorted_inputs and values must be matrices of equally many rows",
        found=f"{list(rows.shape)} and {list(values.shape)}",
        needed="[n, a] and [n, b]",
    )
    dtype = call.attrs["out_type"].np
    out = np.empty(values.shape, dtype)
    for k, (row, wanted) in enumerate(zip(rows, values, strict=True)):
        out[k] = np.searchsorted(row, wanted, side=side)  # type: ignore[call-overload]
    if side == "left":
        out[values != values] = 0  # no element is below NaN
    return out


@kernel("LowerBound")
def lower_bound(call: Call, rows: Array, values: Array) -> Array:
    """For each value the first place in its sorted row that is not below it."""
    return _bound(call, rows, values, "left")


@kernel("UpperBound")
def upper_bound(call: Call, rows: Array, values: Array) -> Array:
    """For each value the first place in its sorted row that is above it."""
    return _bound(call, rows, values, "right")


@kernel("Reverse")
def reverse(call: Call, x: Array, dims: Array) -> Array:
    """``x`` backwards along the dimensions marked true."""
    call.require(
        dims.shape == (x.ndim,),
        "dims must hold one flag for each dimension",
        found=list(dims.shape),
        needed=[x.ndim],
    )
    call.require(
        x.ndim == 0 or x.shape[0], "the first dimension must not be empty", found=list(x.shape)
    )
    return np.flip(x, tuple(np.flatnonzero(dims).tolist()))


@kernel("ReverseV2")
def reverse_v2(call: Call, x: Array, axis: Array) -> Array:
    """``x`` backwards along the axes given, each at most once."""
    axes = [wrap_axis(call, a, x.ndim) for a in int_vector(call, axis, "axis")]
    call.require(
        len(set(axes)) == len(axes) or not x.size,
        "axes must not repeat",
        found=axes,
        needed="each once",
    )
    return np.flip(x, tuple(axes)) if x.size and axes else x


@kernel("ReverseSequence")
def reverse_sequence(call: Call, x: Array, seq_lengths: Array) -> Array:
    """The first ``seq_lengths[b]`` elements along ``seq_dim`` of each batch entry reversed."""
    seq, batch = call.attrs["seq_dim"], call.attrs["batch_dim"]
    lengths = np.array(int_vector(call, seq_lengths, "seq_lengths"), np.int64)
    call.require(
        0 <= seq < x.ndim and 0 <= batch < x.ndim and seq != batch,
        "seq_dim and batch_dim must be two different dimensions",
        found=f"{seq} and {batch}",
        needed=f"two values in [0, {x.ndim})",
    )
    call.require(
        lengths.size == x.shape[batch],
        "seq_lengths must hold one length for each batch entry",
        found=lengths.size,
        needed=x.shape[batch],
    )
    check_below(call, lengths, x.shape[seq] + 1, "seq_lengths")
    steps = np.arange(x.shape[seq])
    order = np.where(steps < lengths[:, None], lengths[:, None] - 1 - steps, steps)
    places = order if batch < seq else order.T
    wide = places.reshape([d if k in (seq, batch) else 1 for k, d in enumerate(x.shape)])
    return np.take_along_axis(x, wide, seq)


@kernel("Roll")
def roll(call: Call, x: Array, shift: Array, axis: Array) -> Array:
    """``x`` rotated by ``shift[k]`` places along ``axis[k]``; repeated axes add up."""
    call.require(
        x.ndim >= 1 and shift.shape == axis.shape and shift.ndim <= 1,
        "input must not be a scalar; shift and axis must be scalars or vectors of one length",
        found=f"input {list(x.shape)}, shift {list(shift.shape)}, axis {list(axis.shape)}",
        needed="equal shapes of rank 0 or 1",
    )
    axes = [wrap_axis(call, int(a), x.ndim) for a in axis.reshape(-1)]
    return np.roll(x, tuple(int(s) for s in shift.reshape(-1)), axes)
