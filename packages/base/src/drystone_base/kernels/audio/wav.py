"""WAV files with 16-bit samples: reading and writing; TensorFlow ops DecodeWav, EncodeWav."""

from __future__ import annotations

import struct
from typing import Final, NamedTuple

import numpy as np

from drystone_base.core.tensor import string_array
from drystone_base.kernels._limits import check_size
from drystone_base.kernels._registry import Array, Call, kernel
from drystone_base.kernels._strings import scalar_string

__all__ = ["scalar_rate", "wav_bytes"]

_PASSED_OVER: Final = frozenset(
    (b"JUNK", b"bext", b"iXML", b"qlty", b"mext", b"levl", b"link", b"axml")
)
_INT32_MAX: Final = (1 << 31) - 1
_UINT32_MAX: Final = (1 << 32) - 1
_PCM: Final = 1
_SAMPLE: Final = 2  # bytes of one sample of one channel
_HEADER: Final = struct.Struct("<4sI4s4sIHHIIHH4sI")


class _Reader:
    """The bytes of a file and how far they are read; every read is checked."""

    def __init__(self, call: Call, data: bytes) -> None:
        self.call = call
        self.data = data
        self.offset = 0

    def take(self, count: int) -> bytes:
        """The next bytes; INVALID_ARGUMENT when there are not as many."""
        self.call.require(
            self.offset + count <= len(self.data),
            "a WAV file must not end inside a field",
            found=f"{len(self.data)} bytes",
            needed=f"{self.offset + count} or more",
        )
        self.offset += count
        return self.data[self.offset - count : self.offset]

    def number(self) -> int:
        """The next 32 bits as an unsigned number."""
        return int.from_bytes(self.take(4), "little")

    def expect(self, text: bytes) -> None:
        """Read past ``text``."""
        found = self.take(len(text))
        self.call.require(found == text, "a WAV file must be one", found=found, needed=text)


class _Format(NamedTuple):
    """The fields of a format chunk."""

    coding: int
    channels: int
    rate: int
    bytes_per_second: int
    bytes_per_frame: int
    bits: int


def _read_format(call: Call, reader: _Reader) -> _Format:
    reader.expect(b"RIFF")
    reader.number()
    reader.expect(b"WAVE")
    while (name := reader.take(4)) != b"fmt ":
        call.require(
            name in _PASSED_OVER,
            "only known chunks may come before the format",
            found=name,
            needed=", ".join(sorted(n.decode() for n in _PASSED_OVER)),
        )
        reader.take(reader.number())
    size = reader.number()
    call.require(size in (16, 18), "the format chunk has a fixed size", found=size, needed="16, 18")
    found = _Format._make(struct.unpack("<HHIIHH", reader.take(16)))
    _check_format(call, found)
    reader.offset += size - 16
    return found


def _check_format(call: Call, found: _Format) -> None:
    call.require(found.coding == _PCM, "samples must be plain PCM", found=found.coding, needed=_PCM)
    call.require(found.channels > 0, "there must be a channel", found=0, needed="1 or more")
    call.require(found.bits == 16, "samples must have 16 bits", found=found.bits, needed=16)
    frame = found.channels * _SAMPLE
    call.require(
        found.bytes_per_frame == frame,
        "the bytes per frame must fit the channels",
        found=found.bytes_per_frame,
        needed=frame,
    )
    second = frame * found.rate
    call.require(
        found.bytes_per_second == second,
        "the bytes per second must fit the sample rate",
        found=found.bytes_per_second,
        needed=second,
    )


def _read_frames(call: Call, reader: _Reader, frame_bytes: int) -> bytes:
    """The whole frames of the only data chunk; what follows them must be chunks again."""
    frames: bytes | None = None
    while reader.offset < len(reader.data):
        name, size = reader.take(4), reader.number()
        call.require(size <= _INT32_MAX, "a chunk is too large", found=size, needed=_INT32_MAX)
        if name != b"data":
            reader.offset += size
            continue
        call.require(frames is None, "there may be one data chunk", found="a second one")
        frames = reader.take(size // frame_bytes * frame_bytes)
    if frames is None:
        call.fail("a WAV file must hold data", found="no data chunk", needed="one")
    return frames


@kernel("DecodeWav")
def decode_wav(call: Call, contents: Array) -> tuple[Array, Array]:
    """Samples from -1 to 1, ``[length, channels]`` float32, and the sample rate.

    ``desired_channels`` repeats the last channel or drops some, ``desired_samples`` cuts or adds
    silence; -1 keeps what is there.
    """
    reader = _Reader(call, scalar_string(call, contents, "the contents"))
    found = _read_format(call, reader)
    data = np.frombuffer(_read_frames(call, reader, found.bytes_per_frame), "<i2")
    data = data.reshape(-1, found.channels)
    wanted = [call.attrs["desired_samples"], call.attrs["desired_channels"]]
    call.require(
        all(-1 <= n <= _INT32_MAX for n in wanted),
        "desired samples and channels must be sizes",
        found=wanted,
        needed="-1 or more",
    )
    shape = [have if want == -1 else want for have, want in zip(data.shape, wanted, strict=True)]
    out = np.zeros(check_size(call, shape, np.dtype(np.float32)), np.float32)
    rows = min(shape[0], data.shape[0])
    kept = min(shape[1], found.channels)
    out[:rows, :kept] = data[:rows, :kept]
    out[:rows, kept:] = data[:rows, -1:]
    out /= 1 << 15
    return out, np.array(found.rate, np.uint32).astype(np.int32)


def wav_bytes(call: Call, audio: Array, rate: int) -> bytes:
    """The file of ``[length, channels]`` samples from -1 to 1, as 16-bit PCM."""
    channels = audio.shape[1]
    call.require(
        0 < rate <= _UINT32_MAX, "the sample rate must be positive", found=rate, needed="1 or more"
    )
    call.require(
        0 < channels < 1 << 16,
        "a WAV file holds 1 to 65535 channels",
        found=channels,
        needed="1 ... 65535",
    )
    size = audio.size * _SAMPLE
    call.require(
        _HEADER.size + size <= _UINT32_MAX,
        "the samples must fit into a WAV file",
        found=f"{size} bytes",
        needed="less than 4 GiB",
    )
    frame = channels * _SAMPLE
    second = rate * frame & _UINT32_MAX
    parts = (b"fmt ", 16, _PCM, channels, rate, second, frame & 0xFFFF, 16, b"data", size)
    return _HEADER.pack(b"RIFF", _HEADER.size - 8 + size, b"WAVE", *parts) + _samples(audio)


def _samples(audio: Array) -> bytes:
    """Each sample times 2^15, rounded half away from zero, limited to 16 bits; NaN is 0."""
    scaled = np.nan_to_num(audio, nan=0.0, posinf=1.0, neginf=-1.0).clip(-1, 1).astype(np.float64)
    scaled *= 1 << 15
    whole = np.trunc(scaled + np.copysign(0.5, scaled))
    return whole.clip(None, (1 << 15) - 1).astype("<i2").tobytes()


def scalar_rate(call: Call, value: Array) -> int:
    """A sample rate that an op is given."""
    call.require(
        value.ndim == 0,
        "the sample rate must be a scalar",
        found=list(value.shape),
        needed="rank 0",
    )
    return int(value)


@kernel("EncodeWav")
def encode_wav(call: Call, audio: Array, sample_rate: Array) -> Array:
    """The bytes of a WAV file with the samples ``[length, channels]``."""
    call.require(
        audio.ndim == 2, "audio must be a matrix", found=list(audio.shape), needed="rank 2"
    )
    return string_array([wav_bytes(call, audio, scalar_rate(call, sample_rate))], ())
