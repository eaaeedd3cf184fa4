"""Shapes through frames: Switch, Enter, Exit, NextIteration, LoopCond. (Merge: the engine.)"""

from __future__ import annotations

from drystone_base.inference.shapes._registry import Shape, ShapeCall, shape


@shape("Switch", "RefSwitch", "_SwitchN")
def switch(c: ShapeCall) -> list[Shape]:
    """Each output is the data, if it is live at all."""
    c.output_handles = [c.handles[0]] * c.output_count
    c.output_values = [c.values[0]] * c.output_count
    return [c.shape(0)] * c.output_count


@shape("Enter", "RefEnter")
def enter(c: ShapeCall) -> list[Shape]:
    """What enters a loop; its value holds in every iteration only if it is a loop constant."""
    c.output_handles = [c.handles[0]]
    c.output_values = [c.values[0] if c.attrs.get("is_constant") else None]
    return [c.shape(0)]


@shape("Exit", "RefExit", "NextIteration", "RefNextIteration")
def leave(c: ShapeCall) -> list[Shape]:
    """What leaves an iteration; its value differs from one to the next."""
    c.output_handles = [c.handles[0]]
    c.output_values = [None]
    return [c.shape(0)]


@shape("LoopCond")
def loop_cond(_: ShapeCall) -> list[Shape]:
    """A scalar."""
    return [()]


@shape("_Arg", "_DeviceArg")
def argument(_: ShapeCall) -> list[Shape]:
    """Whatever the caller passes; the engine fills it in."""
    return [None]


@shape("_Retval", "_DeviceRetval")
def no_output(_: ShapeCall) -> list[Shape]:
    """No outputs."""
    return []


@shape("RefSelect")
def ref_select(c: ShapeCall) -> list[Shape]:
    """The shape of the references where all have the same."""
    c.with_rank(c.shape(0), 0)
    shapes = list(c.shapes[1:])
    same = all(s == shapes[0] for s in shapes)
    return [shapes[0] if same else None]
