"""Where the channels and the places of images are, and what is padded."""

from __future__ import annotations

from collections.abc import Sequence

from drystone_pjrt.stablehlo.ops import Site
from drystone_pjrt.stablehlo.writer import Refused

__all__ = ["channel_axis", "pads", "spatial", "spatial_axes", "text_of"]

Pads = list[tuple[int, int]]


def text_of(value: object) -> str:
    """An attribute that is text."""
    return value.decode() if isinstance(value, bytes) else str(value)


def channel_axis(s: Site) -> int:
    """The dimension of channels of the first input."""
    layout, rank = text_of(s.attr("data_format", "NHWC")), len(s.inputs[0].shape)
    if "VECT" in layout:
        raise Refused(f"its layout is {layout}")
    return 1 if layout.startswith("NC") else rank - 1


def spatial_axes(s: Site) -> list[int]:
    """The dimensions of places, between or after batch and channels."""
    channel = channel_axis(s)
    return [k for k in range(1, len(s.inputs[0].shape)) if k != channel]


def spatial(s: Site, name: str) -> list[int]:
    """An attribute with a number for each dimension, of the places alone; others must be 1."""
    numbers, axes = list(s.attr(name) or ()), spatial_axes(s)
    if not numbers:
        return [1] * len(axes)
    if any(n != 1 for k, n in enumerate(numbers) if k not in axes):
        raise Refused(f"its {name} are {numbers}")
    return [numbers[k] for k in axes]


def pads(s: Site, window: Sequence[int], strides: Sequence[int], spread: Sequence[int]) -> Pads:
    """What is added before and after each dimension of places."""
    padding, axes = text_of(s.attr("padding")), spatial_axes(s)
    if padding == "VALID":
        return [(0, 0)] * len(axes)
    if padding == "EXPLICIT":
        numbers = s.attr("explicit_paddings")
        return [(numbers[2 * k], numbers[2 * k + 1]) for k in axes]
    found = []
    for axis, size, stride, apart in zip(axes, window, strides, spread, strict=True):
        length = s.inputs[0].shape[axis]
        total = (-(-length // stride) - 1) * stride + (size - 1) * apart + 1 - length
        found.append((max(total, 0) // 2, max(total, 0) - max(total, 0) // 2))
    return found
