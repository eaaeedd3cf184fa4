"""PNG files: chunks, bit depths, interlacing and colours as libpng gives them to TensorFlow.

Pillow undoes the row filters, one byte lane at a time: its own reader of PNG files would cut
16-bit colours to 8 bits. Source: the PNG specification (W3C, third edition).
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from drystone_base.kernels._registry import Array, Call
from drystone_base.kernels.image._image_bytes import broken, check_image, library

__all__ = ["read_png", "write_png"]

_MAGIC: Final = b"\x89PNG\r\n\x1a\n"
_SAMPLES: Final = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}
_DEPTHS: Final = {0: (1, 2, 4, 8, 16), 2: (8, 16), 3: (1, 2, 4, 8), 4: (8, 16), 6: (8, 16)}
_ADAM7: Final = ((0, 0, 8, 8), (0, 4, 8, 8), (4, 0, 8, 4), (0, 2, 4, 4), (2, 0, 4, 2), (0, 1, 2, 2),
                 (1, 0, 2, 1))  # fmt: skip
_RED, _GREEN, _BLUE = 9797, 19234, 3737  # shares of gray, of 2^15


@dataclass
class _Png:
    """A file's header, palette, transparency and compressed samples."""

    width: int
    height: int
    depth: int
    color: int
    interlaced: bool
    palette: bytes = b""
    clear: bytes | None = None
    data: list[bytes] = field(default_factory=list)

    @property
    def samples(self) -> int:
        """Samples of a pixel in the file."""
        return _SAMPLES[self.color]

    def passes(self) -> Iterator[tuple[int, int, int, int]]:
        """First row and column and the steps of each part of the image that has pixels."""
        for y, x, down, right in _ADAM7 if self.interlaced else ((0, 0, 1, 1),):
            if y < self.height and x < self.width:
                yield y, x, down, right


def _chunks(call: Call, data: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Names and bodies; ancillary chunks with a wrong checksum are left out."""
    at = len(_MAGIC)
    while True:
        if at + 12 > len(data):
            broken(call, "PNG", f"no chunk at byte {at} of {len(data)}")
        (size,) = struct.unpack_from(">I", data, at)
        end = at + 8 + size
        if end + 4 > len(data):
            broken(call, "PNG", f"{len(data)} bytes, where a chunk ends at byte {end + 4}")
        name, body = data[at + 4 : at + 8], data[at + 8 : end]
        if zlib.crc32(data[at + 4 : end]) == struct.unpack_from(">I", data, end)[0]:
            yield name, body
        elif not name[0] & 32:
            broken(call, "PNG", f"chunk {name!r} with a wrong checksum")
        if name == b"IEND":
            return
        at = end + 4


def _header(call: Call, name: bytes, body: bytes) -> _Png:
    if name != b"IHDR" or len(body) != 13:
        broken(call, "PNG", f"first chunk {name!r} of {len(body)} bytes")
    width, height, depth, color, method, filters, interlace = struct.unpack(">IIBBBBB", body)
    if depth not in _DEPTHS.get(color, ()) or method or filters or interlace > 1:
        broken(call, "PNG", f"colour type {color} of {depth} bits, methods {method}, {filters}")
    check_image(call, "PNG", height, width)
    return _Png(width, height, depth, color, bool(interlace))


def _clear(png: _Png, body: bytes) -> bytes | None:
    """What the file declares transparent, or None where it may not say so."""
    if png.color == 3:
        return body if 0 < len(body) <= len(png.palette) // 3 else None
    return body if png.color in (0, 2) and len(body) == 2 * png.samples else None


def _parse(call: Call, data: bytes) -> _Png:
    png: _Png | None = None
    for name, body in _chunks(call, data):
        if png is None:
            png = _header(call, name, body)
        elif name == b"IDAT":
            png.data.append(body)
        elif name == b"PLTE" and not png.data and png.color & 2:
            if png.color == 3 and (len(body) % 3 or not body):
                broken(call, "PNG", f"a palette of {len(body)} bytes")
            png.palette = body[: 3 << png.depth] if png.color == 3 else b""
        elif name == b"tRNS" and not png.data:
            png.clear = _clear(png, body)
        elif not name[0] & 32 and name not in (b"PLTE", b"IEND"):
            broken(call, "PNG", f"unknown chunk {name!r}")
    if png is None or not png.data or (png.color == 3 and not png.palette):
        broken(call, "PNG", "no samples, or no palette")
    return png


def _unfilter(call: Call, rows: Array, step: int) -> Array:
    """``rows`` (filter byte, then bytes of pixels ``step`` bytes apart) without their filters."""
    if int(rows[:, 0].max()) > 4:
        broken(call, "PNG", f"row filter {int(rows[:, 0].max())}")
    if not rows[:, 0].any():
        return rows[:, 1:]
    image = library(call, "PIL.Image")
    out = np.empty((rows.shape[0], rows.shape[1] - 1), np.uint8)
    for lane in range(step):
        part = np.concatenate([rows[:, :1], rows[:, 1 + lane :: step]], 1)
        size = part.shape[1] - 1, part.shape[0]
        packed = zlib.compress(part.tobytes(), 1)
        out[:, lane::step] = np.asarray(image.frombytes("L", size, packed, "zip", "L", 0))
    return out


def _unpack(png: _Png, rows: Array, width: int) -> Array:
    """Bytes of rows as samples ``[rows, width, samples]``, uint8 or uint16."""
    if png.depth == 16:
        return rows.reshape(-1, width, png.samples, 2).copy().view(">u2")[..., 0].astype(np.uint16)
    if png.depth == 8:
        return rows.reshape(-1, width, png.samples)
    bits = np.unpackbits(rows, axis=1).reshape(len(rows), -1, png.depth)
    weights = (1 << np.arange(png.depth)[::-1]).astype(np.uint8)
    return (bits @ weights).astype(np.uint8)[:, :width, None]


def _samples(call: Call, png: _Png) -> Array:
    """The file's samples as they are stored: ``[height, width, samples]``."""
    layout = []
    for y, x, down, right in png.passes():
        rows, columns = -(-(png.height - y) // down), -(-(png.width - x) // right)
        layout.append((rows, columns, 1 + (columns * png.samples * png.depth + 7) // 8))
    needed = sum(rows * size for rows, _, size in layout)
    try:
        raw = zlib.decompressobj().decompress(b"".join(png.data), needed)
    except zlib.error as error:
        broken(call, "PNG", str(error), error)
    if len(raw) < needed:
        broken(call, "PNG", f"{len(raw)} bytes of samples, of {needed}")
    flat, at = np.frombuffer(raw, np.uint8), 0
    kind = np.uint16 if png.depth == 16 else np.uint8
    out = np.empty((png.height, png.width, png.samples), kind)
    step = max(png.samples * png.depth // 8, 1)
    for (y, x, down, right), (rows, columns, size) in zip(png.passes(), layout, strict=True):
        part = flat[at : at + rows * size].reshape(rows, size)
        out[y::down, x::right] = _unpack(png, _unfilter(call, part, step), columns)
        at += rows * size
    return out


def _colors(png: _Png, samples: Array) -> tuple[Array, Array | None]:
    """Gray or RGB without alpha, and alpha ``[height, width]`` where the file tells it."""
    if png.color == 3:
        palette = np.zeros((256, 4), np.uint8)
        known = np.frombuffer(png.palette, np.uint8).reshape(-1, 3)
        palette[: len(known), :3], palette[:, 3] = known, 255
        clear = np.frombuffer(png.clear or b"", np.uint8)
        palette[: len(clear), 3] = clear
        pixels = palette[samples[..., 0]]
        return pixels[..., :3], None if png.clear is None else pixels[..., 3]
    if png.color & 4:
        return samples[..., :-1], samples[..., -1]
    alpha = None
    if png.clear is not None:
        key = np.frombuffer(png.clear, ">u2") & ((1 << png.depth) - 1)
        top = np.iinfo(samples.dtype).max
        alpha = np.where((samples == key).all(-1), 0, top).astype(samples.dtype)
    if png.depth < 8:
        samples = samples * np.uint8(255 // ((1 << png.depth) - 1))
    return samples, alpha


def _gray(colors: Array) -> Array:
    """Gray of RGB by libpng's integer weights, which leave gray pixels as they are."""
    red, green, blue = (colors[..., k].astype(np.int64) for k in range(3))
    total = red * _RED + green * _GREEN + blue * _BLUE
    total = (total + (16384 if colors.dtype == np.uint16 else 0)) >> 15
    same = (red == green) & (red == blue)
    return np.where(same, red, total).astype(colors.dtype)[..., None]


def read_png(call: Call, data: bytes, channels: int, wide: bool) -> Array:
    """``[height, width, channels]`` uint8, or uint16 if ``wide``; 0 channels: as in the file."""
    png = _parse(call, data)
    count = channels or (3 + (png.clear is not None) if png.color == 3 else png.samples)
    check_image(call, "PNG", png.height, png.width, count)
    colors, alpha = _colors(png, _samples(call, png))
    if count < 3 and colors.shape[-1] == 3:
        colors = _gray(colors)
    elif count >= 3 and colors.shape[-1] == 1:
        colors = np.repeat(colors, 3, -1)
    if count % 2 == 0:
        if alpha is None:  # libpng fills in the largest sample of the file's own depth
            alpha = np.full(colors.shape[:2], (1 << png.depth) - 1, colors.dtype)
        colors = np.concatenate([colors, alpha[..., None]], -1)
    if wide:
        return colors.astype(np.uint16) * np.uint16(257) if colors.dtype == np.uint8 else colors
    return (colors >> 8).astype(np.uint8) if colors.dtype == np.uint16 else colors


def _chunk(name: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))


def write_png(image: Array, compression: int) -> bytes:
    """A PNG file of ``[height, width, channels]`` uint8 or uint16, each row stored as differences
    to the row above.
    """
    height, width, channels = image.shape
    wide = image.dtype == np.uint16
    rows = image.astype(">u2" if wide else np.uint8).reshape(height, -1).view(np.uint8)
    filtered = np.empty((height, rows.shape[1] + 1), np.uint8)
    filtered[:, 0], filtered[0, 1:] = 2, rows[0]
    filtered[1:, 1:] = rows[1:] - rows[:-1]
    color = {1: 0, 2: 4, 3: 2, 4: 6}[channels]
    header = struct.pack(">IIBBBBB", width, height, 16 if wide else 8, color, 0, 0, 0)
    packed: Any = zlib.compress(filtered.tobytes(), compression)
    parts = (_chunk(b"IHDR", header), _chunk(b"IDAT", packed), _chunk(b"IEND", b""))
    return _MAGIC + b"".join(parts)
