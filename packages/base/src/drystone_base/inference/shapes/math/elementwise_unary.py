"""Shapes of elementwise functions of one argument: the input's."""

from __future__ import annotations

from drystone_base.inference.shapes._registry import Shape, ShapeCall, shape


@shape(
    "Abs", "Neg", "Sign", "Reciprocal", "Inv", "Square", "Sqrt", "Rsqrt", "Exp", "Expm1", "Log",
    "Log1p", "Sin", "Cos", "Tan", "Asin", "Acos", "Atan", "Sinh", "Cosh", "Tanh", "Asinh", "Acosh",
    "Atanh", "Sigmoid", "Ceil", "Floor", "Round", "Rint", "Invert", "LogicalNot", "Conj", "IsNan",
    "IsInf", "IsFinite", "OnesLike", "ZerosLike", "Real", "Imag", "Angle", "ComplexAbs",
    "PopulationCount",
)  # fmt: skip
def unary(c: ShapeCall) -> list[Shape]:
    """The input's shape; a variant's handle data passes through."""
    c.output_handles = [c.handles[0]]
    return [c.shape(0)]


@shape("SigmoidGrad", "TanhGrad", "SqrtGrad", "RsqrtGrad", "ReciprocalGrad", "InvGrad")
def gradient(c: ShapeCall) -> list[Shape]:
    """The shape of both inputs, which must agree."""
    return [c.merge(c.shape(0), c.shape(1))]
