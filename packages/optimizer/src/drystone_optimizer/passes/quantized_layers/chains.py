"""What a layer gives stays integers: up to the next layer, and for others that read the same."""

from __future__ import annotations

from typing import Final

from drystone_base.graph import Node, Output
from drystone_base.ops.own import FROM_GRID, QUANTIZED_LAYER, TO_GRID
from drystone_optimizer.core.context import Context
from drystone_optimizer.core.rules import Numeric, Rule
from drystone_optimizer.passes.quantized_layers._grids import FLOAT32, Grid, before, quantized

__all__ = ["READERS", "TAKEN_OVER", "on_grid"]

_QUANTIZERS: Final = (
    "Dequantize", "FakeQuantWithMinMaxArgs", "FakeQuantWithMinMaxVars", "QuantizeAndDequantizeV2",
    "QuantizeAndDequantizeV4",
)  # fmt: skip


def on_grid(ctx: Context, output: Output, grid: Grid) -> Output:
    """The integers of a tensor; those before it is quantized, where its quantizer is known."""
    node, _ = output
    if node.op == FROM_GRID and quantized(ctx, node) == grid:
        return node.inputs[0]
    if node.op in _QUANTIZERS and quantized(ctx, node) == grid:
        output = before(node)
    attrs = {"T": grid.dtype, "Tfloat": FLOAT32, "half_up": grid.half_up, **grid.attrs}
    for user, _ in ctx.users(output):
        if user.op == TO_GRID and not user.controls and _same(user, attrs):
            return (user, 0)
    return (ctx.add(TO_GRID, node, "integers", [output], attrs, node.controls), 0)


def _same(node: Node, attrs: dict[str, object]) -> bool:
    return all(node.attr(name, value) == value for name, value in attrs.items())


def _match_readers(ctx: Context, node: Node) -> Grid | None:
    """A tensor that is there as integers, or that a layer could give as such."""
    grid = quantized(ctx, node)
    if grid is None or str(ctx.dtype((node, 0))) != "float32":
        return None
    source, slot = before(node)
    if slot or source in ctx.fed_nodes:
        return None
    there = any(user.op == TO_GRID for user, _ in ctx.users((source, 0)))
    return grid if there or source.op == QUANTIZED_LAYER else None


def _apply_readers(ctx: Context, node: Node, grid: Grid) -> None:
    integers = on_grid(ctx, (node, 0), grid)
    attrs = {"T": grid.dtype, "Tfloat": FLOAT32, **grid.attrs}
    first = node.inputs[0][0]
    ctx.become(node, FROM_GRID, [integers], attrs)
    ctx.drop_unused(first)


READERS: Final = Rule(
    "shared-dequantize", _QUANTIZERS, _match_readers, _apply_readers, Numeric.APPROXIMATE
)
"""A quantizer whose input is put on the grid anyway gives the floats of those integers."""


def _match_layer(ctx: Context, node: Node) -> Node | None:
    layer, _ = node.inputs[0]
    if layer.op != QUANTIZED_LAYER or layer.attrs["Tout"] is not FLOAT32 or layer.controls:
        return None
    return layer if ctx.only_user(layer) and layer not in ctx.fed_nodes else None


def _apply_layer(ctx: Context, node: Node, layer: Node) -> None:
    grid = {name: node.attrs[name] for name in ("scale", "zero", "first", "last")}
    attrs = {name: value for name, value in layer.attrs.items() if name[0] != "_"}
    inputs = layer.inputs
    ctx.become(node, QUANTIZED_LAYER, inputs, attrs | grid | {"Tout": node.attrs["T"]})
    ctx.drop(layer)


TAKEN_OVER: Final = Rule(
    "requantize-layer", (TO_GRID,), _match_layer, _apply_layer, Numeric.APPROXIMATE
)
"""A layer whose result is only put on a grid gives those integers itself."""
