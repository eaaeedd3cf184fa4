"""JPEG files through simplejpeg (libjpeg-turbo, which TensorFlow reads them with) and Pillow.

Pillow has neither TensorFlow's fast transform, its default, nor plain upsampling; simplejpeg has
both and gives TensorFlow's samples to the bit. Pillow writes, tells files that end too soon, and
reads layouts that simplejpeg does not know.
"""

from __future__ import annotations

import io
import math
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from drystone_base.kernels._registry import Array, Call
from drystone_base.kernels.image._image_bytes import broken, check_image, library

__all__ = ["JpegHeader", "JpegOptions", "jpeg_header", "read_jpeg", "write_jpeg"]


@dataclass(frozen=True)
class JpegHeader:
    """Size and components; ``adobe`` if the file bears Adobe's mark (CMYK is inverted then),
    ``progressive`` if no row is whole before the file's end.
    """

    height: int
    width: int
    components: int
    adobe: bool
    progressive: bool


@dataclass(frozen=True)
class JpegOptions:
    """How to read: a smaller image by ``ratio``, smooth upsampling, fast transform, cut files.

    A file that ends too soon is refused if less than ``fraction`` of its rows are there, and has
    black ones in place of the missing; with ``recover`` these are libjpeg's guess, which is not
    TensorFlow's. Images smaller than ``ratio`` come out by another scale.
    """

    ratio: int = 1
    fancy: bool = True
    fast: bool = True
    recover: bool = False
    fraction: float = 1.0


def _segments(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Markers and bodies up to the first scan; IndexError, struct.error at the end of the data."""
    at = 2
    while True:
        while data[at] != 0xFF:
            at += 1
        while data[at] == 0xFF:
            at += 1
        marker = data[at]
        at += 1
        if marker in (0, 1) or 0xD0 <= marker <= 0xD8:
            continue
        (size,) = struct.unpack_from(">H", data, at)
        if size < 2:
            raise IndexError(f"a segment of {size} bytes")
        yield marker, data[at + 2 : at + size]
        at += size


def jpeg_header(call: Call, data: bytes) -> JpegHeader:
    """What the file says of itself before its first scan, which must be there."""
    adobe = progressive = False
    frame: tuple[int, int, int] | None = None
    try:
        for marker, body in _segments(data):
            if marker == 0xEE:
                adobe |= body.startswith(b"Adobe") and len(body) >= 12
            elif 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
                frame = struct.unpack_from(">xHHB", body)
                progressive = marker & 3 == 2
            elif marker in (0xD9, 0xDA):
                break
    except (IndexError, struct.error) as error:
        broken(call, "JPEG", str(error), error)
    if frame is None:
        broken(call, "JPEG", "no frame header")
    height, width, components = frame
    return JpegHeader(height, width, components, adobe, progressive)


def _by_pillow(call: Call, data: bytes, space: str, header: JpegHeader, ratio: int) -> Array:
    """Read by Pillow: within a few steps of TensorFlow's samples, by the exact transform.

    It waits for more data where there is none, and then says that the file is truncated.
    """
    reader = library(call, "PIL.JpegImagePlugin").JpegImageFile
    try:
        with reader(io.BytesIO(data)) as file:
            if ratio > 1:
                file.draft(None, (max(header.width // ratio, 1), max(header.height // ratio, 1)))
            out = np.asarray(file.convert({"GRAY": "L"}.get(space, space)))
    except Exception as error:  # Pillow's plugins raise of every kind on broken files
        broken(call, "JPEG", str(error), error)
    if space == "CMYK":
        return 255 - out if header.adobe else out
    return out.reshape(*out.shape[:2], -1)


def _rows_read(call: Call, data: bytes, space: str, size: tuple[int, int]) -> int | None:
    """How many rows can be read of a file that ends too soon; None of one that does not.

    Black rows at the end of what there is do not count.
    """
    reader = library(call, "PIL.JpegImagePlugin").JpegImageFile
    try:
        with reader(io.BytesIO(data)) as file:
            file.draft({"GRAY": "L"}.get(space), size)
            try:
                file.load()
            except OSError as error:
                if "truncated" not in str(error):
                    return None
                file.tile = []  # what has been read so far is in place
                there = np.asarray(file)
                rows = np.flatnonzero(there.reshape(len(there), -1).any(1))
                return int(rows[-1]) + 1 if rows.size else 0
    except Exception as error:  # Pillow's plugins raise of every kind on broken files
        broken(call, "JPEG", str(error), error)
    return None


def _decode(call: Call, data: bytes, space: str, header: JpegHeader, options: JpegOptions) -> Array:
    jpeg = library(call, "simplejpeg")
    wanted: dict[str, Any] = {"fastdct": options.fast, "fastupsample": not options.fancy}
    if options.ratio > 1:
        wanted["min_height"] = math.ceil(header.height / options.ratio)
        wanted["min_width"] = math.ceil(header.width / options.ratio)
        wanted["min_factor"] = options.ratio
    try:
        return np.asarray(jpeg.decode_jpeg(data, space, strict=True, **wanted))
    except ValueError as error:
        if "subsampling" in str(error):  # a layout that simplejpeg does not know
            return _by_pillow(call, data, space, header, options.ratio)
        size = header.width // options.ratio or 1, header.height // options.ratio or 1
        rows = None if options.recover else _rows_read(call, data, space, size)
    height = math.ceil(header.height / options.ratio)
    if rows is not None and (header.progressive or rows / height < min(1.0, options.fraction)):
        broken(call, "JPEG", f"{rows} of {height} rows: the file is truncated")
    try:
        out = np.array(jpeg.decode_jpeg(data, space, strict=False, **wanted))
    except ValueError as error:
        broken(call, "JPEG", str(error), error)
    if rows is not None:
        out[rows:] = 0
    return out


def _from_cmyk(cmyk: Array, inverted: bool) -> Array:
    """RGB from CMYK in whole numbers."""
    wide = cmyk.astype(np.int32) if inverted else 255 - cmyk.astype(np.int32)
    return (wide[..., :3] * wide[..., 3:] // 255).astype(np.uint8)


def read_jpeg(call: Call, data: bytes, channels: int, options: JpegOptions) -> Array:
    """``[height, width, channels]`` uint8; 0 channels: gray for one component, else RGB."""
    header = jpeg_header(call, data)
    ratio = options.ratio
    check_image(call, "JPEG", -(-header.height // ratio), -(-header.width // ratio),
                max(header.components, 1))  # fmt: skip
    count = channels or min(header.components, 3)
    if header.components == 4 and count == 1:
        broken(call, "JPEG", "gray wanted of a CMYK image")
    if header.components == 4 and count == 3:
        return _from_cmyk(_decode(call, data, "CMYK", header, options), header.adobe)
    return _decode(call, data, "GRAY" if count == 1 else "RGB", header, options)


def write_jpeg(
    call: Call,
    image: Array,
    quality: int,
    *,
    progressive: bool = False,
    optimize: bool = False,
    downsample: bool = True,
    density: tuple[int, int, int] = (1, 300, 300),
    xmp: bytes = b"",
) -> bytes:
    """A JPEG file of ``[height, width, 1 or 3]`` uint8; ``density`` is unit, x and y."""
    pillow = library(call, "PIL.Image")
    made = pillow.fromarray(image[..., 0] if image.shape[-1] == 1 else image)
    out = io.BytesIO()
    options: dict[str, Any] = {"xmp": xmp} if xmp else {}
    made.save(out, "JPEG", quality=quality or 1, progressive=progressive, optimize=optimize,
              subsampling=2 if downsample else 0, **options)  # fmt: skip
    raw = bytearray(out.getvalue())
    raw[13:18] = struct.pack(">BHH", *density)
    return bytes(raw)
