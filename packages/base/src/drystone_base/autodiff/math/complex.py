"""Parts of complex numbers. Source: TensorFlow ``math_grad.py``."""

from __future__ import annotations

from typing import Any

from drystone_base.autodiff._registry import Grads, rule, unbroadcast
from drystone_base.graph.builder import Builder
from drystone_base.graph.node import Node, Output

__all__: list[str] = []


def _complex(b: Builder, node: Node, real: Output, imag: Output) -> Output:
    return b("Complex", real, imag, Tout=b.dtype(node.inputs[0]))


def _part(b: Builder, node: Node, op: str, grad: Output) -> Output:
    return b(op, grad, Tout=b.dtype(node.inputs[0]))


@rule("Real")
def _real(b: Builder, node: Node, grads: list[Any]) -> Grads:
    return [_complex(b, node, grads[0], b("ZerosLike", grads[0]))]


@rule("Imag")
def _imag(b: Builder, node: Node, grads: list[Any]) -> Grads:
    return [_complex(b, node, b("ZerosLike", grads[0]), grads[0])]


@rule("Complex")
def _pair(b: Builder, node: Node, grads: list[Any]) -> Grads:
    parts = [_part(b, node, op, grads[0]) for op in ("Real", "Imag")]
    return unbroadcast(b, node, parts[0], parts[1])


@rule("Conj")
def _conj(b: Builder, _: Node, grads: list[Any]) -> Grads:
    return [b("Conj", grads[0])]


@rule("ComplexAbs")
def _abs(b: Builder, node: Node, grads: list[Any]) -> Grads:
    """Along the number, by one; nothing at 0."""
    share = b("DivNoNan", grads[0], (node, 0))
    return [b("Mul", _complex(b, node, share, b("ZerosLike", share)), node.inputs[0])]


@rule("Angle")
def _angle(b: Builder, node: Node, grads: list[Any]) -> Grads:
    """Across the number: i z / |z|²; nothing at 0."""
    real, imag = (b(op, node.inputs[0], Tout=b.dtype(grads[0])) for op in ("Real", "Imag"))
    size = b("AddV2", b("Square", real), b("Square", imag))
    share = b("DivNoNan", grads[0], size)
    return [_complex(b, node, b("Neg", b("Mul", imag, share)), b("Mul", real, share))]


@rule("ConjugateTranspose")
def _conjugate_transpose(b: Builder, node: Node, grads: list[Any]) -> Grads:
    return [b("ConjugateTranspose", grads[0], b("InvertPermutation", node.inputs[1])), None]
