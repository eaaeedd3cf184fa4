"""Ops of plugins: what the host library learned of them, we learn."""

from __future__ import annotations

import ctypes
import json
import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from drystone_abi.protos import OpList
from drystone_base.core.errors import DrystoneError
from drystone_base.host._lib import declare
from drystone_base.host.buffer import answer, filled
from drystone_base.host.op_services import attach, generation_of_plugins
from drystone_base.ops import defs

if TYPE_CHECKING:
    from array import array

    from drystone_base.inference.shapes._registry import Shape

__all__ = ["PluginOp", "find", "infer_shapes", "plugin_ops", "sync"]

_find = declare("DS_FindOp", None, ctypes.c_char_p, ctypes.c_void_p, ctypes.c_void_p)
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
    """What the host told us."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.known = 0  # generation of the host's ops that we have
        self.refused: set[str] = set()  # ops that have another definition here


_STATE: Final = _State()


def sync() -> None:
    """Make the ops that plugins registered known to ``ops.defs``, and their shapes to inference.

    Raises ``GraphError`` (``duplicate-op``), once, where one of them has another definition here;
    the others are known all the same.
    """
    attach()
    with _STATE.lock:
        generation = generation_of_plugins()
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
    from drystone_base.inference.shapes._plugins import add_plugin_op

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
    Ctrl-C ends the wait for it, too.
    """
    from array import array

    from drystone_base.host.extension import extension

    extension()  # handles signals meanwhile
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
