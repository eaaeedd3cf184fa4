"""Tensors of other libraries: import and export by DLPack, in both of its forms.

:func:`from_dlpack` gives an array over the memory of any ``__dlpack__`` producer, also for dtypes
that ``numpy.from_dlpack`` does not know (bfloat16, the 8-bit floats, int4);
``HostTensor.from_numpy(array)`` is what a consumer of those takes.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from drystone_base.core.errors import HostError
from drystone_base.host._lib import declare, library
from drystone_base.host.status import Status

if TYPE_CHECKING:
    from drystone_base.host.tensors import HostTensor

__all__ = [
    "CPU",
    "DLPackError",
    "Exporter",
    "capsule_of",
    "from_dlpack",
    "give",
    "import_from",
    "refused",
    "take",
]

Exporter: TypeAlias = Callable[[int, int, Any], Any]
"""From whether a struct has a version, its flags and a status, the address of a managed tensor."""

_VERSION: Final = (1, 1)
CPU: Final = (1, 0)
_READ_ONLY, _COPIED = 1, 2
# CPython keeps the pointer to a capsule's name: these objects must never go.
_NAMES: Final = (b"dltensor", b"dltensor_versioned")
_USED: Final = (b"used_dltensor", b"used_dltensor_versioned")

_export = declare(
    "DS_TensorToDLPack", ctypes.c_void_p,
    ctypes.c_void_p, ctypes.c_int, ctypes.c_uint64, ctypes.c_void_p,
)  # fmt: skip
_import = declare(
    "DS_TensorFromDLPack", ctypes.c_void_p,
    ctypes.c_void_p, ctypes.c_int, ctypes.POINTER(ctypes.c_uint64), ctypes.c_void_p,
)  # fmt: skip
_set_capsule_functions = declare("DS_SetCapsuleFunctions", None, ctypes.c_void_p, ctypes.c_void_p)


class DLPackError(HostError, BufferError):
    """Memory cannot be handed over by DLPack; a ``BufferError``, as the protocol wants it."""

    default_code = "dlpack-refused"
    default_status = "INVALID_ARGUMENT"


def from_dlpack(source: Any) -> np.ndarray[Any, Any]:
    """An array over the memory of ``source``; read-only where its owner says so.

    Raises :class:`DLPackError` (``dlpack-refused``).
    """
    from drystone_base.host.tensors import HostTensor

    return HostTensor.from_dlpack(source).numpy()


@cache
def _capsules() -> Any:
    """CPython's capsule functions with prototypes, handed to the host as well."""
    api = ctypes.PyDLL(None)
    api.PyCapsule_New.restype = ctypes.py_object
    api.PyCapsule_New.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    api.PyCapsule_IsValid.restype = ctypes.c_int
    api.PyCapsule_IsValid.argtypes = [ctypes.py_object, ctypes.c_char_p]
    api.PyCapsule_GetPointer.restype = ctypes.c_void_p
    api.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
    api.PyCapsule_SetName.restype = ctypes.c_int
    api.PyCapsule_SetName.argtypes = [ctypes.py_object, ctypes.c_char_p]
    functions = (api.PyCapsule_IsValid, api.PyCapsule_GetPointer)
    _set_capsule_functions(*(ctypes.cast(f, ctypes.c_void_p) for f in functions))
    return api


def give(
    tensor: HostTensor,
    stream: Any,
    max_version: tuple[int, int] | None,
    device: tuple[int, int] | None,
    copy: bool | None,
) -> Any:
    """The capsule that ``__dlpack__`` returns; arguments as in the array API standard."""
    from drystone_base.host.tensors import HostTensor, aligned

    if device is not None and tuple(device) != CPU:
        raise refused("give", "a device must be the CPU", f"device {tuple(device)}", CPU)
    if stream is not None:
        raise refused("give", "memory of the CPU has no streams", f"stream={stream!r}", "None")
    if copy:
        tensor = HostTensor.from_numpy(aligned(tensor.numpy().copy()), tensor.dtype)
        return capsule_of(_exporter(tensor), max_version, copied=True)
    return capsule_of(_exporter(tensor), max_version, read_only=not tensor.writeable)


def _exporter(tensor: HostTensor) -> Exporter:
    return lambda versioned, flags, status: _export(tensor.handle, versioned, flags, status)


def capsule_of(
    export: Exporter,
    max_version: tuple[int, int] | None,
    *,
    read_only: bool = False,
    copied: bool = False,
) -> Any:
    """A fresh capsule in the form that ``max_version`` asks for; raises ``DLPackError``."""
    versioned = max_version is not None and max_version[0] >= _VERSION[0]
    if read_only and not versioned:
        raise refused(
            "give",
            "memory that must not be written needs DLPack 1.x, which can say so",
            "a consumer that asks for the form without a version",
            "__dlpack__(max_version=(1, 0)), or copy=True",
        )
    api = _capsules()
    flags = (_READ_ONLY if read_only else 0) | (_COPIED if copied else 0)
    try:
        with Status("a tensor cannot be handed over by DLPack") as status:
            managed = export(int(versioned), flags, status.pointer)
    except HostError as error:
        raise refused("give", "the dtype must be one of DLPack", error.found, "numbers") from error
    drop = ctypes.cast(library().DS_DropDLPackCapsule, ctypes.c_void_p)
    return api.PyCapsule_New(managed, _NAMES[versioned], drop)


def take(source: Any) -> tuple[int, bool]:
    """The handle of a tensor over the memory of a producer, and whether it may be written."""
    device = tuple(source.__dlpack_device__())
    if device[0] != CPU[0]:
        raise refused("take", "memory must lie on the CPU", f"device {device}", CPU)
    return import_from(source, _import, "memory")


def import_from(source: Any, take_over: Callable[..., Any], what: str) -> tuple[int, bool]:
    """The handle of a tensor over the memory of a producer, and whether it may be written.

    ``take_over``: of the address of a managed tensor, whether it has a version, room for flags and
    a status, the handle.
    """
    try:
        capsule = source.__dlpack__(max_version=_VERSION)
    except TypeError:  # a producer that is older than versions
        capsule = source.__dlpack__()
    api, versioned = _capsules(), 1
    if not api.PyCapsule_IsValid(capsule, _NAMES[versioned]):
        versioned = 0
        if not api.PyCapsule_IsValid(capsule, _NAMES[versioned]):
            raise refused(
                "take",
                "__dlpack__ must return a fresh capsule",
                repr(capsule),
                "a capsule named dltensor or dltensor_versioned",
            )
    flags = ctypes.c_uint64(0)
    managed = api.PyCapsule_GetPointer(capsule, _NAMES[versioned])
    try:
        with Status(f"{what} cannot be taken by DLPack") as status:
            handle = take_over(managed, versioned, ctypes.byref(flags), status.pointer)
    except HostError as error:
        raise refused(
            "take", "dtype, shape and device must be ones of TensorFlow", error.found, "numbers"
        ) from error
    api.PyCapsule_SetName(capsule, _USED[versioned])
    copied = bool(flags.value & _COPIED)
    return handle, copied or not flags.value & _READ_ONLY


def refused(role: str, check: str, found: object, needed: object) -> DLPackError:
    """The error of who cannot ``give`` or ``take``."""
    what = "a tensor cannot be handed over" if role == "give" else "memory cannot be taken"
    return DLPackError(
        f"{what} by DLPack",
        check=check,
        found=found,
        needed=needed,
        remedy="convert or move the tensor first: .astype(...), .cpu()",
    )
