"""Swish at the end of layers of bfloat16: every value there is, and rests of registers."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from native_ops import needs_onednn, run_native

from drystone_base.core.dtypes import as_dtype
from drystone_base.executor.testing import run_op
from drystone_base.ops.own import FUSED_CONVOLUTION

pytestmark = needs_onednn()
SHORT = as_dtype("bfloat16")
ROUNDING = 2.0**-8


def attributes(*steps: str) -> dict[str, Any]:
    """A layer of windows of one element."""
    return {
        "T": SHORT, "layer": "Conv2D", "strides": [1, 1, 1, 1], "padding": "VALID",
        "explicit_paddings": [], "fused_ops": list(steps),
        "num_args": sum(step in ("BiasAdd", "Add") for step in steps),
    }  # fmt: skip


def short(values: Any) -> np.ndarray[Any, Any]:
    return np.asarray(values).astype(ml_dtypes.bfloat16)


def swish(x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    wide = x.astype(np.float64)
    with np.errstate(all="ignore"):
        return np.asarray(wide / (1 + np.exp(-wide)))


def test_every_value() -> None:
    values = np.arange(1 << 16, dtype=np.uint16).view(ml_dtypes.bfloat16).reshape(1, 256, 256, 1)
    x = np.concatenate([values, np.zeros_like(values)], -1)  # products of 16 bits come in pairs
    (found,) = run_native(FUSED_CONVOLUTION, x, short([[[[1], [0]]]]), **attributes("Swish"))
    with np.errstate(invalid="ignore"):
        y, expected = found.astype(np.float64), swish(values)
    np.testing.assert_array_equal(np.isnan(y), np.isnan(expected))
    np.testing.assert_allclose(y, expected, rtol=ROUNDING, atol=1e-36)


@pytest.mark.parametrize("steps", [("Swish",), ("BiasAdd", "Swish"), ("BiasAdd", "Add", "Swish")])
@pytest.mark.parametrize("shape", [(1, 1, 1), (3, 5, 1), (7, 7, 17), (40, 40, 3), (2, 4, 16)])
def test_layers_of_any_size(shape: tuple[int, int, int], steps: tuple[str, ...]) -> None:
    random = np.random.default_rng(3)
    height, width, channels = shape
    sizes: list[tuple[int, ...]] = [(2, height, width, 8), (1, 1, 8, channels)]
    sizes += [(channels,)] if "BiasAdd" in steps else []
    sizes += [(2, *shape)] if "Add" in steps else []
    operands = [short(random.normal(size=size)) for size in sizes]
    (found,) = run_native(FUSED_CONVOLUTION, *operands, **attributes(*steps))
    (expected,) = run_op(FUSED_CONVOLUTION, *operands, **attributes(*steps))
    assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
    y, wide = found.astype(np.float64), expected.astype(np.float64)
    np.testing.assert_allclose(y, wide, rtol=4 * ROUNDING, atol=4 * ROUNDING)


def test_in_the_middle_and_of_nothing() -> None:
    x, w, more = (short(np.full(s, 0.5)) for s in ((1, 2, 3, 4), (1, 1, 4, 5), (1, 2, 3, 5)))
    (y,) = run_native(FUSED_CONVOLUTION, x, w, more, **attributes("Swish", "Add"))
    np.testing.assert_allclose(y.astype(np.float64), swish(short(1.0)) + 0.5, rtol=ROUNDING)
    (y,) = run_native(FUSED_CONVOLUTION, x[:0], w, **attributes("Swish"))
    assert y.shape == (0, 2, 3, 5)
