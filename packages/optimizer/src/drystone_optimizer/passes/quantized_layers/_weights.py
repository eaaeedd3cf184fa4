"""Quantized constants as integers of eight bits, with the size of a step for each channel."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np

from drystone_base.graph import Node, Output
from drystone_base.kernels.evaluate import evaluate
from drystone_optimizer.core.context import Context
from drystone_optimizer.passes.quantized_layers._grids import constants, quantized, settings

__all__ = ["Weights", "weights_of"]

Array = np.ndarray[Any, Any]
_CLOSE: Final = 1e-3  # of a step: what is further from one is not quantized by this step


class Weights(NamedTuple):
    """Integers, and a step for each entry of the axis of channels."""

    integers: Array
    steps: Array


def weights_of(ctx: Context, output: Output, channels: int) -> Weights | None:
    """The weights that a node quantizes; ``channels`` is their axis of output channels."""
    node, slot = output
    if slot or not node.inputs or node in ctx.fed_nodes or node.controls:
        return None
    given = constants(ctx, node, 0, len(node.inputs))
    steps = None if given is None else _steps(ctx, node, given)
    if given is None or steps is None or not np.isfinite(steps).all() or (steps < 0).any():
        return None
    values = _computed(ctx, node, given)
    if values is None or values.dtype != np.float32 or values.ndim <= channels:
        return None
    each = np.broadcast_to(steps, values.shape)
    along = np.moveaxis(each, channels, 0).reshape(values.shape[channels], -1)
    if not along.size or (along != along[:, :1]).any():
        return None
    exact = np.divide(values, each, out=np.zeros_like(values), where=each != 0)
    whole = np.rint(exact)
    if (np.abs(exact - whole) > _CLOSE).any() or (np.abs(whole + 0.5) > 127.5).any():
        return None
    return Weights(whole.astype(np.int8), np.ascontiguousarray(along[:, 0], np.float32))


def _steps(ctx: Context, node: Node, given: list[Array]) -> Array | None:
    """The size of a step, to be broadcast to the weights."""
    if node.op == "FakeQuantWithMinMaxVarsPerChannel":
        attrs = settings(ctx, node)
        levels = np.float32(2 ** int(attrs["num_bits"]) - 1 - int(attrs["narrow_range"]))
        return np.asarray((given[2] - given[1]) / levels)
    if node.op == "Dequantize":
        return _dequantized(ctx, node, given)
    grid = quantized(ctx, node)
    return None if grid is None else np.array(grid.scale, np.float32)


def _dequantized(ctx: Context, node: Node, given: list[Array]) -> Array | None:
    """Of integers that are given as such, with symmetric ranges."""
    attrs, (integers, low, high) = settings(ctx, node), given
    if attrs["mode"] != "SCALED" or integers.dtype != np.int8:
        return None
    least = np.float32(-128 + int(attrs["narrow_range"]))
    steps = np.maximum(low / least, high / np.float32(127))
    axis = int(attrs["axis"])
    return steps if axis < 0 else steps.reshape(-1, *[1] * (integers.ndim - axis - 1))


def _computed(ctx: Context, node: Node, given: list[Array]) -> Array | None:
    """What the node gives."""
    signature = ctx.signatures.of(node)
    if signature is None:
        return None
    try:
        found = evaluate(node.name, node.op, signature.attrs, given, signature.input_slices, 1)
    except Exception:  # the same failure is reported when the node runs
        return None
    return found[0]
