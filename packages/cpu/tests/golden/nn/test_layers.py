"""Layers of one node, as the optimizer makes them, against the NumPy reference."""

from __future__ import annotations

from typing import Any

import native_ops
import numpy as np
import pytest
from native_ops import run_native

from drystone_base.core.dtypes import FLOAT32
from drystone_base.executor.testing import run_op
from drystone_base.ops.own import GELUS, LAYER_NORM

WIDTHS = [1, 2, 3, 15, 16, 17, 63, 64, 65, 100, 768, 1023]
FLOATS = [np.float32, np.float64, np.float16]


def close(found: Any, expected: Any, tolerance: float = 2e-6) -> None:
    """Equal dtypes and nearly equal values; NaN and infinities where they belong."""
    assert found.dtype == expected.dtype
    slack = max(tolerance, 4 * float(np.finfo(found.dtype).eps))
    np.testing.assert_allclose(found, expected, rtol=slack, atol=slack)


def both(x: Any, *args: Any, **flags: bool) -> tuple[Any, Any]:
    """By the kernel, and by the reference."""
    attrs: dict[str, Any] = {
        "epsilon": 1e-3,
        "num_args": len(args),
        "has_scale": False,
        "has_offset": False,
    }
    attrs |= flags
    found = run_native(LAYER_NORM, x, *args, **attrs)[0]
    return found, run_op(LAYER_NORM, x, *args, **attrs)[0]


@pytest.mark.parametrize("kind", FLOATS)
@pytest.mark.parametrize("width", WIDTHS)
def test_layer_norm(width: int, kind: Any) -> None:
    rng = np.random.default_rng(width)
    x = rng.normal(1, 3, (2, 5, width)).astype(kind)
    scale, offset = rng.normal(size=(2, width)).astype(kind)
    close(*both(x, scale, offset, has_scale=True, has_offset=True))
    close(*both(x, scale, has_scale=True))
    close(*both(x, offset, has_offset=True))
    close(*both(x))


def test_layer_norm_far_from_zero() -> None:
    """The variance does not drown in the square of the mean."""
    x = (np.random.default_rng(1).normal(size=(4, 256)) + 3000).astype(np.float32)
    found, _ = both(x)
    wide = x.astype(np.float64)
    expected = (wide - wide.mean(-1, keepdims=True)) / np.sqrt(wide.var(-1, keepdims=True) + 1e-3)
    np.testing.assert_allclose(found, expected, atol=3e-4)


def test_layer_norm_of_odd_numbers() -> None:
    x = np.random.default_rng(1).normal(size=(6, 40)).astype(np.float32)
    x[0, 3], x[1, 7], x[2, 0], x[3] = np.nan, np.inf, -np.inf, 2.5
    x[4] *= np.float32(1e30)
    found, expected = both(x, np.ones(40, np.float32), has_offset=True)
    close(found, expected)
    assert np.isnan(found[:3]).all()
    assert (found[3] == 1).all()


def test_layer_norm_without_elements() -> None:
    for shape in ((0, 4), (3, 0)):
        found, expected = both(np.zeros(shape, np.float32))
        assert found.shape == expected.shape == shape


@pytest.mark.parametrize(
    ("shape", "args", "flags", "told"),
    [
        ((), 0, {}, "x must"),
        ((2, 3), 1, {}, "args must be a scale"),
        ((2, 4), 1, {"has_scale": True}, "one entry per element"),
    ],
)
def test_layer_norm_of_what_does_not_fit(
    shape: tuple[int, ...], args: int, flags: dict[str, bool], told: str
) -> None:
    x, more = np.zeros(shape, np.float32), [np.ones(3, np.float32)] * args
    attrs: dict[str, Any] = {"epsilon": 1e-3, "num_args": args}
    attrs |= {"has_scale": False, "has_offset": False} | flags
    for run in (run_native, run_op):
        with pytest.raises(Exception, match=told):
            run(LAYER_NORM, x, *more, **attrs)


NUMBERS = np.array(
    [0, -0.0, np.nan, np.inf, -np.inf, 1e-30, -1e-30, 1e20, -1e20, 8, -8, -13.5, 30, -30]
)


@pytest.mark.parametrize("op", GELUS)
@pytest.mark.parametrize("kind", FLOATS)
def test_gelu(op: str, kind: Any) -> None:
    with np.errstate(over="ignore"):
        x = np.concatenate([NUMBERS, np.linspace(-9, 9, 2001)]).astype(kind)
    close(run_native(op, x)[0], run_op(op, x)[0])


@native_ops.needs_onednn()
@pytest.mark.parametrize("op", GELUS)
def test_gelu_of_a_product(op: str) -> None:
    x = np.concatenate([NUMBERS, np.linspace(-9, 9, 2001)]).astype(np.float32)[:, None]
    attrs: dict[str, Any] = {
        "fused_ops": [op.removeprefix("Drystone>")],
        "num_args": 0,
        "T": FLOAT32,
    }
    one = np.ones((1, 1), np.float32)
    found = run_native("_FusedMatMul", x, one, **attrs)
    close(found[0], run_op(op, x)[0])
