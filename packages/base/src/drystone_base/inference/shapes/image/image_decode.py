"""Shapes of images read from files."""

from __future__ import annotations

from drystone_base.inference.shapes._registry import UNKNOWN, Shape, ShapeCall, shape

__all__: list[str] = []


def _channels(c: ShapeCall) -> int:
    wanted = int(c.attrs["channels"])
    if wanted < 0:
        c.fail("channels must not be negative", found=wanted, needed="0 or more")
    return wanted or UNKNOWN


@shape("DecodePng", "DecodeJpeg", "DecodeBmp")
def decode_image(c: ShapeCall) -> list[Shape]:
    """``[height, width, channels]``."""
    c.with_rank(c.shape(0), 0)
    return [(UNKNOWN, UNKNOWN, _channels(c))]


@shape("DecodeAndCropJpeg")
def decode_and_crop(c: ShapeCall) -> list[Shape]:
    """What the window, if known, says."""
    c.with_rank(c.shape(0), 0)
    channels = _channels(c)
    (four,) = c.with_rank(c.shape(1), 1)
    c.merge_dim(four, 4)
    window = c.value_as_shape(1)
    rows, columns = (UNKNOWN, UNKNOWN) if window is None else window[2:]
    return [(rows, columns, channels)]


@shape("DecodeGif")
def decode_gif(c: ShapeCall) -> list[Shape]:
    """``[frames, height, width, 3]``."""
    c.with_rank(c.shape(0), 0)
    return [(UNKNOWN, UNKNOWN, UNKNOWN, 3)]


@shape("DecodeWebP")
def decode_webp(c: ShapeCall) -> list[Shape]:
    """``[frames, height, width, channels]``."""
    c.with_rank(c.shape(0), 0)
    return [(UNKNOWN, UNKNOWN, UNKNOWN, _channels(c))]


@shape("DecodeImage")
def decode_any(c: ShapeCall) -> list[Shape]:
    """An image, or, if ``expand_animations``, perhaps an animation."""
    c.with_rank(c.shape(0), 0)
    channels = _channels(c)
    return [None if c.attrs["expand_animations"] else (UNKNOWN, UNKNOWN, channels)]


@shape("ExtractJpegShape")
def extract_jpeg_shape(c: ShapeCall) -> list[Shape]:
    """Three numbers."""
    c.with_rank(c.shape(0), 0)
    return [(3,)]
