"""Output dims of sliding windows over partly known inputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from drystone_base.inference.shapes._registry import UNKNOWN, ShapeCall
from drystone_base.ops.windows import channels_axis, explicit_pairs, slide, spatial_values

__all__ = ["assemble", "slid", "split"]


def split(dims: Sequence[int], data_format: str) -> tuple[int, tuple[int, ...], int]:
    """Batch, spatial dims and channels of a shape."""
    return dims[0], spatial_values(dims, data_format), dims[channels_axis(data_format)]


def assemble(
    batch: int, spatial: Sequence[int], channels: int, data_format: str
) -> tuple[int, ...]:
    """The inverse of :func:`split`."""
    if channels_axis(data_format) == 1:
        return (batch, channels, *spatial)
    return (batch, *spatial, channels)


def slid(
    c: ShapeCall,
    spatial: Sequence[int],
    window: Sequence[int],
    strides: Sequence[int],
    *,
    data_format: str,
    attrs: Mapping[str, Any] | None = None,
    least: int = 1,
) -> tuple[int, ...]:
    """Output dims along the spatial axes; ``strides`` is per dimension, -1 where not known.

    ``least`` is how small a window may be: a filter may have no elements, a pool may not.
    """
    given = attrs if attrs is not None else c.attrs
    rates = given.get("dilations") or given.get("rates") or [1] * len(strides)
    if len(strides) != len(spatial) + 2 or len(rates) != len(strides):
        c.fail(
            "strides and dilations need one entry per dimension",
            found=f"{list(strides)} and {list(rates)}",
            needed=f"{len(spatial) + 2} entries",
        )
    if given["padding"] == "EXPLICIT" and len(given["explicit_paddings"]) != 2 * len(strides):
        c.fail(
            "explicit_paddings needs a pair per dimension",
            found=list(given["explicit_paddings"]),
            needed=f"{2 * len(strides)} values",
        )
    pairs = explicit_pairs(given, data_format) or [given["padding"]] * len(spatial)
    moves, spread = spatial_values(strides, data_format), spatial_values(rates, data_format)
    rows = zip(spatial, window, moves, spread, pairs, strict=True)
    return tuple(_slid(c, *row, least) for row in rows)


def _slid(
    c: ShapeCall,
    size: int,
    window: int,
    stride: int,
    rate: int,
    padding: str | tuple[int, int],
    least: int,
) -> int:
    if padding == "SAME" and stride == 1:
        return size
    if window == stride == rate == 1 and padding == "VALID":
        return size
    if size < 0 or stride == UNKNOWN or (window < 0 and padding != "SAME"):
        return UNKNOWN
    if stride < 1 or rate < 1 or 0 <= window < least:
        c.fail(
            "windows, strides and dilations must be positive",
            found=f"window {window}, stride {stride}, dilation {rate}",
            needed="1 or more",
        )
    count = slide(size, window, stride, rate, padding)[0]
    if count < 0:
        c.fail(
            "computed output size would be negative",
            found=f"window {window} (dilation {rate}) over {size}",
            needed="a window that fits the padded input",
        )
    return count
