"""GIF files: frames drawn over one another as TensorFlow draws them.

Pillow unpacks the pixels of each frame. Source: the GIF89a specification (CompuServe, 1990).
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from drystone_base.kernels._registry import Array, Call
from drystone_base.kernels.image._image_bytes import broken, check_image, library

__all__ = ["read_gif"]


@dataclass
class _Frame:
    """Where a frame lies, its palette (uint8 [colours, 3]), transparent index and packed pixels."""

    left: int
    top: int
    width: int
    height: int
    palette: Array | None
    clear: int
    interlaced: bool
    bits: int
    packed: bytes


def _palette(data: bytes, at: int, flags: int) -> tuple[Array | None, int]:
    """The palette at ``at`` if ``flags`` announce one, and where it ends."""
    if not flags & 0x80:
        return None, at
    size = 3 << ((flags & 7) + 1)
    whole = data[at : at + size].ljust(size, b"\0")
    return np.frombuffer(whole, np.uint8).reshape(-1, 3), at + size


def _blocks_end(data: bytes, at: int) -> int:
    """Where the chain of sub-blocks at ``at`` ends."""
    while data[at]:
        at += data[at] + 1
    return at + 1


def _frames(data: bytes) -> Iterator[_Frame]:
    """The whole frames; what follows the last of them may be broken or missing."""
    with suppress(IndexError, struct.error):
        yield from _read_frames(data)


def _read_frames(data: bytes) -> Iterator[_Frame]:
    shared, at = _palette(data, 13, data[10])
    clear = -1
    while data[at] != 0x3B:
        if data[at] == 0x21:
            if data[at + 1] == 0xF9 and data[at + 2] >= 4:
                clear = data[at + 6] if data[at + 3] & 1 else -1
            at = _blocks_end(data, at + 2)
        elif data[at] == 0x2C:
            left, top, width, height, flags = struct.unpack_from("<HHHHB", data, at + 1)
            own, at = _palette(data, at + 10, flags)
            end = _blocks_end(data, at + 1)
            palette = shared if own is None else own
            interlaced, bits = bool(flags & 0x40), data[at]
            packed = data[at + 1 : end]
            yield _Frame(left, top, width, height, palette, clear, interlaced, bits, packed)
            clear, at = -1, end
        else:
            return


def _pixels(call: Call, frame: _Frame) -> Array:
    """The indices of a frame ``[height, width]``."""
    check_image(call, "GIF", frame.height, frame.width)
    if not 1 <= frame.bits <= 8:
        broken(call, "GIF", f"codes of {frame.bits} bits")
    image = library(call, "PIL.Image")
    size = frame.width, frame.height
    try:
        made = image.frombytes("L", size, frame.packed, "gif", frame.bits, frame.interlaced, -1)
    except (ValueError, OSError, OverflowError) as error:
        broken(call, "GIF", str(error), error)
    return np.asarray(made)


def _draw(call: Call, canvas: Array, frame: _Frame, pixels: Array) -> None:
    """``frame`` onto ``canvas``, as far as it lies inside; transparent pixels change nothing."""
    height, width = canvas.shape[:2]
    index = pixels[: max(height - frame.top, 0), : max(width - frame.left, 0)]
    if frame.palette is None:
        broken(call, "GIF", "a frame without a palette")
    seen = index != frame.clear
    most = int(index[seen].max(initial=0))
    if most >= len(frame.palette):
        broken(call, "GIF", f"colour {most} of a palette of {len(frame.palette)}")
    rows, columns = index.shape
    part = canvas[frame.top : frame.top + rows, frame.left : frame.left + columns]
    part[seen] = frame.palette[index[seen]]


def read_gif(call: Call, data: bytes, all_frames: bool) -> Array:
    """``[frames, height, width, 3]`` uint8, of the size of the largest; each drawn over the last.

    What the first frame leaves open is black. A frame that is cut off is left out; TensorFlow gives
    it with whatever its memory held.
    """
    frames = list(_frames(data))
    if not frames:
        broken(call, "GIF", "no whole frame")
    height, width = max(f.height for f in frames), max(f.width for f in frames)
    frames = frames if all_frames else frames[:1]
    shape = check_image(call, "GIF", height, width, 3, frames=len(frames))
    pixels = [_pixels(call, frame) for frame in frames]  # a file without them is refused here
    out = np.zeros(shape, np.uint8)
    for k, (frame, index) in enumerate(zip(frames, pixels, strict=True)):
        if k:
            out[k] = out[k - 1]
        _draw(call, out[k], frame, index)
    return out
