"""Layer normalization: mean, variance and what is computed of them become one node.

The formula is that of ``tf.nn.moments`` with ``tf.nn.batch_normalization``, however it is written:
``(x - mean) / sqrt(variance + epsilon) * scale + offset`` over the last dimension, or the last few
of known sizes, where scale and offset may be missing. The moments must be those of the formula: a
variance of squares less the square of the mean, which may be negative, stays as it is. In float16
squares overflow where the one node's do not: that is approximate.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from drystone_base.graph import Node, Output
from drystone_optimizer.core.context import Context
from drystone_optimizer.core.facts import same_shape
from drystone_optimizer.core.regions import is_inner
from drystone_optimizer.core.rules import Numeric, Rule
from drystone_optimizer.passes.layer_fusion._norms import (
    Normalization,
    become_normalization,
    can_become,
    is_parameter_of,
)
from drystone_optimizer.passes.layer_fusion._terms import Expansion, below

__all__ = ["RULES"]

_DEEP: Final = 6  # from the root of the variance to the end
_X: Final = 0
_MEAN: Final = 1
_FACTOR: Final = 2  # one over the deviation


class _Moments(NamedTuple):
    x: Output
    mean: Output
    nodes: tuple[Node, ...]
    axes: int


def _match(ctx: Context, node: Node) -> Normalization | None:
    return _found(ctx, node) if can_become(ctx, (node, 0), ("float32", "bfloat16")) else None


def _match_halves(ctx: Context, node: Node) -> Normalization | None:
    return _found(ctx, node) if can_become(ctx, (node, 0), ("float16",)) else None


def _found(ctx: Context, node: Node) -> Normalization | None:
    shifted = node.inputs[0]
    if shifted[0].op not in ("Add", "AddV2"):
        return None
    for variance, added in (shifted[0].inputs, shifted[0].inputs[::-1]):
        value = ctx.constant(added)
        if value is None or value.size != 1 or not 0 <= float(value.reshape(())) < 1:
            continue
        moments = _moments(ctx, variance)
        if moments is not None:
            inner = (node, shifted[0], *moments.nodes)
            return _widest(ctx, node, moments, inner, float(value.reshape(())))
    return None


def _moments(ctx: Context, variance: Output) -> _Moments | None:
    """What the variance is of, if it is the mean of squared differences from the mean."""
    averaged = _averaged(ctx, variance)
    if averaged is None:
        return None
    squares, axes = averaged
    node = squares[0]
    nodes: tuple[Node, ...] = (variance[0], node)
    if node.op == "SquaredDifference":
        sides = node.inputs
    elif node.op == "Square" or (node.op == "Mul" and node.inputs[0] == node.inputs[1]):
        less = node.inputs[0][0]
        if less.op != "Sub":
            return None
        sides, nodes = less.inputs, (*nodes, less)
    else:
        return None
    for x, mean in (sides, sides[::-1]):
        plain = _through(mean)
        if _averaged(ctx, plain) == (x, axes):
            passed = () if plain == mean else (mean[0],)
            return _Moments(x, plain, (*nodes, plain[0], *passed), axes)
    return None


def _through(output: Output) -> Output:
    return output[0].inputs[0] if output[0].op in ("StopGradient", "Identity") else output


def _averaged(ctx: Context, output: Output) -> tuple[Output, int] | None:
    """What a Mean over the last dimensions, which it keeps, is of, and how many those are.

    Those of one element in front of the others make no difference.
    """
    node = output[0]
    if node.op != "Mean" or not node.attr("keep_dims", False):
        return None
    shape = ctx.shape(node.inputs[0])
    axes = ctx.ints(node.inputs[1])
    if not shape or not axes:
        return None
    last = sorted({axis % len(shape) for axis in axes})
    if last != list(range(len(shape) - len(axes), len(shape))):
        return None
    count = len(last)
    while count > 1 and shape[-count] == 1:
        count -= 1
    return node.inputs[0], count


def _widest(
    ctx: Context, node: Node, moments: _Moments, inner: tuple[Node, ...], epsilon: float
) -> Normalization | None:
    """The last node that is a normalization, with as much of scale and offset as there is."""
    shape = ctx.shape(moments.x)
    if not shape or ctx.dtype(moments.x) is not ctx.dtype((node, 0)):
        return None
    found = None
    for root in below(ctx, node, _DEEP):
        if not same_shape(ctx.shape((root, 0)), shape):
            continue
        found = _normalization(ctx, root, node, moments, inner, epsilon) or found
    return found


def _normalization(
    ctx: Context,
    root: Node,
    node: Node,
    moments: _Moments,
    inner: tuple[Node, ...],
    epsilon: float,
) -> Normalization | None:
    is_parameter = is_parameter_of(ctx, moments.x, moments.axes)
    if is_parameter is None:
        return None
    inverse = (node, 0)
    atoms = {moments.x: _X, moments.mean: _MEAN}
    divisors = {}
    if node.op == "Rsqrt":
        atoms[inverse] = _FACTOR
    else:
        divisors[inverse] = _FACTOR
        atoms[(node, -1)] = _FACTOR  # so that leaves are numbered after it
    terms = Expansion(ctx, atoms, divisors, is_parameter)
    found = _parameters(terms, root)
    region = {root, *terms.nodes, *inner}
    if found is None or not ctx.may_rewrite(root):
        return None
    if not all(is_inner(ctx, one, root, region) for one in region if one is not root):
        return None
    return Normalization(root, moments.x, moments.axes, *found, epsilon)


def _parameters(terms: Expansion, root: Node) -> tuple[Output | None, Output | None] | None:
    """Scale and offset, if the terms are ``x r scale - mean r scale + offset``."""
    found = terms.of((root, 0))
    if found is None or root not in terms.nodes:
        return None
    scales: dict[int, tuple[int, ...]] = {}
    offsets: list[tuple[int, ...]] = []
    for factors, by in found.items():
        plain = [k for k in factors if not terms.is_leaf(k)]
        leaves = tuple(k for k in factors if terms.is_leaf(k))
        if not plain and len(leaves) == 1 and by == 1:
            offsets.append(leaves)
        elif plain in ([_X, _FACTOR], [_MEAN, _FACTOR]) and by == (1 if plain[0] == _X else -1):
            scales[plain[0]] = leaves
        else:
            return None
    if len(scales) != 2 or len(offsets) > 1 or scales[_X] != scales[_MEAN] or len(scales[_X]) > 1:
        return None
    scale = terms.leaf(scales[_X][0]) if scales[_X] else None
    return scale, terms.leaf(offsets[0][0]) if offsets else None


_ROOTS: Final = ("Rsqrt", "Sqrt")
RULES: Final = (
    Rule("layer-norm", _ROOTS, _match, become_normalization, Numeric.REASSOCIATES),
    Rule(
        "layer-norm-float16",
        _ROOTS,
        _match_halves,
        become_normalization,
        Numeric.APPROXIMATE,
    ),
)
