"""Definitions of drystone's own ops: what its optimizer makes and TensorFlow has no op for.

Their names begin with ``Drystone>``. A graph that leaves the process should hold none of them.
"""

from __future__ import annotations

from typing import Final

from drystone_abi.protos import OpDef as OpDefProto

__all__ = [
    "ATTENTION", "FROM_GRID", "FUSED_CONVOLUTION", "FUSED_ELEMENTWISE", "FUSES", "GELUS",
    "LAYER_NORM", "LOGIC", "OWN", "QUANTIZED_LAYER", "TO_GRID",
]  # fmt: skip

FUSED_ELEMENTWISE: Final = "Drystone>FusedElementwise"
"""``ops`` in turn, each on the inputs or earlier results that ``operands`` numbers.

``joins``, where it is given, says how many inputs make each operand, joined along their last dim.
``slices`` has two numbers for each input, where it is given: from which element of the last dim on
it is read, and how many of them; 0 and -1 for all.
"""

FUSED_CONVOLUTION: Final = "Drystone>FusedConvolution"
"""A ``layer``, Conv2D or DepthwiseConv2dNative, and each of ``fused_ops`` on what it gives.

``fused_ops`` are those of TensorFlow's ``_FusedConv2D`` in any order, and ``PRelu`` (slopes, one
for each channel), ``Swish`` (x sigmoid(x)), ``HardSwish`` (x relu6(x + 3) / 6, times an attribute)
and ``Mul`` (a tensor of the result's shape).
"""

GELUS: Final = ("Drystone>GeluExact", "Drystone>GeluApproximate")
"""``x * Φ(x)``, Φ the standard normal distribution: exactly by erf, or approximately by tanh."""

LAYER_NORM: Final = "Drystone>LayerNorm"
"""``(x - mean) / sqrt(variance + epsilon) * scale + offset`` over the last dimension."""

ATTENTION: Final = "Drystone>Attention"
"""``softmax(scale * q @ kᵀ, masked) @ v``: see the NumPy kernel."""

TO_GRID: Final = "Drystone>ToGrid"
"""Integers from ``first`` to ``last`` for floats: ``x / scale``, rounded, and ``zero`` added.

Halves are rounded up where ``half_up`` says so, else to even numbers; NaN becomes ``first``.
"""

FROM_GRID: Final = "Drystone>FromGrid"
"""The floats that integers of a grid stand for: ``(x - zero) scale``."""

QUANTIZED_LAYER: Final = "Drystone>QuantizedLayer"
"""A ``layer`` of integers: of ``x - x_zero`` and ``filter``, times a scale for each channel.

``fused_ops``, those of ``Drystone>FusedConvolution``, follow in floats; the result is one, or on
the grid ``scale``, ``zero``, ``first`` and ``last``. For MatMul ``filter`` is [k, n].
"""

LOGIC: Final = frozenset(("LogicalAnd", "LogicalNot", "LogicalOr"))
_OF_ALL: Final = """
    Add AddV2 Greater GreaterEqual Less LessEqual LogicalAnd LogicalNot LogicalOr Maximum Minimum
    Mul Neg SelectV2 Square Sub
"""
_OF_FLOATS: Final = """
    Abs Acos Acosh Asin Asinh Atan Atanh Ceil Cos Cosh DivNoNan Elu Erf Erfc Exp Expm1 Floor
    Log Log1p MulNoNan Pow RealDiv Reciprocal Relu Relu6 Rint Round Rsqrt Selu Sigmoid Sign Sin
    Sinh Softplus Softsign Sqrt SquaredDifference Tan Tanh
"""
_WHOLE: Final = frozenset(_OF_ALL.split())
_FLOATING: Final = _WHOLE | set(_OF_FLOATS.split()) | set(GELUS)
FUSES: Final = {
    **dict.fromkeys(("float32", "float64", "float16", "bfloat16"), _FLOATING),
    **dict.fromkeys(("int32", "int64"), _WHOLE),
}
"""Ops that the fused op knows, by the label of its dtype T."""

_NUMBERS: Final = (1, 2, 3, 9, 14, 19)  # float, double, int32, int64, bfloat16, half
_FLOATS: Final = (1, 2, 14, 19)
_BYTES: Final = (4, 6)  # uint8, int8
_PADDINGS: Final = (b"SAME", b"VALID", b"EXPLICIT")


def _fused_elementwise() -> OpDefProto:
    op = OpDefProto(name=FUSED_ELEMENTWISE)
    op.input_arg.add(name="args", type_list_attr="Targs")
    op.output_arg.add(name="output", type_attr="Tout")
    op.attr.add(name="Targs", type="list(type)", has_minimum=True, minimum=1)
    op.attr.add(name="T", type="type").allowed_values.list.type.extend(_NUMBERS)  # type: ignore[arg-type]
    op.attr.add(name="Tout", type="type")
    op.attr.add(name="ops", type="list(string)", has_minimum=True, minimum=1)
    op.attr.add(name="operands", type="list(int)")
    op.attr.add(name="joins", type="list(int)").default_value.list.SetInParent()
    op.attr.add(name="slices", type="list(int)").default_value.list.SetInParent()
    return op


def _fused_convolution() -> OpDefProto:
    op = OpDefProto(name=FUSED_CONVOLUTION)
    for name in ("input", "filter"):
        op.input_arg.add(name=name, type_attr="T")
    op.input_arg.add(name="args", type_attr="T", number_attr="num_args")
    op.output_arg.add(name="output", type_attr="T")
    op.attr.add(name="T", type="type").allowed_values.list.type.extend((1, 14, 19))  # type: ignore[arg-type]
    op.attr.add(name="strides", type="list(int)")
    op.attr.add(name="padding", type="string").allowed_values.list.s.extend(_PADDINGS)
    _layer_and_steps(op, b"Conv2D", b"DepthwiseConv2dNative")
    return op


def _quantized_layer() -> OpDefProto:
    op = OpDefProto(name=QUANTIZED_LAYER)
    op.input_arg.add(name="input", type_attr="Tx")
    op.input_arg.add(name="filter", type=6)  # int8
    op.input_arg.add(name="scales", type_attr="T")
    op.input_arg.add(name="args", type_attr="T", number_attr="num_args")
    op.output_arg.add(name="output", type_attr="Tout")
    op.attr.add(name="T", type="type").allowed_values.list.type.append(1)  # type: ignore[arg-type]
    op.attr.add(name="Tx", type="type").allowed_values.list.type.extend(_BYTES)  # type: ignore[arg-type]
    op.attr.add(name="Tout", type="type").allowed_values.list.type.extend((1, *_BYTES))  # type: ignore[arg-type]
    op.attr.add(name="x_zero", type="int")
    _grid(op)
    op.attr.add(name="strides", type="list(int)").default_value.list.i.extend((1, 1, 1, 1))
    padding = op.attr.add(name="padding", type="string")
    padding.allowed_values.list.s.extend(_PADDINGS)
    padding.default_value.s = b"VALID"
    _layer_and_steps(op, b"MatMul", b"Conv2D", b"DepthwiseConv2dNative")
    return op


def _grid(op: OpDefProto) -> None:
    """Attributes of a grid of integers."""
    op.attr.add(name="scale", type="float").default_value.f = 1.0
    for name, default in (("zero", 0), ("first", -128), ("last", 255)):
        op.attr.add(name=name, type="int").default_value.i = default


def _on_grid(name: str, gives: bool) -> OpDefProto:
    """To integers of a grid (``gives``), or from them."""
    op = OpDefProto(name=name)
    op.input_arg.add(name="x", type_attr="Tfloat" if gives else "T")
    op.output_arg.add(name="y", type_attr="T" if gives else "Tfloat")
    op.attr.add(name="T", type="type").allowed_values.list.type.extend(_BYTES)  # type: ignore[arg-type]
    floats = op.attr.add(name="Tfloat", type="type")
    floats.allowed_values.list.type.append(1)  # type: ignore[arg-type]
    floats.default_value.type = 1  # type: ignore[assignment]
    _grid(op)
    if gives:
        op.attr.add(name="half_up", type="bool").default_value.b = False
    return op


def _layer_and_steps(op: OpDefProto, *layers: bytes) -> None:
    """Attributes that say which layer it is, how its windows lie and what follows."""
    op.attr.add(name="num_args", type="int", has_minimum=True)
    op.attr.add(name="layer", type="string").allowed_values.list.s.extend(layers)
    op.attr.add(name="explicit_paddings", type="list(int)").default_value.list.SetInParent()
    op.attr.add(name="data_format", type="string").default_value.s = b"NHWC"
    op.attr.add(name="dilations", type="list(int)").default_value.list.i.extend((1, 1, 1, 1))
    op.attr.add(name="fused_ops", type="list(string)").default_value.list.SetInParent()
    op.attr.add(name="epsilon", type="float").default_value.f = 0.0001
    op.attr.add(name="leakyrelu_alpha", type="float").default_value.f = 0.2
    op.attr.add(name="hardswish_factor", type="float").default_value.f = 1.0


def _gelu(name: str) -> OpDefProto:
    op = OpDefProto(name=name)
    op.input_arg.add(name="features", type_attr="T")
    op.output_arg.add(name="activations", type_attr="T")
    op.attr.add(name="T", type="type").allowed_values.list.type.extend(_FLOATS)  # type: ignore[arg-type]
    return op


def _layer_norm() -> OpDefProto:
    op = OpDefProto(name=LAYER_NORM)
    op.input_arg.add(name="x", type_attr="T")
    op.input_arg.add(name="args", type_attr="T", number_attr="num_args")
    op.output_arg.add(name="y", type_attr="T")
    op.attr.add(name="T", type="type").allowed_values.list.type.extend(_FLOATS)  # type: ignore[arg-type]
    op.attr.add(name="num_args", type="int", has_minimum=True, minimum=0)
    op.attr.add(name="has_scale", type="bool")
    op.attr.add(name="has_offset", type="bool")
    op.attr.add(name="epsilon", type="float")
    return op


def _attention() -> OpDefProto:
    op = OpDefProto(name=ATTENTION)
    for name in ("query", "key", "value"):
        op.input_arg.add(name=name, type_attr="T")
    op.input_arg.add(name="args", type_list_attr="Targs")
    op.output_arg.add(name="output", type_attr="T")
    op.attr.add(name="T", type="type").allowed_values.list.type.extend(_FLOATS)  # type: ignore[arg-type]
    op.attr.add(name="Targs", type="list(type)", has_minimum=True, minimum=0)
    op.attr.add(name="layouts", type="list(string)", has_minimum=True, minimum=4)
    op.attr.add(name="masks", type="list(string)")
    op.attr.add(name="scale", type="float")
    op.attr.add(name="fill", type="float")
    return op


OWN: Final = (
    _fused_convolution(),
    _fused_elementwise(),
    *(_gelu(name) for name in GELUS),
    _layer_norm(),
    _attention(),
    _quantized_layer(),
    _on_grid(TO_GRID, gives=True),
    _on_grid(FROM_GRID, gives=False),
)
