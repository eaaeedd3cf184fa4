"""The size of a TensorArray that does not grow is what it was made with."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from drystone_base.graph import Node
from drystone_optimizer.core.context import Context
from drystone_optimizer.core.rules import Rule

__all__ = ["RULE"]


def _match(ctx: Context, node: Node) -> np.ndarray[Any, Any] | None:
    made, slot = node.inputs[0]
    if made.op != "TensorArrayV3" or slot or made in ctx.fed_nodes:
        return None
    value = ctx.constant(made.inputs[0])
    if made.attr("dynamic_size", False) or value is None or value.ndim or value < 0:
        return None
    return value


def _apply(ctx: Context, node: Node, value: np.ndarray[Any, Any]) -> None:
    ctx.become_constant(node, value)


RULE: Final = Rule("tensor-array-size", ("TensorArraySizeV3",), _match, _apply)
