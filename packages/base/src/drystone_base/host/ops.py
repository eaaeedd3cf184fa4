"""Ops across the host library: it learns ours, and we learn those that plugins registered."""

from __future__ import annotations

import atexit
import ctypes
import json
import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

from drystone_abi.protos import KernelDef, KernelList, OpList
from drystone_base.errors import DrystoneError
from drystone_base.host._lib import declare
from drystone_base.host.buffer import answer, filled, write
from drystone_base.host.status import Status
from drystone_base.late_tuples import NamedTuple
from drystone_base.ops import defs

if TYPE_CHECKING:
    from array import array

    from drystone_base.ops.shapes._registry import Shape

__all__ = ["PluginOp", "attach", "detach", "find", "infer_shapes", "plugin_ops", "sync"]

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
_find = declare("DS_FindOp", None, ctypes.c_char_p, ctypes.c_void_p, ctypes.c_void_p)
_generation = declare("DS_OpGeneration", ctypes.c_int64)
_plugin_ops = declare("DS_PluginOps", None, ctypes.c_void_p, ctypes.c_void_p)
_list_ops = declare("DS_ListOps", None, ctypes.c_void_p, ctypes.c_void_p)
_infer = declare(
    "DS_InferShapes",
    None,
    ctypes.c_char_p,
    ctypes.c_void_p,
    ctypes.c_int,
    ctypes.c_void_p,
    ctypes.c_void_p,
    ctypes.c_void_p,
    ctypes.c_void_p,
)


class PluginOp(NamedTuple):
    """An op that a plugin registered; ``leaked_handles`` counts what its shape function left."""

    name: str
    library: str
    has_shape_function: bool
    stateful: bool
    leaked_handles: int


class _State:
    """What the host was told and what it told us."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.services: _Services | None = None
        self.told = -1  # generation of our ops that the host has
        self.known = 0  # generation of the host's ops that we have
        self.refused: set[str] = set()  # ops that have another definition here


_STATE: Final = _State()


def _write_answer(out: int, status: int, make: Callable[[], bytes]) -> None:
    """Fill ``out`` in a callback; whatever goes wrong becomes the status."""
    try:
        write(out, make())
    except BaseException as error:  # nothing may pass through C
        name = error.status if isinstance(error, DrystoneError) else "INTERNAL"
        Status.set(status, name, f"{type(error).__name__}: {error}")


def _own_ops(_context: int, out: int, status: int) -> None:
    _write_answer(out, status, defs.own_ops)


def _own_kernels(_context: int, op: bytes | None, out: int, status: int) -> None:
    _write_answer(out, status, lambda: _reference_kernels(op))


def _reference_kernels(op: bytes | None) -> bytes:
    from drystone_base.kernels._registry import KERNELS

    known = {*KERNELS.index, *KERNELS.modules}
    chosen = sorted(known) if op is None else sorted(known & {op.decode("utf-8", "replace")})
    made = [KernelDef(op=name, device_type="CPU", priority=_REFERENCE_PRIORITY) for name in chosen]
    return KernelList(kernel=made).SerializeToString()


_OP_LIST_CALLBACK: Final = _OP_LIST(_own_ops)
_KERNEL_LIST_CALLBACK: Final = _KERNEL_LIST(_own_kernels)


def attach() -> None:
    """Let the host ask for our ops and kernels, and anew when they have changed."""
    with _STATE.lock:
        generation = defs.generation()
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


def sync() -> None:
    """Make the ops that plugins registered known to ``ops.defs``, and their shapes to inference.

    Raises ``GraphError`` (``duplicate-op``), once, where one of them has another definition here;
    the others are known all the same.
    """
    attach()
    with _STATE.lock:
        generation = _generation()
        if generation == _STATE.known:
            return
        protos = OpList.FromString(answer("reading the ops of plugins", _plugin_ops)).op
        listed = {op.name: op for op in plugin_ops()}
        conflicts: list[DrystoneError] = []
        for proto in protos:
            try:
                defs.register(proto, origin=listed[proto.name].library)
            except DrystoneError as error:
                if proto.name not in _STATE.refused:
                    conflicts.append(error)
                _STATE.refused.add(proto.name)
                continue
            if listed[proto.name].has_shape_function:
                _shaped_by_host(proto.name)
        _STATE.known = generation
    if conflicts:
        raise conflicts[0]


def _shaped_by_host(op: str) -> None:
    from drystone_base.ops.shapes._plugins import add_plugin_op

    add_plugin_op(op)


def plugin_ops() -> list[PluginOp]:
    """The ops that plugins registered with the host, sorted by name."""
    listed = json.loads(answer("listing the ops of plugins", _list_ops))
    return [PluginOp(**fields) for fields in listed]


def find(name: str) -> bytes:
    """The bytes of an ``OpDef`` as the host knows it; raises ``HostError`` (``NOT_FOUND``)."""
    attach()
    return answer(f"looking op {name!r} up", lambda out, s: _find(name.encode(), out, s))


def infer_shapes(op: str, node_def: bytes, shapes: Sequence[Shape]) -> list[Shape]:
    """Shapes of the outputs of a node of a plugin's op, by its shape function.

    Symbols in ``shapes`` come back where outputs have the same dimensions. Raises ``HostError``.
    """
    from array import array

    ranks = array("i", [-1 if shape is None else len(shape) for shape in shapes])
    dims = array("q", [dim for shape in shapes for dim in shape or ()])
    with filled(node_def) as node:
        packed = answer(
            f"inferring the shapes of a node of op {op!r}",
            lambda out, s: _infer(
                op.encode(), node, len(ranks), *map(_address, (ranks, dims)), out, s
            ),
        )
    return _unpack(array("q", packed).tolist())


def _address(numbers: array[int]) -> Any:
    return numbers.buffer_info()[0] if numbers else None


def _unpack(numbers: list[int]) -> list[Shape]:
    shapes: list[Shape] = []
    at = 1
    for _ in range(numbers[0]):
        rank = numbers[at]
        at += 1
        shapes.append(None if rank < 0 else tuple(numbers[at : at + rank]))
        at += max(rank, 0)
    return shapes
