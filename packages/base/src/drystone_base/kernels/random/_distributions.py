"""Random numbers of several distributions out of a Philox stream, in TensorFlow's order."""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from drystone_base.kernels._pieces import PIECE
from drystone_base.kernels._registry import Array
from drystone_base.kernels.random._philox import Stream, doubles, floats

__all__ = ["box_muller", "categorical", "full_integers", "integers", "normal", "permutation",
           "truncated_normal", "uniform"]  # fmt: skip

_MANTISSA: Final = {"float16": (0x3FF, 15 << 10), "bfloat16": (0x7F, 127 << 7)}
_RESERVED: Final = 64
"""Blocks kept free for each output whose number of samples is not known beforehand."""
_SMALLEST: Final = 1e-7
_LIMIT: Final = 2.0


def _words(stream: Stream, count: int) -> Array:
    """The first ``count`` uint32 of the stream."""
    return stream.blocks(-(-count // 4)).reshape(-1)[:count]


def uniform(stream: Stream, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
    """Numbers in [0, 1)."""
    count = math.prod(shape)
    if dtype == np.float64:
        return doubles(_words(stream, 2 * count).reshape(count, 2)).reshape(shape)
    words = _words(stream, count)
    if dtype == np.float32:
        return floats(words).reshape(shape)
    mask, exponent = _MANTISSA[dtype.name]
    bits = (words.astype(np.uint16) & np.uint16(mask)) | np.uint16(exponent)
    return np.asarray(bits.view(dtype) - dtype.type(1)).reshape(shape)


def box_muller(words: Array, dtype: np.dtype[Any]) -> Array:
    """Pairs of normal numbers [..., 2] out of pairs of uniform ones, as words [..., 2 (or 4)]."""
    if dtype == np.float64:
        radius, turn = doubles(words[..., :2]), doubles(words[..., 2:])
    else:
        radius, turn = floats(words[..., 0]), floats(words[..., 1])
    # Each function is rounded once, from double precision: TensorFlow's are correct to nearly half
    # a unit in the last place, NumPy's in single precision are not.
    real, radius = radius.dtype, np.maximum(radius, radius.dtype.type(_SMALLEST))
    length = np.sqrt(-2 * np.log(radius.astype(np.float64)).astype(real))
    angle = (2 * math.pi * turn.astype(np.float64)).astype(real).astype(np.float64)
    pair = [np.sin(angle).astype(real) * length, np.cos(angle).astype(real) * length]
    return np.stack(pair, axis=-1)


def normal(stream: Stream, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
    """Numbers of mean 0 and standard deviation 1."""
    count = math.prod(shape)
    used = 4 if dtype == np.float64 else 2
    pairs = -(-count // 2)
    words = _words(stream, used * pairs).reshape(pairs, used)
    return box_muller(words, dtype).reshape(-1)[:count].reshape(shape).astype(dtype)


def truncated_normal(stream: Stream, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
    """Normal numbers, those beyond two standard deviations drawn again."""
    count = math.prod(shape)
    group, used = (2, 4) if dtype == np.float64 else (4, 2)
    groups = -(-count // group)
    kept = np.zeros((groups, 0), np.float64 if dtype == np.float64 else np.float32)
    offsets = np.arange(groups, dtype=np.uint64) * np.uint64(group * _RESERVED)
    drawn = 0
    while groups and (drawn == 0 or (np.abs(kept) < _LIMIT).sum(axis=1).min() < group):
        more = stream.at(offsets[:, None] + np.arange(drawn, drawn + 4, dtype=np.uint64))
        pairs = box_muller(more.reshape(groups, -1, used), dtype)
        kept = np.concatenate([kept, pairs.reshape(groups, -1)], axis=1)
        drawn += 4
    # A stable sort by "refused" brings the first accepted ones of each group to the front.
    order = np.argsort(np.abs(kept) >= _LIMIT, axis=1, kind="stable")[:, :group]
    chosen = np.take_along_axis(kept, order, axis=1)
    return chosen.reshape(-1)[:count].reshape(shape).astype(dtype)


def full_integers(stream: Stream, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
    """Integers over the whole range of a 32- or 64-bit type."""
    count = math.prod(shape)
    if dtype.itemsize == 4:
        return _words(stream, count).view(dtype).reshape(shape)
    pairs = _words(stream, 2 * count).reshape(count, 2).astype(np.uint64)
    wide = pairs[:, 0] | pairs[:, 1] << np.uint64(32)
    return np.asarray(wide).view(dtype).reshape(shape)


def integers(
    stream: Stream, shape: tuple[int, ...], low: int, high: int, dtype: np.dtype[Any]
) -> Array:
    """Integers in [low, high); the remainder of wider random integers, as TensorFlow takes it."""
    unsigned = np.dtype(f"u{dtype.itemsize}")
    rest = full_integers(stream, shape, unsigned) % unsigned.type(high - low)
    with np.errstate(over="ignore"):
        return np.asarray(rest + np.array(low, dtype).view(unsigned)).view(dtype)


def permutation(stream: Stream, size: int) -> Array:
    """A shuffle of ``range(size)`` by swaps from the front, int64.

    Lists become arrays, and arrays lists, in pieces: each keeps the interpreter's lock meanwhile,
    and nothing can stop the run.
    """
    order: list[int] = []
    for begin in range(0, size, PIECE):
        order += range(begin, min(begin + PIECE, size))
    for begin in range(0, size - 1, PIECE):
        words = _words(stream.skip(begin // 4), min(PIECE, size - 1 - begin)).tolist()
        for k, word in enumerate(words, begin):
            other = k + word % (size - k)
            order[k], order[other] = order[other], order[k]
    out = np.empty(size, np.int64)
    for begin in range(0, size, PIECE):
        out[begin : begin + PIECE] = order[begin : begin + PIECE]
    return out


def categorical(stream: Stream, logits: Array, count: int) -> Array:
    """``count`` class numbers for each row of log probabilities, which need not add up to one."""
    rows = logits.shape[0]
    points = doubles(_words(stream, 2 * rows * count).reshape(rows, count, 2))
    wide = logits.astype(np.float64)
    finite = np.isfinite(wide)
    with np.errstate(all="ignore"):
        top = np.max(wide, axis=1, keepdims=True, where=finite, initial=-np.inf)
        heights = np.cumsum(np.where(finite, np.exp(wide - top), 0), axis=1)
    out = np.zeros((rows, count), np.int64)
    for row in range(rows):
        sought = points[row] * heights[row, -1]
        out[row] = np.searchsorted(heights[row], sought, side="right")
    return out
