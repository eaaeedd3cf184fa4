"""Philox 4x32-10: a counter-based generator of random bits, vectorised over counters.

Source: Salmon et al., "Parallel random numbers: as easy as 1, 2, 3" (SC 2011). Keys and counters
are laid out as in TensorFlow, so that equal seeds give TensorFlow's streams.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from drystone_base.kernels._registry import Array

__all__ = ["Stream", "doubles", "floats", "seeded", "stateless"]

_M0: Final = np.uint64(0xD2511F53)
_M1: Final = np.uint64(0xCD9E8D57)
_W0: Final = 0x9E3779B9
_W1: Final = 0xBB67AE85
_LOW: Final = np.uint64(0xFFFFFFFF)
_32: Final = np.uint64(32)
_MASK_32: Final = 0xFFFFFFFF
_MASK_64: Final = (1 << 64) - 1
_MASK_128: Final = (1 << 128) - 1
_SCRAMBLE: Final = 0x02461E293EC8F720


@dataclass(frozen=True)
class Stream:
    """Blocks of four uint32: a 64-bit key, and the 128-bit counter of the first block."""

    key: int
    counter: int

    def skip(self, blocks: int) -> Stream:
        """The stream without its first ``blocks`` blocks."""
        return Stream(self.key, (self.counter + blocks) & _MASK_128)

    def blocks(self, count: int) -> Array:
        """The first ``count`` blocks, uint32 [count, 4]."""
        return self.at(np.arange(count, dtype=np.uint64))

    def at(self, offsets: Array) -> Array:
        """The blocks at the given places (uint64 [...]), uint32 [..., 4]."""
        start = np.uint64(self.counter & _MASK_64)
        with np.errstate(over="ignore"):
            low = start + offsets
            high = np.uint64(self.counter >> 64) + (low < start).astype(np.uint64)
            words = [low & _LOW, low >> _32, high & _LOW, high >> _32]
            return _rounds(words, self.key & _MASK_32, self.key >> 32)


def _rounds(words: list[Any], key0: int, key1: int) -> Array:
    """Ten rounds of multiplying and mixing four 32-bit words (held in uint64)."""
    c0, c1, c2, c3 = words
    for _ in range(10):
        first, second = c0 * _M0, c2 * _M1
        c0, c1 = (second >> _32) ^ c1 ^ np.uint64(key0), second & _LOW
        c2, c3 = (first >> _32) ^ c3 ^ np.uint64(key1), first & _LOW
        key0, key1 = (key0 + _W0) & _MASK_32, (key1 + _W1) & _MASK_32
    return np.stack([c0, c1, c2, c3], axis=-1).astype(np.uint32)


def seeded(seed: int, seed2: int) -> Stream:
    """The stream of a stateful random op with these two seeds."""
    return Stream(seed & _MASK_64, (seed2 & _MASK_64) << 64)


def stateless(seed: int, seed2: int) -> Stream:
    """The stream of a stateless random op: the seeds, scrambled, become key and counter."""
    mixed = Stream(_SCRAMBLE, (seed & _MASK_64) | (seed2 & _MASK_64) << 64).blocks(1)[0]
    a, b, c, d = (int(v) for v in mixed)
    return Stream(a | b << 32, (c | d << 32) << 64)


def floats(bits: Array) -> Array:
    """uint32 to float32 in [0, 1): the low 23 bits become the mantissa."""
    mantissa = (bits & np.uint32(0x7FFFFF)) | np.uint32(127 << 23)
    return mantissa.view(np.float32) - np.float32(1)


def doubles(bits: Array) -> Array:
    """Pairs of uint32 [..., 2] to float64 [...] in [0, 1): 52 bits become the mantissa."""
    high = (bits[..., 0] & np.uint32(0xFFFFF)).astype(np.uint64)
    mantissa = high << _32 | bits[..., 1] | np.uint64(1023 << 52)
    return np.asarray(mantissa).view(np.float64) - 1.0
