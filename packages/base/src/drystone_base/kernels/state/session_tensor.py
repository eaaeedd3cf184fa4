"""Tensors that a session keeps between runs, under handles that are fed and fetched.

Source: TensorFlow ops GetSessionHandle, GetSessionTensor, DeleteSessionTensor.
"""

from __future__ import annotations

import itertools
from typing import Final, NoReturn

from drystone_base.core.dtypes import from_numpy
from drystone_base.core.tensor import string_array
from drystone_base.kernels._registry import Array, Call, kernel
from drystone_base.kernels._strings import scalar_string
from drystone_base.state.variables import ResourceHandle, handle_array

__all__: list[str] = []

_KIND: Final = "SessionTensor"
_numbers: Final = itertools.count()


def _keep(call: Call, value: Array) -> str:
    """A new handle's text: node, number and device."""
    name = f"{call.node};{next(_numbers)};{call.device}"
    kept = value.copy()
    call.runtime.resources.get_or_create("", _KIND, name, lambda: kept)
    return name


@kernel("GetSessionHandle")
def get_session_handle(call: Call, value: Array) -> Array:
    """Keep the value in the session; its handle, a string scalar."""
    return string_array([_keep(call, value).encode()], ())


@kernel("GetSessionHandleV2")
def get_session_handle_v2(call: Call, value: Array) -> Array:
    """Keep the value in the session; its handle, a resource that bears the string's name."""
    name = _keep(call, value)
    kept = call.runtime.resources.find("", _KIND, name)
    return handle_array(ResourceHandle(_KIND, name, "", kept))


def _name(call: Call, handle: Array) -> str:
    return scalar_string(call, handle, "the handle").decode("utf-8", "replace")


def _missing(call: Call, name: str) -> NoReturn:
    call.fail(
        "a handle must be of a tensor that the session keeps",
        found=name,
        needed="what GetSessionHandle gave in this session, not yet deleted",
    )


@kernel("GetSessionTensor")
def get_session_tensor(call: Call, handle: Array) -> Array:
    """The value that is kept under a handle."""
    name = _name(call, handle)
    found = call.runtime.resources.find("", _KIND, name)
    if found is None:
        _missing(call, name)
    value: Array = found
    dtype = call.attrs["dtype"]
    call.require(
        from_numpy(value.dtype) == dtype,
        "the kept tensor must have the node's type",
        found=value.dtype,
        needed=dtype,
        status="INTERNAL",
    )
    return value.copy()


@kernel("DeleteSessionTensor")
def delete_session_tensor(call: Call, handle: Array) -> tuple[()]:
    """Forget the value that is kept under a handle."""
    name = _name(call, handle)
    if not call.runtime.resources.delete("", _KIND, name):
        _missing(call, name)
    return ()
