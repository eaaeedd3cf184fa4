"""Giving vertices another type, and casting where the ends of an edge then differ."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from drystone_base.core.dtypes import DType, as_dtype
from drystone_base.graph import Node, Output
from drystone_optimizer.core.context import Context
from drystone_optimizer.core.rules import Numeric
from drystone_optimizer.passes.auto_mixed_precision.type_graph import TypeGraph, Vertex

__all__ = ["convert", "emulated"]


def convert(ctx: Context, types: TypeGraph, painted: Collection[Vertex], to: DType) -> None:
    """Set the types; each value is cast once for all that read it so."""
    wanted = _mismatches(ctx, types, painted)
    for vertex in painted:
        for node, name in vertex.members:
            ctx.graph.set_attr(node, name, to)
            ctx.forget(node)
    floats = as_dtype("float32")
    made: dict[tuple[Output, bool], Output] = {}
    for node, slot, output, down in wanted:
        if (output, down) not in made:
            made[output, down] = _changed(ctx, output, *((floats, to) if down else (to, floats)))
        ctx.graph.set_input(node, slot, made[output, down])
    changed = sum(len(vertex.members) for vertex in painted)
    ctx.count(f"to-{to}", Numeric.APPROXIMATE, changed)
    casts = sum(node.op == "Cast" for node, _ in made.values())
    for what, count in (("casts", casts), ("round-constants", len(made) - casts)):
        if count:
            ctx.count(what, Numeric.APPROXIMATE, count)


def _changed(ctx: Context, output: Output, source: DType, target: DType) -> Output:
    """The output in the other type: a Cast, or a constant that is cast once and for all."""
    stem = f"to_{target}" if not output[1] else f"to_{target}_{output[1]}"
    value = ctx.constant(output)
    if value is not None:
        with np.errstate(over="ignore"):  # as a Cast: what is too large becomes infinite
            rounded = value.astype(target.np)
        return ctx.add_constant(output[0], stem, rounded, output[0].controls)
    attrs = {"SrcT": source, "DstT": target, "Truncate": False}
    return ctx.add("Cast", output[0], stem, [output], attrs), 0


def _mismatches(
    ctx: Context, types: TypeGraph, painted: Collection[Vertex]
) -> list[tuple[Node, int, Output, bool]]:
    """Inputs whose type will differ from what they read, and whether that must lose precision."""
    found = []
    for node in ctx.graph:
        for slot, output in enumerate(node.inputs):
            short = types.giving(output) in painted
            needs_short = types.reading(node, slot) in painted
            if short is not needs_short:
                found.append((node, slot, output, needs_short))
    return found


def emulated(ctx: Context, types: TypeGraph, painted: Collection[Vertex], to: DType) -> None:
    """Round what the vertices read and give as the type would, and compute as before.

    Each value goes through the type and back, once for all that read it so.
    """
    floats = as_dtype("float32")
    wanted = [
        (node, slot, output)
        for node in ctx.graph
        for slot, output in enumerate(node.inputs)
        if types.giving(output) in painted or types.reading(node, slot) in painted
    ]
    made: dict[Output, Node] = {}
    for node, slot, output in wanted:
        back = made.get(output)
        if back is None:
            stem = f"to_{to}" if not output[1] else f"to_{to}_{output[1]}"
            attrs = {"SrcT": floats, "DstT": to, "Truncate": False}
            short = ctx.add("Cast", output[0], stem, [output], attrs)
            attrs = {"SrcT": to, "DstT": floats, "Truncate": False}
            back = made[output] = ctx.add(
                "Cast", output[0], f"{stem}_and_back", [(short, 0)], attrs
            )
        ctx.graph.set_input(node, slot, (back, 0))
    if made:
        ctx.count(f"round-to-{to}", Numeric.APPROXIMATE, len(made))
