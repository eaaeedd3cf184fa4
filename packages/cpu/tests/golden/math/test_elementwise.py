"""Element-wise kernels held against the reference kernels: all casts, shapes that broadcast."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import native_ops
import numpy as np
import pytest

from drystone_base.executor.testing import run_op

NUMBERS = [
    "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
    "bool", "float16", "bfloat16",
]  # fmt: skip
EDGES = [0, -0.0, np.inf, -np.inf, np.nan, 2.0**31, -(2.0**31), 2.0**31 - 1, -(2.0**31) - 1,
         2.0**63, -(2.0**63), 1.5, 2.5, 65504, 65519.99, 65520, 1e-8, 6e-8, 5.96e-8]  # fmt: skip


def _dtype(name: str) -> np.dtype[Any]:
    return np.dtype(ml_dtypes.bfloat16 if name == "bfloat16" else name)


def numbers(name: str, count: int = 2000) -> Any:
    """Random bits and, of floats, numbers near the ends of integers' ranges."""
    draw = np.random.default_rng(5)
    dtype = _dtype(name)
    if dtype == np.bool_:
        return draw.integers(0, 2, count).astype(bool)
    bits = draw.integers(0, 256, count * dtype.itemsize, dtype=np.uint8).view(dtype)
    if dtype.kind in "iu":
        return bits
    common = draw.normal(size=count) * 10.0 ** draw.integers(-3, 12, count)
    with np.errstate(all="ignore"):
        return np.concatenate([bits, common.astype(dtype), np.array(EDGES).astype(dtype)])


def _same(a: Any, b: Any) -> Any:
    if a.dtype != b.dtype or a.shape != b.shape:
        return False
    if a.dtype.kind in "iub":
        return (a == b).all()
    x, y = a.astype(np.float64), b.astype(np.float64)
    return (((x == y) & (np.signbit(x) == np.signbit(y))) | (np.isnan(x) & np.isnan(y))).all()


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("source", NUMBERS)
def test_casts(source: str) -> None:
    x = numbers(source)
    for target in NUMBERS:
        for truncate in (False, True):
            attrs: dict[str, Any] = {"DstT": target, "Truncate": truncate}
            (got,) = native_ops.run_native("Cast", x, **attrs)
            (want,) = run_op("Cast", x, **attrs)
            assert _same(got, want), (source, target, truncate)


def _shapes(draw: Any) -> tuple[Any, list[tuple[int, ...]]]:
    full = tuple(int(v) for v in draw.choice([0, 1, 2, 3, 5, 17, 70], draw.integers(0, 5),
                                             p=[0.03, 0.17, 0.2, 0.2, 0.2, 0.1, 0.1]))  # fmt: skip
    parts = []
    for _ in range(3):
        shape = [1 if draw.random() < 0.3 else d for d in full]
        parts.append(tuple(shape[draw.integers(0, len(shape) + 1) if draw.random() < 0.3 else 0 :]))
    return full, parts


@pytest.mark.parametrize("dtype", ["float32", "int8", "int64", "bfloat16", "float64"])
def test_shapes_that_broadcast(dtype: str) -> None:
    draw = np.random.default_rng(len(dtype))
    for _ in range(60):
        _, (a, b, c) = _shapes(draw)
        x, y = ((draw.normal(size=s) * 50).astype(_dtype(dtype)) for s in (a, b))
        which = draw.random(c) < 0.5
        for op in ("AddV2", "Sub", "Less", "Maximum"):
            (got,) = native_ops.run_native(op, x, y)
            (want,) = run_op(op, x, y)
            assert _same(got, want), (op, a, b)
        (got,) = native_ops.run_native("SelectV2", which, x, y)
        assert _same(got, run_op("SelectV2", which, x, y)[0]), (a, b, c)


@pytest.mark.parametrize("op", ["Add", "FloorDiv", "Relu", "Exp"])
def test_large_tensors(op: str) -> None:
    x = np.random.default_rng(1).normal(size=(70, 3001)).astype(np.float32)
    inputs = (x, x[:, :1] + 3) if op in ("Add", "FloorDiv") else (x,)
    (got,) = native_ops.run_native(op, *inputs)
    np.testing.assert_allclose(got, run_op(op, *inputs)[0], rtol=1e-6)
