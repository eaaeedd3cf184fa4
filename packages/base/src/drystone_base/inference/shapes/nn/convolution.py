"""Shapes of the convolutions and their gradients, depthwise and fused ones included."""

from __future__ import annotations

from drystone_base.inference.shapes._registry import UNKNOWN, Shape, ShapeCall, shape
from drystone_base.inference.shapes.nn._windows import assemble, slid, split
from drystone_base.ops.own import FUSED_CONVOLUTION, QUANTIZED_LAYER

__all__: list[str] = []


def _layout(c: ShapeCall) -> str:
    return str(c.attrs.get("data_format", "NDHWC"))


def _check_depth(c: ShapeCall, channels: int, depth: int) -> None:
    if depth == 0 or (channels >= 0 and depth > 0 and channels % depth):
        c.fail(
            "input channels must be a multiple of the filter's",
            found=f"{channels} and {depth}",
            needed="channels = groups x filter depth",
        )


def convolved(c: ShapeCall, given: Shape, rank: int) -> Shape:
    """Output shape of a convolution of ``given`` by input 1 as the node's attributes say."""
    dims, filters = c.with_rank(given, rank), c.with_rank(c.shape(1), rank)
    batch, spatial, channels = split(dims, _layout(c))
    _check_depth(c, channels, filters[-2])
    out = slid(c, spatial, filters[:-2], c.attrs["strides"], data_format=_layout(c), least=0)
    return assemble(batch, out, filters[-1], _layout(c))


@shape("Conv2D", "Conv3D", "_FusedConv2D", "_FusedConv3D")
def conv(c: ShapeCall) -> list[Shape]:
    """``[N, *spatial, C] * [*size, C / groups, D] -> [N, *out, D]``."""
    return [convolved(c, c.shape(0), 5 if c.op.endswith("Conv3D") else 4)]


@shape(FUSED_CONVOLUTION)
def fused(c: ShapeCall) -> list[Shape]:
    """As its layer's."""
    is_depthwise = c.attrs["layer"] == "DepthwiseConv2dNative"
    return list(depthwise(c) if is_depthwise else conv(c))


@shape(QUANTIZED_LAYER)
def quantized(c: ShapeCall) -> list[Shape]:
    """As its layer's; of MatMul with any dimensions before the last one."""
    if c.attrs["layer"] != "MatMul":
        return list(fused(c))
    given, filters = c.with_rank_at_least(c.shape(0), 2), c.with_rank(c.shape(1), 2)
    if given is None:
        return [None]
    c.merge_dim(given[-1], filters[0])
    return [(*given[:-1], filters[1])]


@shape("Conv")
def conv_any(c: ShapeCall) -> list[Shape]:
    """As ``Conv2D`` and ``Conv3D``, below ``batch_dims`` leading dimensions."""
    given, lead = c.shape(0), c.attrs["batch_dims"]
    if given is None:
        return [None]
    if lead < 1 or len(given) - lead not in (3, 4):
        c.fail("rank must be batch_dims + 3 or + 4", found=list(given), needed=f"batch_dims {lead}")
    inner = convolved(c, (1, *given[lead:]), len(given) - lead + 1)
    return [None if inner is None else (*given[:lead], *inner[1:])]


@shape("DepthwiseConv2dNative", "_FusedDepthwiseConv2dNative")
def depthwise(c: ShapeCall) -> list[Shape]:
    """``[N, H, W, C] -> [N, h, w, C * M]``."""
    dims, filters = c.with_rank(c.shape(0), 4), c.with_rank(c.shape(1), 4)
    batch, spatial, channels = split(dims, _layout(c))
    depth = c.merge_dim(channels, filters[2])
    known = depth >= 0 and filters[3] >= 0
    same = depth if filters[3] == 1 else UNKNOWN
    out = slid(c, spatial, filters[:2], c.attrs["strides"], data_format=_layout(c), least=0)
    return [assemble(batch, out, depth * filters[3] if known else same, _layout(c))]


@shape("Conv2DBackpropInput", "Conv3DBackpropInputV2", "DepthwiseConv2dNativeBackpropInput")
def backprop_input(c: ShapeCall) -> list[Shape]:
    """What ``input_sizes`` says; the batch is the gradient's."""
    rank = 5 if c.op.startswith("Conv3D") else 4
    sizes = c.value_as_shape(0)
    filters, grad = c.with_rank(c.shape(1), rank), c.with_rank(c.shape(2), rank)
    if sizes is None or len(sizes) == rank:
        dims = c.with_rank(sizes, rank)
        return [(c.merge_dim(dims[0], grad[0]), *dims[1:])]
    return [(grad[0], *c.with_rank(sizes, rank - 2), filters[-2])]


@shape("Conv2DBackpropFilter", "Conv3DBackpropFilterV2", "DepthwiseConv2dNativeBackpropFilter")
def backprop_filter(c: ShapeCall) -> list[Shape]:
    """What ``filter_sizes`` says."""
    rank = 5 if c.op.startswith("Conv3D") else 4
    return [c.with_rank(c.value_as_shape(1), rank)]


@shape("Conv2DBackpropInputV2", "Conv3DBackpropInput")
def backprop_input_like(c: ShapeCall) -> list[Shape]:
    """The input's shape."""
    return [c.with_rank(c.shape(0), 5 if c.op.startswith("Conv3D") else 4)]


@shape("Conv2DBackpropFilterV2", "Conv3DBackpropFilter")
def backprop_filter_like(c: ShapeCall) -> list[Shape]:
    """The filter's shape."""
    return [c.with_rank(c.shape(1), 5 if c.op.startswith("Conv3D") else 4)]
