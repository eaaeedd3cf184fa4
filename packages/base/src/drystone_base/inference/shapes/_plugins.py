"""Shape functions of plugins' ops: in C, called through the host library, or of a module."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module

from drystone_abi.protos import NodeDef
from drystone_base.core.errors import HostError, ShapeError
from drystone_base.core.payloads import at_node
from drystone_base.inference.shapes._registry import SHAPES, Shape, ShapeCall, ShapeFunction
from drystone_base.modules import modules
from drystone_base.ops.attrs import encode_attr
from drystone_base.ops.defs import op_def

__all__ = ["add_plugin_op"]


def add_plugin_op(op: str, otherwise: ShapeFunction | None = None) -> None:
    """Ask a module for the shapes of ``op``, else the host, unless there is a function already.

    ``otherwise`` is asked in the host's place.
    """
    if op not in SHAPES.index and op not in SHAPES.modules:
        SHAPES.register(op)(_of_module(op) or otherwise or _from_host)


def _of_module(op: str) -> ShapeFunction | None:
    """The shape function that a module states for an op; it is imported when it is called."""
    places = (module.shapes.get(op, "") for module in modules().values())
    place = next(filter(None, places), "")
    if not place:
        return None
    found: list[ShapeFunction] = []

    def shapes(call: ShapeCall) -> Sequence[Shape]:
        if not found:
            name, _, attribute = place.partition(":")
            found.append(getattr(import_module(name), attribute))
        return found[0](call)

    return shapes


def _from_host(call: ShapeCall) -> Sequence[Shape]:
    from drystone_base.inference.plugin_ops import infer_shapes

    kinds = {name: attr.type for name, attr in op_def(call.op).attrs.items()}
    node = NodeDef(name=call.node, op=call.op)
    for name, value in call.attrs.items():
        node.attr[name].CopyFrom(encode_attr(value, kinds.get(name)))
    try:
        return infer_shapes(call.op, node.SerializeToString(), call.shapes)
    except HostError as error:
        raise ShapeError(
            f"node {call.node!r} ({call.op}) cannot take its inputs",
            details=error.details | at_node(call.node, call.op),
            check="the shape function of the op's library must accept the node",
            found=error.sentence,
            needed="input shapes and attributes that the op is defined for",
            remedy="see the documentation of the plugin",
            status=error.status,
        ) from error
