"""Shapes of optimizer steps."""

from __future__ import annotations

from drystone_base.inference.shapes._registry import Shape, ShapeCall, shape
from drystone_base.ops.defs import op_def
from drystone_base.ops.optimizers import GRADIENTS, optimizer_ops, slot_count

__all__: list[str] = []


@shape(*(op for op, _ in optimizer_ops()))
def step(c: ShapeCall) -> list[Shape]:
    """The variable's shape for ops that return it; slots and a dense gradient must share it."""
    names = [a.name for a in op_def(c.op).inputs]
    whole: Shape = None
    for k in range(slot_count(c.op)):
        handle = c.handles[k]
        known = handle[1] if handle is not None else None
        whole = c.merge(whole, known if c.op.startswith("Resource") else c.shape(k))
    for k, name in enumerate(names[slot_count(c.op) :], slot_count(c.op)):
        if name not in (*GRADIENTS, "indices"):
            c.with_rank(c.shape(k), 0)
        elif name in GRADIENTS and "indices" not in names:
            whole = c.merge(whole, c.shape(k))
    return [] if c.op.startswith("Resource") else [whole]
