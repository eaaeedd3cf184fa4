"""Values of summaries: numbers, histograms, images, sounds and tensors under tags."""

from __future__ import annotations

import functools
import itertools
import math
import sys
from typing import Any, Final

import numpy as np
from google.protobuf.message import DecodeError

from drystone_abi.protos import HistogramProto, Summary, SummaryMetadata
from drystone_base.core.dtypes import RESOURCE, VARIANT, from_numpy
from drystone_base.core.tensor import to_proto
from drystone_base.kernels._registry import Array, Call
from drystone_base.kernels._widen import quiet
from drystone_base.kernels.audio.wav import wav_bytes
from drystone_base.kernels.image._image_png import write_png

__all__ = ["add_audio", "add_histogram", "add_images", "add_scalar", "add_tensor", "tag_text"]

_INT32_MAX: Final = (1 << 31) - 1
_PIXELS: Final = 1 << 29
_THRESHOLD: Final = np.float32(1e-6)  # what is less than this is an image of zeros


def tag_text(call: Call, tag: bytes) -> str:
    """A tag as text; a file with any other bytes could not be read back."""
    try:
        return tag.decode()
    except UnicodeDecodeError as error:
        call.fail("a tag must be UTF-8", found=tag, needed="text", inner=error)


def add_scalar(call: Call, summary: Summary, tag: bytes, number: Array) -> None:
    """A number, as float32."""
    with np.errstate(over="ignore"):
        value = float(number.astype(np.float32))
    summary.value.add(tag=tag_text(call, tag), simple_value=value)


@functools.cache
def _limits() -> Array:
    """Upper ends of the buckets: 0, and steps of a tenth from 1e-12 to 1e20, both ways."""
    steps = itertools.accumulate(itertools.repeat(1.1), lambda v, factor: v * factor, initial=1e-12)
    rising = [*itertools.takewhile(lambda v: v < 1e20, steps), sys.float_info.max]
    return np.array([*(-v for v in reversed(rising)), 0.0, *rising])


def add_histogram(call: Call, summary: Summary, tag: bytes, values: Array) -> None:
    """How many of the values lie in each bucket; NaN and infinities are refused."""
    flat = values.reshape(-1).astype(np.float64)
    if not np.isfinite(flat).all():
        bad = flat[~np.isfinite(flat)][0]
        call.fail("a histogram takes finite values", found=bad, needed="finite values")
    summary.value.add(tag=tag_text(call, tag), histo=_histogram(flat))


@quiet
def _histogram(flat: Array) -> HistogramProto:
    limits = _limits()
    places = np.minimum(np.searchsorted(limits, flat, side="right"), limits.size - 1)
    counts = np.bincount(places, minlength=limits.size)
    kept = (counts > 0) | np.append(counts[1:] > 0, True)  # of a run of empty ones, the last
    return HistogramProto(
        min=min(flat, default=sys.float_info.max),
        max=max(flat, default=-sys.float_info.max),
        num=flat.size,
        sum=_total(flat),
        sum_squares=_total(flat * flat),
        bucket_limit=limits[kept],
        bucket=counts[kept],
    )


def _total(values: Array) -> float:
    """The sum, from zero and the first to the last."""
    return 0.0 + float(values.cumsum()[-1]) if values.size else 0.0


def add_images(
    call: Call, summary: Summary, tag: bytes, images: Array, bad_color: Array, limit: int
) -> None:
    """The first ``limit`` of ``[batch, height, width, channels]`` as PNG files.

    Floats are scaled to 0 ... 255, around 128 where there are negative ones; pixels that are not
    finite get ``bad_color``.
    """
    call.require(
        images.ndim == 4 and images.shape[3] in (1, 3, 4),
        "images must have one, three or four channels",
        found=list(images.shape),
        needed="[batch, height, width, 1 | 3 | 4]",
    )
    height, width, channels = images.shape[1:]
    call.require(height * width, "an image must have pixels", found=list(images.shape))
    call.require(
        max(images.shape) <= _INT32_MAX and height * width < _PIXELS,
        "an image must not be too large",
        found=list(images.shape),
        needed=f"less than {_PIXELS} pixels",
    )
    call.require(
        images.dtype == np.uint8 or bad_color.size >= channels,
        "bad_color must cover the channels",
        found=bad_color.size,
        needed=f"{channels} or more",
    )
    call.require(limit <= _INT32_MAX, "max_images is too large", found=limit, needed=_INT32_MAX)
    for k, image in enumerate(images[:limit]):
        pixels = image if image.dtype == np.uint8 else _scaled(image, bad_color[:channels])
        value = summary.value.add(tag=_numbered(call, tag, "image", k, limit))
        value.image.height, value.image.width, value.image.colorspace = height, width, channels
        value.image.encoded_image_string = write_png(pixels, -1)


def _numbered(call: Call, tag: bytes, kind: str, index: int, limit: int) -> str:
    """The tag of one of several: numbered by how many were asked for, not how many there are."""
    return f"{tag_text(call, tag)}/{kind}" + (f"/{index}" if limit > 1 else "")


@quiet
def _scaled(image: Array, bad_color: Array) -> Array:
    finite = np.isfinite(image).all(axis=-1)
    used = image[finite].astype(np.float32)
    low, high = (used.min(), used.max()) if used.size else (np.float32(0), np.float32(0))
    most, top, offset = (max(-low, abs(high)), 127, 128) if low < 0 else (high, 255, 0)
    scale = image.dtype.type(0 if most < _THRESHOLD else np.float32(top) / most)
    out = np.empty(image.shape, np.uint8)
    out[finite] = _low_byte(image[finite] * scale + image.dtype.type(offset))
    out[~finite] = bad_color
    return out


def _low_byte(values: Array) -> Array:
    """Values cut to integers; of what is out of range the processor keeps nothing."""
    wide = values.astype(np.float64)
    fits = np.abs(wide) <= _INT32_MAX
    return np.where(fits, wide, 0).astype(np.int64).astype(np.uint8)


def add_audio(
    call: Call, summary: Summary, tag: bytes, sounds: Array, rate: float, limit: int
) -> None:
    """The first ``limit`` of ``[batch, frames]`` or ``[batch, frames, channels]`` as WAV files."""
    call.require(
        sounds.ndim in (2, 3), "sounds must have rank 2 or 3", found=list(sounds.shape), needed="3"
    )
    call.require(
        rate > 0 and math.isfinite(rate),
        "the sample rate must be positive",
        found=rate,
        needed="more than 0",
    )
    call.require(limit > 0, "max_outputs must be positive", found=limit, needed="1 or more")
    frames, channels = sounds.shape[1], sounds.shape[2] if sounds.ndim == 3 else 1
    for k, sound in enumerate(sounds[:limit]):
        value = summary.value.add(tag=_numbered(call, tag, "audio", k, limit))
        audio = value.audio
        audio.sample_rate, audio.num_channels, audio.length_frames = rate, channels, frames
        audio.content_type = "audio/wav"
        samples = sound.reshape(frames, channels)
        audio.encoded_audio_string = wav_bytes(call, samples, max(1, round(rate)))


def add_tensor(call: Call, summary: Summary, tensor: Array, metadata: bytes | None) -> Any:
    """A tensor as it is; metadata that cannot be parsed are left out."""
    dtype = call.attrs["T"]
    if dtype in (RESOURCE, VARIANT) or from_numpy(tensor.dtype) in (RESOURCE, VARIANT):
        call.fail("a summary holds values", found=dtype, needed="numbers or strings")
    value = summary.value.add(tensor=to_proto(tensor))
    if metadata is not None:
        try:
            parsed = SummaryMetadata.FromString(metadata)
        except DecodeError:
            parsed = SummaryMetadata()
        value.metadata.CopyFrom(parsed)
    return value
