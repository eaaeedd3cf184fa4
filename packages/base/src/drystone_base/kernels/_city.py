"""The 128-bit fingerprint of the CityHash family (version 1.1), the same on every machine."""

from __future__ import annotations

from typing import Final, TypeAlias

__all__ = ["fingerprint128"]

Pair: TypeAlias = tuple[int, int]

_MASK: Final = (1 << 64) - 1
# Odd 64-bit numbers with their bits well spread, fixed by the algorithm.
_P: Final = 0xC3A5C85C97CB3127
_Q: Final = 0xB492B66FBE98F273
_R: Final = 0x9AE16A3B2F90404F
_S: Final = 0x9DDFEA08EB382D69
_BLOCK: Final = 128


def _word(text: bytes, at: int, size: int = 8) -> int:
    return int.from_bytes(text[at : at + size], "little")


def _turn(x: int, by: int) -> int:
    x &= _MASK
    return (x >> by | x << (64 - by)) & _MASK


def _fold(x: int) -> int:
    x &= _MASK
    return x ^ x >> 47


def _join(u: int, v: int, factor: int = _S) -> int:
    a = _fold((u ^ v) * factor & _MASK)
    return _fold((v ^ a) * factor & _MASK) * factor & _MASK


def _short(text: bytes) -> int:
    """The 64-bit hash of at most 16 bytes."""
    size = len(text)
    factor = _R + 2 * size
    if size >= 8:
        a, b = _word(text, 0) + _R & _MASK, _word(text, size - 8)
        c = _turn(b, 37) * factor + a & _MASK
        d = (_turn(a, 25) + b) * factor & _MASK
        return _join(c, d, factor)
    if size >= 4:
        return _join(size + (_word(text, 0, 4) << 3), _word(text, size - 4, 4), factor)
    if not size:
        return _R
    y = text[0] + (text[size >> 1] << 8)
    z = size + (text[-1] << 2)
    return _fold(y * _R ^ z * _P) * _R & _MASK


def _middle(text: bytes, seed: Pair) -> Pair:
    """The hash of less than 128 bytes."""
    a, b = seed
    size = len(text)
    if size <= 16:
        a = _fold(a * _Q) * _Q & _MASK
        c = b * _Q + _short(text) & _MASK
        d = _fold(a + (_word(text, 0) if size >= 8 else c))
    else:
        c = _join(_word(text, size - 8) + _Q & _MASK, a)
        d = _join(b + size & _MASK, c + _word(text, size - 16) & _MASK)
        a = a + d & _MASK
        for at in range(0, size - 16, 16):
            a = (a ^ _fold(_word(text, at) * _Q) * _Q & _MASK) * _Q & _MASK
            b ^= a
            c = (c ^ _fold(_word(text, at + 8) * _Q) * _Q & _MASK) * _Q & _MASK
            d ^= c
    a, b = _join(a, c), _join(d, b)
    return a ^ b, _join(b, a)


def _weak(text: bytes, at: int, a: int, b: int) -> Pair:
    """Four words from ``at`` under two seeds."""
    w, x, y, z = (_word(text, at + 8 * k) for k in range(4))
    a = a + w & _MASK
    b = _turn(b + a + z, 21)
    c = a
    a = a + x + y & _MASK
    return a + z & _MASK, b + _turn(a, 44) + c & _MASK


def _long(text: bytes, seed: Pair) -> Pair:
    """The hash of 128 bytes and more."""
    x, y = seed
    size = len(text)
    z = size * _Q & _MASK
    first = _turn(y ^ _Q, 49) * _Q + _word(text, 0) & _MASK
    v = first, _turn(first, 42) * _Q + _word(text, 8) & _MASK
    w = _turn(y + z, 35) * _Q + x & _MASK, _turn(x + _word(text, 88), 53) * _Q & _MASK
    done = size // _BLOCK * _BLOCK
    for at in range(0, done, _BLOCK // 2):
        x = _turn(x + y + v[0] + _word(text, at + 8), 37) * _Q & _MASK ^ w[1]
        y = _turn(y + v[1] + _word(text, at + 48), 42) * _Q + v[0] + _word(text, at + 40) & _MASK
        z = _turn(z + w[0], 33) * _Q & _MASK
        v = _weak(text, at, v[1] * _Q & _MASK, x + w[0] & _MASK)
        w = _weak(text, at + 32, z + w[1] & _MASK, y + _word(text, at + 16) & _MASK)
        z, x = x, z
    x = x + _turn(v[0] + z, 49) * _P & _MASK
    y = y * _P + _turn(w[1], 37) & _MASK
    z = z * _P + _turn(w[0], 27) & _MASK
    w, v = (w[0] * 9 & _MASK, w[1]), (v[0] * _P & _MASK, v[1])
    for at in range(size - 32, done - 32, -32):
        y = _turn(x + y, 42) * _P + v[1] & _MASK
        w = w[0] + _word(text, at + 16) & _MASK, w[1]
        x = x * _P + w[0] & _MASK
        z = z + w[1] + _word(text, at) & _MASK
        w = w[0], w[1] + v[0] & _MASK
        v = _weak(text, at, v[0] + z & _MASK, v[1])
        v = v[0] * _P & _MASK, v[1]
    x, y = _join(x, v[0]), _join(y + z & _MASK, w[0])
    return (
        _join(x + v[1] & _MASK, w[1]) + y & _MASK,
        _join(x + w[1] & _MASK, y + v[1] & _MASK),
    )


def fingerprint128(text: bytes) -> Pair:
    """The lower and the upper half of the fingerprint of a string."""
    seed = _P, _Q
    if len(text) >= 16:
        seed = _word(text, 0), _word(text, 8) + _P & _MASK
        text = text[16:]
    return (_middle if len(text) < _BLOCK else _long)(text, seed)
