"""Samples by their parameters. Source: TensorFlow ``random_grad.py``; Figurnov 2018."""

from __future__ import annotations

from typing import Any

from drystone_base.autodiff._registry import Grads, rule, summed_to
from drystone_base.graph.builder import Builder
from drystone_base.graph.node import Node

__all__: list[str] = []


@rule("RandomGamma", "StatelessRandomGammaV2", "StatelessRandomGammaV3")
def _gamma(b: Builder, node: Node, grads: list[Any]) -> Grads:
    """How a sample moves with its shape parameter where the chance of less stays the same."""
    *others, alpha = node.inputs
    slope = b("Mul", grads[0], b("RandomGammaGrad", alpha, (node, 0)))
    return [*(None for _ in others), summed_to(b, slope, alpha, slope)]
