"""The extension `drystone_base._native`, bound to the host library."""

from __future__ import annotations

import atexit
import ctypes
from collections.abc import Callable
from functools import cache, partial
from typing import Any, Final

import numpy as np

from drystone_base.core.dtypes import all_dtypes
from drystone_base.core.upcalls import VALUE_OF_HANDLE
from drystone_base.host import _lib
from drystone_base.host.status import keep

__all__ = ["extension"]

_FUNCTIONS: Final = (
    "TF_NewStatus", "TF_DeleteStatus", "TF_GetCode", "TF_Message", "TF_SetStatus",
    "TF_ForEachPayload",
    "TF_AllocateTensor", "TF_DeleteTensor", "TF_TensorType", "TF_NumDims", "TF_Dim",
    "TF_TensorData", "TF_TensorByteSize", "TF_NewTensor", "DS_ShareTensor",
    "DS_TensorIsExclusive", "DS_MarkTensorShared", "DS_NewFeed",
    "DS_NewOpaqueTensor", "DS_NewStoredTensor", "DS_ScaleStoredTensor",
    "DS_OpaqueObject", "DS_NewSession", "DS_DeleteSession", "DS_ResetSession", "DS_NewPlan",
    "DS_DeletePlan", "DS_PlanNumFeeds",
    "DS_PlanNumFetches", "DS_PlanFeedType", "DS_DescribePlan", "DS_NewCancellation",
    "DS_DeleteCancellation", "DS_Cancel", "DS_RunPlan",
    "DS_SetAttention", "DS_NewVariable", "DS_DeleteVariable",
    "DS_ShareVariable", "DS_VariableTensor", "DS_VariableVersion", "DS_SetVariable",
    "DS_VariableHandle",
    "DS_NewListTensor", "DS_ListOfTensor", "DS_ListTensorItem", "DS_NewForeignTensor",
    "DS_ForeignObject", "DS_TensorDevice",
)  # fmt: skip
_DTYPES: Final = 64
_set_attention = _lib.declare("DS_SetAttention", None, ctypes.c_void_p, ctypes.c_void_p)
_prepare = _lib.declare("DS_PrepareEnd", None)


@cache
def extension() -> Any:
    """The extension module; raises ``HostError`` (``host-library-missing``)."""
    library = _lib.library()
    from drystone_base import _native

    _native.bind(
        {name: ctypes.cast(getattr(library, name), ctypes.c_void_p).value for name in _FUNCTIONS}
    )
    _native.set_dtypes(_numpy_dtypes())
    _native.set_resolver(VALUE_OF_HANDLE)
    _native.attend(keep)
    atexit.register(_prepare_end)
    return _native


def _prepare_end() -> None:
    """Signals are not handled any more; what plugins do at the process's end is bounded."""
    _set_attention(None, None)
    _prepare()


def _numpy_dtypes() -> list[np.dtype[Any] | Callable[[], np.dtype[Any]] | None]:
    """By number, what arrays have, or what finds that when the first one comes; None for none."""
    found: list[np.dtype[Any] | Callable[[], np.dtype[Any]] | None] = [None] * _DTYPES
    for dtype in all_dtypes():
        if not dtype.is_object:
            found[dtype.number] = dtype.np if dtype.is_of_numpy else partial(getattr, dtype, "np")
    return found
