"""Values of resource and variant tensors on their way between the host library and Python.

A tensor list is converted: kernels of plugins and those in Python see the same elements. What only
one side knows is kept as it is for when it comes back.
"""

from __future__ import annotations

import ctypes
import math
from typing import Any, Final

import numpy as np

from drystone_base.core import dtypes
from drystone_base.core.dtypes import DType, from_number
from drystone_base.core.errors import HostError
from drystone_base.executor.loans import variable_of
from drystone_base.host._lib import declare
from drystone_base.host.device_array import DeviceArray, device_name
from drystone_base.host.extension import extension
from drystone_base.host.tensors import shape_of, without_array
from drystone_base.kernels.data_flow._tensor_lists import TensorList
from drystone_base.state.host_variable import variable_behind
from drystone_base.state.variables import ResourceHandle, handle_array

__all__ = ["HostTensor", "adapt", "held_tensor", "resolve", "value_of", "variant_tensor"]

_REFERENCE: Final = 100
_data: Final = declare("TF_TensorData", ctypes.c_void_p, ctypes.c_void_p)


class HostTensor:
    """A tensor of the host library whose elements Python does not know: a plugin's resource."""

    __slots__ = ("_delete", "address")

    def __init__(self, address: int) -> None:
        self._delete = extension().delete_tensor  # at exit modules are emptied before objects
        self.address: int = extension().share_tensor(address)

    def __del__(self) -> None:
        self._delete(self.address)

    def share(self) -> int:
        """The address of another handle of the tensor."""
        shared: int = extension().share_tensor(self.address)
        return shared


def _only(value: Any) -> Any:
    """The object of a scalar; None for anything else."""
    return value.item() if isinstance(value, np.ndarray) and value.ndim == 0 else None


def held_tensor(value: Any) -> int | None:
    """The address of a new handle of the host's tensor that a handle of Python's stands for."""
    handle = _only(value)
    kept = handle.resource if isinstance(handle, ResourceHandle) else handle
    return kept.share() if isinstance(kept, HostTensor) else None


def variant_tensor(value: Any) -> int:
    """The address of a new variant tensor for kernels of plugins; whatever it holds comes back."""
    held = _only(value)
    if isinstance(held, TensorList):
        return _list_tensor(held)
    kept = held_tensor(value)
    if kept is not None:
        return kept
    return _foreign(dtypes.VARIANT, value)


def _foreign(dtype: DType, value: Any) -> int:
    made: int = extension().foreign_tensor(dtype.number, np.shape(value), value)
    return made


def _list_tensor(held: TensorList) -> int:
    items = held.items()
    if held.dtype is dtypes.VARIANT:
        items = [None if item is None else variant_tensor(item) for item in items]  # type: ignore[misc]
    elif held.dtype is dtypes.RESOURCE:
        items = [None if item is None else _foreign(held.dtype, item) for item in items]  # type: ignore[misc]
    made: int = extension().new_list(held.dtype.number, held.shape, held.limit, items)
    return made


def value_of(number: int, address: int) -> np.ndarray[Any, Any]:
    """What a tensor of the host's at ``address`` stands for; the tensor stays the caller's.

    Raises ``HostError`` (``bad-host-tensor``) for an array of what only plugins know.
    """
    dtype = from_number(number)
    if dtype is dtypes.VARIANT:
        parts = extension().list_parts(address)
        if parts is not None:
            kind, shape, limit, items = parts
            return handle_array(TensorList(from_number(kind), shape, items, limit))
    dims = shape_of(address)
    place = _data(address)
    if place is None or not any((ctypes.c_uint64 * math.prod(dims)).from_address(place)):
        return np.full(dims, None, dtype=object)
    if dims == ():
        kept = HostTensor(address)
        return handle_array(
            ResourceHandle("plugin", "", "", kept) if dtype is dtypes.RESOURCE else kept
        )
    raise HostError(
        f"a {dtype} of a plugin's cannot go to a kernel in Python",
        check="an array of handles must hold what the session knows",
        found=f"an array of shape {list(dims)}",
        needed="variables, tensor lists, or a scalar",
        remedy="use kernels of one plugin for all ops that share such values",
        code="bad-host-tensor",
        status="UNIMPLEMENTED",
    )


def adapt(value: Any, number: int) -> int:
    """The address of what plugins' kernels get in place of a value of Python's.

    A new tensor of the dtype ``number``, or a new variable for a reference. Raises ``HostError``
    (``bad-host-tensor``) for a value that no plugin knows.
    """
    if number == dtypes.VARIANT.number:
        return variant_tensor(value)
    kept = held_tensor(value)
    if kept is not None and number == dtypes.RESOURCE.number:
        return kept
    variable = variable_of(value)
    if variable is not None and number in (_REFERENCE, dtypes.RESOURCE.number):
        home = variable.in_host()
        address: int = (
            extension().share_variable(home.address)
            if number == _REFERENCE
            else extension().variable_handle(home.address)
        )
        return address
    wanted = "a reference" if number == _REFERENCE else str(from_number(number))
    raise HostError(
        f"a value of Python's cannot go to a plugin's kernel as {wanted}",
        check="a value must be something that plugins know",
        found=type(value).__name__,
        needed="numbers, strings or variables",
        remedy="DRYSTONE_PLUGINS_DISABLE leaves a plugin out",
        code="bad-host-tensor",
        status="INVALID_ARGUMENT",
    )


def resolve(number: int, address: int) -> Any:
    """What a resource or variant tensor of the host's stands for, for kernels in Python.

    A tensor on a device is taken over, as a ``DeviceArray``. Raises ``HostError``
    (``bad-host-tensor``) for any other: NumPy has no array of its shape.
    """
    if device_name(address) is not None:
        return DeviceArray(address)
    if number not in (dtypes.RESOURCE.number, dtypes.VARIANT.number):
        raise without_array(from_number(number), shape_of(address))
    found = variable_behind(address) if number == dtypes.RESOURCE.number else None
    if found is None:
        return value_of(number, address)
    return handle_array(ResourceHandle("variable", found.name, "", found))
