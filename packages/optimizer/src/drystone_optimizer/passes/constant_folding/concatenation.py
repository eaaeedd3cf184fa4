"""ConcatV2 of ConcatV2 along one axis becomes one, and neighbouring constants in it become one."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np

from drystone_base.graph import Node, Output
from drystone_optimizer.core.context import Context
from drystone_optimizer.core.rules import Rule

__all__ = ["RULES"]

_MAX_BYTES: Final = 100 * 1024


def _axis(ctx: Context, node: Node) -> int | None:
    """The axis, counted from the first, where it is known."""
    found = ctx.ints(node.inputs[-1])
    if not found:
        return None
    if found[0] >= 0:
        return found[0]
    shape = ctx.shape((node, 0))
    return None if shape is None else found[0] + len(shape)


def _match_nested(ctx: Context, node: Node) -> list[Node] | None:
    """The concatenations that become part of this one, which itself becomes part of none.

    So a chain of them is joined once, at its end.
    """
    axis = _axis(ctx, node)
    if axis is None or not _reads_concatenation(node):
        return None
    user = ctx.graph.only_user(node)
    goes = user is not None and _joins(ctx, user, axis) and _goes_into(ctx, node, user)
    if goes and user is not None and user.inputs[-1][0] is not node:
        return None
    inner: list[Node] = []
    stack = [node]
    while stack:
        one = stack.pop()
        for source, _ in one.inputs[:-1]:
            inside = source.op == "ConcatV2" and _axis(ctx, source) == axis
            if inside and _goes_into(ctx, source, one):
                inner.append(source)
                stack.append(source)
    return inner or None


def _joins(ctx: Context, node: Node, axis: int) -> bool:
    """Whether a node is a concatenation along the axis that others may become part of."""
    return node.op == "ConcatV2" and ctx.may_rewrite(node) and _axis(ctx, node) == axis


def _reads_concatenation(node: Node) -> bool:
    return any(source.op == "ConcatV2" for source, _ in node.inputs[:-1])


def _goes_into(ctx: Context, node: Node, user: Node) -> bool:
    """Whether a concatenation may become part of the only one that reads it."""
    plain = node not in ctx.fed_nodes and not node.controls and node.device == user.device
    return plain and ctx.only_user(node)


def _apply_nested(ctx: Context, node: Node, inner: list[Node]) -> None:
    inside = set(inner)
    parts: list[Output] = []
    stack = list(reversed(node.inputs[:-1]))
    while stack:
        output = stack.pop()
        if output[0] in inside:
            stack += reversed(output[0].inputs[:-1])
        else:
            parts.append(output)
    axes = [one.inputs[-1] for one in inner]
    _set_parts(ctx, node, parts, [*node.controls, *ctx.waits(axes)])
    for one in inner:
        ctx.drop_unused(one)


def _set_parts(ctx: Context, node: Node, parts: list[Output], controls: list[Node]) -> None:
    attrs = {name: node.attrs[name] for name in ("T", "Tidx") if name in node.attrs}
    ctx.become(node, "ConcatV2", [*parts, node.inputs[-1]], attrs | {"N": len(parts)}, controls)


class _Run(NamedTuple):
    first: int
    end: int
    whole: np.ndarray[Any, Any]


def _match_constants(ctx: Context, node: Node) -> list[_Run] | None:
    """The runs of two or more constants, which are not all there is."""
    axis = _axis(ctx, node)
    if axis is None:
        return None
    parts = node.inputs[:-1]
    values = [ctx.constant(o) for o in parts]
    runs: list[_Run] = []
    first = 0
    while first < len(parts):
        end = first
        while end < len(parts) and values[end] is not None:
            end += 1
        if end - first > 1 and end - first < len(parts):
            run = [v for v in values[first:end] if v is not None]
            whole = _joined(run, axis)
            if whole is not None:
                runs.append(_Run(first, end, whole))
        first = max(end, first + 1)
    return runs or None


def _joined(run: list[np.ndarray[Any, Any]], axis: int) -> np.ndarray[Any, Any] | None:
    if run[0].dtype.kind not in "fiub" or sum(v.nbytes for v in run) > _MAX_BYTES:
        return None
    try:
        return np.concatenate(run, axis)
    except ValueError:
        return None  # reported when the node runs


def _apply_constants(ctx: Context, node: Node, runs: list[_Run]) -> None:
    parts: list[Output] = []
    replaced: list[Output] = []
    done = 0
    for run in runs:
        inside = node.inputs[run.first : run.end]
        controls = list(dict.fromkeys(c for source, _ in inside for c in source.controls))
        parts += node.inputs[done : run.first]
        parts.append(ctx.add_constant(node, "constants", run.whole, controls))
        replaced += inside
        done = run.end
    parts += node.inputs[done:-1]
    _set_parts(ctx, node, parts, list(node.controls))
    for source, _ in replaced:
        ctx.drop_unused(source)


RULES: Final = (
    Rule("concat-of-concat", ("ConcatV2",), _match_nested, _apply_nested),
    Rule("concat-of-constants", ("ConcatV2",), _match_constants, _apply_constants),
)
