"""Shape of StringFormat."""

from __future__ import annotations

from drystone_base.inference.shapes._registry import Shape, ShapeCall, shape


@shape("StringFormat")
def string_format(_: ShapeCall) -> list[Shape]:
    """A scalar."""
    return [()]
