"""Ops that have a data format, and what changes of them with it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from drystone_base.core.dtypes import DType
from drystone_base.graph import Node
from drystone_optimizer.core.context import Context
from drystone_optimizer.passes.layout_optimizer.conversion import Plan
from drystone_optimizer.passes.layout_optimizer.direction import Direction

__all__ = ["OPS", "match"]


class _Op(NamedTuple):
    """Inputs and outputs that are images, and inputs that have one number for each dimension."""

    data: tuple[int, ...] = (0,)
    outputs: tuple[int, ...] = (0,)
    vectors: tuple[int, ...] = ()
    default: str = "NHWC"


_LAYER: Final = _Op()
_FILTER: Final = _Op((0, 2), ())
_INPUT: Final = _Op((2,), (0,), (0,))
_POOL_GRAD: Final = _Op((0, 1, 2))
_NORM_GRAD: Final = _Op((0, 1))

OPS: Final[Mapping[str, _Op]] = {
    "Conv2D": _LAYER,
    "Conv2DBackpropFilter": _FILTER,
    "Conv2DBackpropInput": _INPUT,
    "DepthwiseConv2dNative": _LAYER,
    "DepthwiseConv2dNativeBackpropFilter": _FILTER,
    "DepthwiseConv2dNativeBackpropInput": _INPUT,
    "Conv3D": _LAYER._replace(default="NDHWC"),
    "Conv3DBackpropFilterV2": _FILTER._replace(default="NDHWC"),
    "Conv3DBackpropInputV2": _INPUT._replace(default="NDHWC"),
    "AvgPool": _LAYER,
    "AvgPoolGrad": _Op((1,), (0,), (0,)),
    "MaxPool": _LAYER,
    "MaxPoolV2": _Op(vectors=(1, 2)),
    "MaxPoolGrad": _POOL_GRAD,
    "MaxPoolGradGrad": _POOL_GRAD,
    "MaxPoolGradV2": _POOL_GRAD._replace(vectors=(3, 4)),
    "MaxPoolGradGradV2": _POOL_GRAD._replace(vectors=(3, 4)),
    "AvgPool3D": _LAYER._replace(default="NDHWC"),
    "AvgPool3DGrad": _Op((1,), (0,), (0,), "NDHWC"),
    "MaxPool3D": _LAYER._replace(default="NDHWC"),
    "MaxPool3DGrad": _POOL_GRAD._replace(default="NDHWC"),
    "MaxPool3DGradGrad": _POOL_GRAD._replace(default="NDHWC"),
    "FusedBatchNorm": _LAYER,
    "FusedBatchNormV2": _LAYER,
    "FusedBatchNormV3": _LAYER,
    "FusedBatchNormGrad": _NORM_GRAD,
    "FusedBatchNormGradV2": _NORM_GRAD,
    "FusedBatchNormGradV3": _NORM_GRAD,
    "BiasAdd": _LAYER,
    "BiasAddGrad": _Op((0,), ()),
    "DepthToSpace": _LAYER,
    "SpaceToDepth": _LAYER,
}
"""Ops with a data format."""

_PER_DIMENSION: Final = ("strides", "dilations", "ksize", "explicit_paddings")


def match(ctx: Context, node: Node, direction: Direction) -> Plan | None:
    """What to change of a node with a data format; None where it stays."""
    op = OPS.get(node.op)
    if op is None or not ctx.may_rewrite(node):
        return None
    given = str(node.attr("data_format", op.default))
    rank = 5 if "D" in given else 4
    if node.op.startswith("BiasAdd"):
        shape = ctx.shape(node.inputs[0])
        rank = 0 if shape is None else len(shape)
    if rank not in direction.orders:
        return None
    source, target = direction.formats(rank)
    # BiasAdd says NHWC and NCHW for images of any rank.
    short = {"NDHWC": "NHWC", "NCDHW": "NCHW"} if node.op.startswith("BiasAdd") else {}
    if given != short.get(source, source):
        return None
    if not _is_real(node):
        ctx.decline("a layer of integers")
        return None
    attrs = {"data_format": short.get(target, target)}
    return Plan(rank, op.data, op.outputs, op.vectors, attrs=attrs | _turned(node, source, target))


def _is_real(node: Node) -> bool:
    dtype = node.attrs.get("T")
    return isinstance(dtype, DType) and dtype.kind == "f"


def _turned(node: Node, source: str, target: str) -> dict[str, Any]:
    """The attributes with one number, or two, for each dimension, in the other order."""
    found: dict[str, Any] = {}
    for name in _PER_DIMENSION:
        value = node.attrs.get(name)
        each = len(value) // len(source) if isinstance(value, list) else 0
        if isinstance(value, list) and each and len(value) == each * len(source):
            places = [source.index(letter) for letter in target]
            found[name] = [value[each * at + k] for at in places for k in range(each)]
    return found
