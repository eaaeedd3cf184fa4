"""XLA's random bits: Philox and ThreeFry from a state, and the state after them."""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from drystone_base.kernels._indices import int_vector, only_scalar_int
from drystone_base.kernels._limits import check_size
from drystone_base.kernels._registry import Array, Call, kernel
from drystone_base.kernels.random._philox import Stream
from drystone_base.kernels.random._threefry import ThreeFry

__all__: list[str] = []

_PHILOX: Final = 1
_THREEFRY: Final = 2
_MASK: Final = (1 << 64) - 1


@kernel("XlaRngBitGenerator")
def rng_bit_generator(
    call: Call, algorithm: Array, state: Array, shape: Array
) -> tuple[Array, Array]:
    """The next state, and bits as unsigned integers; TF ``XlaRngBitGenerator``.

    The state is a key and a counter: of 64 bits, for Philox also of 128.
    """
    which, dtype = only_scalar_int(call, algorithm, "algorithm"), call.attrs["dtype"].np
    call.require(
        which in (_PHILOX, _THREEFRY),
        "the algorithm must be Philox or ThreeFry",
        found=which,
        needed=f"{_PHILOX} or {_THREEFRY}",
    )
    sizes = (2, 3) if which == _PHILOX else (2,)
    call.require(
        state.ndim == 1 and state.size in sizes,
        "the state must be a key and a counter",
        found=list(state.shape),
        needed=" or ".join(f"[{n}]" for n in sizes),
    )
    call.require(
        dtype in (np.uint32, np.uint64), "bits come as unsigned integers", found=str(dtype),
        needed="uint32 or uint64",
    )  # fmt: skip
    dims = check_size(call, int_vector(call, shape, "shape"), dtype)
    key, counter, *high = (int(v) for v in state)
    if which == _PHILOX:
        counter |= (high[0] if high else key) << 64  # a state of two: as XLA fills it up
        count = math.prod(dims) * (dtype.itemsize // 4)
        steps = -(-count // 4)
        bits = _packed(Stream(key, counter).blocks(steps).reshape(-1)[:count], dtype).reshape(dims)
    elif dtype == np.uint64:
        steps = math.prod(dims)
        bits = _packed(ThreeFry(key, counter).words(2 * steps), dtype).reshape(dims)
    else:
        bits, steps = _halves(ThreeFry(key, counter), dims)
    after = counter + steps
    left = [key, after & _MASK, after >> 64 & _MASK][: state.size]
    return np.array(left, np.uint64), bits


def _halves(stream: ThreeFry, dims: tuple[int, ...]) -> tuple[Array, int]:
    """32-bit words, and how many pairs they took: pairs lie along the first even dimension.

    Without one they lie along the largest, whose last pair is cut.
    """
    if not dims:
        return stream.words(1).reshape(()), 1
    even = [k for k, n in enumerate(dims) if n % 2 == 0]
    at = even[0] if even else int(np.argmax(dims))
    half = [-(-n // 2) if k == at else n for k, n in enumerate(dims)]
    steps = math.prod(half)
    pairs = stream.words(2 * steps).reshape(*half, 2)
    whole = np.moveaxis(pairs, -1, at + 1).reshape(*dims[:at], 2 * half[at], *dims[at + 1 :])
    return np.take(whole, np.arange(dims[at]), at), steps


def _packed(words: Array, dtype: np.dtype[np.generic]) -> Array:
    """Words as they are, or two as one of 64 bits, the low half first."""
    if dtype == np.uint32:
        return words
    wide = words.reshape(-1, 2).astype(np.uint64)
    return wide[:, 0] | wide[:, 1] << np.uint64(32)
