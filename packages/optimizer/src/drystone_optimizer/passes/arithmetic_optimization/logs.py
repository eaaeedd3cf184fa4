"""Log of 1 + x becomes Log1p, Exp(x) - 1 becomes Expm1, Log of Softmax becomes LogSoftmax."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from drystone_base.graph import Node, Output
from drystone_optimizer.core.context import Context
from drystone_optimizer.core.facts import same_shape
from drystone_optimizer.core.native_kernels import keeps_native
from drystone_optimizer.core.rules import Numeric, Rule
from drystone_optimizer.passes.arithmetic_optimization._inner import inner

__all__ = ["RULES"]


class _Found(NamedTuple):
    inner: Node
    data: Output
    one: Output


def _is_one(ctx: Context, output: Output) -> bool:
    value = ctx.constant(output)
    return (
        value is not None
        and value.size > 0
        and value.dtype.kind in "fc"
        and bool((value == 1).all())
    )


def _match_log1p(ctx: Context, node: Node) -> _Found | None:
    first = inner(ctx, node.inputs[0], ("Add", "AddV2"))
    if first is None or not keeps_native("Log", "Log1p"):
        return None
    for data, one in (first.inputs, first.inputs[::-1]):
        if _is_one(ctx, one) and same_shape(ctx.shape(data), ctx.shape((first, 0))):
            return _Found(first, data, one)
    return None


def _match_expm1(ctx: Context, node: Node) -> _Found | None:
    first = inner(ctx, node.inputs[0], ("Exp",))
    if first is None or not _is_one(ctx, node.inputs[1]) or not keeps_native("Exp", "Expm1"):
        return None
    if not same_shape(ctx.shape((first, 0)), ctx.shape((node, 0))):
        return None
    return _Found(first, first.inputs[0], node.inputs[1])


def _match_log_softmax(ctx: Context, node: Node) -> _Found | None:
    first = inner(ctx, node.inputs[0], ("Softmax",))
    if first is None or not keeps_native("Softmax", "LogSoftmax"):
        return None
    return _Found(first, first.inputs[0], first.inputs[0])


def _apply(op: str) -> Callable[[Context, Node, _Found], None]:
    def apply(ctx: Context, node: Node, found: _Found) -> None:
        attrs = {"T": node.attrs["T"]}
        lost = [] if found.one == found.data else [found.one]
        ctx.become(node, op, [found.data], attrs, [*node.controls, *ctx.waits(lost)])
        ctx.drop_unused(found.inner)
        for source, _ in lost:
            ctx.drop_unused(source)

    return apply


RULES: Final = (
    Rule("log1p", ("Log",), _match_log1p, _apply("Log1p"), Numeric.REASSOCIATES,
         reads=("Add", "AddV2")),
    Rule("expm1", ("Sub",), _match_expm1, _apply("Expm1"), Numeric.REASSOCIATES,
         reads=("Exp",)),
    # Where Softmax gives 0 its Log is minus infinity; LogSoftmax stays finite.
    Rule("log-softmax", ("Log",), _match_log_softmax, _apply("LogSoftmax"), Numeric.APPROXIMATE,
         reads=("Softmax",)),
)  # fmt: skip
