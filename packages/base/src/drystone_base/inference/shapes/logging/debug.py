"""Shapes of the debugger's ops."""

from __future__ import annotations

from typing import Final

from drystone_base.inference.shapes._registry import Shape, ShapeCall, shape

__all__: list[str] = []

_LENGTHS: Final = {2: 2, 3: 5, 4: 11, 5: 10, 8: 3}


@shape("DebugIdentityV2", "DebugGradientIdentity", "DebugGradientRefIdentity")
def same(c: ShapeCall) -> list[Shape]:
    """The input's shape; values and handles pass through as well."""
    c.output_handles = list(c.handles)
    c.output_values = list(c.values)
    return [c.shape(0)]


@shape("DebugIdentity", "DebugIdentityV3")
def same_unless_gated(c: ShapeCall) -> list[Shape]:
    """The input's shape, or an empty vector."""
    return [(0,)] if c.attrs["gated_grpc"] else list(same(c))


@shape("DebugNanCount")
def one(c: ShapeCall) -> list[Shape]:
    """A vector of one; TensorFlow's own inference says a scalar, which its kernel never gives."""
    return [(0 if c.attrs["gated_grpc"] else 1,)]


@shape("DebugNumericSummary")
def debug_numeric_summary(c: ShapeCall) -> list[Shape]:
    """Fourteen numbers and the dimensions."""
    given = c.shape(0)
    if c.attrs["gated_grpc"]:
        return [(0,)]
    return [(-1,) if given is None else (14 + len(given),)]


@shape("DebugNumericSummaryV2")
def debug_numeric_summary_v2(c: ShapeCall) -> list[Shape]:
    """As many numbers as the mode asks for."""
    return [(_LENGTHS.get(c.attrs["tensor_debug_mode"], -1),)]
