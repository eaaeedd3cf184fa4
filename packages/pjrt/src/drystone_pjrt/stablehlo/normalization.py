"""Batch normalization with given mean and variance."""

from __future__ import annotations

from drystone_base.graph import Node
from drystone_pjrt.stablehlo.layouts import channel_axis
from drystone_pjrt.stablehlo.ops import Site, emits
from drystone_pjrt.stablehlo.reductions import widened
from drystone_pjrt.stablehlo.writer import Value, Writer

__all__: list[str] = []


def _trains(node: Node) -> str:
    return "it trains" if node.attr("is_training", True) else ""


@emits("FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3", check=_trains)
def batch_norm(w: Writer, s: Site) -> list[Value]:
    """(x - mean) * scale / sqrt(variance + epsilon) + offset; mean and variance as they were."""
    given, scale, offset, mean, variance = s.inputs
    x, axis = widened(w, given), channel_axis(s)
    epsilon = w.full(s.attr("epsilon"), variance.shape, variance.dtype)
    root = w.same("stablehlo.rsqrt", w.same("stablehlo.add", variance, epsilon))
    factor = w.same("stablehlo.multiply", scale, root)
    shift = w.same("stablehlo.subtract", offset, w.same("stablehlo.multiply", mean, factor))
    spread = [w.broadcast(value, x.shape, [axis]) for value in (factor, shift)]
    made = w.same("stablehlo.add", w.same("stablehlo.multiply", x, spread[0]), spread[1])
    return [w.convert(made, given.dtype), mean, variance]
