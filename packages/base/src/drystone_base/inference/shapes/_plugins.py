"""Shape functions that plugins registered in C: called through the host library."""

from __future__ import annotations

from collections.abc import Sequence

from drystone_abi.protos import NodeDef
from drystone_base.core.errors import HostError, ShapeError
from drystone_base.core.payloads import at_node
from drystone_base.inference.shapes._registry import SHAPES, Shape, ShapeCall
from drystone_base.ops.attrs import encode_attr
from drystone_base.ops.defs import op_def

__all__ = ["add_plugin_op"]


def add_plugin_op(op: str) -> None:
    """Ask the host for the shapes of ``op``, unless there is a shape function for it already."""
    if op not in SHAPES.index and op not in SHAPES.modules:
        SHAPES.register(op)(_from_host)


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
