"""Ops that compute each element of the result from one element of each input."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from drystone_base.inference.batch_rules._registry import BatchRuleCall, Rows, along, rows
from drystone_base.ops.own import FROM_GRID, FUSED_ELEMENTWISE, GELUS, TO_GRID

__all__: list[str] = []

_OPS: Final = """
    Abs Acos Acosh Add AddV2 Asin Asinh Atan Atan2 Atanh BitwiseAnd BitwiseOr BitwiseXor Cast Ceil
    Cos Cosh Div DivNoNan Elu Equal Erf Erfc Exp Expm1 FakeQuantWithMinMaxArgs
    FakeQuantWithMinMaxVars Floor FloorDiv FloorMod Greater GreaterEqual Identity Inv Invert
    IsFinite IsInf IsNan LeakyRelu Less LessEqual Lgamma Log Log1p LogicalAnd LogicalNot LogicalOr
    Maximum Minimum Mod Mul MulNoNan Neg NotEqual OnesLike Pow PreventGradient RealDiv Reciprocal
    Relu Relu6 Rint Round Rsqrt SelectV2 Selu Sigmoid Sign Sin Sinh Snapshot Softplus Softsign Sqrt
    Square SquaredDifference StopGradient Sub Tan Tanh TruncateDiv Xdivy Xlogy ZerosLike
"""


@rows(*_OPS.split(), *GELUS, TO_GRID, FROM_GRID)
def each_element(c: BatchRuleCall) -> Rows | None:
    """Those of the inputs, which are broadcast."""
    return along(c)


@rows("AddN", "ClipByValue")
def of_one_shape(c: BatchRuleCall) -> Rows | None:
    """Those of the inputs, which are not broadcast."""
    return along(c, broadcasts=False)


@rows("Select")
def select(c: BatchRuleCall) -> Rows | None:
    """Likewise, but for a vector of conditions, which chooses whole rows."""
    condition, output = c.shapes[0], c.outputs[0]
    if condition is None or output is None or len(condition) not in (0, len(output)):
        return None
    return along(c, broadcasts=False)


@rows(FUSED_ELEMENTWISE)
def fused(c: BatchRuleCall) -> Rows | None:
    """Likewise; pieces are joined or cut along the last dimension, which must not be the first."""
    output = c.outputs[0]
    reshapes = c.attrs["joins"] or c.attrs["slices"]
    if reshapes and (output is None or len(output) < 2):
        return None
    begin = 0
    for count in c.attrs["joins"]:  # pieces of one operand are as many rows each
        if len(set(c.rows[begin : begin + count])) > 1:
            return None
        begin += count
    return along(c)


@rows("IdentityN")
def identities(c: BatchRuleCall) -> Sequence[Rows] | None:
    """Those of each input."""
    return c.rows if min(c.rows) >= 0 else None
