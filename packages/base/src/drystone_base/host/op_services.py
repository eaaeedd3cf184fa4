"""What the host library asks of Python: definitions of ops, and which have kernels in NumPy."""

from __future__ import annotations

import atexit
import ctypes
import threading
from collections.abc import Callable
from typing import Final

from drystone_base.core.registered import OPS, PACKAGE_OPS
from drystone_base.core.upcalls import OWN_OPS, REFERENCE_KERNELS
from drystone_base.host._lib import declare
from drystone_base.host.buffer import write
from drystone_base.host.status import Status, told

__all__ = ["attach", "detach", "generation_of_plugins"]

_REFERENCE_PRIORITY: Final = -1
"""Of our NumPy kernels: those of plugins, of priority 0 by default, come before them."""

_OP_LIST = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)
_KERNEL_LIST = ctypes.CFUNCTYPE(
    None, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p, ctypes.c_void_p
)


class _Services(ctypes.Structure):
    """``DS_OpServices``."""

    _fields_ = (
        ("struct_size", ctypes.c_size_t),
        ("ext", ctypes.c_void_p),
        ("context", ctypes.c_void_p),
        ("op_list", _OP_LIST),
        ("kernel_list", _KERNEL_LIST),
    )


_set_services = declare("DS_SetOpServices", None, ctypes.c_void_p, ctypes.c_void_p)
_plugin_generation = declare("DS_OpGeneration", ctypes.c_int64)


def generation_of_plugins() -> int:
    """A number that grows when a plugin registers an op; 0 before the first does."""
    return int(_plugin_generation())


class _State:
    """What the host was told."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.services: _Services | None = None
        self.told = -1  # generation of our ops that the host has


_STATE: Final = _State()


def _write_answer(out: int, status: int, make: Callable[[], bytes]) -> None:
    """Fill ``out`` in a callback; whatever goes wrong becomes the status."""
    try:
        write(out, make())
    except BaseException as error:
        told(status, error)


def _own_ops(_context: int, out: int, status: int) -> None:
    _write_answer(out, status, _definitions)


def _definitions() -> bytes:
    return OWN_OPS()


def _own_kernels(_context: int, op: bytes | None, out: int, status: int) -> None:
    _write_answer(out, status, lambda: _reference_kernels(op))


def _reference_kernels(op: bytes | None) -> bytes:
    from drystone_abi.protos import KernelDef, KernelList

    known = REFERENCE_KERNELS()
    chosen = sorted(known) if op is None else sorted(known & {op.decode("utf-8", "replace")})
    made = [KernelDef(op=name, device_type="CPU", priority=_REFERENCE_PRIORITY) for name in chosen]
    return KernelList(kernel=made).SerializeToString()


_OP_LIST_CALLBACK: Final = _OP_LIST(_own_ops)
_KERNEL_LIST_CALLBACK: Final = _KERNEL_LIST(_own_kernels)


def attach() -> None:
    """Let the host ask for our ops and kernels, and again when they have changed."""
    with _STATE.lock:
        generation = len(OPS) + len(PACKAGE_OPS)
        if _STATE.services is not None and _STATE.told == generation:
            return
        services = _Services(
            ctypes.sizeof(_Services), None, None, _OP_LIST_CALLBACK, _KERNEL_LIST_CALLBACK
        )
        with Status("attaching the op definitions to the host library") as status:
            _set_services(ctypes.byref(services), status.pointer)
        if _STATE.services is None:
            atexit.register(detach)
        _STATE.services, _STATE.told = services, generation


def detach() -> None:
    """Take that back: the host must not call an interpreter that is gone."""
    with _STATE.lock:
        if _STATE.services is None:
            return
        with Status("detaching the op definitions from the host library") as status:
            _set_services(None, status.pointer)
        _STATE.services = None
        atexit.unregister(detach)
