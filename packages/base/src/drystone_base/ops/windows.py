"""Geometry of sliding windows, shared by kernels and shape functions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

__all__ = ["channels_axis", "explicit_pairs", "slide", "spatial_axes", "spatial_values"]


def channels_axis(data_format: str) -> int:
    """The axis of channels: 1 for ``NCHW``, ``NCDHW`` and ``CHANNELS_FIRST``, else -1."""
    return 1 if data_format.startswith("NC") or data_format == "CHANNELS_FIRST" else -1


def spatial_axes(data_format: str, rank: int) -> range:
    """The axes that windows slide along."""
    return range(2, rank) if channels_axis(data_format) == 1 else range(1, rank - 1)


def spatial_values(values: Sequence[Any], data_format: str) -> tuple[Any, ...]:
    """The entries of a per-dimension attribute (strides, ksize, ...) for the spatial axes."""
    return tuple(values[axis] for axis in spatial_axes(data_format, len(values)))


def explicit_pairs(attrs: Any, data_format: str) -> tuple[tuple[int, int], ...] | None:
    """(before, after) per spatial axis when ``padding`` is ``EXPLICIT``, else None."""
    if attrs["padding"] != "EXPLICIT":
        return None
    flat = attrs["explicit_paddings"]
    return spatial_values(list(zip(flat[::2], flat[1::2], strict=True)), data_format)


def slide(
    size: int, window: int, stride: int, dilation: int, padding: str | tuple[int, int]
) -> tuple[int, int, int]:
    """Positions of a window along one axis, and the padding before and after it.

    ``padding`` is ``SAME``, ``VALID`` or an explicit pair. The count is negative when the window
    does not fit at all.
    """
    extent = (window - 1) * dilation + 1
    if padding == "SAME":
        count = -(-size // stride)
        total = max((count - 1) * stride + extent - size, 0)
        return count, total // 2, total - total // 2
    before, after = (0, 0) if isinstance(padding, str) else padding
    return (size + before + after - extent) // stride + 1, before, after
