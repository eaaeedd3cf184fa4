"""Random numbers from generators that advance with every run.

Source: TensorFlow ops of the same names. Equal seeds give TensorFlow's CPU streams, run after run;
two zero seeds give a stream of its own to each node of a session.
"""

from __future__ import annotations

import math
import secrets
from typing import Final

import numpy as np

from drystone_base.kernels._indices import int_vector
from drystone_base.kernels._limits import check_size
from drystone_base.kernels._registry import Array, Call, kernel
from drystone_base.kernels.math._elementwise import Function
from drystone_base.kernels.random import _distributions as draw
from drystone_base.kernels.random._philox import Stream, seeded

_RESERVED: Final = 256
"""Blocks that each output may use up."""


def reserve(call: Call, blocks: int) -> Stream:
    """The node's stream; the next call gets it without its first ``blocks`` blocks."""
    stream: Stream | None = call.runtime.seeds.get(call.node)
    if stream is None:
        seeds = call.attrs["seed"], call.attrs["seed2"]
        stream = seeded(*(seeds if any(seeds) else (secrets.randbits(64), secrets.randbits(64))))
    call.runtime.seeds[call.node] = stream.skip(blocks)
    return stream


_DRAWS: Final[dict[str, Function]] = {
    "RandomUniform": draw.uniform,
    "RandomStandardNormal": draw.normal,
    "TruncatedNormal": draw.truncated_normal,
}


@kernel(*_DRAWS)
def random(call: Call, shape: Array) -> Array:
    """Numbers of type ``dtype``: uniform in [0, 1), normal, or normal within two deviations."""
    dtype = call.attrs["dtype"].np
    dims = check_size(call, int_vector(call, shape, "shape"), dtype)
    stream = reserve(call, math.prod(dims) * _RESERVED)
    return np.asarray(_DRAWS[call.op](stream, dims, dtype))


def check_bounds(call: Call, low: Array, high: Array) -> tuple[int, int]:
    """The bounds of random integers; INVALID_ARGUMENT unless both are scalars and low < high."""
    for name, value in (("minval", low), ("maxval", high)):
        call.require(value.ndim == 0, f"{name} must be a scalar", found=list(value.shape))
    first, last = int(low), int(high)
    call.require(
        first < last,
        "minval must be below maxval",
        found=f"minval {first}, maxval {last}",
        needed="minval < maxval",
    )
    return first, last


@kernel("RandomUniformInt")
def random_integers(call: Call, shape: Array, minval: Array, maxval: Array) -> Array:
    """Integers in [minval, maxval)."""
    dims = check_size(call, int_vector(call, shape, "shape"), minval.dtype)
    if math.prod(dims) == 0:
        return np.zeros(dims, minval.dtype)
    low, high = check_bounds(call, minval, maxval)
    stream = reserve(call, math.prod(dims) * _RESERVED)
    return draw.integers(stream, dims, low, high, minval.dtype)


@kernel("RandomShuffle")
def random_shuffle(call: Call, value: Array) -> Array:
    """The rows of ``value`` in random order."""
    if value.ndim == 0 or value.shape[0] <= 1:
        return value
    stream = reserve(call, -(-(value.shape[0] - 1) // 4))
    return value[draw.permutation(stream, value.shape[0])]


def check_logits(call: Call, logits: Array, num_samples: Array) -> int:
    """The number of samples; INVALID_ARGUMENT unless there are rows of classes to draw from."""
    call.require(logits.ndim == 2, "logits must be a matrix", found=list(logits.shape))
    call.require(
        num_samples.ndim == 0, "num_samples must be a scalar", found=list(num_samples.shape)
    )
    count = int(num_samples)
    call.require(count >= 0, "num_samples must not be negative", found=count, needed="0 or more")
    call.require(logits.shape[1] > 0, "there must be a class to draw", found=list(logits.shape))
    return count


@kernel("Multinomial")
def multinomial(call: Call, logits: Array, num_samples: Array) -> Array:
    """Class numbers drawn by unnormalised log probabilities: [rows, num_samples].

    The stream is TensorFlow's as long as that draws all rows in one thread.
    """
    count = check_logits(call, logits, num_samples)
    dtype = call.attrs["output_dtype"].np
    check_size(call, (logits.shape[0], count), dtype)
    stream = reserve(call, logits.shape[0] * -(-count // 4) * 8 * _RESERVED)
    return draw.categorical(stream, logits, count).astype(dtype)
