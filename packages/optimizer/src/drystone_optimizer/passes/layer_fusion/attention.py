"""Attention: softmax of scaled and masked products, times values, becomes one node.

As matrix products with transposed heads, or as Einsum. The names of dimensions are those of the
fused op: B (examples), N (heads), T (queries), S (keys), H (elements of a head); scores are BNTS.
Transposes around become the order in which heads are read or written.
"""

from __future__ import annotations

import re
from typing import Any, Final, NamedTuple

from drystone_base.core.dtypes import DType, as_dtype
from drystone_base.graph import Node, Output
from drystone_base.ops.own import ATTENTION
from drystone_optimizer.core.context import Context
from drystone_optimizer.core.native_kernels import of_plugins
from drystone_optimizer.core.regions import is_inner
from drystone_optimizer.core.rules import Numeric, Rule
from drystone_optimizer.passes.layer_fusion._scores import STEPS, Scores, scores_of

__all__ = ["RULE"]

_FLOAT: Final = as_dtype("float32")
_PRODUCTS: Final = ("BatchMatMul", "BatchMatMulV2", "Einsum")
_EQUATION: Final = re.compile(r"([a-zA-Z]{4}),([a-zA-Z]{4})->([a-zA-Z]{4})")
_LAST: Final = {"BNTH": "H", "BNSH": "HS"}
"""What may be the fastest dimension of queries, and of keys and values: others are read slowly."""


class _Operand(NamedTuple):
    output: Output
    layout: str


class _Found(NamedTuple):
    root: Node
    operands: tuple[_Operand, _Operand, _Operand]
    scores: Scores
    layout: str


def _match(ctx: Context, node: Node) -> _Found | None:
    if ATTENTION not in of_plugins() or ctx.dtype((node, 0)) is not _FLOAT:
        return None
    after = ctx.graph.only_user(node)
    if after is None or after.op not in _PRODUCTS:
        return None
    scores = scores_of(ctx, node.inputs[0], _PRODUCTS)
    values = _weighted(after, node)
    if scores is None or values is None:
        return None
    pair = _operands(scores.product)
    if pair is None:
        return None
    value, layout = values
    operands = tuple(_before(ctx, operand) for operand in (*pair, value))
    root, layout = _after(ctx, after, layout)
    if not _suits(ctx, operands, layout) or not ctx.may_rewrite(root):
        return None
    region = {node, after, root, *scores.nodes}
    if not all(is_inner(ctx, one, root, region) for one in region if one is not root):
        return None
    return _Found(root, (operands[0], operands[1], operands[2]), scores, layout)


def _operands(node: Node) -> tuple[_Operand, _Operand] | None:
    """Queries and keys of the product that gives scores."""
    left, right = node.inputs[:2]
    if node.op != "Einsum":
        if node.attr("adj_x", False):
            return None
        keys = "BNSH" if node.attr("adj_y", False) else "BNHS"
        return _Operand(left, "BNTH"), _Operand(right, keys)
    terms = _terms(node)
    if terms is None:
        return None
    for (q, query), (k, key) in (((0, left), (1, right)), ((1, right), (0, left))):
        names = dict(zip(terms[2], "BNTS", strict=True))
        rest = set(terms[q]) - set(terms[2])
        if len(rest) == 1:
            names[rest.pop()] = "H"
            layouts = [_named(terms[i], names) for i in (q, k)]
            if [sorted(held) for held in layouts] == [sorted("BNTH"), sorted("BNSH")]:
                return _Operand(query, layouts[0]), _Operand(key, layouts[1])
    return None


def _weighted(node: Node, softmax: Node) -> tuple[_Operand, str] | None:
    """The values of the product with the softmax, and in which order it gives the result."""
    which = 0 if node.inputs[0][0] is softmax else 1
    value = node.inputs[1 - which]
    if value[0] is softmax:
        return None
    if node.op != "Einsum":
        if which or node.attr("adj_x", False):
            return None
        return _Operand(value, "BNHS" if node.attr("adj_y", False) else "BNSH"), "BNTH"
    terms = _terms(node)
    if terms is None:
        return None
    names = dict(zip(terms[which], "BNTS", strict=True))
    rest = set(terms[1 - which]) - set(terms[which])
    if len(rest) != 1:
        return None
    names[rest.pop()] = "H"
    held, layout = _named(terms[1 - which], names), _named(terms[2], names)
    fits = sorted(held) == sorted("BNSH") and sorted(layout) == sorted("BNTH")
    return (_Operand(value, held), layout) if fits else None


def _terms(node: Node) -> tuple[str, str, str] | None:
    """The labels of an equation of two operands of four dimensions, none of them twice in one."""
    found = _EQUATION.fullmatch(str(node.attr("equation", "")).replace(" ", ""))
    if found is None or any(len(set(term)) != 4 for term in found.groups()):
        return None
    return found[1], found[2], found[3]


def _named(term: str, names: dict[str, str]) -> str:
    return "".join(names.get(label, "?") for label in term)


def _before(ctx: Context, operand: _Operand) -> _Operand:
    """What a Transpose reads, in the order that it has there."""
    node, slot = operand.output
    order = None if slot or node.op != "Transpose" else ctx.ints(node.inputs[1])
    if order is None or sorted(order) != [0, 1, 2, 3]:
        return operand
    layout = "".join(operand.layout[order.index(axis)] for axis in range(4))
    better = _Operand(node.inputs[0], layout)
    return better if layout[-1] in _LAST["BNTH" if "T" in layout else "BNSH"] else operand


def _after(ctx: Context, node: Node, layout: str) -> tuple[Node, str]:
    """Where the region ends: a Transpose that alone reads the result is a part of it."""
    user = None if ctx.kept(node) else ctx.graph.only_user(node)
    if user is None or user.op != "Transpose" or user.inputs[0] != (node, 0):
        return node, layout
    order = ctx.ints(user.inputs[1])
    if order is None or sorted(order) != [0, 1, 2, 3]:
        return node, layout
    turned = "".join(layout[axis] for axis in order)
    return (user, turned) if turned[-1] == "H" else (node, layout)


def _suits(ctx: Context, operands: tuple[_Operand, ...], layout: str) -> bool:
    lasts = (_LAST["BNTH"], _LAST["BNSH"], _LAST["BNSH"])
    for (output, held), last in zip(operands, lasts, strict=True):
        shape = ctx.shape(output)
        if shape is None or len(shape) != 4 or held[-1] not in last:
            return False
        if ctx.dtype(output) is not _FLOAT:
            return False
    return layout[-1] == "H"


def _apply(ctx: Context, _: Node, found: _Found) -> None:
    before = [source for source, _ in found.root.inputs]
    masks = found.scores.masks
    types: list[DType | None] = [ctx.dtype(output) for _, output in masks]
    attrs: dict[str, Any] = {
        "T": _FLOAT,
        "Targs": types,
        "layouts": [*(layout for _, layout in found.operands), found.layout],
        "masks": [kind for kind, _ in masks],
        "scale": found.scores.scale,
        "fill": found.scores.fill,
    }
    inputs = [*(output for output, _ in found.operands), *(output for _, output in masks)]
    ctx.become(found.root, ATTENTION, inputs, attrs)
    for source in before:
        if ctx.graph.get(source.name) is source:
            ctx.drop_unused(source)


RULE: Final = Rule(
    "attention", ("Softmax",), _match, _apply, Numeric.REASSOCIATES, reads=(*_PRODUCTS, *STEPS)
)
