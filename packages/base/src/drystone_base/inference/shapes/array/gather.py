"""Shapes of the ops that read elements by index."""

from __future__ import annotations

from drystone_base.inference.shapes._registry import UNKNOWN, Shape, ShapeCall, shape

__all__: list[str] = []


def _gather(c: ShapeCall, params: Shape, indices: Shape, axis: int | None, batch: int) -> Shape:
    c.with_rank_at_least(params, 1)
    if params is None or indices is None:
        return None
    batch = batch + len(indices) if batch < 0 else batch
    if axis is None:
        return (UNKNOWN,) * (len(params) + len(indices) - 1 - batch)
    if not -len(params) <= axis < len(params):
        c.fail("axis must be a dimension of params", found=axis, needed=f"rank {len(params)}")
    axis %= len(params)
    if batch > min(axis, len(indices)):
        c.fail("batch_dims must not exceed axis", found=batch, needed=f"at most {axis}")
    common = [c.merge_dim(params[k], indices[k]) for k in range(batch)]
    return (*common, *params[batch:axis], *indices[batch:], *params[axis + 1 :])


@shape("Gather")
def gather(c: ShapeCall) -> list[Shape]:
    """The indices' shape, then that of a row."""
    return [_gather(c, c.shape(0), c.shape(1), 0, 0)]


@shape("GatherV2")
def gather_v2(c: ShapeCall) -> list[Shape]:
    """The params' shape with the indices' in place of the axis."""
    return [_gather(c, c.shape(0), c.shape(1), c.int_value(2), c.attrs["batch_dims"])]


def _variable(c: ShapeCall) -> Shape:
    handle = c.handles[0]
    return handle[1] if handle is not None else None


@shape("ResourceGather")
def resource_gather(c: ShapeCall) -> list[Shape]:
    """As ``Gather``, of the variable's shape."""
    batch = c.attrs["batch_dims"]
    return [_gather(c, _variable(c), c.shape(1), batch, batch)]


def _gather_nd(c: ShapeCall, params: Shape, indices: Shape) -> Shape:
    c.with_rank_at_least(indices, 1)
    if params is None or indices is None or indices[-1] < 0:
        return None
    if indices[-1] > len(params):
        c.fail("an index must not be longer than the rank", found=indices[-1], needed=len(params))
    return (*indices[:-1], *params[indices[-1] :])


@shape("GatherNd")
def gather_nd(c: ShapeCall) -> list[Shape]:
    """The indices' shape without its last dimension, then that of a slice."""
    return [_gather_nd(c, c.shape(0), c.shape(1))]


@shape("ResourceGatherNd")
def resource_gather_nd(c: ShapeCall) -> list[Shape]:
    """As ``GatherNd``, of the variable's shape."""
    return [_gather_nd(c, _variable(c), c.shape(1))]


@shape("OneHot")
def one_hot(c: ShapeCall) -> list[Shape]:
    """The indices' shape with ``depth`` put in at ``axis``."""
    dims, depth, axis = c.shape(0), c.int_value(1), c.attrs["axis"]
    if dims is None:
        return [None]
    axis = len(dims) if axis == -1 else axis
    if not 0 <= axis <= len(dims):
        c.fail("axis must be -1 or a place in the result", found=axis, needed=f"0..{len(dims)}")
    if depth is not None and depth < 0:
        c.fail("depth must not be negative", found=depth, needed="0 or more")
    return [(*dims[:axis], UNKNOWN if depth is None else depth, *dims[axis:])]


@shape("UnravelIndex")
def unravel_index(c: ShapeCall) -> list[Shape]:
    """One column for each index."""
    dims = c.with_rank(c.shape(1), 1)
    indices = c.shape(0)
    return [None if indices is None else (dims[0], *indices)]
