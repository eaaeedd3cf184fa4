"""The extension `drystone_base._native`, bound to the host library, and variables in the latter."""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from drystone_base import dtypes
from drystone_base.dtypes import DType, from_number
from drystone_base.errors import DrystoneError, HostError
from drystone_base.host import _lib

if TYPE_CHECKING:
    from drystone_base.state import Variable

__all__ = ["HostVariable", "adapt", "extension"]

_FUNCTIONS: Final = (
    "TF_NewStatus", "TF_DeleteStatus", "TF_GetCode", "TF_Message", "TF_SetStatus",
    "TF_AllocateTensor", "TF_DeleteTensor", "TF_TensorType", "TF_NumDims", "TF_Dim",
    "TF_TensorData", "TF_TensorByteSize", "TF_NewTensor", "DS_ShareTensor",
    "DS_TensorIsExclusive", "DS_MarkTensorShared", "DS_NewOpaqueTensor", "DS_NewStoredTensor",
    "DS_ScaleStoredTensor",
    "DS_OpaqueObject", "DS_NewSession", "DS_DeleteSession", "DS_ResetSession", "DS_NewPlan",
    "DS_DeletePlan", "DS_PlanNumFeeds",
    "DS_PlanNumFetches", "DS_PlanFeedType", "DS_DescribePlan", "DS_NewCancellation",
    "DS_DeleteCancellation", "DS_Cancel", "DS_RunPlan", "DS_NewVariable", "DS_DeleteVariable",
    "DS_ShareVariable", "DS_VariableTensor", "DS_VariableVersion", "DS_SetVariable",
    "DS_VariableHandle",
    "DS_NewListTensor", "DS_ListOfTensor", "DS_ListTensorItem", "DS_NewForeignTensor",
    "DS_ForeignObject",
)  # fmt: skip
_DTYPES: Final = 64
_REFERENCE: Final = 100
_ENCODING: Final = ("utf-8", "surrogateescape")
_VARIABLES: Final[weakref.WeakValueDictionary[int, Variable]] = weakref.WeakValueDictionary()
_data = _lib.declare("TF_TensorData", ctypes.c_void_p, ctypes.c_void_p)
_delete_tensor = _lib.declare("TF_DeleteTensor", None, ctypes.c_void_p)


@cache
def extension() -> Any:
    """The extension module; raises ``HostError`` (``host-library-missing``)."""
    library = _lib.library()
    from drystone_base import _native

    _native.bind(
        {name: ctypes.cast(getattr(library, name), ctypes.c_void_p).value for name in _FUNCTIONS}
    )
    _native.set_dtypes([_numpy_of(number) for number in range(_DTYPES)])
    _native.set_resolver(_resolve)
    return _native


def _numpy_of(number: int) -> np.dtype[Any] | Callable[[], np.dtype[Any]] | None:
    """What arrays have, or what finds that when the first one comes; None where there are none."""
    try:
        found = from_number(number)
    except DrystoneError:
        return None
    if found.is_object:
        return None
    return found.np if found.is_of_numpy else lambda: found.np


class HostVariable:
    """The value of a variable, in the host library, where its kernels change it in place."""

    __slots__ = ("_dtype", "address")

    def __init__(self, variable: Variable) -> None:
        self._dtype: DType = variable.dtype.base
        self.address: int = extension().new_variable(
            variable.name.encode(*_ENCODING), self._dtype.number, variable.value
        )
        _VARIABLES[self._number()] = variable

    def __del__(self) -> None:
        extension().delete_variable(self.address)

    def _number(self) -> int:
        """What resource tensors that stand for the variable hold."""
        tensor = extension().variable_handle(self.address)
        number: int = ctypes.c_uint64.from_address(_data(tensor)).value
        _delete_tensor(tensor)
        return number

    def read(self) -> np.ndarray[Any, Any] | None:
        """The value; read-only, since the host goes on using it."""
        value: np.ndarray[Any, Any] | None = extension().variable_value(self.address)
        return value

    def version(self) -> int:
        """A number that no other value of any variable has; 0 without a value."""
        found: int = extension().variable_version(self.address)
        return found

    def write(self, value: np.ndarray[Any, Any] | None) -> None:
        """Replace the value."""
        extension().set_variable(self.address, self._dtype.number, value)


def adapt(value: Any, number: int) -> int:
    """The address of what plugins' kernels get in place of a value of Python's.

    A new tensor of the dtype ``number``, or a new variable for a reference. Raises ``HostError``
    (``bad-host-tensor``) for a value that no plugin knows.
    """
    from drystone_base.host.handles import held_tensor, variant_tensor
    from drystone_base.host.variables import variable_of

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


def _resolve(number: int, address: int) -> np.ndarray[Any, Any]:
    """What a resource or variant tensor of the host's stands for, for kernels in Python.

    Raises ``HostError`` (``bad-host-tensor``) for any other: NumPy has no array of its shape.
    """
    if number not in (dtypes.RESOURCE.number, dtypes.VARIANT.number):
        from drystone_base.host.tensors import shape_of, without_array

        raise without_array(from_number(number), shape_of(address))
    from drystone_base.host.handles import value_of
    from drystone_base.state import ResourceHandle, handle_array

    place = _data(address)
    found = _VARIABLES.get(ctypes.c_uint64.from_address(place).value) if place else None
    if found is None or number != dtypes.RESOURCE.number:
        return value_of(number, address)
    return handle_array(ResourceHandle("variable", found.name, "", found))
