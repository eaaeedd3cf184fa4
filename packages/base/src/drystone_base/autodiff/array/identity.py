"""Ops that hand values on. Source: TensorFlow ``array_grad.py``."""

from __future__ import annotations

from typing import Any

from drystone_base.autodiff._registry import Grads, rule
from drystone_base.graph.builder import Builder
from drystone_base.graph.node import Node

__all__: list[str] = []


@rule(
    "Identity", "PreventGradient", "Snapshot", "RefIdentity", "EnsureShape", "DeepCopy",
    "PlaceholderWithDefault", slices=True,
)  # fmt: skip
def _identity(_b: Builder, _node: Node, grads: list[Any]) -> Grads:
    return [grads[0]]


@rule("CheckNumericsV2", "DebugIdentityV2", "Print")
def _watched(_b: Builder, node: Node, grads: list[Any]) -> Grads:
    """The first input is handed on; what else there is, is looked at or printed."""
    return [grads[0], *[None] * (len(node.inputs) - 1)]


@rule("IdentityN", slices=True)
def _identity_n(_b: Builder, _node: Node, grads: list[Any]) -> Grads:
    return grads


@rule("CheckNumerics")
def _check_numerics(b: Builder, node: Node, grads: list[Any]) -> Grads:
    message = f"Not a number (NaN) or infinity (Inf) values in the gradient of {node.name}"
    return [b("CheckNumerics", grads[0], message=message)]


@rule("Cast")
def _cast(b: Builder, node: Node, grads: list[Any]) -> Grads:
    source = b.dtype(node.inputs[0])
    return [b("Cast", grads[0], DstT=source) if source.is_floating or source.is_complex else None]
