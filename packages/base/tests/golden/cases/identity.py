"""Values passed on, of every kind of element."""

import ml_dtypes
import numpy as np
from oracle import case

_RNG = np.random.default_rng(1)
_VALUES = [
    np.float32(3.5),
    _RNG.normal(size=(2, 3)).astype(np.float32),
    np.zeros((0, 2), np.int64),
    np.array([True, False]),
    np.array([1 + 2j, -3j], np.complex64),
    _RNG.normal(size=4).astype(ml_dtypes.bfloat16),
    np.array([b"a", b"\xff", b""], object),
    np.array([np.nan, np.inf, -0.0], np.float64),
]

CASES = [
    case(op, value, tol=0)
    for op in ("Identity", "Snapshot", "StopGradient", "PreventGradient", "DeepCopy")
    for value in _VALUES
    if op != "Snapshot" or np.asarray(value).dtype != object
]
CASES += [
    case("IdentityN", *_VALUES, tol=0),
    case("IdentityN", np.float32(1), tol=0),
    case("PlaceholderWithDefault", _VALUES[1], shape=(2, 3), tol=0),
    case("PlaceholderWithDefault", _VALUES[1], shape=(-1, 3), tol=0),
    case("EnsureShape", _VALUES[1], shape=(2, 3), tol=0),
    case("EnsureShape", _VALUES[1], shape=(-1, 3), tol=0),
    case("EnsureShape", _VALUES[1], shape=None, tol=0),
    case("EnsureShape", _VALUES[6], shape=(-1,), tol=0),
    case("EnsureShape", _VALUES[1], shape=(2, 4)),
    case("EnsureShape", _VALUES[1], shape=(6,)),
]
for _v in (_VALUES[1], _VALUES[6]):
    CASES += [case(op, _v, tol=0) for op in ("GuaranteeConst", "Copy", "CopyHost")]
