"""How much memory a device holds at most, if nodes run one by one in topological order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from math import prod
from typing import Final

from drystone_base.graph import Node, Output, topological_order
from drystone_optimizer.core.context import Context

__all__ = ["FULL", "Peak", "peaks", "short_devices", "size_of"]

FULL: Final = 0.8
"""The share of a device's memory from which on it counts as short."""


@dataclass
class Peak:
    """The most bytes at once, after which node that was, and what was held then."""

    size: int = 0
    at: int = -1
    held: dict[Output, int] = field(default_factory=dict)


def short_devices(ctx: Context) -> dict[str, Peak]:
    """The types of devices whose memory, as the user states it, is nearly full at some time."""
    found = peaks(ctx)
    limits = ctx.config.device_memory
    return {t: p for t, p in found.items() if t in limits and p.size > FULL * limits[t]}


def peaks(ctx: Context) -> dict[str, Peak]:
    """The peak of each type of device; values of unknown size count as nothing."""
    order = topological_order(ctx.graph)
    last = _last_uses(order)
    held: dict[str, dict[Output, int]] = {}
    now: dict[str, int] = {}
    found: dict[str, Peak] = {}
    ending: dict[int, list[Output]] = {}
    for at, node in enumerate(order):
        kind = ctx.device_type(node)
        mine = held.setdefault(kind, {})
        for k in range(_count(ctx, node)):
            size = size_of(ctx, (node, k))
            if size and (end := last.get((node, k))) is not None:
                mine[node, k] = size
                now[kind] = now.get(kind, 0) + size
                ending.setdefault(end, []).append((node, k))
        if now.get(kind, 0) > found.setdefault(kind, Peak()).size:
            found[kind] = Peak(now[kind], at, dict(mine))
        for output in ending.pop(at, ()):
            there = ctx.device_type(output[0])
            now[there] -= held[there].pop(output)
    return found


def _last_uses(order: Iterable[Node]) -> Mapping[Output, int]:
    found: dict[Output, int] = {}
    for at, node in enumerate(order):
        for output in node.inputs:
            found[output] = at
    return found


def _count(ctx: Context, node: Node) -> int:
    signature = ctx.signatures.of(node)
    return len(signature.outputs) if signature is not None and signature.outputs else 0


def size_of(ctx: Context, output: Output) -> int:
    """Bytes of a value; 0 where that is unknown, or where it is no array of numbers."""
    dtype, shape = ctx.dtype(output), ctx.shape(output)
    if dtype is None or dtype.is_object or shape is None or min(shape, default=0) < 0:
        return 0
    return int(prod(shape)) * dtype.np.itemsize
