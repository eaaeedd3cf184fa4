"""A product with constants goes into the constant weights of the layer before it.

``Mul(Conv2D(x, w), c)`` becomes ``Conv2D(x, w c)``, where ``c`` is one number, or one for each
channel of the result. Also for Conv3D, DepthwiseConv2dNative and MatMul. Weights that lie in a file
stay there, and the nodes that read them multiply them.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np

from drystone_base.graph import Node, Output
from drystone_base.host.tensors import empty_aligned
from drystone_base.ops.properties import PRODUCTS
from drystone_base.ops.scaled import ScaledTensor, stays_finite
from drystone_optimizer.core.context import Context
from drystone_optimizer.core.rules import Numeric, Rule

__all__ = ["RULE"]

_LAYERS: Final = tuple(sorted(PRODUCTS))
_RANKS: Final = {"Conv2D": 4, "Conv3D": 5, "DepthwiseConv2dNative": 4, "MatMul": 2}


class _Found(NamedTuple):
    layer: Node
    factor: Output
    weights: np.ndarray[Any, Any] | ScaledTensor


def _match(ctx: Context, node: Node) -> _Found | None:
    for (layer, slot), factor in (node.inputs, node.inputs[::-1]):
        if layer.op not in _LAYERS or slot or not ctx.only_user(layer):
            continue
        c, weights = ctx.constant(factor), ctx.constant(layer.inputs[1])
        if c is None or weights is None or c.dtype != weights.dtype or layer.controls:
            continue
        if layer in ctx.fed_nodes or c.dtype not in (np.float32, np.float64):
            continue
        if any(k == 1 for user, k in ctx.users(layer.inputs[1]) if user is not layer):
            continue  # weights that others share would be there twice
        scaled = _scaled(layer, weights, c)
        if scaled is not None:
            return _Found(layer, factor, scaled)
    return None


def _scaled(
    layer: Node, weights: np.ndarray[Any, Any], c: np.ndarray[Any, Any]
) -> np.ndarray[Any, Any] | ScaledTensor | None:
    """The weights times the factor; None where that is not the same, or not finite."""
    flat = _factors(layer, weights, c)
    if flat is None:
        return None
    held = layer.inputs[1][0].attr("value")
    is_in_file = held.place is not None and held.place.factors is None
    is_sure = stays_finite(weights, flat)
    if is_sure and is_in_file and flat.dtype == np.float32:
        inner = weights.shape[1] if _is_transposed(layer) else 1
        return ScaledTensor(held, flat.reshape(-1), inner)
    scaled = empty_aligned(weights.shape, weights.dtype)  # as kernels want it, to be taken as it is
    with np.errstate(all="ignore"):
        np.multiply(weights, flat, out=scaled)
    return scaled if is_sure or _is_whole(scaled, weights, flat) else None


def _is_transposed(layer: Node) -> bool:
    """Whether the channels of the result are the rows of the weights."""
    return layer.op == "MatMul" and bool(layer.attr("transpose_b"))


def _factors(
    layer: Node, weights: np.ndarray[Any, Any], c: np.ndarray[Any, Any]
) -> np.ndarray[Any, Any] | None:
    """The factor as it is multiplied to the weights; None where it is none of each channel."""
    rank = _RANKS[layer.op]
    if weights.ndim != rank or c.ndim > rank:
        return None
    transposed = _is_transposed(layer)
    channels = weights.shape[-2] * weights.shape[-1] if "Depthwise" in layer.op else (
        weights.shape[0 if transposed else -1]
    )  # fmt: skip
    layout = str(layer.attr("data_format", "NHWC"))
    if layout not in ("NHWC", "NCHW", "NDHWC", "NCDHW"):
        return None
    at = 1 if layout.startswith("NC") else rank - 1
    dims = (1,) * (rank - c.ndim) + c.shape
    if any(d != 1 for k, d in enumerate(dims) if k != at) or dims[at] not in (1, channels):
        return None
    flat: np.ndarray[Any, Any] = c.reshape(-1)
    if "Depthwise" in layer.op and flat.size > 1:
        flat = flat.reshape(weights.shape[-2:])
    return flat.reshape(-1, 1) if transposed else flat


def _is_whole(
    scaled: np.ndarray[Any, Any], weights: np.ndarray[Any, Any], flat: np.ndarray[Any, Any]
) -> bool:
    """Whether no product vanished, and none is infinite or NaN."""
    lost = (np.abs(scaled) < np.finfo(scaled.dtype).tiny) & (weights != 0) & (flat != 0)
    return bool(np.isfinite(scaled).all() and not lost.any())


def _apply(ctx: Context, node: Node, found: _Found) -> None:
    layer = found.layer
    data, weights = layer.inputs
    scaled = ctx.add_constant(node, "weights", found.weights, weights[0].controls)
    attrs = {k: v for k, v in layer.attrs.items() if not k.startswith("_")}
    controls = [*node.controls, *ctx.waits([found.factor])]
    ctx.become(node, layer.op, [data, scaled], attrs, controls)
    ctx.drop(layer)
    for source in (weights[0], found.factor[0]):
        ctx.drop_unused(source)


RULE: Final = Rule(
    "fold-output-scale", ("Mul",), _match, _apply, Numeric.REASSOCIATES, reads=_LAYERS
)
