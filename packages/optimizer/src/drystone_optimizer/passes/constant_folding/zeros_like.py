"""ZerosLike and OnesLike of a shape that is known become small constants."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from drystone_base.core.dtypes import from_numpy
from drystone_base.graph import Node
from drystone_optimizer.core.context import Context
from drystone_optimizer.core.rules import Rule

__all__ = ["RULE"]

_MAX_BYTES: Final = 16 * 1024


def _match(ctx: Context, node: Node) -> np.ndarray[Any, Any] | None:
    shape, dtype = ctx.shape(node.inputs[0]), ctx.dtype((node, 0))
    if shape is None or dtype is None or dtype.is_object or any(d < 0 for d in shape):
        return None
    if np.prod(shape, dtype=float) * dtype.size > _MAX_BYTES or from_numpy(dtype.np) is not dtype:
        return None
    return np.full(shape, 1 if node.op == "OnesLike" else 0, dtype.np)


def _apply(ctx: Context, node: Node, value: np.ndarray[Any, Any]) -> None:
    ctx.become_constant(node, value)


RULE: Final = Rule("constant-zeros-like", ("ZerosLike", "OnesLike"), _match, _apply)
