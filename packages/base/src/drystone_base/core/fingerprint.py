"""Farm fingerprints of byte strings, many at a time.

The 64-bit fingerprint of the FarmHash family ("na" variant), the same in every release and on
every machine; TensorFlow's ``StringToHashBucketFast`` and ``Fingerprint`` are built on it. Strings
of one length are hashed together, as columns of 64-bit words that wrap around. (The PyPI bindings
have wheels for x86-64 Linux alone.)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import numpy as np

__all__ = ["fingerprint64"]

Words: TypeAlias = np.ndarray[Any, np.dtype[Any]]  # uint64; NumPy types its shifts as signed
Reader: TypeAlias = Callable[[int], Words]

# Three odd 64-bit numbers with their bits well spread, fixed by the algorithm.
_P: Final = 0xC3A5C85C97CB3127
_Q: Final = 0xB492B66FBE98F273
_R: Final = 0x9AE16A3B2F90404F
_BLOCK: Final = 64
_START: Final = 81


def fingerprint64(values: Sequence[bytes]) -> Words:
    """The fingerprint of each string: uint64 ``[len(values)]``."""
    out = np.empty(len(values), np.uint64)
    lengths = np.fromiter(map(len, values), np.int64, len(values))
    for length in np.unique(lengths).tolist():
        where = np.flatnonzero(lengths == length)
        joined = b"".join([values[k] for k in where.tolist()])
        out[where] = _same_length(np.frombuffer(joined, np.uint8).reshape(len(where), length))
    return out


def _same_length(rows: np.ndarray[Any, np.dtype[np.uint8]]) -> Words:
    """Fingerprints of the rows of a ``[strings, length]`` array of bytes."""
    count, length = rows.shape

    def word(start: int) -> Words:
        """Eight bytes from ``start``, counted from the end where negative, little-endian."""
        start += length if start < 0 else 0
        return np.ascontiguousarray(rows[:, start : start + 8]).view("<u8")[:, 0].astype(np.uint64)

    if length > _BLOCK:
        return _long(word, count, length)
    if length > 32:
        return _to_64(word, length)
    if length > 16:
        return _to_32(word, length)
    if length >= 8:
        return _to_16(word, length)
    return _to_7(rows)


def _rotate(x: Words, bits: int) -> Words:
    return (x >> bits) | (x << (64 - bits))


def _fold(x: Words) -> Words:
    folded: Words = x ^ (x >> 47)
    return folded


def _join(u: Words, v: Words, factor: Words | int) -> Words:
    """Two words into one."""
    first = _fold((u ^ v) * factor)
    joined: Words = _fold((v ^ first) * factor) * factor
    return joined


def _factor(length: int) -> int:
    return (_R + 2 * length) % 2**64


def _to_7(rows: np.ndarray[Any, np.dtype[np.uint8]]) -> Words:
    count, length = rows.shape
    if length == 0:
        return np.full(count, _R, np.uint64)
    if length < 4:
        first, middle, last = (rows[:, k].astype(np.uint64) for k in (0, length // 2, length - 1))
        return _fold(((first + (middle << 8)) * _R) ^ ((length + (last << 2)) * _P)) * _R
    head, tail = (
        np.ascontiguousarray(part).view("<u4")[:, 0].astype(np.uint64)
        for part in (rows[:, :4], rows[:, -4:])
    )
    return _join(length + (head << 3), tail, _factor(length))


def _to_16(word: Reader, length: int) -> Words:
    factor = _factor(length)
    head, tail = word(0) + _R, word(-8)
    return _join(_rotate(tail, 37) * factor + head, (_rotate(head, 25) + tail) * factor, factor)


def _ends(a: Words, b: Words, c: Words, d: Words, carry: Words | int) -> tuple[Words, Words]:
    return _rotate(a + b, 43) + _rotate(c, 30) + d, a + _rotate(b + carry, 18) + c


def _to_32(word: Reader, length: int) -> Words:
    factor = _factor(length)
    return _join(*_ends(word(0) * _Q, word(8), word(-8) * factor, word(-16) * _R, _R), factor)


def _to_64(word: Reader, length: int) -> Words:
    factor = _factor(length)
    first = word(0) * _R
    y, rest = _ends(first, word(8), word(-8) * factor, word(-16) * _R, _R)
    z = _join(y, rest, factor)
    c, d = (y + word(-32)) * factor, (z + word(-24)) * factor
    return _join(*_ends(word(16) * factor, word(24), c, d, first), factor)


@dataclass
class _State:
    """What is carried from block to block: three words and two pairs."""

    x: Words
    y: Words
    z: Words
    v: tuple[Words, Words]
    w: tuple[Words, Words]

    def absorb(self, block: Reader, factor: Words | int, weight: int) -> None:
        """Mix in 64 bytes; ``block(k)`` reads the word at byte ``k``."""
        x = _rotate(self.x + self.y + self.v[0] + block(8), 37) * factor
        y = _rotate(self.y + self.v[1] + block(48), 42) * factor
        x = x ^ (self.w[1] * weight)
        y += self.v[0] * weight + block(40)
        z = _rotate(self.z + self.w[0], 33) * factor
        self.v = _half(block, 0, self.v[1] * factor, x + self.w[0])
        self.w = _half(block, 32, z + self.w[1], y + block(16))
        self.x, self.y, self.z = z, y, x


def _half(block: Reader, start: int, a: Words, b: Words) -> tuple[Words, Words]:
    """Mix 32 bytes into a pair."""
    first = a + block(start)
    last = block(start + 24)
    total = first + block(start + 8) + block(start + 16)
    return total + last, _rotate(b + first + last, 21) + _rotate(total, 44) + first


def _from(word: Reader, start: int) -> Reader:
    return lambda k: word(start + k)


def _long(word: Reader, count: int, length: int) -> Words:
    zero = np.zeros(count, np.uint64)
    y = zero + (_START * _Q + 113) % 2**64
    state = _State(_START * _R % 2**64 + word(0), y, _fold(y * _R + 113) * _R, *[(zero, zero)] * 2)
    for start in range(0, length - 1 - (length - 1) % _BLOCK, _BLOCK):
        state.absorb(_from(word, start), _Q, 1)
    factor = _Q + ((state.z & 0xFF) << 1)
    w = state.w[0] + (length - 1) % _BLOCK
    v = state.v[0] + w
    state.v, state.w = (v, state.v[1]), (w + v, state.w[1])
    state.absorb(_from(word, length - _BLOCK), factor, 9)
    return _join(
        _join(state.v[0], state.w[0], factor) + _fold(state.y) * _P + state.z,
        _join(state.v[1], state.w[1], factor) + state.x,
        factor,
    )
