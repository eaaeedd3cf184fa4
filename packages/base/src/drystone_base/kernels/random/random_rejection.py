"""Random numbers by rejection: gamma, Poisson and binomial.

Source: TensorFlow ops of the same names. Methods: Marsaglia and Tsang (2000) for gamma; Knuth's
multiplication and Hörmann's transformed rejection (1993) for Poisson; geometric sums and Hörmann's
BTRS for binomial. Each output starts at a place of its own in the stream, so that equal seeds give
TensorFlow's numbers.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

import numpy as np

from drystone_base.kernels._indices import int_vector
from drystone_base.kernels._limits import check_size
from drystone_base.kernels._registry import Array, Call, kernel
from drystone_base.kernels._widen import quiet
from drystone_base.kernels.math._elementwise import broadcast_shape
from drystone_base.kernels.math.special import lgamma
from drystone_base.kernels.random._distributions import box_muller
from drystone_base.kernels.random._lanes import Draws, Lanes
from drystone_base.kernels.random._philox import Stream, doubles
from drystone_base.kernels.random.random import reserve
from drystone_base.kernels.random.random_generator import take
from drystone_base.kernels.random.random_stateless import from_key_stream, from_seed_stream

_RESERVED: Final = 256
"""Blocks between the places where one output and the next start."""
_RESERVED_FEW: Final = 42
"""The same for sums of geometric numbers, of which few are needed."""

_TAILS: Final = tuple(
    math.lgamma(k + 1) - (k + 0.5) * math.log(k + 1) + k + 1 - 0.5 * math.log(2 * math.pi)
    for k in range(10)
)
"""What Stirling's formula lacks of log k!."""


def _pairs(blocks: Array) -> Array:
    return doubles(blocks.reshape(-1, 2, 2))


def _normals(blocks: Array) -> Array:
    return box_muller(blocks, np.dtype(np.float64))


def _gamma(call: Call, stream: Stream, alpha: Array, places: Array) -> Array:
    """Samples of gamma distributions of shape ``alpha`` (float64) and scale 1."""
    lanes = Lanes(call, stream, places * _RESERVED)
    uniform = Draws(lanes, alpha.size, _pairs, 2, np.float64)
    normal = Draws(lanes, alpha.size, _normals, 2, np.float64)
    out = np.zeros(alpha.size)
    simple = np.flatnonzero(alpha == 1)
    out[simple] = -np.log1p(-uniform(simple))
    small = alpha < 1
    d = alpha + np.where(small, 2.0 / 3, -1.0 / 3)
    c = 1.0 / 3 / np.sqrt(d)
    open_ = np.flatnonzero(alpha != 1)
    while open_.size:
        x = normal(open_)
        v = 1 + c[open_] * x
        usable = ~(v <= 0)
        lane, x, v = open_[usable], x[usable], v[usable] * v[usable] * v[usable]
        u = uniform(lane)
        near = u < 1 - 0.0331 * (x * x) * (x * x)
        taken = near | (np.log(u) < 0.5 * x * x + d[lane] * (1 - v + np.log(v)))
        done = lane[taken]
        out[done] = d[done] * v[taken]
        again = done[small[done]]
        out[again] *= uniform(again) ** (1 / alpha[again])
        open_ = np.setdiff1d(open_, done, assume_unique=True)
    return out


def _poisson(call: Call, stream: Stream, rate: Array, places: Array) -> Array:
    """Samples of Poisson distributions (float64)."""
    uniform = Draws(Lanes(call, stream, places * _RESERVED), rate.size, _pairs, 2, np.float64)
    out = np.where(np.isposinf(rate), np.inf, 0)
    few = rate < 10
    _poisson_few(uniform, rate, np.flatnonzero(few), out)
    _poisson_many(uniform, rate, np.flatnonzero(~few & np.isfinite(rate)), out)
    return out


def _poisson_few(uniform: Draws, rate: Array, open_: Array, out: Array) -> None:
    """As many uniform numbers as can be multiplied before the product falls below exp(-rate)."""
    limit, product = np.exp(-rate), np.ones_like(rate)
    while open_.size:
        product[open_] *= uniform(open_)
        open_ = open_[~(product[open_] <= limit[open_])]
        out[open_] += 1


def _poisson_many(uniform: Draws, rate: Array, open_: Array, out: Array) -> None:
    """Transformed rejection with Hörmann's constants."""
    b = 0.931 + 2.53 * np.sqrt(rate)
    a = -0.059 + 0.02483 * b
    inverse = 1.1239 + 1.1328 / (b - 3.4)
    while open_.size:
        p, q, r = a[open_], b[open_], rate[open_]
        u = uniform(open_) - 0.5
        v = uniform(open_)
        shifted = 0.5 - np.abs(u)
        k = np.floor((2 * p / shifted + q) * u + r + 0.43)
        inside = (shifted >= 0.07) & (v <= 0.9277 - 3.6224 / (q - 2))
        outside = (k < 0) | ((shifted < 0.013) & (v > shifted))
        s = np.log(v * inverse[open_] / (p / (shifted * shifted) + q))
        t = -r + k * np.log(r) - lgamma(np.maximum(k, 0) + 1)
        taken = inside | (~outside & (s <= t))
        out[open_[taken]] = k[taken]
        open_ = open_[~taken]


def _tail(k: Array) -> Array:
    """What Stirling's formula lacks of log k!: by its series from 10 on."""
    exact = np.array(_TAILS)
    square = (k + 1) * (k + 1)
    series = (1.0 / 12 - (1.0 / 360 - 1.0 / 1260 / square) / square) / (k + 1)
    return np.where(k <= 9, exact[np.clip(k, 0, 9).astype(np.int64)], series)


def _binomial_few(call: Call, stream: Stream, count: Array, prob: Array, places: Array) -> Array:
    """As many geometric numbers as can be added before the sum exceeds ``count``."""
    uniform = Draws(Lanes(call, stream, places * _RESERVED_FEW), count.size, _pairs, 2, np.float64)
    total, out = np.zeros(count.size), np.zeros(count.size)
    open_ = np.arange(count.size)
    while open_.size:
        total[open_] += np.ceil(np.log(uniform(open_)) / np.log1p(-prob[open_]))
        open_ = open_[~(total[open_] > count[open_])]
        out[open_] += 1
    return out


def _binomial_many(call: Call, stream: Stream, count: Array, prob: Array, places: Array) -> Array:
    """Transformed rejection with Hörmann's constants."""
    uniform = Draws(Lanes(call, stream, places * _RESERVED), count.size, _pairs, 2, np.float64)
    deviation = np.sqrt(count * prob * (1 - prob))
    b = 1.15 + 2.53 * deviation
    a = -0.0873 + 0.0248 * b + 0.01 * prob
    alpha = (2.83 + 5.1 / b) * deviation
    out, open_ = np.zeros(count.size), np.arange(count.size)
    while open_.size:
        n, p, q, s = count[open_], prob[open_], b[open_], a[open_]
        u = uniform(open_)
        v = uniform(open_)
        u = u - 0.5
        rest = 0.5 - np.abs(u)
        k = np.floor((2 * s / rest + q) * u + (n * p + 0.5))
        inside = (rest >= 0.07) & (v <= 0.92 - 4.2 / q)
        height = np.log(v * alpha[open_] / (s / (rest * rest) + q))
        possible = ~((k < 0) | (k > n))
        taken = inside | (possible & (height <= _log_ratio(n, p, k)))
        out[open_[taken]] = k[taken]
        open_ = open_[~taken]
    return out


def _log_ratio(n: Array, p: Array, k: Array) -> Array:
    """Logarithm of the probability of ``k`` over that of the mode."""
    r, m = p / (1 - p), np.floor((n + 1) * p)
    return np.asarray(
        (m + 0.5) * np.log((m + 1) / (r * (n - m + 1)))
        + (n + 1) * np.log((n - m + 1) / (n - k + 1))
        + (k + 0.5) * np.log(r * (n - k + 1) / (k + 1))
        + _tail(m) + _tail(n - m) - _tail(k) - _tail(n - k)
    )  # fmt: skip


def _binomial(call: Call, stream: Stream, count: Array, prob: Array, places: Array) -> Array:
    """Samples of binomial distributions, float64; the smaller of ``prob`` and 1 - prob is used."""
    high = prob > 0.5
    less = np.where(high, prob.dtype.type(1) - prob, prob)
    wide = count.astype(np.float64)
    out = np.where(np.isnan(prob), np.nan, np.where((prob >= 1) | ~np.isfinite(wide), wide, 0.0))
    out[(count <= 0) | (prob <= 0)] = 0
    drawn = (count > 0) & np.isfinite(wide) & (prob > 0) & (prob < 1)
    many = count * less >= 10
    for method, chosen in ((_binomial_many, drawn & many), (_binomial_few, drawn & ~many)):
        n = count[chosen].astype(np.float64)
        found = method(call, stream, n, less[chosen].astype(np.float64), places[chosen])
        out[chosen] = np.where(high[chosen], n - found, found)
    return out


def _spread(parameters: list[Array], copies: int, sample: Callable[..., Array]) -> Array:
    """Samples [copies, parameters]; all copies of one parameter come before the next in order."""
    size = parameters[0].size
    places = np.arange(size)[None, :] * copies + np.arange(copies)[:, None]
    wide = [np.broadcast_to(p, (copies, size)).reshape(-1) for p in parameters]
    return sample(*wide, places.reshape(-1))


def _sample_gamma(call: Call, stream: Stream, dims: tuple[int, ...], alpha: Array) -> Array:
    copies = math.prod(dims) // alpha.size
    wide = alpha.reshape(-1).astype(np.float64)
    found = _spread([wide], copies, lambda a, places: _gamma(call, stream, a, places))
    return found.reshape(dims).astype(alpha.dtype)


def _sample_poisson(call: Call, stream: Stream, dims: tuple[int, ...], rate: Array) -> Array:
    _check_parameter(call, "rate", rate, ~np.isnan(rate), "a number")
    copies, dtype = math.prod(dims) // rate.size, call.attrs["dtype"].np
    wide = rate.reshape(-1).astype(np.float64)
    found = _spread([wide], copies, lambda r, places: _poisson(call, stream, r, places))
    if dtype.kind in "iu":
        found = np.where(np.isinf(found), 0, found)  # as TensorFlow leaves them
    return found.reshape(dims).astype(dtype)


def _drawn(call: Call, shape: Array, given: Array) -> tuple[int, ...]:
    """Samples of each parameter: the dimensions of ``shape``, then the parameter's own."""
    return check_size(call, (*int_vector(call, shape, "shape"), *given.shape), given.dtype)


def _filled(call: Call, name: str, shape: Array, given: Array) -> tuple[int, ...]:
    """The dimensions of ``shape``, which must end with those of the parameter."""
    dims = check_size(call, int_vector(call, shape, "shape"), call.attrs["dtype"].np)
    if math.prod(dims):
        _check_end(call, name, dims, given.shape)
    return dims


def _check_end(call: Call, name: str, dims: tuple[int, ...], end: tuple[int, ...]) -> None:
    call.require(
        len(end) <= len(dims) and dims[len(dims) - len(end) :] == end,
        f"shape must end with the shape of {name}",
        found=list(dims),
        needed=f"... {list(end)}",
    )


def _check_parameter(call: Call, name: str, given: Array, usable: Array, needed: str) -> None:
    """INVALID_ARGUMENT where no sample is ever accepted (TensorFlow tries for ever)."""
    call.require(
        usable.all(),
        f"{name} must be such that there are samples",
        found=given[~usable][:1].tolist(),
        needed=needed,
    )


@kernel("RandomGamma")
@quiet
def random_gamma(call: Call, shape: Array, alpha: Array) -> Array:
    """Gamma distributed numbers: ``shape`` samples of each ``alpha``, with scale 1."""
    dims = _drawn(call, shape, alpha)
    if math.prod(dims) == 0:
        return np.zeros(dims, alpha.dtype)
    return _sample_gamma(call, reserve(call, math.prod(dims) * _RESERVED), dims, alpha)


@kernel("RandomPoisson", "RandomPoissonV2")
@quiet
def random_poisson(call: Call, shape: Array, rate: Array) -> Array:
    """Poisson distributed numbers of type ``dtype``: ``shape`` samples of each ``rate``."""
    dims, dtype = _drawn(call, shape, rate), call.attrs["dtype"].np
    if math.prod(dims) == 0:
        return np.zeros(dims, dtype)
    return _sample_poisson(call, reserve(call, math.prod(dims) * _RESERVED), dims, rate)


def _gamma_of(call: Call, shape: Array, alpha: Array, stream: Stream) -> Array:
    dims = _filled(call, "alpha", shape, alpha)
    if math.prod(dims) == 0:
        return np.zeros(dims, alpha.dtype)
    return _sample_gamma(call, stream, dims, alpha)


@kernel("StatelessRandomGammaV2")
@quiet
def gamma_from_seed(call: Call, shape: Array, seed: Array, alpha: Array) -> Array:
    """Gamma distributed numbers from two seeds; ``shape`` ends with that of ``alpha``."""
    return _gamma_of(call, shape, alpha, from_seed_stream(call, seed))


@kernel("StatelessRandomGammaV3")
@quiet
def gamma_from_key(
    call: Call, shape: Array, key: Array, counter: Array, alg: Array, alpha: Array
) -> Array:
    """Gamma distributed numbers from key and counter; ``shape`` ends with that of ``alpha``."""
    numbers = math.prod(_filled(call, "alpha", shape, alpha))
    return _gamma_of(call, shape, alpha, from_key_stream(call, key, counter, alg, numbers=numbers))


@kernel("StatelessRandomPoisson")
@quiet
def poisson_from_seed(call: Call, shape: Array, seed: Array, lam: Array) -> Array:
    """Poisson distributed numbers from two seeds; ``shape`` ends with that of ``lam``."""
    stream = from_seed_stream(call, seed)
    dims, dtype = _filled(call, "lam", shape, lam), call.attrs["dtype"].np
    if math.prod(dims) == 0:
        return np.zeros(dims, dtype)
    return _sample_poisson(call, stream, dims, lam)


def _sample_binomial(
    call: Call, dims: tuple[int, ...], stream: Stream, n: Array, p: Array
) -> Array:
    size = math.prod(broadcast_shape(call, n, p))
    wide = [a.reshape(-1) for a in np.broadcast_arrays(n, p)]
    found = _spread(wide, math.prod(dims) // size, lambda *v: _binomial(call, stream, *v))
    return found.reshape(dims).astype(call.attrs["dtype"].np)


@kernel("StatelessRandomBinomial")
@quiet
def binomial_from_seed(call: Call, shape: Array, seed: Array, counts: Array, probs: Array) -> Array:
    """Binomially distributed numbers from two seeds."""
    stream = from_seed_stream(call, seed)
    end = broadcast_shape(call, counts, probs)
    dims = check_size(call, int_vector(call, shape, "shape"), call.attrs["dtype"].np)
    _check_end(call, "counts and probs", dims, end)
    if math.prod(dims) == 0:
        return np.zeros(dims, call.attrs["dtype"].np)
    return _sample_binomial(call, dims, stream, counts, probs)


@kernel("StatefulRandomBinomial")
@quiet
def binomial_from_generator(
    call: Call, resource: Array, algorithm: Array, shape: Array, counts: Array, probs: Array
) -> Array:
    """Binomially distributed numbers from a generator, which moves on."""
    end = broadcast_shape(call, counts, probs)
    dims = check_size(call, int_vector(call, shape, "shape"), call.attrs["dtype"].np)
    _check_end(call, "counts and probs", dims, end)
    batches = math.prod(end)
    copies = math.prod(dims[: len(dims) - len(end)])
    stream = take(call, resource, algorithm, batches * 200 * (copies + 3) // 4)
    if math.prod(dims) == 0:
        return np.zeros(dims, call.attrs["dtype"].np)
    return _sample_binomial(call, dims, stream, counts, probs)
