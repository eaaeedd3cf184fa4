"""Normal numbers between bounds of their own.

Source: TensorFlow ops of the same names; Robert, "Simulation of truncated normal variables" (1995).
Three proposals are used, whichever is accepted most often: normal, uniform, exponential numbers.
All numbers come from one stream in order; TensorFlow's are the same as long as it draws them in
one thread.
"""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from drystone_base.kernels._indices import int_vector
from drystone_base.kernels._limits import check_size
from drystone_base.kernels._registry import Array, Call, kernel
from drystone_base.kernels._widen import quiet
from drystone_base.kernels.math._elementwise import broadcast_shape
from drystone_base.kernels.random._distributions import normal, uniform
from drystone_base.kernels.random._philox import Stream
from drystone_base.kernels.random.random import reserve
from drystone_base.kernels.random.random_stateless import from_seed_stream

_PATIENCE: Final = 1000
"""The most refusals in a row."""
_INSIDE: Final = 1.3
"""Deviations that the bounds lie beyond the mean where normal numbers are proposed."""
_BATCH: Final = 100
_FEWEST: Final = 16
"""Groups that are proposed at once."""


class _Proposals:
    """Proposed numbers out of a stream, and whether each is accepted."""

    def __init__(self, low: Any, high: Any, dtype: np.dtype[Any]) -> None:
        self.low, self.high, self.dtype = low, high, dtype
        real = dtype.type
        self.width = 2 if dtype == np.float64 else 4
        root = np.sqrt(low * low + real(4))
        least = real(2) * np.exp(real(0.5) + (low * (low - root)) / real(4)) / (low + root)
        if (low < real(-_INSIDE) and high >= 0) or (high > real(_INSIDE) and low <= 0):
            self.draw, self.blocks = self._normal, 1
        elif high - low < least:
            self.draw, self.blocks = self._uniform, 2
        else:
            self.draw, self.blocks = self._exponential, 1

    def _numbers(self, stream: Stream, groups: int) -> Array:
        return uniform(stream, (groups * self.blocks * self.width,), self.dtype)

    def _normal(self, stream: Stream, groups: int) -> tuple[Array, Array]:
        found = normal(stream, (groups * self.width,), self.dtype)
        return found, (found >= self.low) & (found <= self.high)

    def _uniform(self, stream: Stream, groups: int) -> tuple[Array, Array]:
        pairs = self._numbers(stream, groups).reshape(groups, 2, self.width)
        real = self.dtype.type
        z = pairs[:, 0] * (self.high - self.low) + self.low
        most = real(0) if self.low < 0 else self.low * self.low
        accepted = pairs[:, 1] <= np.exp((most - z * z) / real(2))
        return z.ravel(), accepted.ravel()

    def _exponential(self, stream: Stream, groups: int) -> tuple[Array, Array]:
        pairs = self._numbers(stream, groups).reshape(-1, 2)
        real = self.dtype.type
        rate = (self.low + np.sqrt(self.low * self.low + real(4))) / real(2)
        z = -np.log(pairs[:, 0]) / rate + self.low
        x = rate - z if self.low < rate else np.full_like(z, self.low - rate)
        return z, (pairs[:, 1] <= np.exp(-x * x / real(2))) & (z < self.high)


class _Source:
    """Accepted numbers of one set of parameters, in order; each batch begins with a new group."""

    def __init__(self, call: Call, stream: Stream, given: list[Any], hint: int) -> None:
        mean, deviation, low, high = given
        call.require(
            deviation > 0 and low < high and (np.isfinite(low) or np.isfinite(high)),
            "the parameters must be those of a truncated normal distribution",
            found=f"mean {mean}, deviation {deviation}, from {low} to {high}",
            needed="a positive deviation, bounds in order, one of them finite",
        )
        if (np.isinf(low) and low < 0) or high < mean:
            low, high, deviation = high, low, -deviation
        self._call, self._stream, self._hint = call, stream, hint
        self._mean, self._deviation = mean, deviation
        self._proposals = _Proposals(
            (low - mean) / deviation, (high - mean) / deviation, mean.dtype
        )
        self._found, self._places = np.zeros(0, mean.dtype), np.zeros(0, np.int64)
        self._group = self._proposals.draw(stream, 1)[0].size
        self._groups, self._start = 0, 0

    def take(self, count: int) -> Array:
        """The next ``count`` numbers; INTERNAL after too many refusals in a row."""
        while True:
            first = int(np.searchsorted(self._places, self._start))
            places = self._places[first : first + count]
            complete = places.size == count
            seen = [] if complete else [self._groups * self._group]
            gaps = np.diff([self._start - 1, *places.tolist(), *seen])
            if gaps.max(initial=0) > _PATIENCE:
                self._call.fail(
                    "a number between the bounds must be found",
                    found=f"{_PATIENCE} refusals in a row",
                    needed="bounds that are not so far from the mean",
                    status="INTERNAL",
                )
            if complete:
                break
            self._more()
        if count:
            self._start = (int(places[-1]) // self._group + 1) * self._group
        return np.asarray(self._found[places] * self._deviation + self._mean)

    def _more(self) -> None:
        groups = max(-(-self._hint // self._group), _FEWEST)
        begin = self._stream.skip(self._groups * self._proposals.blocks)
        found, accepted = self._proposals.draw(begin, groups)
        more = np.flatnonzero(accepted) + self._groups * self._group
        self._found = np.concatenate([self._found, found])
        self._places = np.concatenate([self._places, more])
        self._groups += groups

    def rest(self) -> Stream:
        """The stream behind what has been taken."""
        return self._stream.skip(self._start // self._group * self._proposals.blocks)


def _sample(call: Call, stream: Stream, counts: list[int], given: list[Array]) -> list[Array]:
    """Numbers for each set of parameters, in turn; or for one set, in several batches."""
    if counts and all(v.size == 1 for v in given):
        source = _Source(call, stream, [v.reshape(-1)[0] for v in given], sum(counts))
        return [source.take(count) for count in counts]
    out = []
    for k, count in enumerate(counts):
        source = _Source(
            call, stream, [v.reshape(-1)[k if v.size > 1 else 0] for v in given], count
        )
        out.append(source.take(count))
        stream = source.rest()
    return out


@kernel("ParameterizedTruncatedNormal")
@quiet
def truncated(
    call: Call, shape: Array, means: Array, stdevs: Array, minvals: Array, maxvals: Array
) -> Array:
    """Normal numbers between bounds; the parameters are scalars, or one for each row."""
    dims = int_vector(call, shape, "shape")
    call.require(len(dims) > 0, "shape must not be empty", found=list(dims))
    dims = check_size(call, dims, means.dtype)
    given = [means, stdevs, minvals, maxvals]
    for name, value in zip(("means", "stdevs", "minvals", "maxvals"), given, strict=True):
        call.require(
            value.ndim == 0 or (value.ndim == 1 and value.size in (1, dims[0])),
            f"{name} must be a scalar, or one number for each row",
            found=list(value.shape),
            needed=f"[] or [{dims[0]}]",
        )
    size = math.prod(dims)
    if means.size == stdevs.size == 1 and minvals.ndim == maxvals.ndim == 0:
        counts = [min(_BATCH, size - k) for k in range(0, size, _BATCH)]
        reserved = len(counts) * 2 * _PATIENCE * (_BATCH + 3) // 4
    else:
        row = math.prod(dims[1:])
        counts = [row] * dims[0]
        reserved = dims[0] * 2 * _PATIENCE * (row + 3) // 4
    found = _sample(call, reserve(call, reserved), counts, given)
    return np.concatenate([np.zeros(0, means.dtype), *found]).reshape(dims)


@kernel("StatelessParameterizedTruncatedNormal")
@quiet
def truncated_from_seed(
    call: Call, shape: Array, seed: Array, means: Array, stddevs: Array, minvals: Array,
    maxvals: Array,
) -> Array:  # fmt: skip
    """Normal numbers between bounds from two seeds; ``shape`` ends with that of the parameters."""
    stream = from_seed_stream(call, seed)
    given = [means, stddevs, minvals, maxvals]
    end = broadcast_shape(call, *given)
    dims = check_size(call, int_vector(call, shape, "shape"), means.dtype)
    call.require(
        dims[len(dims) - len(end) :] == end and len(end) <= len(dims),
        "shape must end with the shape of the parameters",
        found=list(dims),
        needed=f"... {list(end)}",
    )
    if math.prod(dims) == 0:
        return np.zeros(dims, means.dtype)
    batches = math.prod(end)
    wide = [np.broadcast_to(v, end).reshape(-1) for v in given]
    found = _sample(call, stream, [math.prod(dims) // batches] * batches, wide)
    return np.stack(found, axis=-1).reshape(dims)
