"""An operand that changes nothing but the shape of the other becomes BroadcastTo.

``x * ones``, ``x + zeros`` and the like, where the result is larger than ``x``. What is done to
numbers is as for operands of the same shape.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np

from drystone_base.core.dtypes import as_dtype
from drystone_base.graph import Node, Output
from drystone_optimizer.core.context import Context
from drystone_optimizer.core.native_kernels import keeps_native
from drystone_optimizer.core.rules import Numeric, Rule

__all__ = ["RULE"]

_ADDS: Final = ("Add", "AddV2")


class _Found(NamedTuple):
    data: Output
    lost: Output
    shape: tuple[int, ...]
    numeric: Numeric


def _match(ctx: Context, node: Node) -> _Found | None:
    left, right = node.inputs
    pairs = [(left, right)] if node.op in ("Sub", "RealDiv") else [(left, right), (right, left)]
    for data, lost in pairs:
        numeric = _judge(node.op, ctx.constant(lost))
        if numeric is None or numeric > ctx.ceiling or ctx.constant(data) is not None:
            continue
        shape, before = ctx.shape((node, 0)), ctx.shape(data)
        if shape is None or before is None or any(d < 0 for d in shape) or before == shape:
            continue
        return _Found(data, lost, shape, numeric) if keeps_native(node.op, "BroadcastTo") else None
    return None


def _judge(op: str, value: Any) -> Numeric | None:
    """What leaving the operation out does to numbers; None where it would change them."""
    if value is None or not value.size or value.dtype.kind not in "fiuc":
        return None
    if op in ("Mul", "RealDiv"):
        return Numeric.EXACT if (value == 1).all() else None
    if (value != 0).any():
        return None
    if value.dtype.kind in "iu":
        return Numeric.EXACT
    negative = np.signbit(value.real)
    exact = negative.all() if op in _ADDS else not negative.any()
    return Numeric.EXACT if exact and value.dtype.kind == "f" else Numeric.REASSOCIATES


def _apply(ctx: Context, node: Node, found: _Found) -> None:
    ctx.numeric = max(ctx.numeric, found.numeric)
    to = np.array(found.shape, np.int32)
    shape = ctx.add_constant(node, "shape", to, ctx.waits([found.data]))
    attrs = {"T": node.attrs["T"], "Tidx": as_dtype("int32")}
    controls = [*node.controls, *ctx.waits([found.lost])]
    ctx.become(node, "BroadcastTo", [found.data, shape], attrs, controls)
    ctx.drop_unused(found.lost[0])


RULE: Final = Rule(
    "identity-with-broadcast", ("Mul", "RealDiv", "Sub", *_ADDS), _match, _apply, reads=("Const",)
)
