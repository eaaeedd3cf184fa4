"""Random numbers that depend on nothing but their inputs.

Source: TensorFlow ops of the same names: seeds (V1), or key, counter and algorithm (V2). The
streams are those of TensorFlow's CPU kernels, which have Philox alone; those of the ThreeFry
algorithm are XLA's.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from drystone_base.kernels._indices import int_vector
from drystone_base.kernels._limits import check_size
from drystone_base.kernels._registry import Array, Call, kernel
from drystone_base.kernels.math._elementwise import Function
from drystone_base.kernels.random import _distributions as draw
from drystone_base.kernels.random import _threefry
from drystone_base.kernels.random._philox import Stream, stateless
from drystone_base.kernels.random._threefry import ThreeFry
from drystone_base.kernels.random.random import check_bounds, check_logits

_PHILOX: Final = 1
_THREEFRY: Final = 2
_AUTOMATIC: Final = 3


def from_seed_stream(call: Call, seed: Array) -> Stream:
    """The stream that two seeds stand for."""
    call.require(seed.shape == (2,), "the seed must be two numbers", found=list(seed.shape))
    return stateless(int(seed[0]), int(seed[1]))


def _check_key(call: Call, key: Array, counter: Array, alg: Array) -> None:
    call.require(alg.ndim == 0, "alg must be a scalar", found=list(alg.shape))
    call.require(key.shape == (1,), "key must be one number", found=list(key.shape))
    known = int(alg) in (_PHILOX, _THREEFRY, _AUTOMATIC)
    call.require(
        counter.ndim == 1 and counter.size >= (2 if known else max(2, int(alg))),
        "counter must be two numbers, and as many as alg says where that is no algorithm",
        found=f"{list(counter.shape)}, alg {int(alg)}",
    )


def from_key_stream(
    call: Call, key: Array, counter: Array, alg: Array, *, numbers: int = 1
) -> Stream:
    """The stream that begins at a counter, under a key; no numbers come of any algorithm."""
    _check_key(call, key, counter, alg)
    call.require(
        int(alg) in (_PHILOX, _AUTOMATIC) or numbers == 0,
        "the algorithm must be Philox",
        found=int(alg),
        needed=f"{_PHILOX} (Philox) or {_AUTOMATIC} (automatic)",
    )
    return Stream(int(key[0]), int(counter[0]) | int(counter[1]) << 64)


_DRAWS: Final[dict[str, Function]] = {
    "StatelessRandomUniform": draw.uniform,
    "StatelessRandomNormal": draw.normal,
    "StatelessTruncatedNormal": draw.truncated_normal,
    "StatelessRandomUniformFullInt": draw.full_integers,
}


def _is_threefry(alg: Array) -> bool:
    return alg.ndim == 0 and int(alg) == _THREEFRY


def _size(shape: Array) -> int:
    return math.prod(shape.ravel().tolist())


def _draw(call: Call, shape: Array, stream: Stream) -> Array:
    dtype = call.attrs["dtype"].np
    dims = check_size(call, int_vector(call, shape, "shape"), dtype)
    return np.asarray(_DRAWS[call.op.removesuffix("V2")](stream, dims, dtype))


_THREEFRY_DRAWS: Final[dict[str, Function]] = {
    "StatelessRandomUniformV2": _threefry.uniform,
    "StatelessRandomNormalV2": _threefry.normal,
    "StatelessTruncatedNormalV2": _threefry.truncated_normal,
    "StatelessRandomUniformFullIntV2": _threefry.full_integers,
}


@kernel(*_DRAWS)
def from_seed(call: Call, shape: Array, seed: Array) -> Array:
    """Numbers of type ``dtype`` from two seeds: uniform, normal, truncated, or any integers."""
    call.require(
        seed.dtype.kind == "i" or 0 in np.atleast_1d(shape),
        "the seed must be signed",
        found=seed.dtype,
        needed="int32 or int64",
    )
    return _draw(call, shape, from_seed_stream(call, seed))


@kernel(*(f"{name}V2" for name in _DRAWS))
def from_key(call: Call, shape: Array, key: Array, counter: Array, alg: Array) -> Array:
    """Numbers of type ``dtype`` from a key and a counter."""
    if _is_threefry(alg) and call.op in _THREEFRY_DRAWS:
        _check_key(call, key, counter, alg)
        dtype = call.attrs["dtype"].np
        dims = check_size(call, int_vector(call, shape, "shape"), dtype)
        threefry = ThreeFry(int(key[0]), int(counter[0]))
        return np.asarray(_THREEFRY_DRAWS[call.op](threefry, dims, dtype))
    stream = from_key_stream(call, key, counter, alg, numbers=_size(shape))
    return _draw(call, shape, stream)


def _integers(
    call: Call, shape: Array, stream: Stream | ThreeFry, low: Array, high: Array
) -> Array:
    dims = check_size(call, int_vector(call, shape, "shape"), low.dtype)
    if math.prod(dims) == 0:
        return np.zeros(dims, low.dtype)
    first, last = check_bounds(call, low, high)
    if isinstance(stream, ThreeFry):
        return _threefry.integers(stream, dims, first, last, low.dtype)
    return draw.integers(stream, dims, first, last, low.dtype)


@kernel("StatelessRandomUniformInt")
def integers_from_seed(
    call: Call, shape: Array, seed: Array, minval: Array, maxval: Array
) -> Array:
    """Integers in [minval, maxval) from two seeds."""
    return _integers(call, shape, from_seed_stream(call, seed), minval, maxval)


@kernel("StatelessRandomUniformIntV2")
def integers_from_key(
    call: Call, shape: Array, key: Array, counter: Array, alg: Array, minval: Array, maxval: Array
) -> Array:
    """Integers in [minval, maxval) from a key and a counter."""
    if _is_threefry(alg):
        _check_key(call, key, counter, alg)
        threefry = ThreeFry(int(key[0]), int(counter[0]))
        return _integers(call, shape, threefry, minval, maxval)
    stream = from_key_stream(call, key, counter, alg, numbers=_size(shape))
    return _integers(call, shape, stream, minval, maxval)


@kernel("StatelessMultinomial")
def multinomial(call: Call, logits: Array, num_samples: Array, seed: Array) -> Array:
    """Class numbers drawn by unnormalised log probabilities: [rows, num_samples]."""
    count = check_logits(call, logits, num_samples)
    dtype = call.attrs["output_dtype"].np
    check_size(call, (logits.shape[0], count), dtype)
    return draw.categorical(from_seed_stream(call, seed), logits, count).astype(dtype)


@kernel("StatelessShuffle")
def shuffle(call: Call, value: Array, key: Array, counter: Array, alg: Array) -> Array:
    """The rows of ``value`` in an order that key and counter settle."""
    stream = from_key_stream(call, key, counter, alg)
    if value.ndim == 0 or value.shape[0] <= 1:
        return value
    return value[draw.permutation(stream, value.shape[0])]


@kernel("StatelessRandomGetKeyCounter", "StatelessRandomGetKeyCounterAlg")
def key_counter(call: Call, seed: Array) -> tuple[Array, ...]:
    """Key uint64 [1] and counter uint64 [2] that two seeds stand for, and the algorithm."""
    stream = from_seed_stream(call, seed)
    words = [stream.counter & ((1 << 64) - 1), stream.counter >> 64]
    found = (np.array([stream.key], np.uint64), np.array(words, np.uint64))
    return (*found, np.array(_PHILOX, np.int32)) if call.op.endswith("Alg") else found


@kernel("StatelessRandomGetAlg")
def algorithm(_: Call) -> Array:
    """The number of the algorithm, int32: Philox."""
    return np.array(_PHILOX, np.int32)
