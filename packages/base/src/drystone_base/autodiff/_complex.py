"""Rules for complex numbers: which hold for them, and how.

The gradient of a real result by a complex z = x + iy is dL/dx + i dL/dy, as in TensorFlow. By a
holomorphic function f it passes as g conj(f'). A rule that was written for real numbers computes
g f'; with conjugates around it that is conj(conj(g) f').
"""

from __future__ import annotations

from typing import Any, Final

from drystone_base.autodiff._registry import RULES, Grads, Rule
from drystone_base.autodiff._slices import IndexedSlices
from drystone_base.graph.builder import Builder
from drystone_base.graph.node import Node

__all__ = ["HOLOMORPHIC", "SAME", "for_complex"]

SAME: Final = frozenset(
    """
    Add AddV2 Sub Neg AddN AccumulateNV2 Sum Mean Cumsum Select SelectV2 Cast Identity IdentityN
    Snapshot PreventGradient DeepCopy EnsureShape PlaceholderWithDefault Reshape ExpandDims Squeeze
    Transpose Tile BroadcastTo Reverse ReverseV2 ReverseSequence Roll Fill Concat ConcatV2 Pack
    Unpack Split SplitV Pad PadV2 MirrorPad Slice StridedSlice StridedSliceGrad Gather GatherV2
    GatherNd ScatterNd TensorScatterAdd TensorScatterSub TensorScatterUpdate MatrixDiag
    MatrixDiagPart MatrixBandPart MatrixSetDiag Diag DiagPart SegmentSum UnsortedSegmentSum
    BatchMatMul BatchMatMulV2 BatchMatMulV3 MatrixInverse MatrixSolve MatrixTriangularSolve
    MatrixDeterminant LogMatrixDeterminant Eig
    Real Imag Conj Complex ComplexAbs Angle ConjugateTranspose ReadVariableOp ResourceGather
    FFT IFFT FFT2D IFFT2D FFT3D IFFT3D RFFT IRFFT RFFT2D IRFFT2D
    PartitionedCall StatefulPartitionedCall If StatelessIf Case StatelessCase While StatelessWhile
    DrystoneCustomGradient
    TensorListPushBack TensorListPopBack TensorListGetItem TensorListSetItem TensorListFromTensor
    TensorListStack TensorListConcat TensorListConcatV2 TensorListSplit TensorListGather
    TensorListScatter TensorListScatterV2 TensorListScatterIntoExistingList
    """.split()  # noqa: SIM905 — as the index of rules
)
"""Ops whose rules hold as they are: they are linear with real factors, or know of conjugates."""
HOLOMORPHIC: Final = frozenset(
    """
    Mul Div RealDiv DivNoNan MulNoNan Pow Square Sqrt Rsqrt Reciprocal Inv Exp Expm1 Log Log1p Sin
    Cos Tan Sinh Cosh Tanh Sigmoid Asinh Acosh Atanh Asin Acos Atan MatMul Einsum Prod Cumprod
    """.split()  # noqa: SIM905
)
"""Ops whose rules multiply by a derivative: they get conjugates around them."""


def for_complex(name: str, rule: Rule) -> Rule | None:
    """The rule of an op for complex numbers, None where it has none; others' rules as they are."""
    if name in SAME or name not in RULES.index:
        return rule
    if name not in HOLOMORPHIC:
        return None

    def conjugated(b: Builder, node: Node, grads: list[Any]) -> Grads:
        return [_conj(b, g) for g in rule(b, node, [_conj(b, g) for g in grads])]

    return conjugated


def _conj(b: Builder, grad: Any) -> Any:
    if grad is None:
        return None
    if isinstance(grad, IndexedSlices):
        return grad._replace(values=_conj(b, grad.values))
    return b("Conj", grad) if b.dtype(grad).is_complex else grad
