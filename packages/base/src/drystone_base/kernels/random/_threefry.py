"""ThreeFry 2x32-20: a counter-based generator of random bits, vectorised over counters.

Source: Salmon et al., "Parallel random numbers: as easy as 1, 2, 3" (SC 2011). Words are laid out
as XLA lays them out, which is where TensorFlow runs this algorithm.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any, Final

import numpy as np

from drystone_base.kernels._pieces import elements
from drystone_base.kernels._registry import Array
from drystone_base.kernels.random._philox import floats

__all__ = ["ThreeFry", "full_integers", "integers", "normal", "truncated_normal", "uniform"]

_TURNS: Final = ((13, 15, 26, 6), (17, 29, 16, 24))
_PARITY: Final = 0x1BD11BDA
_MASK_32: Final = 0xFFFFFFFF
_SMALLEST: Final = 1e-7
_NORMAL: Final = NormalDist()


@dataclass(frozen=True)
class ThreeFry:
    """Pairs of uint32: a 64-bit key, and the 64-bit counter of the first pair."""

    key: int
    counter: int

    def words(self, count: int) -> Array:
        """The first ``count`` uint32 of the stream."""
        places = np.arange(-(-count // 2), dtype=np.uint64)
        with np.errstate(over="ignore"):
            places = places + np.uint64(self.counter)
            low, high = (places & np.uint64(_MASK_32)), places >> np.uint64(32)
            pairs = self._rounds(low.astype(np.uint32), high.astype(np.uint32))
        return np.stack(pairs, axis=-1).reshape(-1)[:count]

    def _rounds(self, x: Array, y: Array) -> tuple[Array, Array]:
        """Twenty rounds of adding, turning and mixing, with a key after each four."""
        first, second = self.key & _MASK_32, self.key >> 32
        keys = [np.uint32(k) for k in (first, second, first ^ second ^ _PARITY)]
        x, y = x + keys[0], y + keys[1]
        for k in range(5):
            for turn in _TURNS[k % 2]:
                x = x + y
                y = (y << np.uint32(turn) | y >> np.uint32(32 - turn)) ^ x
            x, y = x + keys[(k + 1) % 3], y + keys[(k + 2) % 3] + np.uint32(k + 1)
        return x, y


def _paired(shape: tuple[int, ...]) -> int:
    """The dimension along which pairs lie: the first even one, or else the longest."""
    return next((k for k, d in enumerate(shape) if d % 2 == 0), shape.index(max(shape)))


def _words(stream: ThreeFry, shape: tuple[int, ...]) -> Array:
    """One uint32 for each element of a shape.

    The two words of a pair are neighbours along the first even dimension; where there is none the
    longest is made even, and what that adds is left out.
    """
    if not shape or 0 in shape:
        return stream.words(math.prod(shape)).reshape(shape)
    axis = _paired(shape)
    pairs = tuple(-(-d // 2) if k == axis else d for k, d in enumerate(shape))
    words = stream.words(2 * math.prod(pairs)).reshape(*pairs, 2)
    wide = np.moveaxis(words, -1, axis + 1)
    padded = wide.reshape(tuple(2 * d if k == axis else d for k, d in enumerate(pairs)))
    return np.ascontiguousarray(padded[tuple(slice(d) for d in shape)])


def full_integers(stream: ThreeFry, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
    """Integers over the whole range of a 32- or 64-bit type."""
    if dtype.itemsize == 4:
        return _words(stream, shape).view(dtype)
    return stream.words(2 * math.prod(shape)).view(dtype).reshape(shape)


def integers(
    stream: ThreeFry, shape: tuple[int, ...], low: int, high: int, dtype: np.dtype[Any]
) -> Array:
    """Integers in [low, high); the remainder of wider random integers."""
    unsigned = np.dtype(f"u{dtype.itemsize}")
    rest = full_integers(stream, shape, unsigned) % unsigned.type(high - low)
    with np.errstate(over="ignore"):
        return np.asarray(rest + np.array(low, dtype).view(unsigned)).view(dtype)


def uniform(stream: ThreeFry, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
    """Numbers in [0, 1)."""
    if dtype == np.float64:
        wide = full_integers(stream, shape, np.dtype(np.uint64)) >> np.uint64(12)
        mantissa: Array = np.asarray(wide | np.uint64(1023 << 52))
        return np.asarray(mantissa.view(np.float64) - 1.0)
    words = _words(stream, shape)
    if dtype == np.float16:
        bits = (words & np.uint32(0x3FF)).astype(np.uint16) | np.uint16(15 << 10)
        return np.asarray(bits.view(np.float16) - np.float16(1))
    return _narrow(floats(words >> np.uint32(9)), dtype)


def _narrow(found: Array, dtype: np.dtype[Any]) -> Array:
    """The numbers in their type; XLA cuts the rest of a bfloat16 off."""
    if dtype.name != "bfloat16":
        return np.asarray(found.astype(dtype))
    bits = np.asarray(found.astype(np.float32)).view(np.uint32) & np.uint32(0xFFFF0000)
    return np.asarray(bits.view(np.float32).astype(dtype))


def normal(stream: ThreeFry, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
    """Numbers of mean 0 and standard deviation 1, two of each two uniform ones."""
    if 0 in shape:
        return np.zeros(shape, dtype)
    dims = shape or (1,)
    axis = _paired(dims)
    half = -(-dims[axis] // 2)
    drawn = (*dims[:axis], half, 2, *dims[axis + 1 :])
    points = uniform(stream, drawn, np.dtype(np.float32) if dtype.name == "bfloat16" else dtype)
    wide = np.moveaxis(points.astype(np.float64), axis + 1, -1)
    length = np.sqrt(-2 * np.log(np.maximum(wide[..., 0], _SMALLEST)))
    turn = 2 * math.pi * wide[..., 1]
    both = np.stack([np.sin(turn) * length, np.cos(turn) * length], axis=axis + 1)
    padded = both.reshape(*dims[:axis], 2 * half, *dims[axis + 1 :])
    return _narrow(padded[tuple(slice(d) for d in dims)].reshape(shape), dtype)


def truncated_normal(stream: ThreeFry, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
    """Normal numbers within two standard deviations, by the quantiles of uniform ones."""
    points = uniform(stream, shape, np.dtype(np.float32) if dtype.name == "bfloat16" else dtype)
    wide = np.maximum(points.astype(np.float64), np.finfo(np.float32).tiny)
    below, above = _NORMAL.cdf(-2.0), _NORMAL.cdf(2.0)
    places = below + wide * (above - below)
    found = np.fromiter(map(_NORMAL.inv_cdf, elements(places)), np.float64, places.size)
    return _narrow(found.reshape(shape), dtype)
