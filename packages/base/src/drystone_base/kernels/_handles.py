"""Handles of objects that live as long as the session.

The first generation of ops passes references to strings, where later ones pass resources.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from drystone_base.core.dtypes import STRING
from drystone_base.kernels._registry import Array, Call
from drystone_base.state.variables import ResourceHandle, Variable, handle_array, resource_of

__all__ = ["as_reference", "object_of", "shared_handle", "shared_object"]

T = TypeVar("T")


def as_reference(handle: ResourceHandle) -> Variable:
    """A variable that holds the handle: what an op with a ``Ref(string)`` output returns."""
    ref = Variable(handle.name, STRING, ())
    ref.write(handle_array(handle))
    return ref


def object_of(handle: Array | Variable, kind: type[T]) -> T:
    """The object behind a handle of either generation; raises as ``resource_of`` does."""
    tensor: Any = handle.read() if isinstance(handle, Variable) else handle
    return resource_of(tensor, kind)


def shared_object(call: Call, kind: str, create: Callable[[str], T]) -> tuple[ResourceHandle, T]:
    """The session's object of the node's shared name (or own name), made when there is none."""
    name, container = call.attrs["shared_name"] or call.node, call.attrs["container"]
    found = call.runtime.resources.get_or_create(container, kind, name, lambda: create(name))
    return ResourceHandle(kind, name, container, found), found


def shared_handle(
    call: Call,
    kind: str,
    create: Callable[[str], T],
    declared: Callable[[T], object],
    *,
    reference: bool,
) -> Any:
    """A handle to :func:`shared_object`, which must be what the node declares of it.

    ``reference``: in the form of the first generation.
    """
    handle, found = shared_object(call, kind, create)
    needed = declared(create(handle.name))
    call.require(
        declared(found) == needed,
        f"a shared {kind} must be what the node declares",
        found=declared(found),
        needed=needed,
    )
    return as_reference(handle) if reference else handle_array(handle)
