"""Numbers that are written out only to be hashed are hashed at once."""

from __future__ import annotations

from typing import Any, Final

from drystone_base.graph import Node
from drystone_base.ops.defs import find
from drystone_optimizer.core.context import Context
from drystone_optimizer.core.native_kernels import keeps_native
from drystone_optimizer.core.rules import Rule
from drystone_optimizer.passes.remapping._layers import inner_layer

__all__ = ["RULE"]

_AT_ONCE: Final = "_TensorToHashBucketFast"
_PLAIN: Final = {"width": -1, "fill": "", "scientific": False, "shortest": False, "precision": -1}


def _match(ctx: Context, node: Node) -> Node | None:
    text = inner_layer(ctx, node.inputs[0], node, ("AsString",))
    definition = find(_AT_ONCE)
    if text is None or definition is None or not keeps_native(node.op, _AT_ONCE):
        return None
    if any(text.attr(name, plain) not in (plain, b"") for name, plain in _PLAIN.items()):
        return None
    allowed: Any = definition.attrs["T"].allowed or []
    return text if ctx.dtype(text.inputs[0]) in allowed else None


def _apply(ctx: Context, node: Node, text: Node) -> None:
    attrs = {"T": ctx.dtype(text.inputs[0]), "num_buckets": node.attrs["num_buckets"]}
    ctx.become(node, _AT_ONCE, text.inputs, attrs)
    ctx.drop_unused(text)


RULE: Final = Rule("hash-of-numbers", ("StringToHashBucketFast",), _match, _apply)
