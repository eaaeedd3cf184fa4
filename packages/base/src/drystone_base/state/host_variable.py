"""Variables in the host library, where its kernels change them in place."""

from __future__ import annotations

import ctypes
import weakref
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from drystone_base.core.dtypes import DType
from drystone_base.host._lib import declare
from drystone_base.host.extension import extension

if TYPE_CHECKING:
    from drystone_base.state.variables import Variable

__all__ = ["HostVariable", "variable_behind"]

_ENCODING: Final = ("utf-8", "surrogateescape")
_ALL: Final[weakref.WeakValueDictionary[int, Variable]] = weakref.WeakValueDictionary()
_data = declare("TF_TensorData", ctypes.c_void_p, ctypes.c_void_p)
_delete_tensor = declare("TF_DeleteTensor", None, ctypes.c_void_p)


class HostVariable:
    """The value of a variable, in the host library, where its kernels change it in place."""

    __slots__ = ("_delete", "_dtype", "address")

    def __init__(self, variable: Variable) -> None:
        self._delete = extension().delete_variable  # at exit modules are emptied before objects
        self._dtype: DType = variable.dtype.base
        self.address: int = extension().new_variable(
            variable.name.encode(*_ENCODING), self._dtype.number, variable.value
        )
        _ALL[self._number()] = variable

    def __del__(self) -> None:
        self._delete(self.address)

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


def variable_behind(tensor: int) -> Variable | None:
    """The variable that a resource tensor of the host's, by address, stands for."""
    place = _data(tensor)
    return _ALL.get(ctypes.c_uint64.from_address(place).value) if place else None
