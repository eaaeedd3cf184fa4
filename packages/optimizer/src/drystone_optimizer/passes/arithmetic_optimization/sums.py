"""Sums of equal shapes become one AddN; AddN of one tensor n times becomes a product."""

from __future__ import annotations

from typing import Final

import numpy as np

from drystone_base.graph import Node, Output
from drystone_optimizer.core.context import Context
from drystone_optimizer.core.facts import same_shape
from drystone_optimizer.core.native_kernels import keeps_native
from drystone_optimizer.core.rules import Numeric, Rule

__all__ = ["RULES"]

_ADDS: Final = ("Add", "AddV2", "AddN")
_LABELS: Final = ("float32", "float64", "int32", "int64")
_MAX_TERMS: Final = 64


def _match_tree(ctx: Context, node: Node) -> list[Output] | None:
    """The terms of a tree of sums, three or more, all of one shape."""
    if getattr(node.attrs.get("T"), "label", "") not in _LABELS or not keeps_native(
        "AddV2", "AddN"
    ):
        return None
    terms: list[Output] = []
    grown = False
    for source, slot in node.inputs:
        inside = source.op in _ADDS and not slot and not source.controls
        if inside and source not in ctx.fed_nodes and ctx.only_user(source):
            inside = source.device == node.device and ctx.may_rewrite(source)
        else:
            inside = False
        grown = grown or inside
        terms += source.inputs if inside else [(source, slot)]
    if not grown or len(terms) > _MAX_TERMS:
        return None
    shape = ctx.shape((node, 0))
    return terms if all(same_shape(ctx.shape(term), shape) for term in terms) else None


def _apply_tree(ctx: Context, node: Node, terms: list[Output]) -> None:
    inner = [source for source, _ in node.inputs if source.op in _ADDS]
    ctx.become(node, "AddN", terms, {"T": node.attrs["T"], "N": len(terms)})
    for source in dict.fromkeys(inner):
        ctx.drop_unused(source)


def _match_same(ctx: Context, node: Node) -> bool | None:
    if len(node.inputs) < 2 or len(set(node.inputs)) > 1:
        return None
    if getattr(node.attrs.get("T"), "label", "") not in _LABELS or not keeps_native("AddN", "Mul"):
        return None
    exact = len(node.inputs) == 2 or node.attrs["T"].is_integer
    return True if exact or ctx.ceiling >= Numeric.REASSOCIATES else None


def _apply_same(ctx: Context, node: Node, _: bool) -> None:
    dtype, data = node.attrs["T"], node.inputs[0]
    if len(node.inputs) > 2 and not dtype.is_integer:
        ctx.numeric = max(ctx.numeric, Numeric.REASSOCIATES)
    count = np.array(len(node.inputs), dtype.np)
    factor = ctx.add_constant(node, "times", count, ctx.waits([data]))
    ctx.become(node, "Mul", [data, factor], {"T": dtype})


RULES: Final = (
    Rule("add-n-of-one-tensor", ("AddN",), _match_same, _apply_same),
    Rule("merge-add-n", _ADDS, _match_tree, _apply_tree, Numeric.REASSOCIATES, reads=_ADDS),
)
