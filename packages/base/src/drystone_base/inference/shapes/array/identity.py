"""Shapes of the ops that pass a value on, hold one, or do nothing."""

from __future__ import annotations

import math

from drystone_base.inference.shapes._registry import MAX_PARTIAL, Shape, ShapeCall, shape

__all__: list[str] = []


@shape(
    "Identity", "IdentityN", "Snapshot", "StopGradient", "PreventGradient", "DeepCopy",
    "GuaranteeConst", "Copy", "CopyHost", "_EagerConst", "_ListToArray", "_ArrayToList",
)  # fmt: skip
def same(c: ShapeCall) -> list[Shape]:
    """The inputs' shapes; values and handles pass through as well."""
    c.output_handles = list(c.handles)
    c.output_values = list(c.values)
    return list(c.shapes)


@shape("PlaceholderWithDefault")
def placeholder_with_default(c: ShapeCall) -> list[Shape]:
    """The attribute: what is fed may differ from the default in the unknown dimensions."""
    c.merge(c.attrs["shape"], c.shape(0))
    return [c.attrs["shape"]]


@shape("EnsureShape")
def ensure_shape(c: ShapeCall) -> list[Shape]:
    """Input and attribute merged."""
    c.output_values = list(c.values)
    return [c.merge(c.shape(0), c.attrs["shape"])]


@shape("Const", "HostConst")
def const(c: ShapeCall) -> list[Shape]:
    """The tensor's shape; small tensors become known values."""
    tensor = c.attrs["value"]
    dims: tuple[int, ...] = tensor.shape
    if math.prod(dims) <= MAX_PARTIAL:
        c.output_values = [tensor.array]
    return [dims]


@shape("Placeholder", "PlaceholderV2")
def placeholder(c: ShapeCall) -> list[Shape]:
    """The attribute ``shape``."""
    return [c.attrs.get("shape")]


@shape("NoOp", "ControlTrigger")
def nothing(_: ShapeCall) -> list[Shape]:
    """No outputs."""
    return []
