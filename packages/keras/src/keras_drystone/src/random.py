"""``keras.random``: numbers that a seed says, by TensorFlow's stateless ops."""

from __future__ import annotations

from typing import Any

import numpy as np
from keras.src.backend.common import standardize_dtype
from keras.src.backend.config import floatx
from keras.src.random.seed_generator import SeedGenerator, draw_seed, make_default_seed

from drystone_base.core.dtypes import as_dtype
from keras_drystone.src.dispatch import emit
from keras_drystone.src.ops import elementwise as e
from keras_drystone.src.ops.core import cast, convert_to_tensor, shape
from keras_drystone.src.ops.creating import zeros_like
from keras_drystone.src.ops.indexing import take
from keras_drystone.src.ops.operands import like, sizes
from keras_drystone.src.ops.shaping import broadcast_to
from keras_drystone.src.ops.sorting import argsort

__all__ = [
    "SeedGenerator", "beta", "binomial", "categorical", "draw_seed", "dropout", "gamma",
    "make_default_seed", "normal", "randint", "shuffle",
    "truncated_normal", "uniform",
]  # fmt: skip


def _seed(seed: Any) -> Any:
    """Two numbers of 64 bits: the ops take no unsigned ones."""
    return cast(convert_to_tensor(draw_seed(seed)), "int64")


def _drawn(op: str, sizes_: Any, kind: str, seed: Any) -> Any:
    inner = kind if kind in ("float16", "float32", "float64") else "float32"
    return cast(emit(op, sizes(sizes_), seed, dtype=as_dtype(inner)), kind)


def _kind(dtype: Any) -> str:
    found: str = standardize_dtype(dtype or floatx())
    return found


def normal(
    shape: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = None, seed: Any = None
) -> Any:
    """Normally distributed numbers."""
    x = _drawn("StatelessRandomNormal", shape, _kind(dtype), _seed(seed))
    return e.add(e.multiply(x, like(stddev, x)), like(mean, x))


def truncated_normal(
    shape: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = None, seed: Any = None
) -> Any:
    """Normally distributed numbers within two standard deviations."""
    x = _drawn("StatelessTruncatedNormal", shape, _kind(dtype), _seed(seed))
    return e.add(e.multiply(x, like(stddev, x)), like(mean, x))


def uniform(
    shape: Any, minval: Any = 0.0, maxval: Any = 1.0, dtype: Any = None, seed: Any = None
) -> Any:
    """Equally distributed numbers."""
    x = _drawn("StatelessRandomUniform", shape, _kind(dtype), _seed(seed))
    low, high = like(minval, x), like(maxval, x)
    return e.add(e.multiply(x, e.subtract(high, low)), low)


def randint(shape: Any, minval: Any, maxval: Any, dtype: Any = "int32", seed: Any = None) -> Any:
    """Equally distributed integers, without the upper bound."""
    kind = standardize_dtype(dtype)
    inner = kind if kind in ("int32", "int64") else "int64"
    low, high = (cast(convert_to_tensor(v, inner), inner) for v in (minval, maxval))
    return cast(emit("StatelessRandomUniformInt", sizes(shape), _seed(seed), low, high), kind)


def categorical(logits: Any, num_samples: int, dtype: Any = "int64", seed: Any = None) -> Any:
    """Classes with the chances that logits say."""
    x = convert_to_tensor(logits)
    found = emit("StatelessMultinomial", x, np.int32(num_samples), _seed(seed))
    return cast(found, standardize_dtype(dtype))


def gamma(shape: Any, alpha: Any, dtype: Any = None, seed: Any = None) -> Any:
    """Numbers of the gamma distribution."""
    return _gamma(shape, alpha, _kind(dtype), _seed(seed))


def _gamma(shape: Any, alpha: Any, kind: str, seed: Any) -> Any:
    inner = "float32" if kind == "bfloat16" else kind
    wide = broadcast_to(convert_to_tensor(alpha, inner), sizes(shape))
    return cast(emit("StatelessRandomGammaV2", sizes(shape), seed, wide), kind)


def binomial(
    shape: Any, counts: Any, probabilities: Any, dtype: Any = None, seed: Any = None
) -> Any:
    """How often a chance comes true in a number of trials."""
    kind = _kind(dtype)
    inner = "float32" if kind == "bfloat16" else kind
    given = [
        broadcast_to(convert_to_tensor(v, inner), sizes(shape)) for v in (counts, probabilities)
    ]
    found = emit(
        "StatelessRandomBinomial", sizes(shape), _seed(seed), *given, dtype=as_dtype(inner)
    )
    return cast(found, kind)


def beta(shape: Any, alpha: Any, beta: Any, dtype: Any = None, seed: Any = None) -> Any:
    """Numbers of the beta distribution: a share of two gamma distributed ones."""
    kind = _kind(dtype)
    inner = "float32" if kind == "bfloat16" else kind
    first = _seed(seed)
    second = emit("AddV2", first, np.asarray([0, 0x5EED], np.int64))
    x, y = (_gamma(shape, a, inner, s) for a, s in ((alpha, first), (beta, second)))
    return cast(e.divide(x, e.add(x, y)), kind)


def dropout(inputs: Any, rate: float, noise_shape: Any = None, seed: Any = None) -> Any:
    """Some elements as 0, the rest larger, so that the mean stays."""
    x = convert_to_tensor(inputs)
    if rate >= 1.0:
        return zeros_like(x)
    if rate <= 0.0:
        return x
    known = shape(x)
    noise = known if noise_shape is None else [
        known[k] if d is None else d for k, d in enumerate(noise_shape)
    ]  # fmt: skip
    drawn = _drawn("StatelessRandomUniform", noise, "float32", _seed(seed))
    kept = emit("GreaterEqual", drawn, np.float32(rate))
    larger = emit("Mul", x, like(1 / (1 - rate), x))
    return emit("SelectV2", kept, larger, like(0, x))


def shuffle(x: Any, axis: int = 0, seed: Any = None) -> Any:
    """The parts along an axis in another order."""
    x = convert_to_tensor(x)
    drawn = _drawn("StatelessRandomUniform", [shape(x)[axis]], "float32", _seed(seed))
    return take(x, argsort(drawn), axis)
