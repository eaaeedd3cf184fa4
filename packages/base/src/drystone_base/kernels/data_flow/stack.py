"""Stacks that live as long as a step: what TF1 loops keep for their gradients."""

from __future__ import annotations

from typing import Any

from drystone_base.core.dtypes import DType
from drystone_base.kernels._handles import as_reference, object_of
from drystone_base.kernels._registry import Array, Call, kernel
from drystone_base.state.variables import ResourceHandle, handle_array


class Stack:
    """Values of one dtype, last in first out; at most ``limit`` of them (negative: any number)."""

    def __init__(self, dtype: DType, limit: int) -> None:
        self.dtype = dtype
        self.limit = limit
        self.values: list[Array] = []
        self.closed = False


def _stack(call: Call, handle: Array) -> Stack:
    found = object_of(handle, Stack)
    call.require(not found.closed, "a stack must not be closed", found="closed", needed="open")
    return found


@kernel("Stack", "StackV2")
def stack(call: Call, max_size: Array | None = None) -> Any:
    """A handle to a new, empty stack."""
    limit = -1
    if max_size is not None:
        shape = list(max_size.shape)
        call.require(max_size.size == 1, "the size must be a scalar", found=shape, needed="[]")
        limit = int(max_size.item())
    name = call.attrs["stack_name"] or call.node
    handle = ResourceHandle("stack", name, "", Stack(call.attrs["elem_type"], limit))
    return as_reference(handle) if max_size is None else handle_array(handle)


@kernel("StackPush", "StackPushV2")
def push(call: Call, handle: Array, elem: Array) -> Array:
    """Put ``elem`` on top; returns it."""
    target = _stack(call, handle)
    call.require(
        call.attrs["T"] is target.dtype,
        "an element must have the stack's dtype",
        found=call.attrs["T"],
        needed=target.dtype,
    )
    call.require(
        target.limit < 0 or len(target.values) < target.limit,
        "a stack must not outgrow its size",
        found=f"{len(target.values)} elements",
        needed=f"fewer than {target.limit}",
    )
    target.values.append(elem)
    return elem


@kernel("StackPop", "StackPopV2")
def pop(call: Call, handle: Array) -> Array:
    """Remove the last element and give it, of dtype ``elem_type``.

    Raises ``KernelError`` for an empty stack, and for one of another dtype.
    """
    target = _stack(call, handle)
    call.require(
        call.attrs["elem_type"] is target.dtype,
        "the node's dtype must be the stack's",
        found=call.attrs["elem_type"],
        needed=target.dtype,
    )
    call.require(
        target.values, "a stack must not be empty to pop", found="empty", needed="an element"
    )
    return target.values.pop()


@kernel("StackClose", "StackCloseV2")
def close(_: Call, handle: Array) -> tuple[()]:
    """Free the elements; the stack can no longer be used."""
    target = object_of(handle, Stack)
    target.closed, target.values = True, []
    return ()
