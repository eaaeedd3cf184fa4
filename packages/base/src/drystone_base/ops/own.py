"""Definitions of drystone's own ops: what its optimizer makes and TensorFlow has no op for.

Their names begin with ``Drystone>``. A graph that leaves the process should hold none of them.
"""

from __future__ import annotations

from typing import Final

from drystone_abi.protos import OpDef as OpDefProto

__all__ = ["FUSED_ELEMENTWISE", "FUSES", "LOGIC", "OWN"]

FUSED_ELEMENTWISE: Final = "Drystone>FusedElementwise"
"""``ops`` in turn, each on the inputs or earlier results that ``operands`` numbers."""

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
_FLOATING: Final = _WHOLE | set(_OF_FLOATS.split())
FUSES: Final = {
    **dict.fromkeys(("float32", "float64", "float16", "bfloat16"), _FLOATING),
    **dict.fromkeys(("int32", "int64"), _WHOLE),
}
"""Ops that the fused op knows, by the label of its dtype T."""

_NUMBERS: Final = (1, 2, 3, 9, 14, 19)  # float, double, int32, int64, bfloat16, half


def _fused_elementwise() -> OpDefProto:
    op = OpDefProto(name=FUSED_ELEMENTWISE)
    op.input_arg.add(name="args", type_list_attr="Targs")
    op.output_arg.add(name="output", type_attr="Tout")
    op.attr.add(name="Targs", type="list(type)", has_minimum=True, minimum=1)
    op.attr.add(name="T", type="type").allowed_values.list.type.extend(_NUMBERS)  # type: ignore[arg-type]
    op.attr.add(name="Tout", type="type")
    op.attr.add(name="ops", type="list(string)", has_minimum=True, minimum=1)
    op.attr.add(name="operands", type="list(int)")
    return op


OWN: Final = (_fused_elementwise(),)
