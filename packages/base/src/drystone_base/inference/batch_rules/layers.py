"""Layers of networks: what they compute of one picture or row, they compute of it alone."""

from __future__ import annotations

from collections.abc import Sequence

from drystone_base.inference.batch_rules._registry import SHARED, BatchRuleCall, Rows, along, rows
from drystone_base.ops.own import FUSED_CONVOLUTION, LAYER_NORM, QUANTIZED_LAYER

__all__: list[str] = []


@rows(
    "Conv2D", "Conv3D", "DepthwiseConv2dNative", "Dilation2D", "_FusedConv2D",
    "_FusedDepthwiseConv2dNative", FUSED_CONVOLUTION,
)  # fmt: skip
def convolution(c: BatchRuleCall) -> Rows | None:
    """Those of the pictures; the filter is shared."""
    return along(c, 1, broadcasts=False) if c.rows[0] > 0 else None


@rows(QUANTIZED_LAYER)
def quantized(c: BatchRuleCall) -> Rows | None:
    """Those of the pictures or rows; filter and scales are shared."""
    return along(c, 1, 2, broadcasts=False) if c.rows[0] > 0 else None


@rows("BiasAdd", "BiasAddV1")
def bias(c: BatchRuleCall) -> Rows | None:
    """Those of the values, each with at least one channel of its own."""
    return c.rows[0] if c.only(0) and c.rank() > 1 else None


@rows("AvgPool", "AvgPool3D", "MaxPool", "MaxPool3D")
def pooling(c: BatchRuleCall) -> Rows | None:
    """Those of the pictures, of which no window takes two."""
    return c.rows[0] if c.attrs["ksize"][0] == c.attrs["strides"][0] == 1 else None


@rows(
    "DepthToSpace", "LRN", "ResizeArea", "ResizeBicubic", "ResizeBilinear",
    "ResizeNearestNeighbor", "SpaceToDepth",
)  # fmt: skip
def pictures(c: BatchRuleCall) -> Rows | None:
    """Those of the pictures."""
    return c.rows[0] if c.only(0) else None


@rows("FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3", "_FusedBatchNormEx")
def batch_norm(c: BatchRuleCall) -> Sequence[Rows] | None:
    """With given statistics, which it hands on, those of the pictures and of what is added."""
    found = along(c, 1, 2, 3, 4, broadcasts=False)
    if c.attrs["is_training"] or c.rows[0] <= 0 or found is None:
        return None
    return [found, *(SHARED for _ in c.outputs[1:])]


@rows("LogSoftmax", "Softmax")
def softmax(c: BatchRuleCall) -> Rows | None:
    """Those of the logits, each a vector or more."""
    return c.rows[0] if c.rank() > 1 else None


@rows(LAYER_NORM)
def layer_norm(c: BatchRuleCall) -> Rows | None:
    """Those of the vectors; scale and offset are shared."""
    return c.rows[0] if c.only(0) and c.rank() > 1 else None
