"""Stacks that live as long as a step: what TF1 loops keep for their gradients."""

from __future__ import annotations

from drystone_base.dtypes import DType
from drystone_base.kernels._registry import Array, Call, kernel
from drystone_base.state import ResourceHandle, handle_array, resource_of


class Stack:
    """Values of one dtype, last in first out; at most ``limit`` of them (negative: any number)."""

    def __init__(self, dtype: DType, limit: int) -> None:
        self.dtype = dtype
        self.limit = limit
        self.values: list[Array] = []
        self.closed = False


def _stack(call: Call, handle: Array) -> Stack:
    found = resource_of(handle, Stack)
    call.require(not found.closed, "a stack must not be closed", found="closed", needed="open")
    return found


@kernel("StackV2")
def stack(call: Call, max_size: Array) -> Array:
    """A handle to a new, empty stack."""
    call.require(
        max_size.size == 1, "the size must be a scalar", found=list(max_size.shape), needed="[]"
    )
    name = call.attrs["stack_name"] or call.node
    made = Stack(call.attrs["elem_type"], int(max_size.item()))
    return handle_array(ResourceHandle("stack", name, "", made))


@kernel("StackPushV2")
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


@kernel("StackPopV2")
def pop(call: Call, handle: Array) -> Array:
    """Take the top element."""
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


@kernel("StackCloseV2")
def close(_: Call, handle: Array) -> tuple[()]:
    """Free the elements; the stack can no longer be used."""
    target = resource_of(handle, Stack)
    target.closed, target.values = True, []
    return ()
