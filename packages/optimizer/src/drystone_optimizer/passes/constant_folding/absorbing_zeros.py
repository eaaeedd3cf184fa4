"""Floats times 0, and 0 by floats, become 0: only if asked to be aggressive.

NaN and infinities give NaN there, and the sign of the zero is not kept either.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from drystone_base.graph import Node
from drystone_optimizer.core.context import Context
from drystone_optimizer.core.rules import Numeric, Rule

__all__ = ["RULE"]

_MAX_BYTES: Final = 1 << 16
_MEETS: Final = {"Mul": (0, 1), "MulNoNan": (0, 1), "RealDiv": (0,), "Div": (0,), "DivNoNan": (0,)}


def _match(ctx: Context, node: Node) -> np.ndarray[Any, Any] | None:
    shape, dtype = ctx.shape((node, 0)), ctx.dtype((node, 0))
    if shape is None or dtype is None or any(d < 0 for d in shape):
        return None
    if not (dtype.is_floating or dtype.is_complex):
        return None
    if np.prod(shape, dtype=float) * dtype.size > _MAX_BYTES:
        return None
    for k in _MEETS[node.op]:
        value = ctx.constant(node.inputs[k])
        if value is not None and value.size and not value.any():
            return np.zeros(shape, dtype.np)
    return None


def _apply(ctx: Context, node: Node, value: np.ndarray[Any, Any]) -> None:
    ctx.become_constant(node, value)


RULE: Final = Rule(
    "absorbing-zero", tuple(_MEETS), _match, _apply, Numeric.APPROXIMATE, aggressive=True,
    reads=("Const",),
)  # fmt: skip
