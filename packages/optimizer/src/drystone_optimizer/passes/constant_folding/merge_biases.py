"""Constants that BiasAdd and a sum, or two BiasAdd, add one after the other become one."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np

from drystone_base.graph import Node, Output
from drystone_optimizer.core.context import Context
from drystone_optimizer.core.facts import same_shape
from drystone_optimizer.core.rules import Numeric, Rule
from drystone_optimizer.passes.constant_folding._joining import MOST_BYTES, join

__all__ = ["RULE"]

_BIASES: Final = ("BiasAdd", "BiasAddV1")
_SUMS: Final = (*_BIASES, "Add", "AddV2")


class _Found(NamedTuple):
    inner: Node
    data: Output
    constants: tuple[Output, Output]
    joined: np.ndarray[Any, Any]
    biases: bool


def _match(ctx: Context, node: Node) -> _Found | None:
    outer = _constant_of(ctx, node)
    if outer is None:
        return None
    (inner, slot), b = outer
    if slot or inner.op not in _SUMS or not (node.op in _BIASES or inner.op in _BIASES):
        return None
    if inner in ctx.fed_nodes or inner.controls or not ctx.only_user(inner):
        return None
    found = _constant_of(ctx, inner)
    if found is None or not ctx.may_rewrite(inner):
        return None
    data, a = found
    biases = node.op in _BIASES and inner.op in _BIASES
    if _first(node) is not _first(inner) if biases else _first(node) or _first(inner):
        return None
    joined = _joined(ctx.constant(a), ctx.constant(b))
    if joined is None or not same_shape(ctx.shape(data), ctx.shape((node, 0))):
        return None
    return _Found(inner, data, (a, b), joined, biases)


def _constant_of(ctx: Context, node: Node) -> tuple[Output, Output] | None:
    """The operand that is not constant, and the float constant added to it."""
    left, right = node.inputs
    pairs = [(left, right)] if node.op in _BIASES else [(left, right), (right, left)]
    for data, held in pairs:
        value = ctx.constant(held)
        if value is not None and ctx.constant(data) is None:
            return (data, held) if value.dtype in (np.float32, np.float64) else None
    return None


def _first(node: Node) -> bool:
    """Whether a bias goes to the second dimension rather than to the last."""
    return node.op == "BiasAdd" and str(node.attr("data_format", "NHWC")).startswith("NC")


def _joined(a: Any, b: Any) -> np.ndarray[Any, Any] | None:
    joined = join("Add", a, b)
    fits = joined is not None and joined.nbytes <= max(MOST_BYTES, a.nbytes, b.nbytes)
    return joined if fits else None


def _apply(ctx: Context, node: Node, found: _Found) -> None:
    controls = dict.fromkeys(c for source, _ in found.constants for c in source.controls)
    joined = ctx.add_constant(node, "joined", found.joined, list(controls))
    attrs = {"T": node.attrs["T"]}
    if found.biases and "data_format" in node.attrs:
        attrs["data_format"] = node.attrs["data_format"]
    op = node.op if found.biases else "AddV2"
    ctx.become(node, op, [found.data, joined], attrs)
    ctx.drop(found.inner)
    for source, _ in found.constants:
        ctx.drop_unused(source)


RULE: Final = Rule("merge-biases", _SUMS, _match, _apply, Numeric.REASSOCIATES, reads=_SUMS)
