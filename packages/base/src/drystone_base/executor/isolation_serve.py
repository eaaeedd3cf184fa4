"""What the process of an isolated plugin does for kernels: makes and calls them, infers shapes."""

from __future__ import annotations

import itertools
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Final

from drystone_abi.protos import NodeDef, OpList
from drystone_abi.protos import OpDef as OpDefProto
from drystone_base.plugins.isolation_files_serve import serve_files
from drystone_base.plugins.isolation_tensors import packed, unpacked

if TYPE_CHECKING:
    from drystone_base.plugins._record import Plugin

__all__ = ["offered", "serve"]

Reply = tuple[dict[str, Any], bytes]
_KINDS: Final = ("ops", "kernels", "optimizers", "schemes")
_kernels: Final[dict[int, Any]] = {}
_numbers: Final = itertools.count(1)


def offered(plugin: Plugin, left_out: list[str]) -> Reply:
    """What a library registered in this process, as the other one takes it."""
    from drystone_base.host.kernels import list_kernels
    from drystone_base.host.optimizer import optimizers
    from drystone_base.inference.plugin_ops import find, plugin_ops

    path = "" if plugin.library is None else plugin.library.path
    ops = [op for op in plugin_ops() if op.library == path]
    reply = {
        "ok": True,
        "registered": {kind: plugin.registered.get(kind, []) for kind in _KINDS},
        "shaped": [op.name for op in ops if op.has_shape_function],
        "kernels": [row for row in list_kernels() if row["library"] == path],
        "optimizers": [vars(one) for one in optimizers() if one.library == path],
        "remarks": plugin.warnings(),
        "left_out": left_out,
    }
    return reply, b"".join(
        OpList(op=[OpDefProto.FromString(find(op.name))]).SerializeToString() for op in ops
    )


def serve(header: dict[str, Any], blob: bytes) -> Reply:
    """The answer to one request; raises ``DrystoneError``."""
    for number in header.get("drop", ()):
        _kernels.pop(number, None)
    if header["call"] == "files":
        return serve_files(header, blob)
    if header["call"] == "shapes":
        return _shapes(header, blob)
    return _create(header, blob) if header["call"] == "create" else _compute(header, blob)


def _shapes(header: dict[str, Any], blob: bytes) -> Reply:
    from drystone_base.inference.plugin_ops import infer_shapes

    given = [None if shape is None else tuple(shape) for shape in header["shapes"]]
    return {"ok": True, "shapes": infer_shapes(header["op"], blob, given)}, b""


class _Node:
    """A node as ``PluginKernel`` asks for it: the bytes are those of the other process."""

    def __init__(self, proto: NodeDef, producer: int) -> None:
        self.name, self.op, self._proto = proto.name, proto.op, proto
        self.graph = SimpleNamespace(producer=producer)

    def to_proto(self) -> NodeDef:
        """The node as it came."""
        return self._proto

    def full_attrs(self, definition: Any) -> dict[str, Any]:
        """Decoded attributes, with the definition's defaults."""
        from drystone_base.ops.attrs import decode_attr

        given = {name: decode_attr(value) for name, value in self._proto.attr.items()}
        kinds = definition.attrs.items()
        return {name: attr.default for name, attr in kinds if attr.has_default} | given


def _create(header: dict[str, Any], blob: bytes) -> Reply:
    from drystone_base.executor.plugin_kernels import PluginKernel
    from drystone_base.executor.selection import candidate_of
    from drystone_base.host.kernels import list_kernels
    from drystone_base.ops.defs import OpDef

    size = header["op"]
    definition = OpDef.from_proto(OpDefProto.FromString(blob[:size]))
    node: Any = _Node(NodeDef.FromString(blob[size:]), header["producer"])
    row = next(row for row in list_kernels(node.op) if row["id"] == header["kernel"])
    made = PluginKernel(candidate_of(row), node, definition, node.full_attrs(definition))
    number = next(_numbers)
    _kernels[number] = made
    return {"ok": True, "made": number}, b""


def _compute(header: dict[str, Any], blob: bytes) -> Reply:
    kernel = _kernels[header["kernel"]]
    step = SimpleNamespace(id=header["step"], resources={})
    call: Any = SimpleNamespace(runtime=SimpleNamespace(step=step, deadline=None))
    found = kernel(call, *unpacked(header["tensors"], blob))
    rows, data = packed(found, kernel.outputs)
    return {"ok": True, "tensors": rows}, data
