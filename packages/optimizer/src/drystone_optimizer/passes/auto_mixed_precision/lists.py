"""The four lists of ops, for each type of 16 bits, and how users change them.

*allow*: worth computing in 16 bits; *infer*: may follow such ops; *deny*: needs 32 bits; *clear*:
only moves or compares numbers. ``$TF_AUTO_MIXED_PRECISION_GRAPH_REWRITE_ALLOWLIST_ADD`` and the
like name ops with commas between; so does ``OptimizerConfig.mixed_precision_lists``, which counts
last.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from drystone_base.ops.own import ATTENTION, FUSED_CONVOLUTION, GELUS, LAYER_NORM

__all__ = ["KINDS", "PREFIX", "Lists", "chosen_lists", "is_asked", "level"]

PREFIX: Final = "TF_AUTO_MIXED_PRECISION_GRAPH_REWRITE_"
KINDS: Final = ("allow", "infer", "deny", "clear")
_LEVELS: Final = ("", "UNSAFE_FORCE_ALL", "TREAT_INFER_AS_DENY")

_LAYERS: Final = frozenset({
    "BatchMatMul", "BatchMatMulV2", "BatchMatMulV3", "Conv2D", "Conv2DBackpropFilter",
    "Conv2DBackpropInput", "Conv3D", "Conv3DBackpropFilter", "Conv3DBackpropFilterV2",
    "Conv3DBackpropInput", "Conv3DBackpropInputV2", "DepthwiseConv2dNative",
    "DepthwiseConv2dNativeBackpropFilter", "DepthwiseConv2dNativeBackpropInput", "Einsum",
    "MatMul", "_FusedDepthwiseConv2dNative", "_FusedMatMul", FUSED_CONVOLUTION, ATTENTION,
})  # fmt: skip
_CELLS: Final = frozenset({
    "BlockLSTM", "BlockLSTMGrad", "BlockLSTMGradV2", "BlockLSTMV2", "CudnnRNN",
    "CudnnRNNBackprop", "CudnnRNNBackpropV2", "CudnnRNNBackpropV3", "CudnnRNNV2", "CudnnRNNV3",
    "FusedConv2DBiasActivation", "GRUBlockCell", "GRUBlockCellGrad", "LSTMBlockCell",
    "LSTMBlockCellGrad",
})  # fmt: skip
_INFER: Final = frozenset({
    "Add", "AddN", "AddV2", "AvgPool", "AvgPool3D", "AvgPool3DGrad", "AvgPoolGrad", "BiasAdd",
    "BiasAddGrad", "BiasAddV1", "Elu", "EluGrad", "Erf", "Erfc", "FloorDiv",
    "FusedBatchNormGradV2", "FusedBatchNormGradV3", "FusedBatchNormV2", "FusedBatchNormV3",
    "Inv", "LeakyRelu", "LeakyReluGrad", "Log", "Log1p", "LogSoftmax", "Mul", "Prod", "RealDiv",
    "Reciprocal", "Rsqrt", "Selu", "SeluGrad", "Sigmoid", "SigmoidGrad", "Softmax", "Softplus",
    "SoftplusGrad", "Softsign", "SoftsignGrad", "Sqrt", "Square", "SquaredDifference", "Sub",
    "Tanh", "TanhGrad", "_FusedBatchNormEx", LAYER_NORM, *GELUS,
})  # fmt: skip
_DENY: Final = frozenset({
    "Exp", "Expm1", "L2Loss", "Mean", "Pow", "SaveV2", "SoftmaxCrossEntropyWithLogits",
    "SparseSoftmaxCrossEntropyWithLogits", "Sum",
})  # fmt: skip
_CLEAR: Final = frozenset({
    "Abs", "ArgMax", "ArgMin", "BatchToSpace", "BatchToSpaceND", "BroadcastTo", "Ceil",
    "CheckNumerics", "ClipByValue", "Concat", "ConcatV2", "DepthToSpace", "DynamicPartition",
    "DynamicStitch", "EmptyTensorList", "EnsureShape", "Enter", "Equal", "Exit", "ExpandDims",
    "Fill", "Floor", "Gather", "GatherNd", "GatherV2", "Greater", "GreaterEqual", "Identity",
    "IsFinite", "IsInf", "IsNan", "Less", "LessEqual", "Max", "MaxPool", "MaxPool3D",
    "MaxPool3DGrad", "MaxPool3DGradGrad", "MaxPoolGrad", "MaxPoolGradGrad", "MaxPoolGradGradV2",
    "MaxPoolGradV2", "MaxPoolV2", "Maximum", "Merge", "Min", "Minimum", "MirrorPad",
    "MirrorPadGrad", "Neg", "NextIteration", "NotEqual", "OneHot", "OnesLike", "Pack", "Pad",
    "PadV2", "PreventGradient", "Rank", "Relu", "Relu6", "Relu6Grad", "ReluGrad", "Reshape",
    "ResizeNearestNeighbor", "ResizeNearestNeighborGrad", "Reverse", "ReverseSequence",
    "ReverseV2", "Round", "Select", "SelectV2", "Shape", "ShapeN", "Sign", "Size", "Slice",
    "Snapshot", "SpaceToBatch", "SpaceToBatchND", "SpaceToDepth", "Split", "SplitV", "Squeeze",
    "StopGradient", "StridedSlice", "StridedSliceGrad", "Switch", "TensorListConcat",
    "TensorListConcatLists", "TensorListConcatV2", "TensorListFromTensor", "TensorListGather",
    "TensorListGetItem", "TensorListPopBack", "TensorListPushBack", "TensorListPushBackBatch",
    "TensorListReserve", "TensorListScatter", "TensorListScatterIntoExistingList",
    "TensorListScatterV2", "TensorListSetItem", "TensorListSplit", "TensorListStack", "Tile",
    "TopK", "TopKV2", "Transpose", "Unpack", "Where", "ZerosLike",
})  # fmt: skip
# Sums leave the range of float16 soon, that of bfloat16 as late as that of float32.
_SUMS: Final = frozenset(("Mean", "Sum"))
_CLEAR_OF_BFLOAT16: Final = frozenset(("ResizeBilinear", "ScatterNd"))


@dataclass(frozen=True)
class Lists:
    """Ops by list; no op is in two of them."""

    allow: frozenset[str]
    infer: frozenset[str]
    deny: frozenset[str]
    clear: frozenset[str]

    def kind(self, op: str) -> str:
        """The list that has an op; "" for none."""
        return next((kind for kind in KINDS if op in getattr(self, kind)), "")


def is_asked(name: str) -> bool:
    """Whether ``$TF_AUTO_MIXED_PRECISION_GRAPH_REWRITE_`` and that name says yes."""
    return os.environ.get(PREFIX + name, "").lower() in ("1", "true")


def level() -> str:
    """What ``$TF_AUTO_MIXED_PRECISION_GRAPH_REWRITE_LEVEL`` asks for; "" for nothing."""
    found = os.environ.get(f"{PREFIX}LEVEL", "").upper()
    return found if found in _LEVELS else ""


def chosen_lists(bfloat16: bool, options: Mapping[str, Sequence[str]]) -> Lists:
    """The lists for bfloat16 or float16, as environment and options change them."""
    found = {"allow": {*_LAYERS}, "infer": {*_INFER}, "deny": {*_DENY}, "clear": {*_CLEAR}}
    if bfloat16:
        found["infer"] |= _SUMS
        found["deny"] -= _SUMS
        found["clear"] |= _CLEAR_OF_BFLOAT16
    else:
        found["allow"] |= _CELLS
    for given in (_from_environment(), options):
        for kind in KINDS:
            for op in given.get(f"{kind}list_add", ()):
                for other in KINDS:
                    found[other].discard(op)
                found[kind].add(op)
            found[kind].difference_update(given.get(f"{kind}list_remove", ()))
    if level() == "TREAT_INFER_AS_DENY":
        found["deny"] |= found["infer"]
        found["infer"].clear()
    return Lists(**{kind: frozenset(ops) for kind, ops in found.items()})


def _from_environment() -> dict[str, list[str]]:
    found = {}
    for kind in KINDS:
        for change in ("add", "remove"):
            name = f"{kind}list_{change}"
            text = os.environ.get(f"{PREFIX}{name.upper()}", "")
            found[name] = [op.strip() for op in text.split(",") if op.strip()]
    return found
