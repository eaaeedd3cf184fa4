"""Quantization: round trips within a step, zero kept exactly, grids of the right size."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drystone_base.core.errors import KernelError
from drystone_base.executor.testing import infer_shapes, run_op

MODE = st.sampled_from(["MIN_COMBINED", "MIN_FIRST", "SCALED"])
TYPE = st.sampled_from(["qint8", "quint8", "qint16", "quint16"])


@settings(max_examples=50, deadline=None)
@given(MODE, TYPE, st.floats(-9, 0), st.floats(0.5, 9), st.integers(0, 99))
def test_there_and_back(mode: str, kind: str, low: float, high: float, seed: int) -> None:
    low = 0.0 if kind.startswith("qu") and mode == "SCALED" else low
    x = np.random.default_rng(seed).uniform(low, high, 50).astype(np.float32)
    attrs: dict[str, Any] = {"mode": mode, "T": kind}
    whole, first, last = run_op("QuantizeV2", x, np.float32(low), np.float32(high), **attrs)
    (back,) = run_op("Dequantize", whole, first, last, **attrs)
    bits = 8 if kind.endswith("8") else 16
    assert np.abs(back - x).max() <= (last - first) / (2**bits - 2) * 1.01


@settings(max_examples=40, deadline=None)
@given(st.integers(2, 10), st.booleans(), st.floats(-9, 0), st.floats(0.5, 9))
def test_fake_quantization_is_idempotent(bits: int, narrow: bool, low: float, high: float) -> None:
    x = np.linspace(low - 1, high + 1, 4001, dtype=np.float32)
    attrs = {"num_bits": bits, "narrow_range": narrow}
    span = np.float32(low), np.float32(high)
    (once,) = run_op("FakeQuantWithMinMaxVars", x, *span, **attrs)
    assert len(np.unique(once)) <= 2**bits
    (twice,) = run_op("FakeQuantWithMinMaxVars", once, *span, **attrs)
    np.testing.assert_allclose(twice, once, atol=1e-4)
    (zero,) = run_op("FakeQuantWithMinMaxVars", np.zeros(1, np.float32), *span, **attrs)
    assert zero.item() == pytest.approx(0, abs=1e-5)


@pytest.mark.parametrize("signed", [True, False])
def test_simulated_grid(signed: bool) -> None:
    x = np.linspace(-1 if signed else 0, 1, 1001)
    (out,) = run_op("QuantizeAndDequantizeV2", x, 0.0, 0.0, num_bits=4, signed_input=signed)
    steps = np.unique(out)
    assert len(steps) <= 16
    np.testing.assert_allclose(np.diff(steps), np.diff(steps)[0])


def test_the_first_form_has_its_range_in_attributes() -> None:
    x = np.linspace(-3, 3, 50)
    span = {"range_given": True, "num_bits": 5}
    (want,) = run_op("QuantizeAndDequantizeV2", x, -2.0, 2.0, **span)
    (out,) = run_op("QuantizeAndDequantize", x, input_min=-2.0, input_max=2.0, **span)
    np.testing.assert_array_equal(out, want)


def test_bad_settings_are_refused() -> None:
    x, one = np.ones(3, np.float32), np.float32(1)
    with pytest.raises(KernelError, match="HALF_TO_EVEN is for mode SCALED"):
        run_op("QuantizeV2", x, -one, one, T="qint8", round_mode="HALF_TO_EVEN")
    with pytest.raises(KernelError, match="num_bits must be 2 to 16"):
        run_op("FakeQuantWithMinMaxVars", x, -one, one, num_bits=1)
    with pytest.raises(KernelError, match="axis must be one of the input's"):
        run_op("Dequantize", np.ones(3, np.int8), -one, one, T="qint8", axis=1)


def test_partly_known_shapes() -> None:
    assert infer_shapes("QuantizeV2", [(-1, 3), (), ()], T="qint8") == [(-1, 3), (), ()]
    vectors: list[Any] = [(-1, -1), (3,), (-1,)]
    assert infer_shapes("QuantizeV2", vectors, T="qint8", axis=1) == [(-1, -1), (3,), (3,)]
    assert infer_shapes("FakeQuantWithMinMaxVarsPerChannel", vectors) == [(-1, 3)]
