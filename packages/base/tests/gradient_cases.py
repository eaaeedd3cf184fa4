"""Inputs and attributes for each gradient rule: what differences are taken of."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

__all__ = ["CASES", "ELSEWHERE", "Case"]

Rng: TypeAlias = np.random.Generator


@dataclass
class Case:
    """One node: inputs in the order of its arguments, a list for one that takes a list.

    ``by``: numbers of flat inputs that the results are differentiated by, all floats by default.
    ``of``: numbers of outputs, all floats by default. ``loose``: of an op that computes in float32.
    """

    inputs: Sequence[Any]
    attrs: dict[str, Any] = field(default_factory=dict)
    by: Sequence[int] | None = None
    of: Sequence[int] | None = None
    loose: bool = False


CASES: dict[str, Callable[[Rng], Case]] = {}

ELSEWHERE = {
    "PartitionedCall": "test_gradients_of_functions", "If": "test_gradients_of_functions",
    "StatefulPartitionedCall": "test_gradients_of_functions",
    "StatelessIf": "test_gradients_of_functions", "Case": "test_gradients_of_functions",
    "StatelessCase": "test_gradients_of_functions", "While": "test_gradients_of_functions",
    "StatelessWhile": "test_gradients_of_functions",
    **dict.fromkeys(
        ("TensorListPushBack", "TensorListPopBack", "TensorListGetItem", "TensorListSetItem",
         "TensorListFromTensor", "TensorListStack", "TensorListConcat", "TensorListConcatV2",
         "TensorListSplit", "TensorListGather", "TensorListScatter", "TensorListScatterV2",
         "TensorListScatterIntoExistingList", "TensorListResize"), "test_gradients_of_lists"),
    **dict.fromkeys(("RandomGamma", "StatelessRandomGammaV2", "StatelessRandomGammaV3"),
                    "test_gradients_of_samples"),
    "DrystoneCustomGradient": "tracing/test_custom_gradients",
    "Eig": "test_gradients_of_complex_numbers",
    "ReadVariableOp": "test_gradients", "ResourceGather": "test_gradients",
    "ResourceGatherNd": "test_gradients", "RefIdentity": "test_gradients",
}  # fmt: skip
"""Rules of ops that one node alone cannot show, and the test that holds them."""


def case(*ops: str) -> Callable[[Callable[[Rng, str], Case]], Callable[[Rng, str], Case]]:
    """Register what makes a case of any of these ops."""

    def register(make: Callable[[Rng, str], Case]) -> Callable[[Rng, str], Case]:
        for op in ops:
            assert op not in CASES, op
            CASES[op] = lambda rng, op=op: make(rng, op)  # type: ignore[misc]
        return make

    return register


def shape_of(rng: Rng, rank: int = -1, least: int = 1) -> tuple[int, ...]:
    """A random shape of up to three dimensions of up to four."""
    rank = int(rng.integers(least, 4)) if rank < 0 else rank
    return tuple(int(d) for d in rng.integers(1, 5, rank))


def floats(rng: Rng, *shape: int, low: float = -2.0, high: float = 2.0) -> Any:
    """Random float64 numbers."""
    return rng.uniform(low, high, shape)


def apart(rng: Rng, *shape: int) -> Any:
    """Numbers no two of which are near each other, and none near zero."""
    size = int(np.prod(shape))
    signs = rng.choice([-1.0, 1.0], size)
    return (rng.permutation(size) + 1.0).reshape(shape) * 0.3 * signs.reshape(shape)


def ints(*values: Any) -> Any:
    """An int32 array."""
    return np.array(values, np.int32)


@case(
    "Neg", "Square", "Exp", "Expm1", "Sinh", "Cosh", "Tanh", "Sigmoid", "Asinh", "Sin", "Cos",
    "Atan", "Erf", "Erfc", "Softplus", "Softmax", "LogSoftmax", "Identity", "PreventGradient",
    "Snapshot", "L2Loss", "DeepCopy",
)  # fmt: skip
def anywhere(rng: Rng, _: str) -> Case:
    return Case([floats(rng, *shape_of(rng))])


@case("CheckNumerics")
def check_numerics(rng: Rng, _: str) -> Case:
    return Case([floats(rng, *shape_of(rng))], {"message": "no"})


@case("EnsureShape")
def ensure_shape(rng: Rng, _: str) -> Case:
    return Case([floats(rng, 2, 3)], {"shape": (2, -1)})


@case("Abs", "Relu", "Relu6", "Elu", "Selu", "Softsign", "LeakyRelu", "Inv", "Reciprocal", "Tan")
def off_zero(rng: Rng, op: str) -> Case:
    return Case([apart(rng, *shape_of(rng)) * (0.3 if op == "Tan" else 1)])


@case("Log", "Log1p", "Sqrt", "Rsqrt", "Lgamma", "Digamma", "BesselI0e")
def positive(rng: Rng, _: str) -> Case:
    return Case([floats(rng, *shape_of(rng), low=0.5, high=3.0)])


@case("Acosh")
def above_one(rng: Rng, _: str) -> Case:
    return Case([floats(rng, *shape_of(rng), low=1.5, high=3.0)])


@case("Asin", "Acos", "Atanh", "Erfinv")
def inside_one(rng: Rng, _: str) -> Case:
    return Case([floats(rng, *shape_of(rng), low=-0.7, high=0.7)])


@case("Ndtri")
def chance(rng: Rng, _: str) -> Case:
    return Case([floats(rng, *shape_of(rng), low=0.2, high=0.8)])


@case("TanhGrad", "SigmoidGrad", "InvGrad", "ReciprocalGrad", "SqrtGrad", "RsqrtGrad")
def grads_of_results(rng: Rng, _: str) -> Case:
    shape = shape_of(rng)
    return Case([floats(rng, *shape, low=0.5, high=1.5), floats(rng, *shape)])


@case("EluGrad", "SeluGrad", "SoftplusGrad", "SoftsignGrad")
def grads_of_activations(rng: Rng, _: str) -> Case:
    shape = shape_of(rng)
    return Case([floats(rng, *shape), apart(rng, *shape)])


@case("ReluGrad", "Relu6Grad", "LeakyReluGrad")
def grads_by_steps(rng: Rng, _: str) -> Case:
    shape = shape_of(rng)
    return Case([floats(rng, *shape), apart(rng, *shape)], by=[0])


@case("Cast")
def cast(rng: Rng, _: str) -> Case:
    return Case([floats(rng, 3)], {"DstT": "float64"})


# ---- two inputs ------------------------------------------------------------------------------


def two_shapes(rng: Rng) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Two shapes that broadcast."""
    whole = shape_of(rng, 3)
    x = tuple(1 if rng.random() < 0.3 else d for d in whole)
    y = tuple(1 if rng.random() < 0.3 else d for d in whole)
    return x[int(rng.integers(0, 3)) :], y


@case("Add", "AddV2", "Sub", "Mul", "MulNoNan", "SquaredDifference")
def broadcast(rng: Rng, _: str) -> Case:
    x, y = two_shapes(rng)
    return Case([floats(rng, *x), floats(rng, *y)])


@case("Maximum", "Minimum")
def extremes(rng: Rng, _: str) -> Case:
    x, y = two_shapes(rng)
    return Case([apart(rng, *x), apart(rng, *y) + 0.15])


@case("Div", "RealDiv", "DivNoNan", "Pow", "Atan2", "Xlogy", "Xdivy", "Xlog1py")
def positive_pair(rng: Rng, _: str) -> Case:
    x, y = two_shapes(rng)
    return Case([floats(rng, *x, low=0.5), floats(rng, *y, low=0.6)])


@case("FloorMod", "Mod", "TruncateMod")
def remainder(rng: Rng, _: str) -> Case:
    return Case([np.array([5.3, -2.2, 7.9]), floats(rng, 3, low=1.6, high=1.75)])


@case("Select")
def select(rng: Rng, _: str) -> Case:
    shape = shape_of(rng)
    return Case([rng.random(shape) < 0.5, floats(rng, *shape), floats(rng, *shape)])


@case("SelectV2")
def select_v2(rng: Rng, _: str) -> Case:
    x, y = two_shapes(rng)
    return Case([rng.random(x) < 0.5, floats(rng, *x), floats(rng, *y)])


@case("ClipByValue")
def clip(rng: Rng, _: str) -> Case:
    low, high = (np.array(-0.7), np.array(0.8)) if rng.random() < 0.5 else (
        np.full((2, 3), -0.7), np.full((2, 3), 0.8))  # fmt: skip
    return Case([apart(rng, 2, 3), low, high])


@case("AddN", "AccumulateNV2")
def add_n(rng: Rng, op: str) -> Case:
    shape = shape_of(rng)
    attrs = {"shape": shape} if op == "AccumulateNV2" else {}
    return Case([[floats(rng, *shape) for _ in range(3)]], attrs)


# ---- reductions ------------------------------------------------------------------------------


@case("Sum", "Mean", "Max", "Min", "Prod", "EuclideanNorm")
def reduction(rng: Rng, _: str) -> Case:
    shape = shape_of(rng)
    count = int(rng.integers(0, len(shape) + 1))
    axes = rng.permutation(len(shape))[:count] - (len(shape) if rng.random() < 0.5 else 0)
    return Case([apart(rng, *shape), ints(*axes)], {"keep_dims": bool(rng.random() < 0.5)})


@case("Cumsum", "Cumprod")
def running(rng: Rng, _: str) -> Case:
    attrs = {k: bool(rng.random() < 0.5) for k in ("exclusive", "reverse")}
    return Case([apart(rng, 2, 3, 2), np.int32(rng.integers(-3, 3))], attrs)


@case("SegmentSum", "SegmentMean", "SegmentMax", "SegmentMin", "SegmentProd")
def segments(rng: Rng, _: str) -> Case:
    return Case([apart(rng, 5, 2), np.sort(rng.integers(0, 3, 5)).astype(np.int32)])


@case("UnsortedSegmentSum", "UnsortedSegmentMax", "UnsortedSegmentMin", "UnsortedSegmentProd")
def unsorted_segments(rng: Rng, _: str) -> Case:
    return Case([apart(rng, 5, 2), ints(2, 0, -1, 2, 1), np.int32(3)])


@case("SparseSegmentSum", "SparseSegmentMean", "SparseSegmentSqrtN")
def sparse_segments(rng: Rng, _: str) -> Case:
    return Case([floats(rng, 4, 3), ints(2, 0, 2, 3), ints(0, 0, 1, 2)])


# ---- arrays ----------------------------------------------------------------------------------


@case("IdentityN")
def identity_n(rng: Rng, _: str) -> Case:
    return Case([[floats(rng, 2), floats(rng, 3)]])


@case("Reshape")
def reshape(rng: Rng, _: str) -> Case:
    return Case([floats(rng, 2, 3, 2), ints(3, -1)])


@case("ExpandDims")
def expand_dims(rng: Rng, _: str) -> Case:
    return Case([floats(rng, 2, 3), np.int32(-2)])


@case("Squeeze")
def squeeze(rng: Rng, _: str) -> Case:
    return Case([floats(rng, 2, 1, 3)])


@case("Transpose")
def transpose(rng: Rng, _: str) -> Case:
    return Case([floats(rng, 2, 3, 4), ints(*rng.permutation(3))])


@case("Reverse")
def reverse(rng: Rng, _: str) -> Case:
    return Case([floats(rng, 2, 3), np.array([True, False])])


@case("ReverseV2")
def reverse_v2(rng: Rng, _: str) -> Case:
    return Case([floats(rng, 2, 3), ints(-1)])


@case("ReverseSequence")
def reverse_sequence(rng: Rng, _: str) -> Case:
    return Case([floats(rng, 3, 4, 2), np.array([1, 3, 4])], {"seq_dim": 1})


@case("Roll")
def roll(rng: Rng, _: str) -> Case:
    return Case([floats(rng, 3, 4), ints(1, -2), ints(0, 1)])


@case("Fill")
def fill(rng: Rng, _: str) -> Case:
    return Case([ints(2, 3), floats(rng)])


@case("BroadcastTo")
def broadcast_to(rng: Rng, _: str) -> Case:
    return Case([floats(rng, 1, 3), ints(2, 4, 3)])


@case("Tile")
def tile(rng: Rng, _: str) -> Case:
    return Case([floats(rng, 2, 3), ints(2, 3)])


@case("Pack")
def pack(rng: Rng, _: str) -> Case:
    return Case([[floats(rng, 2, 3) for _ in range(3)]], {"axis": int(rng.integers(-3, 3))})


@case("Unpack")
def unpack(rng: Rng, _: str) -> Case:
    return Case([floats(rng, 3, 2)], {"num": 3}, of=[0, 2])


@case("Concat")
def concat(rng: Rng, _: str) -> Case:
    return Case([np.int32(1), [floats(rng, 2, 3), floats(rng, 2, 1)]])


@case("ConcatV2")
def concat_v2(rng: Rng, _: str) -> Case:
    return Case([[floats(rng, 2, 3), floats(rng, 2, 1)], np.int32(-1)])


@case("Split")
def split(rng: Rng, _: str) -> Case:
    return Case([np.int32(1), floats(rng, 2, 4)], {"num_split": 2}, of=[1])


@case("SplitV")
def split_v(rng: Rng, _: str) -> Case:
    return Case([floats(rng, 2, 5), ints(2, 3), np.int32(1)], {"num_split": 2})


@case("DynamicStitch", "ParallelDynamicStitch")
def stitch(rng: Rng, _: str) -> Case:
    return Case([[ints(0, 3), ints(2, 1)], [floats(rng, 2, 3), floats(rng, 2, 3)]])


@case("DynamicPartition")
def partition(rng: Rng, _: str) -> Case:
    return Case([floats(rng, 5, 2), ints(1, 0, 2, 1, 0)], {"num_partitions": 3})


@case("Slice")
def slice_(rng: Rng, _: str) -> Case:
    return Case([floats(rng, 4, 3), ints(1, 0), ints(2, -1)])


@case("StridedSlice")
def strided_slice(rng: Rng, _: str) -> Case:
    attrs = {"shrink_axis_mask": 2, "begin_mask": 1}
    return Case([floats(rng, 5, 3, 2), ints(0, 1), ints(4, 2), ints(2, 1)], attrs)


@case("StridedSliceGrad")
def strided_slice_grad(rng: Rng, _: str) -> Case:
    return Case([ints(5, 3), ints(0, 1), ints(4, 3), ints(2, 1), floats(rng, 2, 2)])


@case("Pad")
def pad(rng: Rng, _: str) -> Case:
    return Case([floats(rng, 2, 3), ints([1, 2], [0, 1])])


@case("PadV2")
def pad_v2(rng: Rng, _: str) -> Case:
    return Case([floats(rng, 2, 3), ints([1, 2], [0, 1]), floats(rng)])


@case("MirrorPad")
def mirror_pad(rng: Rng, _: str) -> Case:
    mode = "REFLECT" if rng.random() < 0.5 else "SYMMETRIC"
    return Case([floats(rng, 3, 4), ints([1, 2], [2, 1])], {"mode": mode})


@case("MirrorPadGrad")
def mirror_pad_grad(rng: Rng, _: str) -> Case:
    return Case([floats(rng, 6, 7), ints([1, 2], [2, 1])], {"mode": "REFLECT"})


@case("SpaceToBatchND")
def space_to_batch_nd(rng: Rng, _: str) -> Case:
    return Case([floats(rng, 2, 3, 4, 2), ints(2, 2), ints([1, 0], [0, 0])])


@case("BatchToSpaceND")
def batch_to_space_nd(rng: Rng, _: str) -> Case:
    return Case([floats(rng, 8, 2, 2, 2), ints(2, 2), ints([1, 0], [0, 1])])


@case("SpaceToBatch")
def space_to_batch(rng: Rng, _: str) -> Case:
    return Case([floats(rng, 1, 3, 4, 2), ints([1, 0], [0, 0])], {"block_size": 2})


@case("BatchToSpace")
def batch_to_space(rng: Rng, _: str) -> Case:
    return Case([floats(rng, 4, 2, 2, 1), ints([1, 0], [0, 0])], {"block_size": 2})


@case("SpaceToDepth")
def space_to_depth(rng: Rng, _: str) -> Case:
    return Case([floats(rng, 1, 4, 2, 3)], {"block_size": 2})


@case("DepthToSpace")
def depth_to_space(rng: Rng, _: str) -> Case:
    return Case([floats(rng, 1, 2, 2, 8)], {"block_size": 2})


@case("Gather")
def gather(rng: Rng, _: str) -> Case:
    return Case([floats(rng, 4, 3), ints([2, 0], [2, 3])])


@case("GatherV2")
def gather_v2(rng: Rng, _: str) -> Case:
    axis, batch = [(0, 0), (1, 0), (-1, 0), (1, 1), (2, 1), (2, 2)][int(rng.integers(0, 6))]
    x = floats(rng, 2, 3, 4)
    indices = rng.integers(0, x.shape[axis], (*x.shape[:batch], 5)).astype(np.int32)
    return Case([x, indices, np.int32(axis)], {"batch_dims": batch})


@case("GatherNd")
def gather_nd(rng: Rng, _: str) -> Case:
    return Case([floats(rng, 3, 4, 2), ints([0, 1], [2, 3], [0, 1])])


@case("ScatterNd")
def scatter_nd(rng: Rng, _: str) -> Case:
    return Case([ints([0], [2], [0]), floats(rng, 3, 2), ints(4, 2)])


@case("TensorScatterUpdate", "TensorScatterAdd", "TensorScatterSub")
def tensor_scatter(rng: Rng, _: str) -> Case:
    return Case([floats(rng, 4, 2), ints([0], [2]), floats(rng, 2, 2)])


@case("TopK")
def top_k(rng: Rng, _: str) -> Case:
    return Case([apart(rng, 2, 5)], {"k": 3})


@case("TopKV2")
def top_k_v2(rng: Rng, _: str) -> Case:
    return Case([apart(rng, *shape_of(rng, 2), 5), np.int32(3)])


@case("Diag")
def diag(rng: Rng, _: str) -> Case:
    return Case([floats(rng, 3)])


@case("DiagPart", "MatrixDiagPart", "MatrixDiag")
def matrices(rng: Rng, _: str) -> Case:
    return Case([floats(rng, 3, 3)])


@case("MatrixSetDiag")
def set_diag(rng: Rng, _: str) -> Case:
    return Case([floats(rng, 2, 3, 4), floats(rng, 2, 3)])


@case("MatrixDiagV3")
def diag_v3(rng: Rng, _: str) -> Case:
    return Case([floats(rng, 2, 3), ints(0, 1), np.int32(3), np.int32(3), floats(rng)])


@case("MatrixDiagPartV3")
def diag_part_v3(rng: Rng, _: str) -> Case:
    return Case([floats(rng, 2, 3, 3), ints(-1, 1), floats(rng)])


@case("MatrixSetDiagV3")
def set_diag_v3(rng: Rng, _: str) -> Case:
    return Case([floats(rng, 3, 3), floats(rng, 2, 3), ints(0, 1)])


@case("MatrixBandPart")
def band_part(rng: Rng, _: str) -> Case:
    return Case([floats(rng, 2, 4, 4), np.int64(1), np.int64(-1)])
