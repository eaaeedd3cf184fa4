"""Diagonals of matrices. Source: TensorFlow ``array_grad.py``."""

from __future__ import annotations

from typing import Any

from drystone_base.autodiff._registry import Grads, rule
from drystone_base.core.dtypes import INT32
from drystone_base.graph.builder import Builder
from drystone_base.graph.node import Node, Output

__all__: list[str] = []


@rule("Diag")
def _diag(b: Builder, _: Node, grads: list[Any]) -> Grads:
    return [b("DiagPart", grads[0])]


@rule("DiagPart")
def _diag_part(b: Builder, _: Node, grads: list[Any]) -> Grads:
    return [b("Diag", grads[0])]


@rule("MatrixDiag")
def _matrix_diag(b: Builder, _: Node, grads: list[Any]) -> Grads:
    return [b("MatrixDiagPart", grads[0])]


@rule("MatrixDiagPart")
def _matrix_diag_part(b: Builder, node: Node, grads: list[Any]) -> Grads:
    return [b("MatrixSetDiag", b("ZerosLike", node.inputs[0]), grads[0])]


@rule("MatrixSetDiag")
def _matrix_set_diag(b: Builder, node: Node, grads: list[Any]) -> Grads:
    zeros = b("ZerosLike", node.inputs[1])
    return [b("MatrixSetDiag", grads[0], zeros), b("MatrixDiagPart", grads[0])]


@rule("MatrixDiagPartV2", "MatrixDiagPartV3")
def _matrix_diag_part_v3(b: Builder, node: Node, grads: list[Any]) -> Grads:
    x, k, _ = node.inputs
    back = _set(b, node, b("ZerosLike", x), grads[0], k)
    real = _taken(b, node, back, k)
    return [back, None, _sum(b, b("Sub", grads[0], real))]


@rule("MatrixSetDiagV2", "MatrixSetDiagV3")
def _matrix_set_diag_v3(b: Builder, node: Node, grads: list[Any]) -> Grads:
    _, diagonal, k = node.inputs
    kept = _set(b, node, grads[0], b("ZerosLike", diagonal), k)
    return [kept, _taken(b, node, grads[0], k), None]


@rule("MatrixDiagV2", "MatrixDiagV3")
def _matrix_diag_v3(b: Builder, node: Node, grads: list[Any]) -> Grads:
    k = node.inputs[1]
    part = _taken(b, node, grads[0], k)
    beside = _set(b, node, grads[0], b("ZerosLike", part), k)
    return [part, None, None, None, _sum(b, beside)]


def _taken(b: Builder, node: Node, x: Output, k: Output) -> Output:
    """Diagonals, of the version of the op that is differentiated: the third says how they align."""
    version, align = _version(node)
    return b(f"MatrixDiagPart{version}", x, k, b.like(0, x), **align)


def _set(b: Builder, node: Node, x: Output, diagonals: Output, k: Output) -> Output:
    version, align = _version(node)
    return b(f"MatrixSetDiag{version}", x, diagonals, k, **align)


def _version(node: Node) -> tuple[str, dict[str, Any]]:
    version = node.op[-2:]
    return version, {"align": node.attr("align")} if version == "V3" else {}


def _sum(b: Builder, x: Output) -> Output:
    every = b("Range", b.const(0, INT32), b("Rank", x), b.const(1, INT32))
    return b("Sum", x, every, keep_dims=False)


@rule("MatrixBandPart")
def _band_part(b: Builder, node: Node, grads: list[Any]) -> Grads:
    return [b("MatrixBandPart", grads[0], *node.inputs[1:]), None, None]
