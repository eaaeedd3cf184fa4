"""Rounding to integers up or down by chance, so that the mean is kept; StochasticCastToInt.

The numbers are TensorFlow's for tensors that one of its threads does alone: larger ones are
shared out, and then TensorFlow itself does not repeat them.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from drystone_base.kernels._registry import Array, Call, kernel
from drystone_base.kernels._widen import quiet
from drystone_base.kernels.random._philox import Stream, doubles, floats, seeded
from drystone_base.kernels.random.random_stateless import from_key_stream

__all__: list[str] = []

# Elements that share one block of random bits, and how many are taken at once, by 256-bit vectors.
_SHARED: Final = {("float32", "int32"): (8, 8), ("float64", "int32"): (4, 8)}
_NARROW: Final = {"float16": (10, 15), "bfloat16": (7, 127)}  # bits of the fraction, exponent of 1


def _uniform(blocks: Array, dtype: np.dtype[Any]) -> Array:
    """Numbers in [0, 1) from blocks of four words, as many as a block gives."""
    if dtype == np.float32:
        return floats(blocks)
    if dtype == np.float64:
        return doubles(blocks.reshape(-1, 2, 2))
    bits, one = _NARROW[dtype.name]
    fraction = blocks.astype(np.uint16) & np.uint16((1 << bits) - 1)
    return np.asarray((fraction | np.uint16(one << bits)).view(dtype) - dtype.type(1))


def _chances(x: Array, open_: Array, stream: Stream, shared: tuple[int, int]) -> Array:
    """A number in [0, 1) for each element: whole vectors first, then one by one where needed."""
    width, step = shared
    whole = x.size // step * step if width > 1 else 0
    single = np.flatnonzero(open_[whole:]) + whole
    numbers = _uniform(stream.blocks(whole // width + single.size), x.dtype)
    out = np.zeros(x.shape, x.dtype)
    if whole:
        packs = numbers[: whole // width]
        out[:whole] = np.tile(packs, width // packs.shape[1]).reshape(-1)
    out[single] = numbers[whole // width :, 0]
    return out


@kernel("StochasticCastToInt")
@quiet
def stochastic_cast_to_int(call: Call, x: Array, key: Array, counter: Array, alg: Array) -> Array:
    """Integers: each value's floor or the next, the nearer the likelier; NaN is 0."""
    target = call.attrs["Tout"].np
    given = from_key_stream(call, key, counter, alg)
    stream = seeded(given.counter, given.key)
    flat = x.reshape(-1)
    limits = np.iinfo(target)
    low, high = (np.asarray(v).astype(x.dtype) for v in (limits.min, limits.max))
    inside = (flat > low) & (flat < high)
    shared = _SHARED.get((x.dtype.name, target.name), (1, 1))
    chance = _chances(flat, inside & (np.floor(flat) != flat), stream, shared)
    up = np.where(flat < 0, np.floor(flat + chance), np.floor(flat + x.dtype.type(1) - chance))
    whole = np.where(np.floor(flat) == flat, flat, up)
    whole = np.where(flat >= high, high, np.where(flat <= low, low, whole)).astype(np.float64)
    whole = np.where(np.isnan(flat.astype(np.float64)), 0, whole)
    beyond = np.isinf(whole)  # where the type has no number as large as the integers' limit
    out = np.where(beyond, limits.min, np.where(beyond, 0, whole).astype(np.int64))
    return np.asarray(out.astype(target).reshape(x.shape))
