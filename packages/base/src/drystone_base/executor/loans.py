"""A session's variables while a plugin's kernel uses them.

The host's variable is made for one call from the session's, whose lock is held meanwhile, and what
the kernel did to it is written back after the call, whether or not it succeeded.
"""

from __future__ import annotations

import ctypes
from contextlib import ExitStack
from types import TracebackType
from typing import Any, Final, Self

import numpy as np

from drystone_base.host._lib import declare
from drystone_base.host.status import Status
from drystone_base.host.tensors import adopt, lend, same
from drystone_base.state.variables import ResourceHandle, Variable

__all__ = ["Loan", "Loans", "variable_of"]

_new = declare(
    "DS_NewVariable", ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_int,
    ctypes.c_void_p, ctypes.c_void_p,
)  # fmt: skip
_delete = declare("DS_DeleteVariable", None, ctypes.c_void_p)
_value = declare("DS_VariableTensor", ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)
_resource = declare("DS_VariableHandle", ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)
_of_handle = declare(
    "DS_VariableOfHandle", ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64, ctypes.c_void_p
)
_data = declare("TF_TensorData", ctypes.c_void_p, ctypes.c_void_p)
_delete_tensor = declare("TF_DeleteTensor", None, ctypes.c_void_p)

_ENCODING: Final = ("utf-8", "surrogateescape")


def variable_of(value: object) -> Variable | None:
    """The variable that an input stands for, by reference or by resource handle; else None."""
    if isinstance(value, np.ndarray) and value.dtype == object and value.size == 1:
        value = value.item()
        if isinstance(value, ResourceHandle):
            value = value.resource
    return value if isinstance(value, Variable) else None


class Loan:
    """One variable, lent for one call. ``handle`` is the host's ``DS_Variable``."""

    __slots__ = ("_lent", "handle", "variable")

    def __init__(self, variable: Variable) -> None:
        self.variable = variable
        value = variable.value
        dtype = variable.dtype.base
        self._lent: int | None = None if value is None else lend(value, dtype)
        try:
            with Status(f"variable {variable.name!r} cannot be lent to a plugin") as status:
                name = variable.name.encode(*_ENCODING)
                self.handle: int = _new(name, None, dtype.number, self._lent, status.pointer)
        except Exception:
            _delete_tensor(self._lent)
            raise

    def resource(self) -> int:
        """A new resource tensor that stands for the variable."""
        with Status(f"variable {self.variable.name!r} cannot be lent to a plugin") as status:
            made: int = _resource(self.handle, status.pointer)
        return made

    def close(self) -> None:
        """Give the session's variable the value that the kernel left, and end the loan."""
        now = _value(self.handle, None)
        try:
            if now is None:
                self.variable.value = None
            elif self._lent is not None and same(now, self._lent):
                _delete_tensor(now)
            else:
                self.variable.write(adopt(now))
        finally:
            _delete_tensor(self._lent)
            _delete(self.handle)


class Loans:
    """The variables of one call: locked, lent once each, and written back at the end."""

    def __init__(self, variables: list[Variable]) -> None:
        self._variables = {id(v): v for v in variables}
        self._loans: dict[int, Loan] = {}
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            for key in sorted(self._variables):  # one order for all: two calls cannot block
                stack.enter_context(self._variables[key].lock)
            for key, variable in self._variables.items():
                self._loans[key] = loan = Loan(variable)
                stack.callback(loan.close)
            self._stack = stack.pop_all()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stack.close()

    def __getitem__(self, variable: Variable) -> Loan:
        return self._loans[id(variable)]

    def find(self, handle: int) -> Variable | None:
        """The session's variable behind a host's one, whose handle is given back."""
        try:
            number = _number(handle)
            same = (x.variable for x in self._loans.values() if _number(x.handle) == number)
            return next(same, None)
        finally:
            _delete(handle)

    def of_resource(self, tensor: int) -> Variable | None:
        """The session's variable that a resource tensor stands for, if it is one of these."""
        handle: Any = _of_handle(tensor, 0, None)
        return None if handle is None else self.find(handle)


def _number(handle: int) -> int:
    """What is the same for all handles of one variable: the bytes of its resource tensors."""
    tensor = _resource(handle, None)
    number = ctypes.c_uint64.from_address(_data(tensor)).value
    _delete_tensor(tensor)
    return number
