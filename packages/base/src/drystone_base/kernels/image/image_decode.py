"""Image files to arrays: PNG, JPEG, GIF, BMP, WebP.

Source: TensorFlow ops DecodePng, DecodeJpeg, DecodeAndCropJpeg, DecodeGif, DecodeBmp, DecodeWebP,
DecodeImage, ExtractJpegShape. As there, the first bytes tell the format, not the op's name.
TensorFlow also lets the ops for one format read WebP, and DecodeWebP the others, with results of
another rank than their shape functions promise: we refuse. JPEG XL is not read.
"""

from __future__ import annotations

import io
import struct
import warnings
from typing import Any, Final

import numpy as np

from drystone_base.core.errors import KernelError
from drystone_base.kernels._registry import Array, Call, kernel
from drystone_base.kernels.image._image_bytes import as_dtype, broken, check_image, library
from drystone_base.kernels.image._image_gif import read_gif
from drystone_base.kernels.image._image_jpeg import JpegOptions, jpeg_header, read_jpeg
from drystone_base.kernels.image._image_png import read_png

__all__: list[str] = []

_ANY: Final = ("DecodeJpeg", "DecodePng", "DecodeGif", "DecodeImage")
_OPS_READING: Final = {
    "JPEG": (*_ANY, "DecodeAndCropJpeg"),
    "PNG": _ANY,
    "GIF": _ANY,
    "BMP": ("DecodeBmp", "DecodeImage"),
    "WebP": ("DecodeWebP", "DecodeImage"),
}


def _format(data: bytes) -> str:
    for start, name in (
        (b"\xff\xd8\xff", "JPEG"),
        (b"\x89PNG\r\n\x1a\n", "PNG"),
        (b"GIF8", "GIF"),
        (b"BM", "BMP"),
    ):
        if data.startswith(start):
            return name
    return "WebP" if data[:4] == b"RIFF" and data[8:12] == b"WEBP" and len(data) > 12 else ""


def _contents(call: Call, contents: Array) -> tuple[bytes, str]:
    """The bytes and their format, which the op must be able to read."""
    call.require(contents.ndim == 0, "contents must be a scalar", found=list(contents.shape))
    data: bytes = contents.item()
    kind = _format(data)
    call.require(
        kind,
        "the image file format must be known",
        found=data[:8],
        needed="the first bytes of a PNG, JPEG, GIF, BMP or WebP file",
    )
    call.require(
        call.op in _OPS_READING[kind],
        "the op must read files of this format",
        found=f"{call.op} of a {kind} file",
        needed=" or ".join(_OPS_READING[kind]),
    )
    return data, kind


def _channels(call: Call, kind: str) -> int:
    """The ``channels`` wanted, which the format must offer."""
    wanted = 3 if call.op == "DecodeGif" else int(call.attrs["channels"])
    offered = {"PNG": (0, 1, 3, 4), "JPEG": (0, 1, 3), "GIF": (0, 3)}.get(kind, (0, 3, 4))
    call.require(
        wanted in offered,
        f"channels must be what {kind} files offer",
        found=wanted,
        needed=" or ".join(map(str, offered)),
    )
    return wanted


def _jpeg_options(call: Call) -> JpegOptions:
    if "ratio" not in call.attrs:
        return JpegOptions()
    ratio, method = call.attrs["ratio"], call.attrs["dct_method"]
    call.require(ratio in (1, 2, 4, 8), "ratio must be 1, 2, 4 or 8", found=ratio)
    if isinstance(method, bytes):
        method = method.decode()
    call.require(
        method in ("", "INTEGER_FAST", "INTEGER_ACCURATE"),
        "dct_method must be known",
        found=method,
        needed="'', INTEGER_FAST or INTEGER_ACCURATE",
    )
    return JpegOptions(
        ratio,
        call.attrs["fancy_upscaling"],
        method != "INTEGER_ACCURATE",
        call.attrs["try_recover_truncated"],
        call.attrs["acceptable_fraction"],
    )


def _bmp(call: Call, data: bytes, channels: int) -> Array:
    """A BMP file of 24 or 32 bits a pixel, or of 8, taken for gray whatever the palette.

    TensorFlow aborts on files stored from the top down when it is asked for more than uint8.
    """
    if len(data) < 32:
        broken(call, "BMP", f"{len(data)} bytes")
    start, width, height, bits = struct.unpack("<i4xii2xh", data[10:30])
    depth = int(bits / 8)
    row = (depth * width + 3) // 4 * 4
    top_down, height = height < 0, abs(height)
    if depth not in (1, 3, 4) or start < 0 or len(data) != start + row * height:
        broken(call, "BMP", f"{bits} bits a pixel, {height} by {width} from byte {start} on, "
                            f"{len(data)} bytes")  # fmt: skip
    shape = check_image(call, "BMP", height, width, channels or depth)[1:]
    rows = np.frombuffer(data, np.uint8, offset=start).reshape(height, row)
    pixels = rows[:, : depth * width].reshape(height, width, depth)
    pixels = pixels if top_down else pixels[::-1]
    out = np.full(shape, 255, np.uint8)
    out[..., :3] = pixels[..., 2::-1] if depth > 1 else pixels
    if depth == 4 and shape[2] == 4:
        out[..., 3] = pixels[..., 3]
    return out


def _check_webp(call: Call, data: bytes) -> None:
    """Bound the size that the file's first chunk states, before the library makes room for it."""
    name, head = data[12:16], data[20:30].ljust(10, b"\0")
    if name == b"VP8X":
        width, height = (1 + int.from_bytes(head[k : k + 3], "little") for k in (4, 7))
    elif name == b"VP8L":
        bits = int.from_bytes(head[1:5], "little")
        width, height = 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)
    else:
        width, height = (int.from_bytes(head[k : k + 2], "little") & 0x3FFF for k in (6, 8))
    check_image(call, "WebP", height, width, 4)


def _webp(call: Call, data: bytes, channels: int, all_frames: bool) -> Array:
    """``[frames, height, width, 3 or 4]``; animations always have alpha."""
    _check_webp(call, data)
    reader = library(call, "PIL.WebPImagePlugin").WebPImageFile
    try:
        with warnings.catch_warnings(), reader(io.BytesIO(data)) as file:
            warnings.simplefilter("ignore")  # of large images, which are bounded above
            mode = "RGBA" if file.is_animated or file.mode == "RGBA" else "RGB"
            count = file.n_frames if all_frames else 1
            shape = check_image(call, "WebP", file.height, file.width, len(mode), frames=count)
            call.require(
                channels in (0, len(mode)),
                "channels must be those of the WebP file",
                found=channels,
                needed=len(mode),
            )
            out = np.empty(shape, np.uint8)
            for k in range(count):
                file.seek(k)
                out[k] = np.asarray(file.convert(mode))
    except KernelError:
        raise
    except Exception as error:  # Pillow's plugins raise of every kind on broken files
        broken(call, "WebP", str(error), error)
    return out


def _decode(call: Call, data: bytes, kind: str, dtype: np.dtype[Any]) -> Array:
    """The image, or with four dimensions the animation, in ``dtype``."""
    channels = _channels(call, kind)
    if kind == "PNG":
        image = read_png(call, data, channels, dtype != np.uint8)
        if dtype == np.float32:
            return image.astype(np.float32) * np.float32(1 / 65535)
        return image
    expand = call.attrs.get("expand_animations", True)
    if kind == "JPEG":
        image = read_jpeg(call, data, channels, _jpeg_options(call))
    elif kind == "BMP":
        image = _bmp(call, data, channels)
    elif kind == "GIF":
        image = read_gif(call, data, expand)
    else:
        call.require(dtype == np.uint8, "WebP files give uint8 only", found=str(dtype))
        image = _webp(call, data, channels, expand)
    return as_dtype(image if image.ndim < 4 or expand else image[0], dtype)


@kernel("DecodePng", "DecodeJpeg", "DecodeGif", "DecodeBmp", "DecodeWebP", "DecodeImage")
def decode_image(call: Call, contents: Array) -> Array:
    """``[height, width, channels]``, of an animation ``[frames, height, width, channels]``."""
    data, kind = _contents(call, contents)
    dtype = call.attrs["dtype"].np if "dtype" in call.attrs else np.dtype(np.uint8)
    image = _decode(call, data, kind, dtype)
    if call.op == "DecodeGif":
        return image if image.ndim == 4 else image[None]
    if kind == "GIF" and call.op in ("DecodePng", "DecodeJpeg"):
        call.require(
            len(image) == 1,
            "animations can only be decoded by DecodeGif or DecodeImage",
            found=f"{len(image)} frames",
            needed="1 frame",
        )
        image = image[0]
    return np.asarray(image)


@kernel("DecodeAndCropJpeg")
def decode_and_crop_jpeg(call: Call, contents: Array, window: Array) -> Array:
    """The part of a JPEG file in ``window``: first row, first column, rows, columns.

    TensorFlow reads that part only, and then smooths colours of a lower resolution towards its
    left and right edges without their neighbours.
    """
    data, kind = _contents(call, contents)
    call.require(
        window.shape == (4,), "crop_window must have four elements", found=list(window.shape)
    )
    image = _decode(call, data, kind, np.dtype(np.uint8))
    y, x, height, width = (int(v) for v in window)
    inside = y + height <= image.shape[0] and x + width <= image.shape[1]
    call.require(
        min(height, width) > 0 and min(y, x) >= 0 and inside,
        "crop_window must lie inside the image",
        found=window.tolist(),
        needed=f"inside {list(image.shape[:2])}",
    )
    return image[y : y + height, x : x + width]


@kernel("ExtractJpegShape")
def extract_jpeg_shape(call: Call, contents: Array) -> Array:
    """Height, width and channels of a JPEG file, of which only the header is read."""
    call.require(contents.ndim == 0, "contents must be a scalar", found=list(contents.shape))
    data: bytes = contents.item()
    if not data.startswith(b"\xff\xd8"):
        broken(call, "JPEG", data[:4])
    header = jpeg_header(call, data)
    check_image(call, "JPEG", header.height, header.width, header.components)
    return np.array([header.height, header.width, header.components], call.attrs["output_type"].np)
