"""Ops that read elements by index."""

from __future__ import annotations

import math

import numpy as np

from drystone_base.kernels._indices import (
    at,
    bad_rows,
    check_below,
    int_vector,
    scalar_int,
    wrap_axis,
)
from drystone_base.kernels._limits import check_size
from drystone_base.kernels._registry import Array, Call, kernel
from drystone_base.state.variables import Variable, resource_of

__all__: list[str] = []


def _gather(call: Call, params: Array, indices: Array, axis: int, batch_dims: int) -> Array:
    check_below(call, indices, params.shape[axis])
    shape = (*params.shape[:axis], *indices.shape[batch_dims:], *params.shape[axis + 1 :])
    check_size(call, shape, params.dtype)
    if not indices.ndim:
        return at(params, *(slice(None),) * axis, int(indices))
    if not batch_dims:
        return params.take(indices.astype(np.intp, copy=False), axis)
    batch = math.prod(params.shape[:batch_dims])
    outer = math.prod(params.shape[batch_dims:axis])
    inner = math.prod(params.shape[axis + 1 :])
    per_batch = math.prod(indices.shape[batch_dims:])
    cube = params.reshape(batch, outer, params.shape[axis], inner)
    rows = indices.reshape(batch, per_batch)
    # The slice between two index arrays puts the indexed dimensions first.
    picked = cube[np.arange(batch)[:, None], :, rows, :]
    return picked.transpose(0, 2, 1, 3).reshape(shape)


def _checked(call: Call, params: Array, indices: Array, axis: int, batch_dims: int) -> Array:
    call.require(
        -indices.ndim <= batch_dims <= indices.ndim,
        "batch_dims must not exceed the rank of indices",
        found=batch_dims,
        needed=f"a value in [{-indices.ndim}, {indices.ndim}]",
    )
    axis = wrap_axis(call, axis, params.ndim)
    batch = batch_dims + indices.ndim if batch_dims < 0 else batch_dims
    call.require(
        batch <= axis and params.shape[:batch] == indices.shape[:batch],
        "the batch dimensions of params and indices must be equal and lie before axis",
        found=f"{list(params.shape)} and {list(indices.shape)}, axis {axis}",
        needed=f"{batch} equal first dimensions",
    )
    return _gather(call, params, indices, axis, batch)


@kernel("Gather")
def gather(call: Call, params: Array, indices: Array) -> Array:
    """Rows of ``params``: ``params[indices]``."""
    return _checked(call, params, indices, 0, 0)


@kernel("GatherV2")
def gather_v2(call: Call, params: Array, indices: Array, axis: Array) -> Array:
    """Slices of ``params`` along ``axis``, with ``batch_dims`` leading dimensions in common."""
    call.require(axis.ndim == 0, "axis must be a scalar", found=list(axis.shape), needed="rank 0")
    place = scalar_int(call, axis, "axis")
    return _checked(call, params, indices, place, call.attrs["batch_dims"])


@kernel("ResourceGather")
def resource_gather(call: Call, handle: Array, indices: Array) -> Array:
    """``value[indices]`` of a variable, as GatherV2 along ``batch_dims`` does.

    Raises ``KernelError`` for an index outside of the variable.
    """
    params, batch = resource_of(handle, Variable).read(), call.attrs["batch_dims"]
    return _checked(call, params, indices, batch, batch)


@kernel("GatherNd")
def gather_nd(call: Call, params: Array, indices: Array) -> Array:
    """Slices of ``params`` at the index vectors in the last dimension of ``indices``.

    With ``bad_indices_policy`` "IGNORE" an index outside ``params`` gives zeros.
    """
    call.require(
        params.ndim and indices.ndim,
        "params and indices must not be scalars",
        found=f"ranks {params.ndim} and {indices.ndim}",
        needed="rank 1 or more",
    )
    depth = indices.shape[-1]
    call.require(
        depth <= params.ndim,
        "an index must not be longer than the rank of params",
        found=depth,
        needed=f"at most {params.ndim}",
    )
    limits, shape = params.shape[:depth], (*indices.shape[:-1], *params.shape[depth:])
    check_size(call, shape, params.dtype)
    ignore = call.attrs.get("bad_indices_policy") == "IGNORE"
    call.require(
        params.size or not math.prod(indices.shape[:-1]),
        "params must have elements where indices are given",
        found=list(params.shape),
        needed="no empty dimension, or no indices",
    )
    bad = bad_rows(call, indices, limits, ignore=ignore)
    if bad.any():
        safe = np.where(bad[..., None], 0, indices)
        if 0 in limits:
            return np.zeros(shape, params.dtype)
        out = at(params, *np.moveaxis(safe, -1, 0))
        out[bad] = np.zeros((), params.dtype)
        return out
    if not depth:
        return np.broadcast_to(params, shape)
    return at(params, *np.moveaxis(indices, -1, 0))


@kernel("ResourceGatherNd")
def resource_gather_nd(call: Call, handle: Array, indices: Array) -> Array:
    """Slices of a variable's value at index vectors."""
    out: Array = gather_nd(call, resource_of(handle, Variable).read(), indices)
    return out


@kernel("OneHot")
def one_hot(call: Call, indices: Array, depth: Array, on: Array, off: Array) -> Array:
    """``on`` where a new dimension ``axis`` of ``depth`` equals the index, else ``off``.

    An index outside ``[0, depth)`` gives ``off`` everywhere.
    """
    given = call.attrs["axis"]
    axis = indices.ndim if given == -1 else given
    call.require(
        0 <= axis <= indices.ndim,
        "axis must be -1 or a place in the result",
        found=given,
        needed=f"a value in [-1, {indices.ndim}]",
    )
    for what, value in (("depth", depth), ("on_value", on), ("off_value", off)):
        call.require(
            value.ndim == 0, f"{what} must be a scalar", found=list(value.shape), needed="rank 0"
        )
    count = int(depth)
    dims = check_size(call, (*indices.shape[:axis], count, *indices.shape[axis:]), on.dtype)
    if not indices.size:
        return np.empty(dims, on.dtype)
    check_size(call, (count,), np.dtype(np.int64))
    classes = np.arange(count).reshape(count, *(1,) * (indices.ndim - axis))
    out: Array = np.where(np.expand_dims(indices, axis) == classes, on, off)
    return out


@kernel("UnravelIndex")
def unravel_index(call: Call, indices: Array, dims: Array) -> Array:
    """The index vectors, one in each column, of row-major positions in a shape ``dims``."""
    shape = int_vector(call, dims, "dims")
    call.require(
        indices.ndim <= 1 and indices.size and all(d > 0 for d in shape),
        "indices must be a scalar or vector that is not empty, dimensions above 0",
        found=f"indices {list(indices.shape)}, dims {list(shape)}",
        needed="rank 0 or 1, dimensions of 1 or more",
    )
    call.require(
        math.prod(shape) <= np.iinfo(indices.dtype).max,
        "the number of elements must fit the dtype of indices",
        found=f"dims {list(shape)}, indices {indices.dtype}",
    )
    check_below(call, indices, math.prod(shape))
    out = np.empty((len(shape), *indices.shape), indices.dtype)
    rest = indices
    for k in reversed(range(len(shape))):
        rest, out[k] = np.divmod(rest, indices.dtype.type(shape[k]))
    return out
