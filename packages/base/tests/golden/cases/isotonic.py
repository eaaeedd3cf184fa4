"""Cases of isotonic regression."""

from typing import Any

import numpy as np
from oracle import Case, case

RNG = np.random.default_rng(2)
KINDS: dict[str, str] = {
    "float16": "float16", "bfloat16": "bfloat16", "float32": "float32", "float64": "float64",
    "int8": "float32", "int16": "float32", "int32": "float64", "int64": "float64",
}  # fmt: skip


def _case(x: Any, given: str) -> Case:
    from drystone_base.core.dtypes import as_dtype

    return case("IsotonicRegression", x.astype(as_dtype(given).np), output_dtype=KINDS[given])


_ODD = np.array([3, np.nan, 4, 1, 2, np.inf, -np.inf, np.inf, -0.0, 0.0])
CASES = [
    *(_case(RNG.integers(-9, 9, shape), t) for t in KINDS for shape in ((3, 11), (2, 2, 5))),
    *(_case(RNG.normal(size=(4, 30)), t) for t in ("float32", "float64", "float16")),
    *(_case(np.zeros(shape), "float32") for shape in ((), (1,), (2, 0), (2, 0, 3), (0, 3))),
    *(_case(_ODD, t) for t in ("float32", "float64")),
]
