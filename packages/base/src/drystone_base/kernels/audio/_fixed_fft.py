"""Fourier transform of 16-bit integers in 16-bit fixed point, halving as it goes.

Source: the method of KISS FFT (M. Borgerding) with a 16-bit ``FIXED_POINT``, as TensorFlow uses it:
each step divides by its radix, so that nothing overflows; products are rounded to 15 bits.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from drystone_base.kernels._registry import Array

__all__ = ["real_fft"]

_TOP: Final = 32767
_BITS: Final = 15


@dataclass(frozen=True)
class _Pair:
    """Real and imaginary parts, int64 that hold 16-bit values."""

    real: Array
    imag: Array

    def __getitem__(self, place: Any) -> _Pair:
        return _Pair(self.real[place], self.imag[place])

    def __add__(self, other: _Pair) -> _Pair:
        return _Pair(_narrow(self.real + other.real), _narrow(self.imag + other.imag))

    def __sub__(self, other: _Pair) -> _Pair:
        return _Pair(_narrow(self.real - other.real), _narrow(self.imag - other.imag))

    def times(self, other: _Pair) -> _Pair:
        """The product, rounded."""
        real = self.real * other.real - self.imag * other.imag
        return _Pair(_rounded(real), _rounded(self.real * other.imag + self.imag * other.real))

    def over(self, count: int) -> _Pair:
        """Divided by a small number, by way of a rounded factor."""
        return _Pair(_rounded(self.real * (_TOP // count)), _rounded(self.imag * (_TOP // count)))


def _narrow(x: Array) -> Array:
    return np.asarray(x.astype(np.int16).astype(np.int64))


def _rounded(x: Array) -> Array:
    return _narrow((x + (1 << (_BITS - 1))) >> _BITS)


def _turns(angles: Array) -> _Pair:
    """Points on the circle as 15-bit fractions."""
    real, imag = (np.floor(0.5 + _TOP * f(angles)).astype(np.int64) for f in (np.cos, np.sin))
    return _Pair(real, imag)


def _transform(x: _Pair) -> _Pair:
    """Over the last axis, whose length is a power of two: radix four, two where that is left."""
    size = x.real.shape[-1]
    if size == 1:
        return x
    radix = 4 if size % 4 == 0 else 2
    m = size // radix
    angles = np.arange(m) * (-2 * math.pi / size)
    parts = [_transform(x[..., q::radix]).over(radix) for q in range(radix)]
    first = parts[0]
    turned = [p.times(_turns(angles * q)) for q, p in enumerate(parts[1:], 1)]
    if radix == 2:
        return _joined(first + turned[0], first - turned[0])
    one, two, three = turned
    low, high = first - two, first + two
    total, apart = one + three, one - three
    side = _Pair(apart.imag, _narrow(-apart.real))  # minus i times the difference
    return _joined(high + total, low + side, high - total, low - side)


def _joined(*parts: _Pair) -> _Pair:
    real = np.concatenate([p.real for p in parts], -1)
    return _Pair(real, np.concatenate([p.imag for p in parts], -1))


def real_fft(x: Array) -> tuple[Array, Array]:
    """Real and imaginary parts of the first half of the spectrum of int16 ``[..., 2^k]``."""
    wide = x.astype(np.int64)
    half = x.shape[-1] // 2
    packed = _transform(_Pair(wide[..., ::2], wide[..., 1::2]))
    start = packed[..., :1].over(2)
    ends = _narrow(start.real + start.imag), _narrow(start.real - start.imag)
    k = np.arange(1, half // 2 + 1)
    front, back = packed[..., k].over(2), packed[..., half - k]
    back = _Pair(back.real, _narrow(-back.imag)).over(2)
    both, apart = front + back, front - back
    turned = apart.times(_turns(-math.pi * (k / half + 0.5)))
    real = np.zeros((*x.shape[:-1], half + 1), np.int64)
    imag = np.zeros_like(real)
    real[..., :1], real[..., half:] = ends
    real[..., k], imag[..., k] = (both.real + turned.real) >> 1, (both.imag + turned.imag) >> 1
    real[..., half - k] = (both.real - turned.real) >> 1
    imag[..., half - k] = (turned.imag - both.imag) >> 1
    return real, imag
