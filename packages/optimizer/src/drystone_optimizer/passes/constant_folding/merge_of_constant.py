"""A Merge of a constant that waits for nothing gives that constant.

It is there before anything else could be; were another input alive, too, the graph would be wrong.
The Merge stays, as what reads it waits for it.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from drystone_base.core.dtypes import as_dtype
from drystone_base.graph import Node
from drystone_base.ops.properties import NEXT_ITERATIONS
from drystone_optimizer.core.context import Context
from drystone_optimizer.core.rules import Rule

__all__ = ["RULE"]

_Found = tuple[int, np.ndarray[Any, Any]]


def _match(ctx: Context, node: Node) -> _Found | None:
    if not (ctx.users((node, 0)) or ctx.users((node, 1))):
        return None
    if node.controls or any(source.op in NEXT_ITERATIONS for source, _ in node.inputs):
        return None
    for k, output in enumerate(node.inputs):
        value = ctx.constant(output)
        if value is not None and not output[0].controls and value.dtype.kind in "fiubc":
            return k, value
    return None


def _apply(ctx: Context, node: Node, found: _Found) -> None:
    k, value = found
    index = np.array(k, as_dtype("int32").np)
    for slot, held in enumerate((value, index)):
        if ctx.users((node, slot)):
            known = ctx.add_constant(node, f"known_{slot}", held, [node])
            ctx.graph.redirect((node, slot), known)


RULE: Final = Rule("merge-of-constant", ("Merge",), _match, _apply)
