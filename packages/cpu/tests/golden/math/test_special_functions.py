"""Functions of gamma and error type against NumPy's kernels, to a few units in the last place."""

from __future__ import annotations

from typing import Any

import native_ops
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drystone_base.core.dtypes import as_dtype
from drystone_base.executor.testing import run_op

ODD = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.25,
    0.5,
    -3.0,
    2.0,
    -1e30,
    1e30,
    np.inf,
    -np.inf,
    np.nan,
    1e-40,
    -1e-20,
    -1e-30,
    1e-310,
    10.0,
]


def values(op: str, seed: int) -> Any:
    """Numbers where the function has its turns, poles and ends, and any others."""
    rng = np.random.default_rng(seed)
    shape = tuple(rng.integers(0, 6, rng.integers(0, 4)))
    wide = rng.normal(0, 10 ** float(rng.integers(-3, 4)), shape)
    near = rng.uniform(-1, 1, shape) if op in ("Erfinv", "Ndtri") else wide
    edge = 1 - 10 ** rng.uniform(-9, 0, shape)
    chosen = np.choose(rng.integers(0, 4, shape), [wide, near, edge, 1 - edge])
    return np.where(rng.random(shape) < 0.1, rng.choice(ODD, shape), chosen)


@pytest.mark.parametrize("op", ["Lgamma", "Digamma", "Erfinv", "Ndtri"])
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
@settings(max_examples=40, deadline=None, derandomize=True, database=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_agrees(op: str, dtype: str, seed: int) -> None:
    x = np.asarray(values(op, seed)).astype(as_dtype(dtype).np)
    (found,), (want,) = native_ops.run_native(op, x), run_op(op, x)
    assert (found.dtype, found.shape) == (want.dtype, want.shape)
    near = {"float16": 2e-3, "bfloat16": 2e-2, "float32": 5e-7, "float64": 1e-11}[dtype]
    got, expected = (np.asarray(v).astype(np.float64) for v in (found, want))
    np.testing.assert_allclose(got, expected, rtol=near, atol=near / 10, err_msg=f"{op} of {x}")


@pytest.mark.parametrize("op", ["Lgamma", "Digamma", "Erfinv", "Ndtri"])
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_every_short_float(op: str, dtype: str) -> None:
    """Rounded once: another rounding before shows in some of them."""
    x = np.arange(1 << 16).astype(np.uint16).view(as_dtype(dtype).np)
    (found,), (want,) = native_ops.run_native(op, x), run_op(op, x)
    np.testing.assert_array_equal(found.astype(np.float32), want.astype(np.float32))
