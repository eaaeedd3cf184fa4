"""Gradients that somebody wrote for a function: see :func:`drystone_base.custom_gradient`."""

from __future__ import annotations

from typing import Any, Final

from drystone_base.autodiff._registry import Grads, rule
from drystone_base.graph.builder import Builder
from drystone_base.graph.node import Node
from drystone_base.ops.attrs import FunctionRef

__all__ = ["CUSTOM", "FUNCTION"]

CUSTOM: Final = "DrystoneCustomGradient"
"""What such an ``IdentityN`` states in ``_gradient_op_type``."""
FUNCTION: Final = "_drystone_gradient"
"""The attribute that names the way back: how many results and arguments, and which have one."""


@rule(CUSTOM)
def _custom(b: Builder, node: Node, grads: list[Any]) -> Grads:
    """Inputs are the results, the arguments, and what the way back uses.

    A result by which nothing is differentiated has a gradient of zeros.
    """
    made: FunctionRef = node.attr(FUNCTION)
    results = made.attrs.get("results", 1)
    count, places = made.attrs["count"], [k for k in made.attrs["places"] if k >= 0]
    held = node.inputs[results + count :]
    types = [b.dtype(node.inputs[results + k]) for k in places]
    given = [
        b("ZerosLike", (node, k)) if grad is None else grad
        for k, grad in enumerate(grads[:results])
    ]
    call = b.node("PartitionedCall", [*given, *held], Tout=types, f=FunctionRef(made.name))
    found: list[Any] = [None] * len(node.inputs)
    for n, k in enumerate(places):
        found[results + k] = (call, n)
    return found
