"""A division by constants becomes a multiplication by their reciprocals.

Exact where all are powers of two; otherwise the last bit may differ. Left alone where a reciprocal
is not a normal number.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np

from drystone_base.graph import Node
from drystone_optimizer.core.context import Context
from drystone_optimizer.core.rules import Numeric, Rule

__all__ = ["RULE"]

_MAX_BYTES: Final = 100 * 1024


class _Found(NamedTuple):
    reciprocal: np.ndarray[Any, Any]
    numeric: Numeric


def _match(ctx: Context, node: Node) -> _Found | None:
    value = ctx.constant(node.inputs[1])
    if value is None or value.dtype not in (np.float32, np.float64) or not value.size:
        return None
    if value.nbytes > _MAX_BYTES or ctx.constant(node.inputs[0]) is not None:
        return None
    with np.errstate(all="ignore"):
        reciprocal = np.asarray(np.reciprocal(value))
    least = np.finfo(value.dtype).tiny
    if not (np.isfinite(reciprocal).all() and (np.abs(reciprocal) >= least).all()):
        return None
    mantissas, _ = np.frexp(value)
    exact = bool((np.abs(mantissas) == 0.5).all()) and bool((np.abs(value) >= least).all())
    numeric = Numeric.EXACT if exact else Numeric.REASSOCIATES
    return _Found(reciprocal, numeric) if numeric <= ctx.ceiling else None


def _apply(ctx: Context, node: Node, found: _Found) -> None:
    ctx.numeric = max(ctx.numeric, found.numeric)
    data, divisor = node.inputs
    factor = ctx.add_constant(node, "reciprocal", found.reciprocal, divisor[0].controls)
    ctx.become(node, "Mul", [data, factor], {"T": node.attrs["T"]})
    ctx.drop_unused(divisor[0])


RULE: Final = Rule("division-by-constant", ("RealDiv",), _match, _apply, reads=("Const",))
