"""Random numbers from generators whose state is a variable: counter and key of Philox.

Source: TensorFlow ops of the same names. The state is an int64 vector: two words of counter, one of
key (after the number of the algorithm for StatefulStandardNormal).
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
from drystone_base.kernels.random._philox import Stream
from drystone_base.kernels.random.random import check_bounds
from drystone_base.state.variables import Variable, resource_of

_PHILOX: Final = 1
_THREEFRY: Final = 2
_AUTOMATIC: Final = 3
_WORDS: Final = 3
_RESERVED: Final = 256
"""Blocks that the counter moves on for each number."""


def _scalar(call: Call, value: Array, name: str) -> int:
    call.require(value.ndim == 0, f"{name} must be a scalar", found=list(value.shape))
    return int(value)


def _check_state(call: Call, state: Array, tag: int) -> None:
    call.require(
        state.dtype == np.int64,
        "the state of a generator must be of type int64",
        found=state.dtype,
        needed="int64",
    )
    call.require(state.ndim == 1, "the state of a generator must be a vector", found=state.shape)
    call.require(
        state.size >= tag + _WORDS,
        "the state of a generator must hold counter and key",
        found=f"{state.size} elements",
        needed=f"{tag + _WORDS} or more",
    )


def _check_algorithm(call: Call, number: int) -> None:
    call.require(
        number in (_PHILOX, _AUTOMATIC),
        "the algorithm must be Philox",
        found=number,
        needed=f"{_PHILOX} (Philox) or {_AUTOMATIC} (automatic)",
        status="UNIMPLEMENTED" if number == _THREEFRY else "INVALID_ARGUMENT",
    )


def take(call: Call, resource: Array, algorithm: Array | None, numbers: int) -> Stream:
    """The generator's stream; its counter moves on by what ``numbers`` may use up.

    Without ``algorithm``, the state begins with its number.
    """
    variable = resource_of(resource, Variable)
    with variable.lock:
        state, tag = variable.read(), 0 if algorithm is not None else 1
        number = _scalar(call, algorithm, "algorithm") if algorithm is not None else None
        _check_algorithm(call, int(state[0]) if number is None else number)
        _check_state(call, state, tag)
        low, high, key = (int(v) for v in state[tag : tag + _WORDS].astype(np.uint64))
        stream = Stream(key, low | high << 64)
        after = stream.skip(numbers * _RESERVED).counter
        moved = state.copy()
        moved[tag : tag + 2] = np.array([after & (2**64 - 1), after >> 64], np.uint64).view(
            np.int64
        )
        variable.write(moved)
    return stream


_DRAWS: Final[dict[str, Function]] = {
    "StatefulUniform": draw.uniform,
    "StatefulStandardNormalV2": draw.normal,
    "StatefulStandardNormal": draw.normal,
    "StatefulTruncatedNormal": draw.truncated_normal,
    "StatefulUniformFullInt": draw.full_integers,
}


def _draw(call: Call, resource: Array, algorithm: Array | None, shape: Array) -> Array:
    dtype = call.attrs["dtype"].np
    dims = check_size(call, int_vector(call, shape, "shape"), dtype)
    stream = take(call, resource, algorithm, math.prod(dims))
    return np.asarray(_DRAWS[call.op](stream, dims, dtype))


@kernel(*(op for op in _DRAWS if op != "StatefulStandardNormal"))
def numbers(call: Call, resource: Array, algorithm: Array, shape: Array) -> Array:
    """Numbers of type ``dtype``: uniform, normal, truncated, or any integers."""
    return _draw(call, resource, algorithm, shape)


@kernel("StatefulStandardNormal")
def normal(call: Call, resource: Array, shape: Array) -> Array:
    """Normal numbers from a state that begins with the number of the algorithm."""
    return _draw(call, resource, None, shape)


@kernel("StatefulUniformInt")
def integers(
    call: Call, resource: Array, algorithm: Array, shape: Array, minval: Array, maxval: Array
) -> Array:
    """Integers in [minval, maxval)."""
    low, high = check_bounds(call, minval, maxval)
    dims = check_size(call, int_vector(call, shape, "shape"), minval.dtype)
    stream = take(call, resource, algorithm, math.prod(dims))
    return draw.integers(stream, dims, low, high, minval.dtype)


@kernel("RngSkip")
def skip(call: Call, resource: Array, algorithm: Array, delta: Array) -> tuple[()]:
    """Let the generator move on as ``delta`` numbers would make it."""
    take(call, resource, algorithm, _scalar(call, delta, "delta"))
    return ()


@kernel("RngReadAndSkip")
def read_and_skip(call: Call, resource: Array, alg: Array, delta: Array) -> Array:
    """The generator's counter and key, before it moves on as ``delta`` numbers would make it."""
    state = take(call, resource, alg, _scalar(call, delta, "delta"))
    words = [state.counter & (2**64 - 1), state.counter >> 64, state.key]
    return np.array(words, np.uint64).view(np.int64)


@kernel("NonDeterministicInts")
def non_deterministic(call: Call, shape: Array) -> Array:
    """Integers from the operating system's source of randomness."""
    dtype = call.attrs["dtype"].np
    dims = check_size(call, int_vector(call, shape, "shape"), dtype)
    raw = secrets.token_bytes(math.prod(dims) * dtype.itemsize)
    return np.frombuffer(raw, dtype).reshape(dims)
