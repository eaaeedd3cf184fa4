"""Element-wise ops of one input, by their derivatives. Source: TensorFlow ``math_grad.py``."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final, TypeAlias

from drystone_base.autodiff._registry import Grads, Rule, rule
from drystone_base.graph.builder import Builder
from drystone_base.graph.node import Node, Output

__all__: list[str] = []

Form: TypeAlias = Callable[[Builder, Output, Output, Output], Output]
"""The gradient of an input x, by x, the result y and the gradient of y."""


def _one_minus_square(b: Builder, x: Output) -> Output:
    return b("Sub", b.like(1, x), b("Square", x))


def _normal(b: Builder, x: Output, scale: float) -> Output:
    """``scale`` times exp(-x²)."""
    return b("Mul", b.like(scale, x), b("Exp", b("Neg", b("Square", x))))


_FORMS: Final[dict[str, Form]] = {
    "Abs": lambda b, x, _, g: b("Mul", g, b("Sign", x)),
    "Neg": lambda b, _x, _y, g: b("Neg", g),
    "Inv": lambda b, _, y, g: b("Neg", b("Mul", g, b("Square", y))),
    "Reciprocal": lambda b, _, y, g: b("Neg", b("Mul", g, b("Square", y))),
    "Square": lambda b, x, _, g: b("Mul", g, b("Mul", b.like(2, x), x)),
    "Sqrt": lambda b, _, y, g: b("Mul", g, b("Mul", b.like(0.5, y), b("Reciprocal", y))),
    "Rsqrt": lambda b, x, y, g: b(
        "Mul", g, b("Mul", b.like(-0.5, y), b("Mul", b("Reciprocal", x), y))
    ),
    "Exp": lambda b, _, y, g: b("Mul", g, y),
    "Expm1": lambda b, x, _, g: b("Mul", g, b("Exp", x)),
    "Log": lambda b, x, _, g: b("Mul", g, b("Reciprocal", x)),
    "Log1p": lambda b, x, _, g: b("Mul", g, b("Reciprocal", b("Add", b.like(1, x), x))),
    "Sinh": lambda b, x, _, g: b("Mul", g, b("Cosh", x)),
    "Cosh": lambda b, x, _, g: b("Mul", g, b("Sinh", x)),
    "Tanh": lambda b, _, y, g: b("TanhGrad", y, g),
    "Sigmoid": lambda b, _, y, g: b("SigmoidGrad", y, g),
    "Asinh": lambda b, _, y, g: b("Div", g, b("Cosh", y)),
    "Acosh": lambda b, _, y, g: b("Div", g, b("Sinh", y)),
    "Atanh": lambda b, x, _, g: b("Div", g, _one_minus_square(b, x)),
    "Sin": lambda b, x, _, g: b("Mul", g, b("Cos", x)),
    "Cos": lambda b, x, _, g: b("Neg", b("Mul", g, b("Sin", x))),
    "Tan": lambda b, x, _, g: b("Div", g, b("Square", b("Cos", x))),
    "Asin": lambda b, x, _, g: b("Div", g, b("Sqrt", _one_minus_square(b, x))),
    "Acos": lambda b, x, _, g: b("Neg", b("Div", g, b("Sqrt", _one_minus_square(b, x)))),
    "Atan": lambda b, x, _, g: b("Div", g, b("Add", b.like(1, x), b("Square", x))),
    "Erf": lambda b, x, _, g: b("Mul", g, _normal(b, x, 2 / math.sqrt(math.pi))),
    "Erfc": lambda b, x, _, g: b("Mul", g, _normal(b, x, -2 / math.sqrt(math.pi))),
    "Erfinv": lambda b, _, y, g: b("Div", g, _normal(b, y, 2 / math.sqrt(math.pi))),
    "Ndtri": lambda b, _, y, g: b(
        "Div", g, _normal(b, b("Mul", y, b.like(math.sqrt(0.5), y)), 1 / math.sqrt(2 * math.pi))
    ),
    "Lgamma": lambda b, x, _, g: b("Mul", g, b("Digamma", x)),
    "Digamma": lambda b, x, _, g: b("Mul", g, b("Polygamma", b("OnesLike", x), x)),
    "BesselI0e": lambda b, x, y, g: b(
        "Mul", g, b("Sub", b("BesselI1e", x), b("Mul", b("Sign", x), y))
    ),
}


def _rule_of(form: Form) -> Rule:
    def gradient(b: Builder, node: Node, grads: list[Any]) -> Grads:
        return [form(b, node.inputs[0], (node, 0), grads[0])]

    return gradient


for _op, _form in _FORMS.items():
    rule(_op)(_rule_of(_form))


# ---- gradients of gradients ------------------------------------------------------------------


def _squares(b: Builder, node: Node, g: Output) -> tuple[Output, Output, Output, Output]:
    y, dy = node.inputs
    return y, dy, b("Mul", g, dy), g


@rule("TanhGrad")
def _tanh_grad(b: Builder, node: Node, grads: list[Any]) -> Grads:
    """Of dy (1 - y²)."""
    y, _, both, g = _squares(b, node, grads[0])
    return [b("Mul", b.like(-2, y), b("Mul", both, y)), b("TanhGrad", y, g)]


@rule("SigmoidGrad")
def _sigmoid_grad(b: Builder, node: Node, grads: list[Any]) -> Grads:
    """Of dy y (1 - y)."""
    y, _, both, g = _squares(b, node, grads[0])
    slope = b("Sub", b.like(1, y), b("Mul", b.like(2, y), y))
    return [b("Mul", both, slope), b("SigmoidGrad", y, g)]


@rule("InvGrad", "ReciprocalGrad")
def _reciprocal_grad(b: Builder, node: Node, grads: list[Any]) -> Grads:
    """Of -dy y²."""
    y, _, both, g = _squares(b, node, grads[0])
    return [b("Mul", b.like(-2, y), b("Mul", both, y)), b(node.op, y, g)]


@rule("SqrtGrad")
def _sqrt_grad(b: Builder, node: Node, grads: list[Any]) -> Grads:
    """Of dy / 2 y."""
    y, dy, _, g = _squares(b, node, grads[0])
    over = b("RealDiv", g, y)
    dy_part = b("Mul", b.like(0.5, y), over)
    return [b("Mul", b("Neg", dy_part), b("RealDiv", dy, y)), dy_part]


@rule("RsqrtGrad")
def _rsqrt_grad(b: Builder, node: Node, grads: list[Any]) -> Grads:
    """Of -dy y³ / 2."""
    y, _, both, g = _squares(b, node, grads[0])
    return [b("Mul", b.like(-1.5, y), b("Mul", both, b("Square", y))), b("RsqrtGrad", y, g)]
