"""Graph optimizers that plugins registered with the host, and what they may ask while they run."""

from __future__ import annotations

import atexit
import ctypes
import json
import os
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

from drystone_base.core.upcalls import INFER_PROPERTIES
from drystone_base.host._lib import available, declare
from drystone_base.host.buffer import BufferStruct, answer, bytes_of, write
from drystone_base.host.op_services import attach as attach_ops
from drystone_base.host.status import Status, told

__all__ = ["DEFAULT_DEVICE", "HostOptimizer", "attach_services", "optimizers", "run"]

DEFAULT_DEVICE: Final = "/job:localhost/replica:0/task:0/device:CPU:0"
"""The device that a node without one states while a plugin sees it."""


@dataclass(frozen=True)
class HostOptimizer:
    """One registered optimizer; the fields are those of ``DS_ListOptimizers``.

    ``configs`` holds the plugin's wishes about the host's passes, ``"on"`` or ``"off"`` by name.
    ``ordered``: it declared ``phase`` and ``priority`` and may share its device type.
    """

    device: str
    library: str
    entry: str
    version: tuple[int, int, int]
    sizes: dict[str, int]
    configs: dict[str, str]
    ordered: bool = False
    phase: str = "end"
    priority: int = 0


class _Names(ctypes.Structure):
    _fields_ = (
        ("values", ctypes.POINTER(ctypes.c_void_p)),
        ("lengths", ctypes.POINTER(ctypes.c_size_t)),
        ("count", ctypes.c_int),
    )


class _ItemSpec(ctypes.Structure):
    _fields_ = (
        ("struct_size", ctypes.c_size_t),
        ("graph", ctypes.c_char_p),
        ("graph_length", ctypes.c_size_t),
        ("fetches", _Names),
        ("feeds", _Names),
        ("preserve", _Names),
        ("default_device", ctypes.c_char_p),
    )


_INFER = ctypes.CFUNCTYPE(
    None,
    ctypes.c_void_p,
    ctypes.POINTER(BufferStruct),
    ctypes.POINTER(_Names),
    ctypes.c_int,
    ctypes.c_void_p,
    ctypes.c_void_p,
)


class _Services(ctypes.Structure):
    _fields_ = (
        ("struct_size", ctypes.c_size_t),
        ("context", ctypes.c_void_p),
        ("infer", _INFER),
    )


_new_item = declare("DS_NewItem", ctypes.c_void_p, ctypes.POINTER(_ItemSpec), ctypes.c_void_p)
_delete_item = declare("DS_DeleteItem", None, ctypes.c_void_p)
_run = declare(
    "DS_RunOptimizerWithin",
    ctypes.c_int,
    ctypes.c_char_p,
    ctypes.c_char_p,
    ctypes.c_void_p,
    ctypes.c_int64,
    ctypes.c_void_p,
    ctypes.c_void_p,
)
_list = declare("DS_ListOptimizers", None, ctypes.c_void_p, ctypes.c_void_p)
_set_services = declare("DS_SetOptimizerServices", None, ctypes.c_void_p)
_LOCK: Final = threading.Lock()
_attached: list[_Services] = []


def optimizers() -> list[HostOptimizer]:
    """The registered optimizers, sorted by device type; none where there is no host library."""
    if not available():
        return []
    listed = json.loads(answer("the host's optimizers cannot be listed", _list))
    return [HostOptimizer(**{**one, "version": tuple(one["version"])}) for one in listed]


def run(
    device: str,
    graph: bytes,
    fetches: Sequence[str] = (),
    feeds: Sequence[str] = (),
    preserve: Iterable[str] = (),
    default_device: str | None = DEFAULT_DEVICE,
    library: str = "",
    seconds: float | None = None,
) -> bytes | None:
    """What the optimizer of a device type makes of GraphDef bytes; None when it changed nothing.

    ``library``: the path of the plugin, where several have one for the device type. Raises
    ``HostError`` with what the plugin answered, or why its answer was refused; with
    ``DEADLINE_EXCEEDED`` where it has not returned after so many ``seconds``, and ``UNAVAILABLE``
    from then on until it has. Ctrl-C ends the wait for it, too.
    """
    from drystone_base.host.extension import extension

    attach_services()
    extension()  # handles signals meanwhile
    most_ms = 0 if seconds is None else max(1, int(seconds * 1000))
    what = f"the {device} optimizer failed"
    with _item(graph, fetches, feeds, sorted(set(preserve)), default_device) as item:
        changed = []

        def call(out: Any, status: Any) -> None:
            of = os.fsencode(library) if library else None
            changed.append(_run(of, device.encode(), item, most_ms, out, status))

        data = answer(what, call)
    return data if changed[0] else None


@contextmanager
def _item(
    graph: bytes,
    fetches: Sequence[str],
    feeds: Sequence[str],
    preserve: Sequence[str],
    default_device: str | None,
) -> Iterator[int]:
    spec = _ItemSpec(
        ctypes.sizeof(_ItemSpec),
        graph,
        len(graph),
        _names(fetches),
        _names(feeds),
        _names(preserve),
        default_device.encode() if default_device else None,
    )
    with Status("a graph cannot be handed to an optimizer") as status:
        item = _new_item(ctypes.byref(spec), status.pointer)
    try:
        yield item
    finally:
        _delete_item(item)


def _names(names: Sequence[str]) -> _Names:
    encoded = [name.encode("utf-8", "surrogateescape") for name in names]
    count = len(encoded)
    values = (ctypes.c_char_p * count)(*encoded)
    lengths = (ctypes.c_size_t * count)(*map(len, encoded))
    return _Names(ctypes.cast(values, ctypes.POINTER(ctypes.c_void_p)), lengths, count)


def attach_services() -> None:
    """Offer inference and op definitions to optimizers, until the interpreter exits."""
    with _LOCK:
        if _attached:
            return
        attach_ops()
        services = _Services(ctypes.sizeof(_Services), None, _INFER(_infer))
        _attached.append(services)
        _set_services(ctypes.byref(services))
        atexit.register(_detach_services)


def _detach_services() -> None:
    """Withdraw the callbacks: plugin threads may outlive the interpreter."""
    with _LOCK:
        if _attached:
            _set_services(None)
            _attached.clear()


def _infer(_context: Any, graph: Any, feeds: Any, flags: int, out: Any, status: Any) -> None:
    """The service; whatever happens becomes the status."""
    try:
        names = feeds.contents
        fed = [
            ctypes.string_at(names.values[k], names.lengths[k]).decode("utf-8", "surrogateescape")
            for k in range(names.count)
        ]
        write(out, INFER_PROPERTIES(bytes_of(graph), fed, flags))
    except BaseException as error:
        told(status, error)
