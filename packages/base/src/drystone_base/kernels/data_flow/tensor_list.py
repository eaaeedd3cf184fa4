"""Tensor lists: immutable lists of tensors held by a variant, the state of TF2 loops."""

from __future__ import annotations

import numpy as np

from drystone_base.core.dtypes import DType
from drystone_base.kernels._limits import check_size
from drystone_base.kernels._registry import Array, Call, kernel
from drystone_base.kernels.data_flow._tensor_lists import (
    TensorList,
    check_index,
    check_item,
    element_shape,
    item_of,
    list_of,
    stacked,
)
from drystone_base.state.variables import handle_array

_OBJECT = np.dtype(object)


def _count(call: Call, value: Array, what: str) -> int:
    call.require(
        value.size == 1 and value.item() >= 0,
        f"{what} must be a non-negative scalar",
        found=value.tolist(),
        needed="0 or more",
    )
    check_size(call, (value.item(),), _OBJECT)
    return int(value.item())


@kernel("EmptyTensorList")
def empty(call: Call, shape: Array, max_num_elements: Array) -> Array:
    """A list without elements that takes at most ``max_num_elements`` (-1: any number)."""
    call.require(
        max_num_elements.size == 1,
        "the limit of a list must be a scalar",
        found=list(max_num_elements.shape),
        needed="[]",
    )
    limit = int(max_num_elements.item())
    made = TensorList(call.attrs["element_dtype"], element_shape(call, shape), (), limit)
    return handle_array(made)


@kernel("TensorListReserve")
def reserve(call: Call, shape: Array, num_elements: Array) -> Array:
    """A list of ``num_elements`` unset elements."""
    count = _count(call, num_elements, "the number of elements")
    dtype = call.attrs["element_dtype"]
    return handle_array(TensorList(dtype, element_shape(call, shape), [None] * count))


@kernel("TensorListFromTensor")
def from_tensor(call: Call, tensor: Array, shape: Array) -> Array:
    """The list of the rows of ``tensor``."""
    call.require(tensor.ndim, "a tensor must have rows", found="a scalar", needed="rank 1 or more")
    made = TensorList(
        call.attrs["element_dtype"],
        element_shape(call, shape),
        [tensor[k, ...] for k in range(len(tensor))],
    )
    check_item(call, made, tensor.shape[1:])
    return handle_array(made)


@kernel("TensorListStack")
def stack(call: Call, handle: Array, shape: Array) -> Array:
    """All elements along a new first axis; unset ones are zeros."""
    source = list_of(call, handle)
    want = call.attrs["num_elements"]
    call.require(
        want in (-1, len(source)),
        "the list must have the declared number of elements",
        found=len(source),
        needed=want,
    )
    return stacked(call, source, source.items(), element_shape(call, shape))


@kernel("TensorListGetItem")
def get_item(call: Call, handle: Array, index: Array, shape: Array) -> Array:
    """Element ``index``; zeros if it is unset and its shape is known."""
    source = list_of(call, handle)
    check_index(call, source, int(index.item()))
    return item_of(call, source, int(index.item()), element_shape(call, shape))


@kernel("TensorListSetItem")
def set_item(call: Call, handle: Array, index: Array, item: Array) -> Array:
    """The list with element ``index`` replaced; may grow it when the node says so."""
    source = list_of(call, handle)
    at = int(index.item())
    check_item(call, source, item.shape)
    items = source.items()
    if call.attrs.get("resize_if_index_out_of_bounds") and at >= len(items):
        check_size(call, (at + 1,), _OBJECT)
        items += [None] * (at + 1 - len(items))
    else:
        check_index(call, source, at)
    items[at] = item
    return handle_array(source.replaced(items))


def _push(call: Call, source: TensorList, item: Array) -> TensorList:
    check_item(call, source, item.shape)
    call.require(
        source.limit == -1 or len(source) < source.limit,
        "a list must not outgrow its limit",
        found=f"{len(source)} elements",
        needed=f"fewer than {source.limit}",
    )
    return source.pushed(item)


@kernel("TensorListPushBack")
def push_back(call: Call, handle: Array, item: Array) -> Array:
    """The list with ``item`` at its end."""
    return handle_array(_push(call, list_of(call, handle), item))


@kernel("TensorListPushBackBatch")
def push_back_batch(call: Call, handles: Array, tensor: Array) -> Array:
    """Each list of a batch with its row of ``tensor`` at its end."""
    call.require(
        handles.shape == tensor.shape[: handles.ndim],
        "there must be one element for each list",
        found=f"lists {list(handles.shape)}, tensor {list(tensor.shape)}",
        needed="a tensor that begins with the lists' shape",
    )
    out = np.empty(handles.shape, dtype=object)
    for at in np.ndindex(handles.shape):
        out[at] = _push(call, list_of(call, handle_array(handles[at])), tensor[(*at, ...)])
    return out


@kernel("TensorListPopBack")
def pop_back(call: Call, handle: Array, shape: Array) -> tuple[Array, Array]:
    """The list without its last element, and that element."""
    source = list_of(call, handle)
    call.require(
        len(source), "a list must not be empty to pop", found="no element", needed="1 or more"
    )
    last = item_of(call, source, len(source) - 1, element_shape(call, shape))
    return handle_array(source.popped()), last


@kernel("TensorListLength")
def length(call: Call, handle: Array) -> Array:
    """The number of elements, int32."""
    return np.array(len(list_of(call, handle)), np.int32)


@kernel("TensorListElementShape")
def get_element_shape(call: Call, handle: Array) -> Array:
    """The declared shape of elements; the scalar -1 for an unknown rank."""
    found = list_of(call, handle).shape
    dtype: DType = call.attrs["shape_type"]
    return np.array(-1 if found is None else found, dtype.np)


@kernel("TensorListResize")
def resize(call: Call, handle: Array, size: Array) -> Array:
    """The list cut, or filled up with unset elements, to ``size``."""
    source = list_of(call, handle)
    count = _count(call, size, "the size of a list")
    return handle_array(source.replaced((source.items() + [None] * count)[:count]))


@kernel("TensorListConcatLists")
def concat_lists(call: Call, a: Array, b: Array) -> Array:
    """Each list of ``a`` followed by the elements of the one of ``b``."""
    call.require(
        a.shape == b.shape,
        "both batches of lists must have the same shape",
        found=f"{list(a.shape)} and {list(b.shape)}",
        needed="equal shapes",
    )
    out = np.empty(a.shape, dtype=object)
    for at in np.ndindex(a.shape):
        first, second = list_of(call, handle_array(a[at])), list_of(call, handle_array(b[at]))
        call.require(
            first.shape == second.shape,
            "lists must state one shape of elements to be joined",
            found=f"{first.shape} and {second.shape}",
            needed="identical shapes, unknown dimensions included",
        )
        out[at] = first.replaced(first.items() + second.items())
    return out
