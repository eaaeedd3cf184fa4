"""Features of speech for small devices, in integers throughout; TensorFlow AudioMicrofrontend.

Windows, spectra, mel bands, noise reduction, gain control and logarithms as TensorFlow's
microfrontend library defines them, bit by bit.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from drystone_base.kernels._limits import check_size
from drystone_base.kernels._registry import Array, Call, kernel
from drystone_base.kernels._widen import quiet
from drystone_base.kernels.audio._fixed_fft import real_fft

__all__: list[str] = []

_F32: Final = np.float32
_WEIGHT_BITS: Final = 12  # of windows and filters
_NOISE_BITS: Final = 14
_SNR_BITS: Final = 12
_GAIN_BITS: Final = 6  # of the result of gain control
_LOG_BITS: Final = 16
_SEGMENT_BITS: Final = 7
_WORD: Final = (1 << 32) - 1


def _msb(x: Array) -> Array:
    """Bits of each number below 2^32: one more than the place of the highest."""
    return np.frexp(x.astype(np.float64))[1].astype(np.int64)


def _mel(frequency: Any) -> Any:
    return _F32(1127.0 * np.log1p(np.asarray(frequency, _F32).astype(np.float64) / 700.0))


def _window(size: int) -> Array:
    turn = _F32(math.pi * 2.0 / size)
    values = (0.5 - 0.5 * np.cos(np.float64(turn) * (np.arange(size) + 0.5))).astype(_F32)
    return np.floor((values * _F32(1 << _WEIGHT_BITS)).astype(np.float64) + 0.5).astype(np.int64)


def _spectra(frames: Array, length: int) -> tuple[Array, Array]:
    """Squared magnitudes of windowed frames, and by how much each was scaled up first."""
    values = (frames.astype(np.int64) * _window(frames.shape[1])) >> _WEIGHT_BITS
    shift = 15 - _msb(np.abs(values.astype(np.int16)).max(axis=1).clip(0))
    scaled = np.zeros((len(frames), length), np.int16)
    scaled[:, : frames.shape[1]] = (values << shift[:, None]).astype(np.int16)
    real, imag = real_fft(scaled)
    return (real * real + imag * imag).astype(np.int32).astype(np.int64), shift


def _bands(call: Call, energy: Array, rate: int) -> Array:
    """Sums of the energies under overlapping triangles, one per channel."""
    a, bins, count = call.attrs, energy.shape[1], call.attrs["num_channels"] + 1
    low, high = _mel(a["lower_band_limit"]), _mel(a["upper_band_limit"])
    centres = low + (high - low) / _F32(count) * np.arange(1, count + 1).astype(_F32)
    width = _F32(0.5 * rate / (bins - 1))
    start = int(1.5 + float(_F32(a["lower_band_limit"]) / width))
    places = np.arange(start, bins + 1)
    mels = _mel(places.astype(_F32) * width)
    used = int(np.searchsorted(mels, centres[-1], side="right"))
    call.require(
        start + used < bins,
        "the bands must lie within the spectrum",
        found=f"{a['lower_band_limit']} ... {a['upper_band_limit']} Hz of {rate / 2} Hz",
        needed="an upper limit below half of the sample rate",
        status="INTERNAL",
    )
    places, mels = places[:used], mels[:used]
    band = np.searchsorted(centres, mels)  # the first whose centre is not below
    before = np.where(band == 0, low, centres[band - 1])
    weight = (centres[band] - mels) / (centres[band] - before)
    rising = np.floor((weight * _F32(4096)).astype(np.float64) + 0.5).astype(np.int64)
    falling = np.floor((1.0 - weight.astype(np.float64)) * 4096 + 0.5).astype(np.int64)
    work = np.zeros((count + 1, len(energy)), np.int64)
    np.add.at(work, band, (energy[:, places] * rising).T)
    np.add.at(work, band + 1, (energy[:, places] * falling).T)
    return np.asarray(work[1:count].T)


def _root(x: Array) -> Array:
    """Square roots, rounded to the nearest integer that 16 (or, of more than 32 bits, 32) hold."""
    root = np.sqrt(x.astype(np.float64)).astype(np.int64)
    root -= root * root > x
    root += (root + 1) * (root + 1) <= x
    top = np.where(x <= _WORD, 0xFFFF, _WORD)
    return np.asarray(root + ((x - root * root > root) & (root != top)))


def _less_noise(call: Call, signal: Array) -> tuple[Array, Array]:
    """The signal without its slowly varying part, and that part after each frame."""
    a = call.attrs
    bits, one = a["smoothing_bits"], 1 << _NOISE_BITS
    kinds = [int(_F32(a[name]) * _F32(one)) for name in ("even_smoothing", "odd_smoothing")]
    smoothing = np.array(kinds, np.uint64)[np.arange(signal.shape[1]) % 2]
    least = np.uint64(int(_F32(a["min_signal_remaining"]) * _F32(one)))
    wide, shift = signal.astype(np.uint64), np.uint64(_NOISE_BITS)
    scaled = (wide << np.uint64(bits)) & np.uint64(_WORD)
    noise = np.zeros_like(wide)
    before = np.zeros(signal.shape[1], np.uint64)
    for row, now in enumerate(scaled):
        before = (now * smoothing + before * (np.uint64(one) - smoothing)) >> shift
        before &= np.uint64(_WORD)
        noise[row] = before
    rest = (scaled - np.minimum(noise, scaled)) >> np.uint64(bits)
    return np.maximum(rest, (wide * least) >> shift).astype(np.int64), noise.astype(np.int64)


@functools.lru_cache(maxsize=8)
def _gains(strength: float, offset: float, gain_bits: int, input_bits: int) -> Array:
    """Value and two slopes of the gain between powers of two, int64 [33, 3]."""

    def gain(x: int) -> int:
        at = _F32(x) / _F32(1 << input_bits) + _F32(offset)
        value = _F32(1 << gain_bits) * _F32(np.power(at, _F32(-strength)))
        return 0x7FFF if value > 0x7FFF else int(value + _F32(0.5))

    table = np.zeros((33, 3), np.int64)
    for bits in range(2, 33):
        x = 1 << (bits - 1)
        first, middle, last = gain(x), gain(x + x // 2), gain(2 * x - (bits == 32))
        slope = 4 * (middle - first) - (last - first)
        table[bits] = first, slope, last - first - slope
    table[0, 0], table[1, 0] = gain(0), gain(1)
    return table


def _controlled(call: Call, signal: Array, noise: Array, correction: int) -> Array:
    """The signal over its noise, by a gain that falls with the noise."""
    a = call.attrs
    input_bits, shift = a["smoothing_bits"] - correction, a["gain_bits"] - correction - _SNR_BITS
    call.require(
        0 <= input_bits < 32 and 0 <= shift < 64 and a["gain_bits"] < 32,
        "gain_bits and smoothing_bits must fit the spectrum",
        found=[a["gain_bits"], a["smoothing_bits"]],
        needed=f"{correction + _SNR_BITS} ... 31 and {correction} or more",
    )
    table = _gains(a["pcan_strength"], a["pcan_offset"], a["gain_bits"], input_bits)
    bits = _msb(noise)
    value, slope, bend = (table[bits, k].astype(np.int16).astype(np.int64) for k in range(3))
    part = np.where(bits < 11, noise << (11 - bits).clip(0), noise >> (bits - 11).clip(0)) & 0x3FF
    curve = (((bend * part) >> 5) + (slope << 5)) * part
    gain = np.where(noise <= 1, value, ((curve + (1 << 14)) >> 15) + value)
    ratio = ((signal * gain) >> shift) & _WORD
    small = ((ratio * ratio) & _WORD) >> (2 + 2 * _SNR_BITS - _GAIN_BITS)
    large = (ratio >> (_SNR_BITS - _GAIN_BITS)) - (1 << _GAIN_BITS)
    return np.asarray(np.where(ratio < 2 << _SNR_BITS, small, large))


@functools.cache
def _log_table() -> Array:
    """How far log2(1 + x) lies above x, at steps of 1/128."""
    x = np.arange((1 << _SEGMENT_BITS) + 1) / (1 << _SEGMENT_BITS)
    return np.append(np.round((np.log2(1 + x) - x) * (1 << _LOG_BITS)), 0).astype(np.int64)


def _logs(values: Array, scale_shift: int) -> Array:
    """Natural logarithms of numbers above 1, times a power of two; 0 of the others."""
    x = values.clip(2)
    whole = _msb(x) - 1
    part = x - (np.int64(1) << whole)
    part = np.where(whole < _LOG_BITS, part << (_LOG_BITS - whole).clip(0),
                    part >> (whole - _LOG_BITS).clip(0))  # fmt: skip
    segment = part >> (_LOG_BITS - _SEGMENT_BITS)
    table = _log_table()
    rest = part - (segment << (_LOG_BITS - _SEGMENT_BITS))
    slope = ((table[segment + 1] - table[segment]) * rest) >> _LOG_BITS
    log2 = (whole << _LOG_BITS) + part + table[segment] + slope
    half = 1 << (_LOG_BITS - 1)
    natural = (round(math.log(2) * (1 << _LOG_BITS)) * log2 + half) >> _LOG_BITS
    return np.where(values > 1, (((natural << scale_shift) + half) & _WORD) >> _LOG_BITS, 0)


def _features(call: Call, frames: Array, length: int, rate: int) -> Array:
    """One row of channels a frame, uint16."""
    energy, shift = _spectra(frames, length)
    correction = length.bit_length() - 1 - _WEIGHT_BITS // 2
    signal = _root(_bands(call, energy, rate)) >> shift[:, None]
    signal, noise = _less_noise(call, signal)
    if call.attrs["enable_pcan"]:
        signal = _controlled(call, signal, noise, correction)
    if call.attrs["enable_log"]:
        moved = signal >> -correction if correction < 0 else (signal << correction) & _WORD
        signal = _logs(moved, call.attrs["scale_shift"])
    return np.minimum(signal, 0xFFFF).astype(np.uint16)


def _checked(call: Call, audio: Array) -> tuple[int, int]:
    """Samples of a window and of a step."""
    a: Mapping[str, Any] = call.attrs
    call.require(
        audio.ndim == 1, "audio must be a vector", found=list(audio.shape), needed="rank 1"
    )
    size, step = (a[name] * a["sample_rate"] // 1000 for name in ("window_size", "window_step"))
    call.require(
        1 < size < 1 << 16 and 0 < step <= size,
        "windows must have samples, and steps must not leave any out",
        found=f"windows of {size}, steps of {step} samples",
        needed="2 or more samples, steps of 1 up to as many",
    )
    counts = {n: a[n] for n in ("num_channels", "frame_stride", "out_scale")}
    call.require(min(counts.values()) > 0, "counts must be positive", found=counts, needed="1")
    sides = (a["left_context"], a["right_context"])
    call.require(min(sides) >= 0, "context must not be negative", found=sides, needed="0 or more")
    limits = (a["lower_band_limit"], a["upper_band_limit"])
    call.require(0 <= limits[0] < limits[1], "bands must rise from 0 on", found=limits)
    bits = (a["smoothing_bits"], a["scale_shift"])
    call.require(min(bits) >= 0 and max(bits) < 32, "shifts lie in [0, 32)", found=bits)
    return size, step


@kernel("AudioMicrofrontend")
@quiet
def audio_microfrontend(call: Call, audio: Array) -> Array:
    """Logarithmic mel bands of int16 samples, ``[frames, channels * (1 + left + right)]``."""
    size, step = _checked(call, audio)
    a, dtype = call.attrs, call.attrs["out_type"].np
    count = 0 if audio.size < size else (audio.size - size) // step + 1
    sampled = -(-count // a["frame_stride"])
    stack = 1 + a["left_context"] + a["right_context"]
    shape = check_size(call, (sampled, a["num_channels"] * stack), np.dtype(np.int64))
    check_size(call, (count, max(a["num_channels"], 2 * size)), np.dtype(np.int64))
    length = 1 << (size - 1).bit_length()
    if not count:
        return np.zeros(shape, dtype)
    frames = np.lib.stride_tricks.sliding_window_view(audio, size)[::step]
    rows = _features(call, frames, length, a["sample_rate"])
    scaled = rows // a["out_scale"] if dtype == np.uint16 else rows.astype(dtype) / a["out_scale"]
    places = np.arange(0, count, a["frame_stride"])[:, None] + np.arange(stack) - a["left_context"]
    out = scaled.astype(dtype)[places.clip(0, count - 1)]
    if a["zero_padding"]:
        out[(places < 0) | (places >= count)] = 0
    return np.asarray(out.reshape(shape))
