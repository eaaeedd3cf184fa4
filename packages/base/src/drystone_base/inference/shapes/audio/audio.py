"""Shapes of WAV files and spectrograms."""

from __future__ import annotations

from drystone_base.inference.shapes._registry import UNKNOWN, Shape, ShapeCall, shape

__all__: list[str] = []


@shape("DecodeWav")
def decode_wav(c: ShapeCall) -> list[Shape]:
    """Samples and channels as far as they are asked for; the rate is a scalar."""
    c.with_rank(c.shape(0), 0)
    wanted = (c.attrs["desired_samples"], c.attrs["desired_channels"])
    if min(wanted) < UNKNOWN:
        c.fail("desired samples and channels must be sizes", found=wanted, needed="-1 or more")
    return [wanted, ()]


@shape("EncodeWav")
def encode_wav(c: ShapeCall) -> list[Shape]:
    """A scalar."""
    c.with_rank(c.shape(0), 2)
    c.with_rank(c.shape(1), 0)
    return [()]


@shape("AudioSpectrogram")
def audio_spectrogram(c: ShapeCall) -> list[Shape]:
    """Channels, frames and half of a power of two, and one, of bins."""
    length, channels = c.with_rank(c.shape(0), 2)
    size, stride = c.attrs["window_size"], c.attrs["stride"]
    if size < 2 or stride < 1:
        c.fail("windows must have a size and a stride", found=[size, stride], needed="[2, 1]")
    frames = UNKNOWN if length < 0 else max(0, 1 + (length - size) // stride)
    return [(channels, frames, 1 + (1 << (size - 1).bit_length()) // 2)]


@shape("Mfcc")
def mfcc(c: ShapeCall) -> list[Shape]:
    """The coefficients in the place of the bins."""
    given = c.with_rank(c.shape(0), 3)
    c.with_rank(c.shape(1), 0)
    count = c.attrs["dct_coefficient_count"]
    if count < 0:
        c.fail("a count must not be negative", found=count, needed="0 or more")
    return [(*given[:2], count)]


@shape("AudioMicrofrontend")
def audio_microfrontend(c: ShapeCall) -> list[Shape]:
    """Frames, and channels with those of the frames around."""
    (length,) = c.with_rank(c.shape(0), 1)
    a = c.attrs
    size, step = (a[name] * a["sample_rate"] // 1000 for name in ("window_size", "window_step"))
    if step < 1 or a["frame_stride"] < 1:
        c.fail("steps must be positive", found=[step, a["frame_stride"]], needed="1 or more")
    frames = max(0, (length - size) // step + 1)
    wide = a["num_channels"] * (1 + a["left_context"] + a["right_context"])
    return [(UNKNOWN if length < 0 else -(-frames // a["frame_stride"]), max(wide, UNKNOWN))]
