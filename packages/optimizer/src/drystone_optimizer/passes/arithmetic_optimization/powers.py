"""Pow with a constant exponent becomes a simpler op, or two: the third power is x times Square.

Square, Reciprocal and Rsqrt round otherwise; Sqrt differs at -0 and at minus infinity.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from drystone_base.graph import Node
from drystone_optimizer.core.context import Context
from drystone_optimizer.core.facts import same_shape
from drystone_optimizer.core.native_kernels import keeps_native
from drystone_optimizer.core.rules import Numeric, Rule

__all__ = ["RULE"]

_OPS: Final = {
    3.0: ("Mul", Numeric.REASSOCIATES),
    2.0: ("Square", Numeric.REASSOCIATES),
    1.0: ("Identity", Numeric.EXACT),
    0.5: ("Sqrt", Numeric.APPROXIMATE),
    0.0: ("OnesLike", Numeric.EXACT),
    -0.5: ("Rsqrt", Numeric.APPROXIMATE),
    -1.0: ("Reciprocal", Numeric.REASSOCIATES),
}


class _Found(NamedTuple):
    op: str
    numeric: Numeric


def _match(ctx: Context, node: Node) -> _Found | None:
    base, exponent = node.inputs
    value, dtype = ctx.constant(exponent), ctx.dtype(base)
    if value is None or not value.size or dtype is None or not dtype.is_floating:
        return None
    flat = value.astype(float).reshape(-1)
    found = _OPS.get(float(flat[0])) if (flat == flat[0]).all() else None
    if found is None or found[1] > ctx.ceiling or not keeps_native("Pow", found[0]):
        return None
    same = value.ndim == 0 or same_shape(ctx.shape(base), ctx.shape((node, 0)))
    return _Found(*found) if same else None


def _apply(ctx: Context, node: Node, found: _Found) -> None:
    ctx.numeric = max(ctx.numeric, found.numeric)
    base, exponent = node.inputs
    controls = [*node.controls, *ctx.waits([exponent])]
    attrs, inputs = {"T": node.attrs["T"]}, [base]
    if found.op == "Mul":
        inputs = [base, (ctx.add("Square", node, "square", [base], attrs), 0)]
    ctx.become(node, found.op, inputs, attrs, controls)
    ctx.drop_unused(exponent[0])


RULE: Final = Rule("constant-power", ("Pow",), _match, _apply, reads=("Const",))
