"""Constants among the terms of AddN, or of AccumulateNV2, become one."""

from __future__ import annotations

from functools import reduce
from typing import Any, Final, NamedTuple

import numpy as np

from drystone_base.graph import Node
from drystone_optimizer.core.context import Context
from drystone_optimizer.core.rules import Numeric, Rule

__all__ = ["RULE"]

_MAX_BYTES: Final = 100 * 1024


class _Found(NamedTuple):
    at: list[int]
    total: np.ndarray[Any, Any]
    numeric: Numeric


def _match(ctx: Context, node: Node) -> _Found | None:
    values = {k: v for k, o in enumerate(node.inputs) if (v := ctx.constant(o)) is not None}
    if len(values) < 2 or len(values) == len(node.inputs):
        return None
    arrays = list(values.values())
    if arrays[0].nbytes > _MAX_BYTES or arrays[0].dtype.kind not in "fiu":
        return None
    if any(a.shape != arrays[0].shape for a in arrays):
        return None
    numeric = Numeric.REASSOCIATES if arrays[0].dtype.kind == "f" else Numeric.EXACT
    with np.errstate(all="ignore"):
        total = np.asarray(reduce(np.add, arrays))
    if numeric > ctx.ceiling or (numeric and not np.isfinite(total).all()):
        return None
    return _Found(list(values), total, numeric)


def _apply(ctx: Context, node: Node, found: _Found) -> None:
    ctx.numeric = max(ctx.numeric, found.numeric)
    constants = [node.inputs[k] for k in found.at]
    controls = dict.fromkeys(c for source, _ in constants for c in source.controls)
    total = ctx.add_constant(node, "constants", found.total, list(controls))
    rest = [o for k, o in enumerate(node.inputs) if k not in set(found.at)]
    attrs = {name: node.attrs[name] for name in ("T", "shape") if name in node.attrs}
    ctx.become(node, node.op, [*rest, total], attrs | {"N": len(rest) + 1})
    for source, _ in constants:
        ctx.drop_unused(source)


RULE: Final = Rule(
    "merge-constant-terms", ("AddN", "AccumulateNV2"), _match, _apply, reads=("Const",)
)
