"""Handles of the first generation: references to strings, where later ones are resources."""

from __future__ import annotations

from typing import Any, TypeVar

from drystone_base.dtypes import STRING
from drystone_base.kernels._registry import Array
from drystone_base.state import ResourceHandle, Variable, handle_array, resource_of

__all__ = ["as_reference", "object_of"]

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
