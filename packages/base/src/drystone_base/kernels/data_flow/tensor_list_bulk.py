"""Tensor lists in bulk: gather, scatter, concat and split."""

from __future__ import annotations

import numpy as np

from drystone_base.kernels._limits import check_size
from drystone_base.kernels._registry import Array, Call, kernel
from drystone_base.kernels._variants import blank
from drystone_base.kernels.data_flow._tensor_lists import (
    TensorList,
    check_index,
    check_item,
    element_shape,
    known_shape,
    list_of,
    merge_shapes,
    stacked,
)
from drystone_base.ops.attrs import Shape
from drystone_base.state.variables import handle_array


@kernel("TensorListGather")
def gather(call: Call, handle: Array, indices: Array, shape: Array) -> Array:
    """The elements of ``indices`` along a new first axis; unset ones are zeros."""
    source = list_of(call, handle)
    stated = element_shape(call, shape)
    wanted = [int(i) for i in indices.ravel()]
    if stated is not None and 0 in stated and -1 not in stated:  # TensorFlow looks at no index then
        return np.empty((len(wanted), *stated), call.attrs["element_dtype"].np)
    for index in wanted:
        check_index(call, source, index)
    items = [source[i] for i in wanted]
    return stacked(call, source.replaced(items), items, stated)


def _scatter(
    call: Call, into: TensorList, tensor: Array, indices: Array, size: int | None
) -> Array:
    """``into`` with rows of ``tensor`` at ``indices``; grows as needed, or to ``size``."""
    call.require(
        indices.ndim == 1 and tensor.ndim and len(tensor) == len(indices),
        "there must be as many rows as indices",
        found=f"indices {list(indices.shape)}, tensor {list(tensor.shape)}",
        needed="equal first dimensions",
    )
    low, high = int(indices.min(initial=0)), int(indices.max(initial=-1))
    call.require(low >= 0, "indices must not be negative", found=low, needed="0 or more")
    call.require(
        size is None or high < size, "indices must lie in the list", found=high, needed=size
    )
    count = max(high + 1, len(into)) if size is None else size
    check_size(call, (count,), np.dtype(object))
    items = into.items() + [None] * (count - len(into))
    check_item(call, into, tensor.shape[1:])
    for row, index in enumerate(indices.tolist()):
        items[index] = tensor[row, ...]
    return handle_array(into.replaced(items))


@kernel("TensorListScatter", "TensorListScatterV2")
def scatter(
    call: Call, tensor: Array, indices: Array, shape: Array, num_elements: Array | None = None
) -> Array:
    """A list of ``num_elements`` (-1: as needed) with row ``k`` at ``indices[k]``."""
    made = TensorList(call.attrs["element_dtype"], element_shape(call, shape))
    count = -1 if num_elements is None else int(num_elements.item())
    call.require(
        count >= -1, "a list's size must not be negative", found=count, needed="-1 or more"
    )
    return _scatter(call, made, tensor, indices, None if count < 0 else count)


@kernel("TensorListScatterIntoExistingList")
def scatter_into(call: Call, handle: Array, tensor: Array, indices: Array) -> Array:
    """The list with row ``k`` of ``tensor`` at ``indices[k]``; grows to the highest index."""
    return _scatter(call, list_of(call, handle), tensor, indices, None)


@kernel("TensorListConcat")
def concat(call: Call, handle: Array) -> tuple[Array, Array]:
    """All elements joined along their first axis, and the length of each (int64)."""
    return _concat(call, list_of(call, handle), call.attrs["element_shape"], [])


@kernel("TensorListConcatV2")
def concat_v2(call: Call, handle: Array, shape: Array, leading_dims: Array) -> tuple[Array, Array]:
    """As TensorListConcat; ``leading_dims`` gives the lengths of unset elements."""
    source = list_of(call, handle)
    return _concat(call, source, element_shape(call, shape), leading_dims.tolist())


def _concat(
    call: Call, source: TensorList, wanted: Shape, leading: list[int]
) -> tuple[Array, Array]:
    rows = source.items()
    call.require(
        all(row is None or row.ndim for row in rows),
        "elements to be joined must not be scalars",
        found="a scalar",
        needed="rank 1 or more",
    )
    merged = merge_shapes(call, source.shape, wanted)
    call.require(
        merged is None or len(merged) > 0,
        "elements to be joined must not be scalars",
        found="element shape []",
        needed="rank 1 or more",
    )
    tails = source.replaced([None if r is None else r[:0] for r in rows])
    tails.shape = None if merged is None else (0, *merged[1:])
    if not rows:
        empty = known_shape(call, tails, None)
        return blank(empty, source.dtype), np.zeros(0, np.int64)
    full = [_filled(call, source, tails, k, leading) for k in range(len(rows))]
    odd = next((r for r in full if r.shape[1:] != full[0].shape[1:]), full[0])
    call.require(
        odd is full[0],
        "elements to be joined must agree but for their first dimension",
        found=f"{list(full[0].shape)} and {list(odd.shape)}",
        needed="equal shapes after the first dimension",
    )
    return np.concatenate(full), np.array([len(row) for row in full], np.int64)


def _filled(
    call: Call, source: TensorList, tails: TensorList, index: int, leading: list[int]
) -> Array:
    """Element ``index``, or zeros of its leading dimension and the common tail."""
    value = source[index]
    if value is not None:
        return value
    first = source.shape[0] if source.shape else -1
    if first < 0:
        first = leading[index] if index < len(leading) else known_shape(call, source, None)[0]
    tail = known_shape(call, tails, None)[1:]
    return blank(check_size(call, (first, *tail), source.dtype.np), source.dtype)


@kernel("TensorListSplit")
def split(call: Call, tensor: Array, shape: Array, lengths: Array) -> Array:
    """The list of the pieces of ``tensor`` of ``lengths`` along its first axis."""
    call.require(
        lengths.ndim == 1 and tensor.ndim and int(lengths.min(initial=0)) >= 0,
        "lengths must be a vector of non-negative numbers",
        found=f"lengths {lengths.tolist()}, tensor {list(tensor.shape)}",
        needed="0 or more",
    )
    call.require(
        int(lengths.sum()) == len(tensor),
        "lengths must add up to the tensor's first dimension",
        found=int(lengths.sum()),
        needed=len(tensor),
    )
    made = TensorList(call.attrs["element_dtype"], element_shape(call, shape))
    pieces = np.split(tensor, np.cumsum(lengths)[:-1])[: len(lengths)]
    for piece in pieces:
        check_item(call, made, piece.shape)
    return handle_array(made.replaced(pieces))
