"""The range of a quantized product follows from the ranges of its factors alone."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from drystone_base.core.errors import DrystoneError
from drystone_base.graph import Node
from drystone_base.kernels.evaluate import evaluate
from drystone_optimizer.core.context import Context
from drystone_optimizer.core.rules import Rule

__all__ = ["RULE"]

_Ends = dict[int, np.ndarray[Any, Any]]


def _match(ctx: Context, node: Node) -> _Ends | None:
    """The ends that are read, as the op gives them for a product of one element."""
    used = [k for k in (1, 2) if ctx.users((node, k))]
    ranges = [ctx.constant(output) for output in node.inputs[2:6]]
    signature = ctx.signatures.of(node)
    if not used or signature is None or ctx.kept(node) or any(r is None for r in ranges):
        return None
    ones = [np.zeros((1, 1), dtype.np) for dtype in signature.inputs[:2]]
    held = [*ones, *(r for r in ranges if r is not None)]
    try:
        slices = signature.input_slices
        found = evaluate(node.name, node.op, signature.attrs, held, slices, 3)
    except DrystoneError:  # the same failure is reported when the node runs
        return None
    return {k: found[k] for k in used}


def _apply(ctx: Context, node: Node, ends: _Ends) -> None:
    controls = [*node.controls, *ctx.waits(node.inputs[2:6])]
    for k, value in ends.items():
        ctx.graph.redirect((node, k), ctx.add_constant(node, f"range_{k}", value, controls))


RULE: Final = Rule("range-of-product", ("QuantizedMatMul",), _match, _apply)
