"""A product of a transposed matrix reads it transposed: MatMul and BatchMatMul."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from drystone_base.graph import Node, Output
from drystone_optimizer.core.context import Context
from drystone_optimizer.core.rules import Rule

__all__ = ["RULE"]

_FLAGS: Final = {
    "MatMul": ("transpose_a", "transpose_b"),
    "BatchMatMul": ("adj_x", "adj_y"),
    "BatchMatMulV2": ("adj_x", "adj_y"),
    "BatchMatMulV3": ("adj_x", "adj_y"),
}


class _Found(NamedTuple):
    inputs: list[Output]
    flags: dict[str, bool]
    inner: list[Node]


def _match(ctx: Context, node: Node) -> _Found | None:
    inputs, flags, inner = list(node.inputs), dict[str, bool](), []
    for k, flag in enumerate(_FLAGS[node.op]):
        source, slot = node.inputs[k]
        if slot or source.controls or not _swaps_matrix(ctx, node, source):
            continue
        inputs[k] = source.inputs[0]
        flags[flag] = not node.attr(flag, False)
        inner.append(source)
    return _Found(inputs, flags, inner) if inner else None


def _swaps_matrix(ctx: Context, node: Node, source: Node) -> bool:
    """Whether ``source`` exchanges the last two dimensions, and is all that reads them so."""
    if source.op not in ("Transpose", "ConjugateTranspose") or source in ctx.fed_nodes:
        return False
    dtype: Any = ctx.dtype((source, 0))
    adjoint = source.op == "ConjugateTranspose"
    if dtype is None or (dtype.is_complex and adjoint is not (node.op != "MatMul")):
        return False
    order = ctx.ints(source.inputs[1])
    if order is None or len(order) < 2 or not ctx.may_rewrite(source):
        return False
    rank = len(order)
    return order == [*range(rank - 2), rank - 1, rank - 2]


def _apply(ctx: Context, node: Node, found: _Found) -> None:
    ctx.graph.set_inputs(node, found.inputs)
    waits = ctx.waits(source.inputs[1] for source in found.inner)
    if waits:
        ctx.graph.set_controls(node, [*node.controls, *waits])
    for flag, value in found.flags.items():
        ctx.graph.set_attr(node, flag, value)
    ctx.forget(node)
    for source in dict.fromkeys(found.inner):
        ctx.drop_unused(source)


RULE: Final = Rule(
    "transpose-into-matmul", tuple(_FLAGS), _match, _apply,
    reads=("Transpose", "ConjugateTranspose"),
)  # fmt: skip
