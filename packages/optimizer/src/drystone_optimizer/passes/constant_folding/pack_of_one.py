"""Pack of one tensor becomes ExpandDims."""

from __future__ import annotations

from typing import Final

import numpy as np

from drystone_base.core.dtypes import as_dtype
from drystone_base.graph import Node
from drystone_optimizer.core.context import Context
from drystone_optimizer.core.rules import Rule

__all__ = ["RULE"]


def _match(_: Context, node: Node) -> bool | None:
    return True if len(node.inputs) == 1 else None


def _apply(ctx: Context, node: Node, _: bool) -> None:
    data = node.inputs[0]
    waits = ctx.waits([data])
    axis = ctx.add_constant(node, "axis", np.array(node.attr("axis", 0), np.int32), waits)
    attrs = {"T": node.attrs["T"], "Tdim": as_dtype("int32")}
    ctx.become(node, "ExpandDims", [data, axis], attrs)


RULE: Final = Rule("pack-of-one", ("Pack",), _match, _apply)
