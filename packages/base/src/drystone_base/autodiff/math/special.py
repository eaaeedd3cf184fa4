"""Special functions. Source: TensorFlow ``math_grad.py``."""

from __future__ import annotations

import math
from typing import Any

from drystone_base.autodiff._registry import Grads, rule, unbroadcast
from drystone_base.graph.builder import Builder
from drystone_base.graph.node import Node, Output

__all__: list[str] = []


@rule("Polygamma")
def _polygamma(b: Builder, node: Node, grads: list[Any]) -> Grads:
    """By the argument; the order is a whole number."""
    order, x = node.inputs
    slope = b("Polygamma", b("AddV2", order, b.like(1, order)), x)
    return unbroadcast(b, node, None, b("Mul", grads[0], slope))


@rule("Zeta")
def _zeta(b: Builder, node: Node, grads: list[Any]) -> Grads:
    """By the second argument, as in TensorFlow."""
    x, q = node.inputs
    slope = b("Mul", b("Neg", x), b("Zeta", b("AddV2", x, b.like(1, x)), q))
    return unbroadcast(b, node, None, b("Mul", grads[0], slope))


@rule("Igamma", "Igammac")
def _igamma(b: Builder, node: Node, grads: list[Any]) -> Grads:
    a, x = node.inputs
    g = grads[0] if node.op == "Igamma" else b("Neg", grads[0])
    power = b("Mul", b("Sub", a, b.like(1, a)), b("Log", x))
    slope = b("Exp", b("Sub", b("Sub", power, x), b("Lgamma", a)))
    return unbroadcast(b, node, b("Mul", g, b("IgammaGradA", a, x)), b("Mul", g, slope))


@rule("Betainc")
def _betainc(b: Builder, node: Node, grads: list[Any]) -> Grads:
    """By the upper limit alone, as in TensorFlow."""
    p, q, x = node.inputs
    both = b("Lgamma", b("AddV2", p, q))
    beta = b("Sub", b("AddV2", b("Lgamma", p), b("Lgamma", q)), both)
    rest = b("Xlog1py", b("Sub", q, b.like(1, q)), b("Neg", x))
    power = b("Xlogy", b("Sub", p, b.like(1, p)), x)
    return [None, None, b("Mul", grads[0], b("Exp", b("Sub", b("AddV2", rest, power), beta)))]


@rule("BesselI0")
def _bessel_i0(b: Builder, node: Node, grads: list[Any]) -> Grads:
    return [b("Mul", grads[0], b("BesselI1", node.inputs[0]))]


@rule("BesselI1")
def _bessel_i1(b: Builder, node: Node, grads: list[Any]) -> Grads:
    x = node.inputs[0]
    return [b("Mul", grads[0], b("Sub", b("BesselI0", x), _over(b, node, x)))]


@rule("BesselI1e")
def _bessel_i1e(b: Builder, node: Node, grads: list[Any]) -> Grads:
    x, y = node.inputs[0], (node, 0)
    slope = b("Sub", b("BesselI0e", x), b("Mul", y, b("Sign", x)))
    return [b("Mul", grads[0], b("Sub", slope, _over(b, node, x)))]


def _over(b: Builder, node: Node, x: Output) -> Output:
    """The result by its argument; one half at 0, where both are 0."""
    zero = b("Equal", x, b.like(0, x))
    half = b("Mul", b.like(0.5, x), b("OnesLike", x))
    safe = b("SelectV2", zero, b("OnesLike", x), x)
    return b("SelectV2", zero, half, b("RealDiv", (node, 0), safe))


@rule("Dawsn")
def _dawson(b: Builder, node: Node, grads: list[Any]) -> Grads:
    x = node.inputs[0]
    both = b("Mul", b.like(2, x), b("Mul", x, (node, 0)))
    return [b("Mul", grads[0], b("Sub", b.like(1, x), both))]


@rule("Expint")
def _exponential_integral(b: Builder, node: Node, grads: list[Any]) -> Grads:
    x = node.inputs[0]
    return [b("Mul", grads[0], b("RealDiv", b("Exp", x), x))]


@rule("FresnelCos", "FresnelSin")
def _fresnel(b: Builder, node: Node, grads: list[Any]) -> Grads:
    x = node.inputs[0]
    angle = b("Mul", b.like(math.pi / 2, x), b("Square", x))
    return [b("Mul", grads[0], b("Cos" if node.op == "FresnelCos" else "Sin", angle))]


@rule("CumulativeLogsumexp")
def _cumulative(b: Builder, node: Node, grads: list[Any]) -> Grads:
    """Gradients above and below 0 apart, by their logarithms."""
    x, axis = node.inputs
    full = node.full_attrs()

    def part(g: Output) -> Output:
        positive = b("Greater", g, b.like(0, g))
        log = b("Log", b("SelectV2", positive, g, b("OnesLike", g)))
        least = b("Mul", b.like(-math.inf, g), b("OnesLike", g))
        lifted = b("Sub", b("SelectV2", positive, log, least), (node, 0))
        back = b("CumulativeLogsumexp", lifted, axis, exclusive=full["exclusive"],
                 reverse=not full["reverse"])  # fmt: skip
        return b("Exp", b("AddV2", back, x))

    g = grads[0]
    return [b("Sub", part(g), part(b("Neg", g))), None]


@rule("BesselJ0", "BesselY0", "BesselK0")
def _bessel_0(b: Builder, node: Node, grads: list[Any]) -> Grads:
    return [b("Neg", b("Mul", grads[0], b(node.op.replace("0", "1"), node.inputs[0])))]


@rule("BesselJ1", "BesselY1")
def _bessel_1(b: Builder, node: Node, grads: list[Any]) -> Grads:
    x = node.inputs[0]
    slope = b("Sub", b(node.op.replace("1", "0"), x), _over(b, node, x))
    return [b("Mul", grads[0], slope)]


@rule("BesselK1")
def _bessel_k1(b: Builder, node: Node, grads: list[Any]) -> Grads:
    x = node.inputs[0]
    slope = b("AddV2", b("BesselK0", x), b("RealDiv", (node, 0), x))
    return [b("Neg", b("Mul", grads[0], slope))]


@rule("BesselK0e")
def _bessel_k0e(b: Builder, node: Node, grads: list[Any]) -> Grads:
    return [b("Mul", grads[0], b("Sub", (node, 0), b("BesselK1e", node.inputs[0])))]


@rule("BesselK1e")
def _bessel_k1e(b: Builder, node: Node, grads: list[Any]) -> Grads:
    x, y = node.inputs[0], (node, 0)
    slope = b("Sub", b("Sub", y, b("RealDiv", y, x)), b("BesselK0e", x))
    return [b("Mul", grads[0], slope)]


@rule("Spence")
def _spence(b: Builder, node: Node, grads: list[Any]) -> Grads:
    """log(x) / (1 - x), which goes to -1 at 1."""
    x = node.inputs[0]
    ones = b("OnesLike", x)
    at_one = b("Equal", x, ones)
    rest = b("SelectV2", at_one, ones, b("Sub", ones, x))
    slope = b("SelectV2", at_one, b("Neg", ones), b("RealDiv", b("Log", x), rest))
    return [b("Mul", grads[0], slope)]
