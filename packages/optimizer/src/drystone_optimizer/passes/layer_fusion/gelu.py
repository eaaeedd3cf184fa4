"""GELU: what ``tf.nn.gelu`` and older models compute op by op becomes one node.

By the error function, its complement, or the approximation by tanh, however the formula is
written. By tanh, after a product of matrices with its bias or without, it becomes a part of that
node; not by the error function, which oneDNN would give NaN for infinity with.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from drystone_base.core.dtypes import as_dtype
from drystone_base.graph import Node, Output
from drystone_base.ops.own import GELUS
from drystone_optimizer.core.context import Context
from drystone_optimizer.core.facts import same_shape
from drystone_optimizer.core.native_kernels import of_plugins
from drystone_optimizer.core.regions import is_inner
from drystone_optimizer.core.rules import Numeric, Rule
from drystone_optimizer.passes.layer_fusion._terms import (
    ARITHMETIC,
    Expansion,
    Terms,
    below,
    equal_terms,
)
from drystone_optimizer.passes.remapping._layers import fusable, fuse, grow

__all__ = ["RULE"]

EXACT, APPROXIMATE = GELUS
_FLOAT: Final = as_dtype("float32")
_DEEP: Final = 4
_X: Final = 0
_CURVE: Final = 1  # what the function of the rule's node gives
_ROOT: Final = 0.5**0.5
_SLOPE: Final = 0.7978845608028654  # the root of 2 / pi
_BEND: Final = 0.044715
_INSIDE: Final[Mapping[str, Terms]] = {
    "Erf": {(_X,): _ROOT},
    "Erfc": {(_X,): -_ROOT},
    "Tanh": {(_X,): _SLOPE, (_X, _X, _X): _SLOPE * _BEND},
}
"""The function's argument."""
_HALF: Final[Terms] = {(_X,): 0.5, (_X, _CURVE): 0.5}
_OUTSIDE: Final[Mapping[str, Terms]] = {
    "Erf": _HALF,
    "Erfc": {(_X, _CURVE): 0.5},
    "Tanh": _HALF,
}
"""The result."""


class _Found(NamedTuple):
    root: Node
    x: Output
    op: str
    layer: tuple[Node, ...]  # a product that only this reads, and the Reshape after it


def _match(ctx: Context, node: Node) -> _Found | None:
    op = APPROXIMATE if node.op == "Tanh" else EXACT
    dtype = ctx.dtype((node, 0))
    if op not in of_plugins() or dtype is None or not dtype.is_floating:
        return None
    for x in _arguments(node):
        inside = Expansion(ctx, {x: _X})
        if not equal_terms(inside.of(node.inputs[0]), _INSIDE[node.op]):
            continue
        for root in below(ctx, node, _DEEP):
            outside = Expansion(ctx, {x: _X, (node, 0): _CURVE})
            if not equal_terms(outside.of((root, 0)), _OUTSIDE[node.op]):
                continue
            region = {root, node, *inside.nodes, *outside.nodes}
            if _stands_alone(ctx, root, x, region):
                return _Found(root, x, op, _layer(ctx, root, x, op, region))
    return None


def _arguments(node: Node) -> list[Output]:
    """Outputs that the function's argument may be a formula of."""
    found = dict.fromkeys(node.inputs)
    todo = list(found)
    for output in todo:
        if output[0].op in ARITHMETIC and len(found) < 16:
            more = [o for o in output[0].inputs if o not in found]
            found.update(dict.fromkeys(more))
            todo += more
    return [output for output in found if output[0].op != "Const"]


def _stands_alone(ctx: Context, root: Node, x: Output, region: set[Node]) -> bool:
    if not ctx.may_rewrite(root) or not same_shape(ctx.shape((root, 0)), ctx.shape(x)):
        return False
    return all(is_inner(ctx, one, root, region) for one in region if one is not root)


def _layer(ctx: Context, root: Node, x: Output, op: str, region: set[Node]) -> tuple[Node, ...]:
    """The product that the region alone reads, after which it can run; the Reshape between them."""
    node = x[0]
    if op != APPROXIMATE:
        return ()
    between: tuple[Node, ...] = ()
    if node.op == "Reshape" and not x[1] and is_inner(ctx, node, root, region):
        between, node = (node,), node.inputs[0][0]
    if node.op not in ("MatMul", "_FusedMatMul") or node.attrs.get("T") is not _FLOAT:
        return ()
    if node.op == "MatMul" and not fusable(node):
        return ()
    if node.op == "_FusedMatMul" and list(node.attrs["fused_ops"]) != ["BiasAdd"]:
        return ()
    return (node, *between) if is_inner(ctx, node, root, {*region, *between}) else ()


def _apply(ctx: Context, _: Node, found: _Found) -> None:
    before = [source for source, _ in found.root.inputs]
    if found.layer:
        _into(ctx, found)
    else:
        ctx.become(found.root, found.op, [found.x], {"T": ctx.dtype(found.x)})
    for source in before:
        if ctx.graph.get(source.name) is source:
            ctx.drop_unused(source)


def _into(ctx: Context, found: _Found) -> None:
    """The product computes it, too; a Reshape comes after that."""
    layer, *between = found.layer
    last = found.root
    if between:
        shape = between[0].inputs[1]
        attrs = {
            name: between[0].attrs[name] for name in ("T", "Tshape") if name in between[0].attrs
        }
        inner = between[0]
        ctx.become(last, "Reshape", [(inner, 0), shape], attrs)
        last = inner
    name = found.op.removeprefix("Drystone>")
    if layer.op == "MatMul":
        fuse(ctx, last, layer, [], name)
    else:
        grow(ctx, last, layer, [], name)


RULE: Final = Rule("gelu", ("Erf", "Erfc", "Tanh"), _match, _apply, Numeric.REASSOCIATES)
