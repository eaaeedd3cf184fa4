"""Products of matrices, and attention."""

from __future__ import annotations

from typing import NoReturn

from drystone_base.inference.batch_rules._registry import SHARED, BatchRuleCall, Rows, along, rows
from drystone_base.ops.einsum_labels import expand, parse
from drystone_base.ops.own import ATTENTION

__all__: list[str] = []


@rows("MatMul", "_FusedMatMul")
def matmul(c: BatchRuleCall) -> Rows | None:
    """Those of the left matrix; the right one is shared."""
    return along(c, 1, broadcasts=False) if c.rows[0] > 0 and not c.attrs["transpose_a"] else None


@rows("BatchMatMul", "BatchMatMulV2", "BatchMatMulV3")
def batch_matmul(c: BatchRuleCall) -> Rows | None:
    """Those of the matrices, of which there are batches; the first op does not broadcast them."""
    output = c.outputs[0]
    if output is None or len(output) < 3:
        return None
    return along(c, broadcasts=c.op != "BatchMatMul")


@rows("Einsum")
def einsum(c: BatchRuleCall) -> Rows | None:
    """Those of operands whose first label is the output's first one, and is nowhere else."""
    shapes = [shape for shape in c.shapes if shape is not None]
    if len(shapes) < len(c.shapes):
        return None
    equation = parse(c.attrs["equation"], len(shapes), _refuse)
    terms, output = expand(equation, [len(shape) for shape in shapes], _refuse)
    found = SHARED
    for own, term in zip(c.rows, terms, strict=True):
        if own == SHARED and not (set(output[:1]) & set(term)):
            continue
        if own <= 0 or found not in (SHARED, own) or not output or term.count(output[0]) != 1:
            return None
        if term[0] != output[0] or output.count(output[0]) != 1:
            return None
        found = own
    return found


def _refuse(check: str, **_: object) -> NoReturn:
    raise ValueError(check)


@rows(ATTENTION)
def attention(c: BatchRuleCall) -> Rows | None:
    """Those of queries, keys and values, whose examples come first, and of masks that have some."""
    if any(layout[0] != "B" for layout in c.attrs["layouts"]):
        return None
    return along(c) if min(c.rows[:3]) > 0 else None
