"""Where an index goes when a range is shuffled, without shuffling it.

Source: TensorFlow op RandomIndexShuffle: a block cipher of the Simon family (Beaulieu and others,
2013), applied until its value lies in the range.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Final, TypeVar

import numpy as np

from drystone_base.kernels._registry import Array, Call, kernel

_ROUND_BITS: Final = 0x7369F885192C0EF5
_LEAST: Final = 16
_MASK_32: Final = 0xFFFFFFFF
_STEPS: Final = 1 << 20
"""More than an index in the range takes."""


Word = TypeVar("Word", int, Array)


def _left(x: Word, by: int, width: int) -> Word:
    return (x << by | x >> (width - by)) & ((1 << width) - 1)


def _mix(x: Word, width: int) -> Word:
    return (_left(x, 1, width) & _left(x, 8, width)) ^ _left(x, 2, width)


def _keys(seed: Sequence[int], rounds: int, width: int) -> list[int]:
    """The key of each round."""
    mask = (1 << width) - 1
    keys = [s & mask for s in seed]
    bits = _ROUND_BITS & mask
    for k in range(3, rounds):
        turned = _left(keys[k - 1], width - 3, width) ^ _left(keys[k - 1], width - 4, width)
        keys.append((0xFFFFFFFC & mask) ^ (bits & 1) ^ keys[k - 3] ^ turned)
        bits >>= 1
    return keys


def _encrypted(value: Word, keys: Sequence[int], width: int) -> Word:
    """The value, as two words of ``width`` bits, under the keys."""
    left, right = value >> width, value & ((1 << width) - 1)
    for first, second in zip(keys[::2], keys[1::2], strict=True):
        left = left ^ _mix(right, width) ^ first
        right = right ^ _mix(left, width) ^ second
    return left << width | right


@lru_cache(maxsize=64)
def _table(keys: tuple[int, ...]) -> list[int]:
    """Where the cipher of the smallest size takes each value."""
    table: list[int] = _encrypted(np.arange(1 << _LEAST), keys, _LEAST // 2).tolist()
    return table


def _shuffled(call: Call, index: int, seed: Sequence[int], last: int) -> int:
    """The place of ``index`` in a shuffle of 0 ... ``last``."""
    if last == 0:
        return 0
    size = (last - 1).bit_length()
    width = min(max(size + size % 2, _LEAST), 64) // 2
    keys = tuple(_keys(seed, call.attrs["rounds"], width))
    # A narrow range takes many steps: those of the smallest cipher are looked up.
    table = _table(keys) if 2 * width == _LEAST and index < 1 << _LEAST else None
    found = index
    for _ in range(_STEPS):
        found = table[found] if table else _encrypted(found, keys, width) & ((1 << 2 * width) - 1)
        if found <= last:
            break
    else:
        call.fail("an index must not be above max_index", found=index, needed=f"0 ... {last}")
    return found


@kernel("RandomIndexShuffle")
def random_index_shuffle(call: Call, index: Array, seed: Array, max_index: Array) -> Array:
    """The place of each index in a shuffle of 0 ... ``max_index`` that the seed settles.

    Each argument is one for all, or one for each place: seeds are rows of three numbers.
    """
    rounds = call.attrs["rounds"]
    count = max(index.size, max_index.size, seed.size // 3)
    for name, value in (("index", index), ("max_index", max_index)):
        call.require(
            value.ndim == 0 or value.shape == (count,),
            f"{name} must be a scalar, or a vector like the others",
            found=list(value.shape),
            needed=f"[] or [{count}]",
        )
    call.require(
        seed.shape in ((3,), (count, 3)),
        "the seed must be three numbers, or three for each index",
        found=list(seed.shape),
        needed=f"[3] or [{count}, 3]",
    )
    call.require(
        rounds >= 4 and rounds % 2 == 0,
        "rounds must be even",
        found=rounds,
        needed="4 or more, even",
    )
    for name, value, least in (("index", index, 0), ("max_index", max_index, index)):
        call.require(
            bool((value >= least).all()),
            "index must not be negative, nor max_index be below index",
            found=f"{name} {value.tolist()}"[:80],
            needed=">= 0" if name == "index" else ">= index",
        )
    wide = [np.broadcast_to(v, (count,)).astype(np.uint64).tolist() for v in (index, max_index)]
    seeds = [[s & _MASK_32 for s in row] for row in np.broadcast_to(seed, (count, 3)).tolist()]
    found = [_shuffled(call, i, s, m) for i, s, m in zip(wide[0], seeds, wide[1], strict=True)]
    out = np.array(found, np.uint64).astype(index.dtype)
    scalar = index.ndim == max_index.ndim == 0 and seed.ndim == 1
    return out.reshape(()) if scalar else out
