"""Packs of one tensor, repeated along several axes, become Reshape and Tile; Tiles get fewer sizes.

Images are made larger so: each element is repeated in new dimensions, which a Reshape then merges.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from drystone_base.core.dtypes import as_dtype
from drystone_base.graph import Node, Output
from drystone_optimizer.core.context import Context
from drystone_optimizer.core.rules import Rule
from drystone_optimizer.passes.arithmetic_optimization._inner import inner

__all__ = ["RULES"]


class _Tiled(NamedTuple):
    data: Output
    shape: list[int]
    times: list[int]
    between: list[Node]


def _match_packs(ctx: Context, node: Node) -> _Tiled | None:
    """Two or more Packs, each of one tensor only, of a tensor whose shape is known."""
    packs = [node]
    while packs[-1].inputs and len(set(packs[-1].inputs)) == 1:
        output = packs[-1].inputs[0]
        below = output[0]
        if below.op != "Pack" or below in ctx.fed_nodes or below.controls or ctx.kept(below):
            break
        if list(ctx.graph.users(below)) != [packs[-1]] or below.device != node.device:
            break
        packs.append(below)
    packs = [pack for pack in packs if len(set(pack.inputs)) == 1]
    if len(packs) < 2:
        return None
    data = packs[-1].inputs[0]
    shape = ctx.shape(data)
    if shape is None or any(d < 0 for d in shape):
        return None
    sizes, times = list(shape), [1] * len(shape)
    for pack in reversed(packs):
        axis = int(pack.attr("axis", 0))
        at = axis + len(sizes) + 1 if axis < 0 else axis
        if not 0 <= at <= len(sizes):
            return None
        sizes.insert(at, 1)
        times.insert(at, len(pack.inputs))
    return _Tiled(data, sizes, times, packs[1:])


def _apply_packs(ctx: Context, node: Node, found: _Tiled) -> None:
    dtype, ints = node.attrs["T"], as_dtype("int32")
    waits = ctx.waits([found.data])
    sizes = ctx.add_constant(node, "sizes", np.array(found.shape, np.int32), waits)
    times = ctx.add_constant(node, "times", np.array(found.times, np.int32), waits)
    attrs = {"T": dtype, "Tshape": ints}
    apart = ctx.add("Reshape", node, "apart", [found.data, sizes], attrs)
    ctx.become(node, "Tile", [(apart, 0), times], {"T": dtype, "Tmultiples": ints})
    for pack in found.between:
        ctx.drop_unused(pack)


class _Fewer(NamedTuple):
    apart: Node
    tile: Node
    shape: list[int]
    times: list[int]


def _match_fewer(ctx: Context, node: Node) -> _Fewer | None:
    """``Reshape(Tile(Reshape(x)))`` with neighbouring sizes that are not repeated."""
    tile = inner(ctx, node.inputs[0], ("Tile",))
    apart = inner(ctx, tile.inputs[0], ("Reshape",)) if tile is not None else None
    if tile is None or apart is None:
        return None
    shape, times = ctx.shape((apart, 0)), ctx.ints(tile.inputs[1])
    target, whole = ctx.ints(node.inputs[1]), ctx.shape((tile, 0))
    if shape is None or times is None or any(d < 1 for d in shape) or len(times) != len(shape):
        return None
    if target is None or whole is None or ctx.shape((node, 0)) is None:
        return None
    sizes, repeats = [shape[0]] if shape else [], times[:1]
    for size, repeat in zip(shape[1:], times[1:], strict=True):
        if repeat == repeats[-1] == 1:
            sizes[-1] *= size
        else:
            sizes.append(size)
            repeats.append(repeat)
    return _Fewer(apart, tile, sizes, repeats) if len(sizes) < len(shape) else None


def _apply_fewer(ctx: Context, node: Node, found: _Fewer) -> None:
    for inside, name, numbers in (
        (found.apart, "sizes", found.shape),
        (found.tile, "times", found.times),
    ):
        held = inside.inputs[1]
        dtype = ctx.dtype(held)
        assert dtype is not None
        waits = ctx.waits([inside.inputs[0], held])
        known = ctx.add_constant(node, name, np.array(numbers, dtype.np), waits)
        ctx.graph.set_input(inside, 1, known)
        ctx.forget(inside)
        ctx.drop_unused(held[0])


RULES: Final = (
    Rule("pack-to-tile", ("Pack",), _match_packs, _apply_packs),
    Rule("tile-of-fewer-axes", ("Reshape",), _match_fewer, _apply_fewer, reads=("Tile",)),
)
