"""Gradients of ops, as nodes: for each op a rule that adds them to a graph.

A rule is given a :class:`~drystone_base.Builder`, the node, and the gradients of its outputs; it
returns those of its inputs, None for an input that has none. The ops are those for which
TensorFlow's ``SymbolicGradient`` has rules, and their close kin.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

from drystone_base.core.dtypes import INT32
from drystone_base.graph.builder import Builder
from drystone_base.graph.node import Node, Output

__all__ = ["CONSTANT", "RULES", "Grads", "reduced", "rule"]

Grads: TypeAlias = "Sequence[Output | None]"
Rule: TypeAlias = "Callable[[Builder, Node, list[Output]], Grads]"

RULES: Final[dict[str, Rule]] = {}
CONSTANT: Final = frozenset(
    {
        "Const", "Shape", "ShapeN", "Rank", "Size", "ZerosLike", "OnesLike", "Sign", "Floor",
        "Ceil", "Round", "Rint", "Equal", "NotEqual", "Less", "LessEqual", "Greater",
        "GreaterEqual", "LogicalAnd", "LogicalOr", "LogicalNot", "ArgMax", "ArgMin", "Range",
        "InvertPermutation", "BroadcastGradientArgs", "ConcatOffset", "StopGradient",
        "Placeholder", "FloorDiv", "RandomUniform", "RandomStandardNormal", "All", "Any", "NoOp",
    }
)  # fmt: skip
"""Ops whose outputs do not change smoothly with their inputs: no gradient passes."""


def reduced(b: Builder, grad: Output, x: Output, axes: Output) -> Output:
    """``grad``, summed over the axes along which ``x`` was broadcast."""
    return b("Reshape", b("Sum", grad, axes, keep_dims=False), b.shape(x))


def _unbroadcast(b: Builder, node: Node, dx: Output, dy: Output) -> Grads:
    """Gradients of a broadcasting op of two inputs, each in the shape of its input."""
    x, y = node.inputs[:2]
    axes = b.node("BroadcastGradientArgs", b.shape(x), b.shape(y))
    return [reduced(b, dx, x, (axes, 0)), reduced(b, dy, y, (axes, 1))]


def rule(*ops: str) -> Callable[[Rule], Rule]:
    """Register a rule for ``ops``."""

    def register(function: Rule) -> Rule:
        RULES.update(dict.fromkeys(ops, function))
        return function

    return register


# ---- one input, element by element -----------------------------------------------------------

Unary: TypeAlias = Callable[[Builder, Output, Output, Output], Output]

_UNARY: Final[dict[str, Unary]] = {
    "Identity": lambda _b, _x, _y, g: g,
    "PreventGradient": lambda _b, _x, _y, g: g,
    "Snapshot": lambda _b, _x, _y, g: g,
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
    "Atanh": lambda b, x, _, g: b("Div", g, b("Sub", b.like(1, x), b("Square", x))),
    "Sin": lambda b, x, _, g: b("Mul", g, b("Cos", x)),
    "Cos": lambda b, x, _, g: b("Neg", b("Mul", g, b("Sin", x))),
    "Tan": lambda b, x, _, g: b("Div", g, b("Square", b("Cos", x))),
    "Asin": lambda b, x, _, g: b("Div", g, b("Sqrt", b("Sub", b.like(1, x), b("Square", x)))),
    "Acos": lambda b, x, _, g: b(
        "Neg", b("Div", g, b("Sqrt", b("Sub", b.like(1, x), b("Square", x))))
    ),
    "Atan": lambda b, x, _, g: b("Div", g, b("Add", b.like(1, x), b("Square", x))),
    "Relu": lambda b, x, _, g: b("ReluGrad", g, x),
    "Relu6": lambda b, x, _, g: b("Relu6Grad", g, x),
    "Elu": lambda b, _, y, g: b("EluGrad", g, y),
    "Selu": lambda b, _, y, g: b("SeluGrad", g, y),
    "Softplus": lambda b, x, _, g: b("SoftplusGrad", g, x),
    "Softsign": lambda b, x, _, g: b("SoftsignGrad", g, x),
    "Reshape": lambda b, x, _, g: b("Reshape", g, b.shape(x)),
    "ExpandDims": lambda b, x, _, g: b("Reshape", g, b.shape(x)),
    "Squeeze": lambda b, x, _, g: b("Reshape", g, b.shape(x)),
}


def _unary(form: Unary) -> Rule:
    def gradient(b: Builder, node: Node, grads: list[Output]) -> Grads:
        return [form(b, node.inputs[0], (node, 0), grads[0]), *[None] * (len(node.inputs) - 1)]

    return gradient


RULES.update({op: _unary(form) for op, form in _UNARY.items()})


@rule("Cast")
def _cast(b: Builder, node: Node, grads: list[Output]) -> Grads:
    source = b.dtype(node.inputs[0])
    smooth = source.is_floating or source.label.startswith("complex")
    return [b("Cast", grads[0], DstT=source) if smooth else None]


@rule("Softmax")
def _softmax(b: Builder, node: Node, grads: list[Output]) -> Grads:
    y, g = (node, 0), grads[0]
    total = b("Sum", b("Mul", g, y), b.const(-1, INT32), keep_dims=True)
    return [b("Mul", b("Sub", g, total), y)]


@rule("LogSoftmax")
def _log_softmax(b: Builder, node: Node, grads: list[Output]) -> Grads:
    total = b("Sum", grads[0], b.const(-1, INT32), keep_dims=True)
    return [b("Sub", grads[0], b("Mul", total, b("Exp", (node, 0))))]


# ---- two inputs ------------------------------------------------------------------------------

Binary: TypeAlias = Callable[[Builder, Output, Output, Output, Output], tuple[Output, Output]]

_BINARY: Final[dict[str, Binary]] = {
    "Add": lambda _b, _x, _y, _z, g: (g, g),
    "AddV2": lambda _b, _x, _y, _z, g: (g, g),
    "Sub": lambda b, _x, _y, _z, g: (g, b("Neg", g)),
    "Mul": lambda b, x, y, _, g: (b("Mul", g, y), b("Mul", x, g)),
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
}


def _quotient(b: Builder, op: str, x: Output, y: Output, g: Output) -> Output:
    return b("Mul", g, b(op, b("Neg", x), b("Square", y)))


def _log_or_zero(b: Builder, x: Output) -> Output:
    """The logarithm of what is positive, else 0: at 0 the power does not change."""
    positive = b("Greater", x, b.like(0, x))
    zeros = b("ZerosLike", x)
    return b("Select", positive, b("Log", b("Select", positive, x, b("OnesLike", x))), zeros)


def _chosen(b: Builder, first: Output, g: Output) -> tuple[Output, Output]:
    mask = b("Cast", first, DstT=b.dtype(g))
    mine = b("Mul", g, mask)
    return mine, b("Sub", g, mine)


def _difference(b: Builder, x: Output, y: Output, g: Output) -> tuple[Output, Output]:
    dx = b("Mul", b("Mul", b.like(2, x), g), b("Sub", x, y))
    return dx, b("Neg", dx)


def _binary(form: Binary) -> Rule:
    def gradient(b: Builder, node: Node, grads: list[Output]) -> Grads:
        x, y = node.inputs
        return _unbroadcast(b, node, *form(b, x, y, (node, 0), grads[0]))

    return gradient


RULES.update({op: _binary(form) for op, form in _BINARY.items()})


@rule("Select", "SelectV2")
def _select(b: Builder, node: Node, grads: list[Output]) -> Grads:
    test, x, y = node.inputs
    zeros = b("ZerosLike", grads[0])
    dx, dy = b(node.op, test, grads[0], zeros), b(node.op, test, zeros, grads[0])
    if node.op == "Select":
        return [None, dx, dy]
    full = b.shape((node, 0))
    axes = [b.node("BroadcastGradientArgs", b.shape(v), full) for v in (x, y)]
    return [None, reduced(b, dx, x, (axes[0], 0)), reduced(b, dy, y, (axes[1], 0))]


@rule("AddN")
def _add_n(_: Builder, node: Node, grads: list[Output]) -> Grads:
    return [grads[0]] * len(node.inputs)


# ---- products --------------------------------------------------------------------------------


@rule("MatMul")
def _matmul(b: Builder, node: Node, grads: list[Output]) -> Grads:
    attrs = node.full_attrs()
    return _product(b, node, grads[0], attrs["transpose_a"], attrs["transpose_b"], "transpose_")


@rule("BatchMatMul", "BatchMatMulV2")
def _batch_matmul(b: Builder, node: Node, grads: list[Output]) -> Grads:
    attrs = node.full_attrs()
    dx, dy = _product(b, node, grads[0], attrs["adj_x"], attrs["adj_y"], "adj_")
    if node.op == "BatchMatMul":
        return [dx, dy]
    batch = [_batch(b, v) for v in node.inputs]
    axes = b.node("BroadcastGradientArgs", *batch)
    x, y = node.inputs
    return [reduced(b, dx, x, (axes, 0)), reduced(b, dy, y, (axes, 1))]


def _batch(b: Builder, x: Output) -> Output:
    """The shape without the last two dimensions."""
    two = b.const([2], INT32)
    size = b("Sub", b("Shape", b.shape(x), out_type=INT32), two)
    return b("Slice", b.shape(x), b.const([0], INT32), size)


def _product(
    b: Builder, node: Node, g: Output, first: bool, second: bool, prefix: str
) -> tuple[Output, Output]:
    """The products that undo one, for each of the four transpositions."""
    x, y = node.inputs
    names = ("transpose_a", "transpose_b") if prefix == "transpose_" else ("adj_x", "adj_y")

    def times(p: Output, q: Output, left: bool, right: bool) -> Output:
        return b(node.op, p, q, **dict(zip(names, (left, right), strict=True)))

    dx = times(y, g, second, True) if first else times(g, y, False, not second)
    dy = times(g, x, True, first) if second else times(x, g, not first, False)
    return dx, dy


@rule("BiasAdd")
def _bias_add(b: Builder, node: Node, grads: list[Output]) -> Grads:
    layout = node.full_attrs()["data_format"]
    return [grads[0], b("BiasAddGrad", grads[0], data_format=layout)]


@rule("Conv2D")
def _conv(b: Builder, node: Node, grads: list[Output]) -> Grads:
    x, w = node.inputs
    names = ("strides", "use_cudnn_on_gpu", "padding", "explicit_paddings", "data_format")
    attrs = {k: v for k, v in node.full_attrs().items() if k in (*names, "dilations")}
    return [
        b("Conv2DBackpropInput", b.shape(x), w, grads[0], **attrs),
        b("Conv2DBackpropFilter", x, b.shape(w), grads[0], **attrs),
    ]


@rule("MaxPool", "AvgPool")
def _pool(b: Builder, node: Node, grads: list[Output]) -> Grads:
    names = ("ksize", "strides", "padding", "data_format")
    attrs = {k: v for k, v in node.full_attrs().items() if k in names}
    x = node.inputs[0]
    if node.op == "MaxPool":
        return [b("MaxPoolGrad", x, (node, 0), grads[0], **attrs)]
    return [b("AvgPoolGrad", b.shape(x), grads[0], **attrs)]
