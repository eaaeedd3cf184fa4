"""Products. Source: TensorFlow ``math_grad.py``, ``linalg_grad.py``."""

from __future__ import annotations

from typing import Any

from drystone_base.autodiff._registry import Grads, rule, unbroadcast
from drystone_base.core.dtypes import FLOAT32
from drystone_base.graph.builder import Builder
from drystone_base.graph.node import Node, Output

__all__: list[str] = []


@rule("MatMul")
def _matmul(b: Builder, node: Node, grads: list[Any]) -> Grads:
    return _product(b, node, grads[0], "transpose_a", "transpose_b")


@rule("SparseMatMul")
def _sparse_matmul(b: Builder, node: Node, grads: list[Any]) -> Grads:
    """Operands are float32 or bfloat16, the product is float32."""
    kinds = [b.dtype(v) for v in node.inputs]
    wide = [b("Cast", v, DstT=FLOAT32) for v in node.inputs]
    full = node.full_attrs()
    flags = {k: full[k] for k in ("transpose_a", "transpose_b")}
    again = b.node("MatMul", *wide, **flags)
    found = _product(b, again, grads[0], "transpose_a", "transpose_b")
    return [b("Cast", g, DstT=kind) for g, kind in zip(found, kinds, strict=True)]


@rule("BatchMatMul", "BatchMatMulV2", "BatchMatMulV3")
def _batch_matmul(b: Builder, node: Node, grads: list[Any]) -> Grads:
    dx, dy = _product(b, node, grads[0], "adj_x", "adj_y")
    return [dx, dy] if node.op == "BatchMatMul" else unbroadcast(b, node, dx, dy, matrix=2)


def _product(b: Builder, node: Node, g: Output, left: str, right: str) -> list[Output]:
    """The products that undo one, for each of the four transpositions."""
    x, y = node.inputs
    op = node.op.replace("V3", "V2")  # whose dtypes are one
    first, second = node.attr(left), node.attr(right)

    def times(p: Output, q: Output, one: bool, other: bool) -> Output:
        return b(op, p, q, **{left: one, right: other})

    dx = times(y, g, second, True) if first else times(g, y, False, not second)
    dy = times(g, x, True, first) if second else times(x, g, not first, False)
    return [dx, dy]
