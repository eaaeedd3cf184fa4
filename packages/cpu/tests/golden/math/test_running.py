"""The running logarithm of sums of exponentials against NumPy's kernel."""

from __future__ import annotations

import numpy as np
import pytest
from agreement import assert_agrees
from hypothesis import given, settings
from hypothesis import strategies as st

from drystone_base.core.dtypes import as_dtype

ODD = [0.0, -0.0, np.inf, -np.inf, np.nan, 90.0, -300.0]


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
@settings(max_examples=25, deadline=None, derandomize=True, database=None)
@given(seed=st.integers(0, 2**32 - 1), exclusive=st.booleans(), reverse=st.booleans())
def test_logsumexp(dtype: str, seed: int, exclusive: bool, reverse: bool) -> None:
    rng = np.random.default_rng(seed)
    shape = rng.integers(0, 5, rng.integers(1, 4))
    x = np.where(rng.random(shape) < 0.2, rng.choice(ODD, shape), rng.normal(0, 3, shape))
    axis = np.int32(rng.integers(-shape.size - 1, shape.size + 1))
    assert_agrees(
        "CumulativeLogsumexp", x.astype(as_dtype(dtype).np), axis, exact=False,
        exclusive=exclusive, reverse=reverse,
    )  # fmt: skip
