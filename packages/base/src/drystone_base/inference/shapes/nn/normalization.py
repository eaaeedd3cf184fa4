"""Shapes of batch normalization and local response normalization."""

from __future__ import annotations

from drystone_base.inference.shapes._registry import Shape, ShapeCall, shape
from drystone_base.ops.windows import channels_axis

__all__: list[str] = []


def _channelled(c: ShapeCall, given: Shape, vectors: range) -> tuple[Shape, int]:
    """The shape with its channels merged with the length of the vector inputs; and the channels."""
    rank = 5 if c.attrs["data_format"] in ("NDHWC", "NCDHW") else 4
    dims = list(c.with_rank(given, rank))
    axis = channels_axis(c.attrs["data_format"])
    for k in vectors:
        dims[axis] = c.merge_dim(dims[axis], c.with_rank(c.shape(k), 1)[0])
    return tuple(dims), dims[axis]


@shape("FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3", "_FusedBatchNormEx")
def fused_batch_norm(c: ShapeCall) -> list[Shape]:
    """y, then the running mean and variance, then the reserve spaces."""
    vectors = range(1, 3) if c.attrs["is_training"] else range(1, 5)
    whole, channels = _channelled(c, c.shape(0), vectors)
    third: list[Shape] = [None] if c.output_count == 6 else []
    return [whole, *[(channels,)] * 4, *third]


@shape("FusedBatchNormGrad", "FusedBatchNormGradV2", "FusedBatchNormGradV3")
def fused_batch_norm_grad(c: ShapeCall) -> list[Shape]:
    """Gradients for x, scale and offset, then two empty vectors."""
    given = c.merge(c.shape(0), c.shape(1))
    whole, channels = _channelled(c, given, range(2, 5))
    return [whole, (channels,), (channels,), (0,), (0,)]


@shape("BatchNormWithGlobalNormalization")
def batch_norm_global(c: ShapeCall) -> list[Shape]:
    """The input's shape, its channels merged with the vectors' length."""
    dims = list(c.with_rank(c.shape(0), 4))
    for k in range(1, 5):
        dims[-1] = c.merge_dim(dims[-1], c.with_rank(c.shape(k), 1)[0])
    return [tuple(dims)]


@shape("LRN")
def lrn(c: ShapeCall) -> list[Shape]:
    """The input's shape, of rank 4."""
    return [c.with_rank(c.shape(0), 4)]


@shape("LRNGrad")
def lrn_grad(c: ShapeCall) -> list[Shape]:
    """The shape that all three inputs have."""
    return [c.with_rank(c.merge(c.merge(c.shape(0), c.shape(1)), c.shape(2)), 4)]
