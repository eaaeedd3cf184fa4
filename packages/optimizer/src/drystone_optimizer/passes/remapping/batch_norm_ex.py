"""Batch normalization, a sum with a tensor of the same shape, and Relu become one node.

Also in training: the moments that it gives are read as before.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from drystone_base.graph import Node, Output
from drystone_base.ops.defs import find
from drystone_optimizer.core.context import Context
from drystone_optimizer.core.facts import same_shape
from drystone_optimizer.core.native_kernels import keeps_native
from drystone_optimizer.core.rules import Rule
from drystone_optimizer.passes.remapping import batch_norm

__all__ = ["RULE"]

_NORMS: Final = ("FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3")
_EX: Final = "_FusedBatchNormEx"
_SUMS: Final = ("Add", "AddV2")


class _Found(NamedTuple):
    norm: Node
    total: Node | None
    side: tuple[Output, ...]


def _match(ctx: Context, node: Node) -> _Found | None:
    output = node.inputs[0]
    if output[0].op not in _SUMS:
        norm = _norm(ctx, output, node)
        return None if norm is None else _Found(norm, None, ())
    total = output[0]
    if not _alone(ctx, output, node) or total.controls or total in ctx.fed_nodes:
        return None
    left, right = total.inputs
    for normal, side in ((left, right), (right, left)):
        norm = _norm(ctx, normal, total)
        if norm is None or side[0] is norm or ctx.noticed(total):
            continue
        if same_shape(ctx.shape(normal), ctx.shape(side)):
            return _Found(norm, total, (side,))
    return None


def _norm(ctx: Context, output: Output, user: Node) -> Node | None:
    """The normalization of which only ``user`` reads the result, if there is a kernel for both."""
    norm, slot = output
    if norm.op not in _NORMS or slot or norm in ctx.fed_nodes or ctx.kept(norm):
        return None
    if not _alone(ctx, output, user) or user.device not in ("", norm.device):
        return None
    if batch_norm.RULE.numeric <= ctx.ceiling and batch_norm.RULE.match(ctx, norm) is not None:
        return None  # its layer takes it along, and then the activation
    definition = find(_EX)
    if definition is None or not keeps_native(norm.op, _EX) or not ctx.may_rewrite(norm):
        return None
    allowed: Any = definition.attrs["T"].allowed or []
    floats = getattr(ctx.dtype(norm.inputs[1]), "label", "") == "float32"
    fits = str(norm.attr("data_format", "NHWC")) in ("NHWC", "NCHW")
    return norm if floats and fits and ctx.dtype(norm.inputs[0]) in allowed else None


def _alone(ctx: Context, output: Output, user: Node) -> bool:
    return not ctx.kept(output[0]) and [u for u, _ in ctx.users(output)] == [user]


def _apply(ctx: Context, node: Node, found: _Found) -> None:
    norm = found.norm
    if found.side:  # it comes later than the normalization did: take the place of the last node
        _move(ctx, node, found)
        return
    attrs = _attrs(ctx, norm, found)
    ctx.become(norm, _EX, norm.inputs, attrs)
    ctx.bypass(node, (norm, 0))


def _attrs(ctx: Context, norm: Node, found: _Found) -> dict[str, object]:
    names = ("epsilon", "exponential_avg_factor", "data_format", "is_training")
    attrs = {name: norm.attrs[name] for name in names if name in norm.attrs}
    attrs |= {"T": ctx.dtype(norm.inputs[0]), "U": ctx.dtype(norm.inputs[1])}
    return attrs | {"num_side_inputs": len(found.side), "activation_mode": "Relu"}


def _move(ctx: Context, node: Node, found: _Found) -> None:
    norm, total = found.norm, found.total
    inputs = [*norm.inputs, *found.side]
    ex = ctx.add(_EX, norm, "with_side", inputs, _attrs(ctx, norm, found), norm.controls)
    if norm.device and not ex.device:
        ctx.graph.set_device(ex, norm.device)
    for k in range(1, 6):
        ctx.graph.redirect((norm, k), (ex, k))
    ctx.graph.redirect_controls(norm, ex)
    ctx.bypass(node, (ex, 0))
    if total is not None:
        ctx.drop_unused(total)
    ctx.drop_unused(norm)


RULE: Final = Rule("batch-norm-activation", ("Relu",), _match, _apply, reads=(*_NORMS, *_SUMS))
