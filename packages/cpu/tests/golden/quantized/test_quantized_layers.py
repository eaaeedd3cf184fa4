"""Layers of integers by oneDNN against NumPy's exact sums, and grids of integers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from native_ops import needs_onednn, run_native

from drystone_base.core.dtypes import as_dtype
from drystone_base.executor.testing import run_op
from drystone_base.ops.own import FROM_GRID, QUANTIZED_LAYER, TO_GRID

FLOAT = as_dtype("float32")
LIMITS = {"uint8": (0, 255), "int8": (-128, 127)}
STEPS = ("BiasAdd", "Add", "Mul", "PRelu", "Relu", "Relu6", "LeakyRelu", "Sigmoid", "Swish")


def grid(label: str, narrow: bool, scale: float = 0.07) -> dict[str, Any]:
    """Attributes of a grid; one that is narrower than its type has fewer integers."""
    first, last = LIMITS[label]
    first, last = (first + 1, last - 9) if narrow else (first, last)
    return {"scale": scale, "zero": (first + last) // 2 + 7, "first": first, "last": last}


def attributes(
    layer: str,
    x: str,
    out: str,
    steps: list[str],
    *,
    x_zero: int,
    narrow: bool = False,
    **more: Any,
) -> dict[str, Any]:
    given = {} if out == "float32" else grid(out, narrow)
    needed = sum(name in ("BiasAdd", "Add", "Mul", "PRelu") for name in steps)
    return {
        "layer": layer, "T": FLOAT, "Tx": as_dtype(x), "Tout": as_dtype(out), "x_zero": x_zero,
        "fused_ops": steps, "num_args": needed, "leakyrelu_alpha": 0.25, **given, **more,
    }  # fmt: skip


def arrays(
    rng: np.random.Generator, shape: tuple[int, ...], filters: tuple[int, ...],
    attrs: dict[str, Any],
) -> list[Any]:  # fmt: skip
    """Integers, weights, scales, and what the steps take."""
    low, high = LIMITS[str(attrs["Tx"])]
    x = rng.integers(low, high + 1, shape).astype(attrs["Tx"].np)
    w = rng.integers(-127, 128, filters).astype(np.int8)
    channels = filters[-2] * filters[-1] if attrs["layer"].startswith("Depth") else filters[-1]
    inner = max(int(np.prod(filters)) // max(channels, 1), 1)
    scales = (rng.uniform(0.5, 1.5, channels) / (5000 * np.sqrt(inner))).astype(np.float32)
    plain = attrs | {"fused_ops": [], "num_args": 0, "Tout": FLOAT}
    (y,) = run_op(QUANTIZED_LAYER, x, w, scales, **plain)
    sizes = {"BiasAdd": (channels,), "PRelu": (channels,), "Add": y.shape, "Mul": y.shape}
    more = [
        rng.normal(size=sizes[name]).astype(np.float32)
        for name in attrs["fused_ops"] if name in sizes
    ]  # fmt: skip
    return [x, w, scales, *more]


def check(given_arrays: list[Any], attrs: dict[str, Any]) -> None:
    """The same floats but for roundings, or the same integers within one step."""
    (expected,) = run_op(QUANTIZED_LAYER, *given_arrays, **attrs)
    (found,) = run_native(QUANTIZED_LAYER, *given_arrays, **attrs)
    assert found.shape == expected.shape
    assert found.dtype == expected.dtype
    if found.dtype == np.float32:
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)
        return
    apart = np.abs(found.astype(int) - expected.astype(int))
    assert apart.max(initial=0) <= 1
    assert apart.sum() <= 0.01 * apart.size + 2


OPTIONS: dict[str, Any] = {
    "x": st.sampled_from(("uint8", "int8")), "out": st.sampled_from(("float32", "uint8", "int8")),
    "steps": st.lists(st.sampled_from(STEPS), max_size=3), "x_zero": st.sampled_from((0, 3, 100)),
    "narrow": st.booleans(), "seed": st.integers(0, 99),
}  # fmt: skip


@needs_onednn()
@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    depthwise=st.booleans(), batch=st.integers(0, 2), size=st.integers(3, 9),
    channels=st.sampled_from((1, 3, 8, 16, 17, 64)), count=st.sampled_from((1, 2, 8, 20, 40)),
    window=st.sampled_from((1, 2, 3)), stride=st.integers(1, 2),
    padding=st.sampled_from(("SAME", "VALID", "EXPLICIT")), **OPTIONS,
)  # fmt: skip
def test_convolutions(
    depthwise: bool, batch: int, size: int, channels: int, count: int, window: int, stride: int,
    padding: str, x: str, out: str, steps: list[str], x_zero: int, narrow: bool, seed: int,
) -> None:  # fmt: skip
    attrs = attributes(
        "DepthwiseConv2dNative" if depthwise else "Conv2D", x, out, steps, x_zero=x_zero,
        narrow=narrow, strides=[1, stride, stride, 1], padding=padding,
        explicit_paddings=[0, 0, 1, 0, 2, 1, 0, 0] if padding == "EXPLICIT" else [],
    )  # fmt: skip
    shape = (batch, max(size, window), max(size, window) + 1, channels)
    filters = (window, window, channels, min(count, 2) if depthwise else count)
    check(arrays(np.random.default_rng(seed), shape, filters, attrs), attrs)


@needs_onednn()
@settings(max_examples=40, deadline=None, derandomize=True)
@given(
    rows=st.sampled_from(((0,), (1,), (7,), (2, 3), (64,))), inner=st.sampled_from((1, 5, 64, 300)),
    columns=st.sampled_from((1, 3, 16, 130)), **OPTIONS,
)  # fmt: skip
def test_products(
    rows: tuple[int, ...], inner: int, columns: int, x: str, out: str, steps: list[str],
    x_zero: int, narrow: bool, seed: int,
) -> None:  # fmt: skip
    attrs = attributes("MatMul", x, out, steps, x_zero=x_zero, narrow=narrow)
    check(arrays(np.random.default_rng(seed), (*rows, inner), (inner, columns), attrs), attrs)


@needs_onednn()
def test_sums_of_many_products_are_exact() -> None:
    """Of numbers whose sums floats of 32 bits could not hold."""
    attrs = attributes("MatMul", "uint8", "float32", [], x_zero=0)
    x, w = np.full((2, 60001), 255, np.uint8), np.full((60001, 3), 127, np.int8)
    x[1, 0] = 254
    (found,) = run_native(QUANTIZED_LAYER, x, w, np.full(3, 2.0**-8, np.float32), **attrs)
    exact = np.array([[60001 * 255 * 127], [60001 * 255 * 127 - 127]]) / 256
    np.testing.assert_allclose(found, np.broadcast_to(exact, (2, 3)), rtol=1e-7)


@needs_onednn()
@pytest.mark.parametrize("run", [run_op, run_native], ids=["numpy", "native"])
def test_what_does_not_fit_is_refused(run: Any) -> None:
    attrs = attributes("MatMul", "uint8", "uint8", [], x_zero=0)
    x, w, scales = np.zeros((2, 4), np.uint8), np.zeros((4, 3), np.int8), np.ones(3, np.float32)
    with pytest.raises(Exception, match="a scale for each channel"):
        run(QUANTIZED_LAYER, x, w, scales[:2], **attrs)
    with pytest.raises(Exception, match="a row for each element"):
        run(QUANTIZED_LAYER, x[:, :3], w, scales, **attrs)
    with pytest.raises(Exception, match="a step above zero"):
        run(QUANTIZED_LAYER, x, w, scales, **attrs | {"scale": 0.0})


@pytest.mark.parametrize("half_up", [False, True])
@pytest.mark.parametrize("narrow", [False, True])
@pytest.mark.parametrize("label", list(LIMITS))
def test_grids(label: str, narrow: bool, half_up: bool) -> None:
    """Halves, what lies outside and what is no number; there and back is near."""
    attrs = grid(label, narrow, 0.5)
    whole = np.arange(-600, 600) / 4
    x = np.array([*whole, np.nan, np.inf, -np.inf, 3e38], np.float32)
    more = attrs | {"T": as_dtype(label), "half_up": half_up}
    (expected,) = run_op(TO_GRID, x, **more)
    (found,) = run_native(TO_GRID, x, **more)
    np.testing.assert_array_equal(found, expected)
    rounded = np.floor(whole * 2 + 0.5) if half_up else np.rint(whole * 2)
    inside = np.clip(rounded + attrs["zero"], attrs["first"], attrs["last"])
    np.testing.assert_array_equal(found[:-4], inside)
    assert found[-4:].tolist() == [attrs[k] for k in ("first", "last", "first", "last")]
    for run in (run_op, run_native):
        (back,) = run(FROM_GRID, found, **attrs)
        np.testing.assert_array_equal(back, (found.astype(np.float32) - attrs["zero"]) * 0.5)
