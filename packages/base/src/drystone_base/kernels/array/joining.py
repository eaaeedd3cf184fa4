"""Ops that join tensors along a dimension, or take them apart."""

from __future__ import annotations

import itertools

import numpy as np

from drystone_base.kernels._indices import at, int_vector, scalar_int, wrap_axis
from drystone_base.kernels._limits import check_rank
from drystone_base.kernels._registry import Array, Call, kernel

__all__ = ["concatenate"]


def concatenate(call: Call, values: tuple[Array, ...], axis: int) -> Array:
    """The values one after the other along a dimension, after checking that they fit."""
    first = values[0]
    axis = wrap_axis(call, axis, first.ndim, "the concat dimension")
    for k, x in enumerate(values):
        call.require(
            x.ndim == first.ndim
            and all(
                a == b or j == axis
                for j, (a, b) in enumerate(zip(x.shape, first.shape, strict=True))
            ),
            "dimensions must be equal except the one that is joined",
            found=f"input 0 {list(first.shape)}, input {k} {list(x.shape)}",
            needed=f"equal shapes but for dimension {axis}",
        )
    return np.concatenate(values, axis)


@kernel("Concat")
def concat(call: Call, axis: Array, *values: Array) -> Array:
    """The inputs one after the other along a dimension (the first input)."""
    return concatenate(call, values, scalar_int(call, axis, "the concat dimension"))


@kernel("ConcatV2")
def concat_v2(call: Call, *args: Array) -> Array:
    """The inputs one after the other along a dimension (the last input)."""
    return concatenate(call, args[:-1], scalar_int(call, args[-1], "axis"))


@kernel("ParallelConcat")
def parallel_concat(call: Call, *values: Array) -> Array:
    """The inputs, each with a first dimension of 1, one after the other."""
    out = concatenate(call, values, 0)
    wanted = call.attrs["shape"]
    call.require(
        wanted is None or out.shape == tuple(wanted),
        "the inputs must fill the attribute shape",
        found=list(out.shape),
        needed=list(wanted or ()),
    )
    return out


@kernel("ConcatOffset")
def concat_offset(call: Call, axis: Array, *shapes: Array) -> list[Array]:
    """Where each of the tensors of these shapes begins in their concatenation."""
    rows = [int_vector(call, s, "a shape") for s in shapes]
    call.require(axis.ndim == 0, "concat_dim must be a scalar", found=list(axis.shape), needed=[])
    place = wrap_axis(call, int(axis), len(rows[0]), "concat_dim")
    total, out = 0, []
    for row, given in zip(rows, shapes, strict=True):
        call.require(
            len(row) == len(rows[0])
            and all(
                a == b or k == place for k, (a, b) in enumerate(zip(row, rows[0], strict=True))
            ),
            "shapes must be equal except in the joined dimension",
            found=f"{list(rows[0])} and {list(row)}",
            needed=f"equal but for dimension {place}",
        )
        offset = np.zeros(len(row), given.dtype)
        offset[place] = total
        total += row[place]
        out.append(offset)
    return out


@kernel("Pack")
def pack(call: Call, *values: Array) -> Array:
    """The inputs, all of one shape, stacked along a new dimension ``axis``."""
    first = values[0]
    for k, x in enumerate(values):
        call.require(
            x.shape == first.shape,
            "stacked tensors must have one shape",
            found=f"input 0 {list(first.shape)}, input {k} {list(x.shape)}",
            needed="equal shapes",
        )
    check_rank(call, first.ndim + 1)
    return np.stack(values, wrap_axis(call, call.attrs["axis"], first.ndim + 1))


@kernel("Unpack")
def unpack(call: Call, x: Array) -> list[Array]:
    """The slices of ``x`` along ``axis``, without that dimension."""
    axis = wrap_axis(call, call.attrs["axis"], x.ndim)
    call.require(
        x.shape[axis] == call.attrs["num"],
        "the attribute num must be the size of the unpacked dimension",
        found=x.shape[axis],
        needed=call.attrs["num"],
    )
    before = (slice(None),) * axis
    return [at(x, *before, k) for k in range(x.shape[axis])]


def _cut(x: Array, axis: int, sizes: list[int]) -> list[Array]:
    ends = list(itertools.accumulate(sizes))
    before = (slice(None),) * axis
    return [at(x, *before, slice(e - n, e)) for n, e in zip(sizes, ends, strict=True)]


@kernel("Split")
def split(call: Call, split_dim: Array, x: Array) -> list[Array]:
    """``num_split`` equal parts along a dimension."""
    call.require(split_dim.ndim == 0, "split_dim must be a scalar", found=list(split_dim.shape))
    axis = wrap_axis(call, scalar_int(call, split_dim, "split_dim"), x.ndim, "split_dim")
    count = call.attrs["num_split"]
    call.require(
        x.shape[axis] % count == 0,
        "the split dimension must be a multiple of num_split",
        found=x.shape[axis],
        needed=f"a multiple of {count}",
    )
    return _cut(x, axis, [x.shape[axis] // count] * count)


@kernel("SplitV")
def split_v(call: Call, x: Array, size_splits: Array, split_dim: Array) -> list[Array]:
    """Parts of the given sizes along a dimension; one size may be -1 (the rest)."""
    axis = wrap_axis(call, scalar_int(call, split_dim, "split_dim"), x.ndim, "split_dim")
    sizes = list(int_vector(call, size_splits, "size_splits"))
    call.require(
        len(sizes) == call.attrs["num_split"],
        "size_splits must hold num_split numbers",
        found=len(sizes),
        needed=call.attrs["num_split"],
    )
    used = sum(n for n in sizes if n != -1)
    whole = x.shape[axis]
    bad = sizes.count(-1) > 1 or any(n < -1 for n in sizes)
    if bad or used > whole or (-1 not in sizes and used != whole):
        call.fail(
            "the parts must add up to the split dimension",
            found=sizes,
            needed=f"sizes with the sum {whole}, at most one of them -1",
        )
    return _cut(x, axis, [whole - used if n == -1 else n for n in sizes])
