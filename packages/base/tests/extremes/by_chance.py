"""Valid cases of ops that draw by chance and keep a state, so that values are never compared."""

from __future__ import annotations

from typing import Any

import numpy as np
from drawing import ints
from oracle import Case, case

__all__ = ["BY_CHANCE", "is_by_chance"]

SEEDED = {"seed": 7, "seed2": 11}
MANY = ints(400)


def _floats(*values: float, dtype: Any = np.float32) -> Any:
    return np.array(values, dtype)


BY_CHANCE: tuple[Case, ...] = (
    case("RandomUniform", MANY, dtype="float32", **SEEDED),
    case("RandomStandardNormal", MANY, dtype="float32", **SEEDED),
    case("TruncatedNormal", MANY, dtype="float32", **SEEDED),
    case("RandomUniformInt", MANY, np.int32(-3), np.int32(9), **SEEDED),
    case("RandomUniformInt", MANY, np.int64(-3), np.int64(9), **SEEDED),
    case("RandomGamma", MANY, _floats(0.5, 3.0), **SEEDED),
    case("RandomGamma", MANY, _floats(0.5, 3.0, dtype=np.float64), **SEEDED),
    case("RandomPoissonV2", MANY, _floats(0.5, 30.0), dtype="float32", **SEEDED),
    case("RandomPoissonV2", MANY, _floats(0.5, 30.0), dtype="int64", **SEEDED),
    case("RandomPoisson", MANY, _floats(0.5, 30.0), **SEEDED),
    case(
        "ParameterizedTruncatedNormal", ints(3, 400), _floats(0, 1, 2), _floats(1, 1, 3),
        _floats(-1, 0, -9), _floats(1, 4, 9), **SEEDED,
    ),
    case(
        "ParameterizedTruncatedNormal", MANY, _floats(0), _floats(1), _floats(-1), _floats(1),
        **SEEDED,
    ),
    case("Multinomial", _floats(0.1, 2, 0.3).reshape(1, 3), np.int32(200), **SEEDED),
    case("RandomShuffle", np.arange(40, dtype=np.float32), **SEEDED),
)  # fmt: skip
_OPS = {item.op for item in BY_CHANCE} | {"StatefulUniformFullInt", "NonDeterministicInts"}


def is_by_chance(op: str) -> bool:
    """Whether an op draws other numbers in every call."""
    return op in _OPS
