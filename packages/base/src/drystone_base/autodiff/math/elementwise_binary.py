"""Element-wise ops of two inputs and more, which broadcast. Source: TensorFlow ``math_grad.py``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeAlias

from drystone_base.autodiff._registry import Grads, Rule, rule, summed_to, unbroadcast
from drystone_base.graph.builder import Builder
from drystone_base.graph.node import Node, Output

__all__: list[str] = []

Form: TypeAlias = Callable[[Builder, Output, Output, Output, Output], tuple[Output, Output]]
"""The gradients of inputs x and y, by those, the result z and the gradient of z."""

_FORMS: Final[dict[str, Form]] = {
    "Add": lambda _b, _x, _y, _z, g: (g, g),
    "AddV2": lambda _b, _x, _y, _z, g: (g, g),
    "Sub": lambda b, _x, _y, _z, g: (g, b("Neg", g)),
    "Mul": lambda b, x, y, _, g: (b("Mul", g, y), b("Mul", x, g)),
    "MulNoNan": lambda b, x, y, _, g: (b("MulNoNan", g, y), b("MulNoNan", x, g)),
    "Div": lambda b, x, y, _, g: (b("Div", g, y), _quotient(b, "Div", x, y, g)),
    "RealDiv": lambda b, x, y, _, g: (b("RealDiv", g, y), _quotient(b, "RealDiv", x, y, g)),
    "DivNoNan": lambda b, x, y, _, g: (b("DivNoNan", g, y), _quotient(b, "DivNoNan", x, y, g)),
    "Pow": lambda b, x, y, z, g: (
        b("Mul", b("Mul", g, y), b("Pow", x, b("Sub", y, b.like(1, y)))),
        b("Mul", b("Mul", g, z), _log_or_zero(b, x)),
    ),
    "Maximum": lambda b, x, y, _, g: _chosen(b, b("GreaterEqual", x, y), g),
    "Minimum": lambda b, x, y, _, g: _chosen(b, b("LessEqual", x, y), g),
    "SquaredDifference": lambda b, x, y, _, g: _difference(b, x, y, g),
    "Atan2": lambda b, x, y, _, g: _angle(b, x, y, g),
    "FloorMod": lambda b, x, y, _, g: (g, b("Neg", b("Mul", g, b("FloorDiv", x, y)))),
    "Mod": lambda b, x, y, _, g: (g, b("Neg", b("Mul", g, b("TruncateDiv", x, y)))),
    "TruncateMod": lambda b, x, y, _, g: (g, b("Neg", b("Mul", g, b("TruncateDiv", x, y)))),
    "Xlogy": lambda b, x, y, _, g: (
        b("Mul", g, b("Xlogy", _not_zero(b, x), y)), b("Mul", g, b("Xdivy", x, y)),
    ),
    "Xlog1py": lambda b, x, y, _, g: (
        b("Mul", g, b("Xlog1py", _not_zero(b, x), y)),
        b("Mul", g, b("Xdivy", x, b("AddV2", y, b.like(1, y)))),
    ),
    "Xdivy": lambda b, x, y, _, g: (
        b("Mul", g, b("Xdivy", _not_zero(b, x), y)),
        b("Mul", g, b("Xdivy", b("Neg", x), b("Square", y))),
    ),
}  # fmt: skip


def _quotient(b: Builder, op: str, x: Output, y: Output, g: Output) -> Output:
    return b("Mul", g, b(op, b("Neg", x), b("Square", y)))


def _log_or_zero(b: Builder, x: Output) -> Output:
    """The logarithm of what has one, else 0: at 0 the power does not change."""
    positive = b("NotEqual" if b.dtype(x).is_complex else "Greater", x, b.like(0, x))
    zeros = b("ZerosLike", x)
    return b("Select", positive, b("Log", b("Select", positive, x, b("OnesLike", x))), zeros)


def _not_zero(b: Builder, x: Output) -> Output:
    return b("Cast", b("NotEqual", x, b.like(0, x)), DstT=b.dtype(x))


def _chosen(b: Builder, first: Output, g: Output) -> tuple[Output, Output]:
    mask = b("Cast", first, DstT=b.dtype(g))
    mine = b("Mul", g, mask)
    return mine, b("Sub", g, mine)


def _difference(b: Builder, x: Output, y: Output, g: Output) -> tuple[Output, Output]:
    dx = b("Mul", b("Mul", b.like(2, x), g), b("Sub", x, y))
    return dx, b("Neg", dx)


def _angle(b: Builder, y: Output, x: Output, g: Output) -> tuple[Output, Output]:
    share = b("RealDiv", g, b("AddV2", b("Square", x), b("Square", y)))
    return b("Mul", x, share), b("Neg", b("Mul", y, share))


def _rule_of(form: Form) -> Rule:
    def gradient(b: Builder, node: Node, grads: list[Any]) -> Grads:
        x, y = node.inputs
        return unbroadcast(b, node, *form(b, x, y, (node, 0), grads[0]))

    return gradient


for _op, _form in _FORMS.items():
    rule(_op)(_rule_of(_form))


@rule("Select", "SelectV2")
def _select(b: Builder, node: Node, grads: list[Any]) -> Grads:
    test, x, y = node.inputs
    zeros = b("ZerosLike", grads[0])
    dx, dy = b(node.op, test, grads[0], zeros), b(node.op, test, zeros, grads[0])
    if node.op == "Select":
        return [None, dx, dy]
    return [None, summed_to(b, dx, x, (node, 0)), summed_to(b, dy, y, (node, 0))]


@rule("ClipByValue")
def _clip(b: Builder, node: Node, grads: list[Any]) -> Grads:
    x, low, high = node.inputs
    zeros = b("ZerosLike", grads[0])
    below, above = b("Less", x, low), b("Greater", x, high)
    inside = b("LogicalNot", b("LogicalOr", below, above))
    chosen = [b("SelectV2", mask, grads[0], zeros) for mask in (inside, below, above)]
    return [summed_to(b, g, v, (node, 0)) for g, v in zip(chosen, node.inputs, strict=True)]


@rule("AddN", "AccumulateNV2")
def _add_n(_: Builder, node: Node, grads: list[Any]) -> Grads:
    return [grads[0]] * len(node.inputs)


@rule("Cross")
def _cross(b: Builder, node: Node, grads: list[Any]) -> Grads:
    x, y = node.inputs
    return [b("Cross", y, grads[0]), b("Cross", grads[0], x)]
