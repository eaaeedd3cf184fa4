"""Shapes of Python calls: nothing is known of them."""

from __future__ import annotations

from drystone_base.inference.shapes._registry import Shape, ShapeCall, shape

__all__: list[str] = []


@shape("PyFunc", "PyFuncStateless", "EagerPyFunc")
def unknown(c: ShapeCall) -> list[Shape]:
    """As many unknown shapes as there are types; inference must not call Python."""
    count = len(c.attrs["Tout"])
    c.output_values = [None] * count
    return [None] * count
