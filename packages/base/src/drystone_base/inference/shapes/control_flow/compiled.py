"""Shapes of compiled clusters."""

from __future__ import annotations

from drystone_base.inference.shapes._registry import Shape, ShapeCall, shape

__all__: list[str] = []


@shape("_XlaCompile")
def xla_compile(_: ShapeCall) -> list[Shape]:
    """A key, and whether there is something to run."""
    return [(), ()]


@shape("_XlaRun")
def xla_run(c: ShapeCall) -> list[Shape]:
    """Not known: the compiler decides when it compiles."""
    return [None] * c.output_count
