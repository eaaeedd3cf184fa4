"""Shapes of activations, softmax and bias addition."""

from __future__ import annotations

from drystone_base.inference.shapes._registry import UNKNOWN, Shape, ShapeCall, shape
from drystone_base.ops.own import GELUS
from drystone_base.ops.windows import channels_axis

__all__: list[str] = []


@shape("Relu", "Relu6", "LeakyRelu", "Elu", "Selu", "Softplus", "Softsign", *GELUS)
def unchanged(c: ShapeCall) -> list[Shape]:
    """The input's shape."""
    return [c.shape(0)]


@shape(
    "ReluGrad", "Relu6Grad", "LeakyReluGrad", "EluGrad", "SeluGrad", "SoftplusGrad", "SoftsignGrad"
)
def merged(c: ShapeCall) -> list[Shape]:
    """The shape that both inputs have."""
    return [c.merge(c.shape(0), c.shape(1))]


@shape("Softmax", "LogSoftmax")
def softmax(c: ShapeCall) -> list[Shape]:
    """The input's shape, of rank 1 or more."""
    return [c.with_rank_at_least(c.shape(0), 1)]


@shape("BiasAdd", "BiasAddV1")
def bias_add(c: ShapeCall) -> list[Shape]:
    """The value's shape, its channels merged with the bias's length."""
    given = c.with_rank_at_least(c.shape(0), 2)
    (count,) = c.with_rank(c.shape(1), 1)
    if given is None:
        return [None]
    axis = channels_axis(c.attrs.get("data_format", "NHWC")) % len(given)
    dims = list(given)
    dims[axis] = c.merge_dim(dims[axis], count)
    return [tuple(dims)]


@shape("BiasAddGrad")
def bias_add_grad(c: ShapeCall) -> list[Shape]:
    """``[C]``."""
    given = c.with_rank_at_least(c.shape(0), 2)
    return [(UNKNOWN,) if given is None else (given[channels_axis(c.attrs["data_format"])],)]
