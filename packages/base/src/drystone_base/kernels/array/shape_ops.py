"""Ops that read or change a tensor's shape, or repeat and permute its elements."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from drystone_base.core.tensor import copy_in_pieces
from drystone_base.kernels._indices import check_below, int_vector, scalar_int, wrap_axis
from drystone_base.kernels._limits import check_rank, check_size
from drystone_base.kernels._registry import Array, Call, kernel

__all__ = ["reshape"]


def _fits(call: Call, value: int, dtype: np.dtype[Any]) -> int:
    """``value``, after checking that the op's output type can hold it."""
    call.require(
        value <= np.iinfo(dtype).max,
        "a size must fit in the attribute out_type",
        found=value,
        needed=f"at most {np.iinfo(dtype).max}",
        remedy="ask for out_type=int64",
    )
    return value


@kernel("Shape", "ShapeN")
def shape(call: Call, *values: Array) -> list[Array]:
    """The dimensions of each input, as a vector of ``out_type``."""
    dtype = call.attrs["out_type"].np
    return [np.array([_fits(call, d, dtype) for d in x.shape], dtype) for x in values]


@kernel("Size")
def size(call: Call, x: Array) -> Array:
    """The number of elements, a scalar of ``out_type``."""
    dtype = call.attrs["out_type"].np
    return np.array(_fits(call, x.size, dtype), dtype)


@kernel("Rank")
def rank(_: Call, x: Array) -> Array:
    """The number of dimensions, an int32 scalar."""
    return np.array(x.ndim, np.int32)


def _dims(call: Call, value: Array, what: str) -> tuple[int, ...]:
    """A shape given as a vector; a scalar stands for one dimension, as in old graphs."""
    return int_vector(call, value.reshape(1) if not value.ndim else value, what)


@kernel("Reshape")
def reshape(call: Call, x: Array, target: Array) -> Array:
    """The elements in row-major order under another shape; one -1 in it is inferred."""
    dims = _dims(call, target, "the new shape")
    check_rank(call, len(dims))
    if dims.count(-1) > 1 or any(d < -1 for d in dims):
        call.fail(
            "a new shape may hold one -1 and no other negative number",
            found=list(dims),
            needed="dimensions of 0 or more, at most one -1",
        )
    if -1 in dims:
        inferred = _inferred(call, x, dims)
        dims = tuple(inferred if d == -1 else d for d in dims)
    call.require(
        math.prod(dims) == x.size,
        "a reshape must keep the number of elements",
        found=f"{x.size} elements in shape {list(x.shape)}",
        needed=f"{math.prod(dims)} elements for the shape {list(dims)}",
    )
    return x.reshape(dims)


def _inferred(call: Call, x: Array, dims: tuple[int, ...]) -> int:
    """The dimension that -1 stands for; beside a 0 it is what the dimensions but zeros leave."""
    rest = math.prod(d for d in dims if d != -1)
    if not rest and not x.size:
        have: int = math.prod(d for d in x.shape if d)
        return have // math.prod(d for d in dims if d > 0)
    call.require(
        rest and x.size % rest == 0,
        "the inferred dimension must be whole",
        found=f"{x.size} elements",
        needed=f"a multiple of {rest}, for the shape {list(dims)}",
    )
    return x.size // rest


@kernel("Squeeze")
def squeeze(call: Call, x: Array) -> Array:
    """The tensor without its dimensions of 1, or without those in ``squeeze_dims``."""
    given = call.attrs["squeeze_dims"]
    if not given:
        return x.reshape([d for d in x.shape if d != 1])
    axes = {wrap_axis(call, axis, x.ndim, "squeeze_dims") for axis in given}
    for axis in sorted(axes):
        call.require(
            x.shape[axis] == 1,
            "a squeezed dimension must be 1",
            found=f"dimension {axis} of {list(x.shape)}",
            needed="1",
        )
    return x.reshape([d for k, d in enumerate(x.shape) if k not in axes])


@kernel("ExpandDims")
def expand_dims(call: Call, x: Array, dim: Array) -> Array:
    """The tensor with a dimension of 1 put in at ``dim``, in ``[-rank-1, rank]``."""
    axis = wrap_axis(call, scalar_int(call, dim, "dim"), x.ndim + 1, "dim")
    check_rank(call, x.ndim + 1)
    return x.reshape((*x.shape[:axis], 1, *x.shape[axis:]))


@kernel("BroadcastTo")
def broadcast_to(call: Call, x: Array, target: Array) -> Array:
    """A view of ``x`` repeated to a shape of equal or higher rank."""
    dims = check_size(call, int_vector(call, target, "the shape"), x.dtype)
    aligned = dims[len(dims) - x.ndim :] if len(dims) >= x.ndim else ()
    call.require(
        len(dims) >= x.ndim and all(a in (1, b) for a, b in zip(x.shape, aligned, strict=True)),
        "a tensor must broadcast to the shape asked for",
        found=list(x.shape),
        needed=f"dimensions of 1 or those of {list(dims)}",
    )
    return np.broadcast_to(x, dims)


@kernel("Fill")
def fill(call: Call, dims: Array, value: Array) -> Array:
    """A tensor of shape ``dims`` in which every element is ``value``."""
    call.require(
        value.shape in ((), (1,)),
        "value must be a scalar",
        found=list(value.shape),
        needed="rank 0",
    )
    shape_ = check_size(call, _dims(call, dims, "dims"), value.dtype)
    out = np.empty(shape_, value.dtype)
    out[...] = value.reshape(())
    return out


@kernel("Empty")
def empty(call: Call, shape_: Array) -> Array:
    """A tensor of a shape; TensorFlow promises nothing about its elements, here they are zero."""
    dtype = call.attrs["dtype"]
    out = np.zeros(check_size(call, int_vector(call, shape_, "shape"), dtype.np), dtype.np)
    if dtype.is_object:
        out[...] = b""
    return out


def _multiples(call: Call, x: Array, multiples: Array) -> tuple[int, ...]:
    counts = int_vector(call, multiples, "multiples")
    call.require(
        len(counts) == x.ndim and all(m >= 0 for m in counts),
        "multiples must hold one number of 0 or more for each dimension",
        found=list(counts),
        needed=f"{x.ndim} numbers",
    )
    return counts


@kernel("Tile")
def tile(call: Call, x: Array, multiples: Array) -> Array:
    """``x`` repeated ``multiples[k]`` times along dimension k."""
    counts = _multiples(call, x, multiples)
    total = check_size(call, [m * d for m, d in zip(counts, x.shape, strict=True)], x.dtype)
    if 0 in total:
        return np.empty(total, x.dtype)
    out = np.empty(total, x.dtype)  # np.tile keeps the interpreter's lock for as long as it takes
    pairs = list(zip(counts, x.shape, strict=True))
    blocks = [n for count, dim in pairs for n in ((count, dim) if count > 1 else (dim,))]
    once = [n for count, dim in pairs for n in ((1, dim) if count > 1 else (dim,))]
    copy_in_pieces(out.reshape(blocks), np.broadcast_to(x.reshape(once), blocks))
    return out


@kernel("TileGrad")
def tile_grad(call: Call, x: Array, multiples: Array) -> Array:
    """The sum of the tiles of ``x``: the gradient of ``Tile``."""
    counts = _multiples(call, x, multiples)
    call.require(
        all(m > 0 and d % m == 0 for m, d in zip(counts, x.shape, strict=True)),
        "each dimension must be a whole number of tiles",
        found=list(x.shape),
        needed=f"multiples of {list(counts)}",
    )
    split = [n for m, d in zip(counts, x.shape, strict=True) for n in (m, d // m)]
    out: Array = x.reshape(split).sum(axis=tuple(range(0, len(split), 2)), dtype=x.dtype)
    return out


def _permutation(call: Call, values: tuple[int, ...], size: int, what: str) -> list[int]:
    wrapped = [v + size if v < 0 else v for v in values]
    call.require(
        sorted(wrapped) == list(range(size)),
        f"{what} must hold each dimension once",
        found=list(values),
        needed=f"a permutation of 0..{size - 1}",
    )
    return wrapped


@kernel("Transpose", "ConjugateTranspose")
def transpose(call: Call, x: Array, perm: Array) -> Array:
    """A view with dimension ``perm[k]`` at place k; conjugated for ``ConjugateTranspose``."""
    order = _permutation(call, int_vector(call, perm, "perm"), x.ndim, "perm")
    out = x.transpose(order)
    return np.conjugate(out) if call.op == "ConjugateTranspose" and x.dtype.kind == "c" else out


@kernel("InvertPermutation")
def invert_permutation(call: Call, x: Array) -> Array:
    """``y`` with ``y[x[k]] == k``; ``x`` must hold each of 0..n-1 once."""
    int_vector(call, x, "a permutation")
    check_below(call, x, x.size, "x")
    out = np.full(x.shape, -1, x.dtype)
    out[x] = np.arange(x.size, dtype=x.dtype)
    call.require(
        not (out < 0).any(),
        "a permutation must not repeat",
        found=x[:8].tolist(),
        needed="each once",
    )
    return out
