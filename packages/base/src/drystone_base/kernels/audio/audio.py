"""Spectrograms and mel-frequency cepstral coefficients; TensorFlow ops AudioSpectrogram, Mfcc."""

from __future__ import annotations

import math
from typing import Final, NamedTuple

import numpy as np

from drystone_base.kernels._limits import check_size
from drystone_base.kernels._registry import Array, Call, kernel
from drystone_base.kernels._widen import quiet
from drystone_base.kernels.audio.wav import scalar_rate

__all__: list[str] = []

_BLOCK: Final = 1 << 20  # values that are transformed at once
_FLOOR: Final = 1e-12  # the least energy of a band


def _squares(samples: Array, window: Array, stride: int, out: Array) -> None:
    """Squared magnitudes of the spectrum of each frame of one channel, into ``out``."""
    length = 2 * (out.shape[1] - 1)
    frames = np.lib.stride_tricks.sliding_window_view(samples, window.size)[::stride]
    rows = max(1, _BLOCK // length)
    for start in range(0, len(frames), rows):
        spectrum = np.fft.rfft(frames[start : start + rows] * window, length)
        out[start : start + rows] = spectrum.real**2 + spectrum.imag**2


@kernel("AudioSpectrogram")
@quiet
def audio_spectrogram(call: Call, audio: Array) -> Array:
    """Magnitudes of the spectra of Hann-windowed frames, ``[channels, frames, bins]`` float32.

    ``audio`` is ``[length, channels]``. A frame is filled up to a power of two with zeros;
    ``magnitude_squared`` leaves the squares.
    """
    size, stride = call.attrs["window_size"], call.attrs["stride"]
    call.require(size > 1, "window_size must be more than one", found=size, needed="2 or more")
    call.require(stride > 0, "stride must be positive", found=stride, needed="1 or more")
    call.require(
        audio.ndim == 2, "audio must be a matrix", found=list(audio.shape), needed="rank 2"
    )
    samples, channels = audio.shape
    count = 0 if samples < size else 1 + (samples - size) // stride
    bins = 1 + (1 << (size - 1).bit_length()) // 2
    out = np.empty(check_size(call, (channels, count, bins), audio.dtype), np.float32)
    if not out.size:
        return out
    window = 0.5 - 0.5 * np.cos(2 * math.pi * np.arange(size) / size)
    for channel, rows in zip(audio.T, out, strict=True):
        _squares(channel, window, stride, rows)
    return out if call.attrs["magnitude_squared"] else np.sqrt(out)


class _Bank(NamedTuple):
    """Triangular filters: of each used bin, the filter that falls there and its weight."""

    start: int
    end: int
    band: Array
    weight: Array


def _mel(frequency: float | Array) -> Array:
    return np.asarray(1127.0 * np.log1p(np.asarray(frequency) / 700.0))


def _filters(bins: int, rate: int, count: int, low: float, high: float) -> _Bank:
    """The filters of ``count`` bands between two frequencies; bin 0 is never used."""
    bottom = _mel(low)
    spacing = (_mel(high) - bottom) / (count + 1)
    centres = bottom + spacing * np.arange(1, count + 2)
    width = 0.5 * rate / (bins - 1)
    start, end = int(1.5 + low / width), int(high / width)
    mels = _mel(np.arange(start, min(end + 1, bins)) * width)
    band = np.minimum(np.searchsorted(centres, mels), count) - 1
    left = np.where(band < 0, bottom, centres[band])
    weight = (centres[band + 1] - mels) / (centres[band + 1] - left)
    return _Bank(start, end, band, weight)


def _energies(magnitudes: Array, bank: _Bank, count: int) -> Array:
    """Magnitudes gathered into bands: part of a bin to its own band, the rest to the next."""
    used = magnitudes[:, bank.start : bank.end + 1].T
    falling = used * bank.weight[:, None]
    out = np.zeros((count + 2, len(magnitudes)))  # a row before the first band, one after the last
    np.add.at(out, bank.band + 1, falling)
    np.add.at(out, bank.band + 2, used - falling)
    return out[1:-1].T


def _check_mfcc(call: Call, shape: tuple[int, ...], rate: int) -> None:
    attrs = call.attrs
    low, high = attrs["lower_frequency_limit"], attrs["upper_frequency_limit"]
    bands, count = attrs["filterbank_channel_count"], attrs["dct_coefficient_count"]
    call.require(bands > 0, "there must be a filter", found=bands, needed="1 or more")
    call.require(rate > 0, "the sample rate must be positive", found=rate, needed="1 or more")
    call.require(shape[2] > 1, "a spectrum must have bins", found=shape[2], needed="2 or more")
    call.require(0 <= low < high, "frequencies must rise from 0 on", found=[low, high])
    call.require(
        0 < count <= bands,
        "coefficients must be no more than the filters",
        found=count,
        needed=f"1 ... {bands}",
    )


@kernel("Mfcc")
@quiet
def mfcc(call: Call, spectrogram: Array, sample_rate: Array) -> Array:
    """Cosine transform of the logarithms of mel-scaled bands of ``[channels, frames, bins]``.

    The spectrogram holds squared magnitudes. A frequency limit beyond the last bin gives zeros.
    """
    call.require(
        spectrogram.ndim == 3,
        "the spectrogram must have three dimensions",
        found=list(spectrogram.shape),
        needed="[channels, frames, bins]",
    )
    rate = scalar_rate(call, sample_rate)
    _check_mfcc(call, spectrogram.shape, rate)
    bands, count = call.attrs["filterbank_channel_count"], call.attrs["dct_coefficient_count"]
    bins = spectrogram.shape[2]
    shape = check_size(call, (*spectrogram.shape[:2], count), spectrogram.dtype)
    check_size(call, (bands, max(count, shape[0] * shape[1])), np.dtype(np.float64))
    limits = (call.attrs["lower_frequency_limit"], call.attrs["upper_frequency_limit"])
    bank = _filters(bins, rate, bands, *limits)
    if bank.end >= bins or 0 in shape:
        return np.zeros(shape, np.float32)
    rows = np.sqrt(spectrogram.reshape(-1, bins).astype(np.float64))
    logs = np.log(np.maximum(_energies(rows, bank, bands), _FLOOR))
    angles = np.outer(np.arange(count) * (math.pi / bands), np.arange(bands) + 0.5)
    cosines = math.sqrt(2.0 / bands) * np.cos(angles)
    return (logs @ cosines.T).astype(np.float32).reshape(shape)
