"""Every op that is written, on drawn shapes, types and attributes, beside the reference kernel."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any, Final

import numpy as np
import op_cases  # noqa: F401 — it fills the table
import op_cases_of_numbers  # noqa: F401
import op_cases_of_shapes  # noqa: F401
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.errors import InvalidArgument
from op_drawing import CASES, COMPLEX, SMALLEST, numbers, shape, typed
from op_programs import beside

from drystone_base.core.dtypes import from_numpy
from drystone_base.core.errors import DrystoneError
from drystone_pjrt.api.client import Client
from drystone_pjrt.stablehlo.ops import complex_use
from drystone_pjrt.stablehlo.region import emitters

CLOSE: Final = {"float32": 2e-5, "float64": 1e-6, "float16": 4e-3, "bfloat16": 3e-2,
                "complex64": 2e-5, "complex128": 1e-6}  # fmt: skip
COMPLEX_OPS: Final = {
    "Add": 2, "AddV2": 2, "Equal": 2, "Identity": 1, "Mul": 2, "Neg": 1, "NotEqual": 2,
    "OnesLike": 1, "Square": 1, "SquaredDifference": 2, "Sub": 2, "ZerosLike": 1,
}  # fmt: skip


def test_every_op_has_a_case() -> None:
    assert sorted(CASES) == sorted(emitters())


@pytest.mark.parametrize("op", sorted(CASES))
@settings(
    max_examples=12, deadline=None, derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)  # fmt: skip
@given(data=st.data())
def test_an_op_computes_what_the_reference_kernel_does(
    device: Client, op: str, data: st.DataObject
) -> None:
    inputs, attrs, known, outputs = CASES[op](data.draw, op)
    with np.errstate(all="ignore"):
        found, expected = beside(device, op, inputs, attrs, known, outputs)
    alike(found, expected)


def alike(found: Sequence[Any], expected: Sequence[Any]) -> None:
    for a, b in zip(found, expected, strict=True):
        label = from_numpy(b.dtype).label
        if label in CLOSE:
            wide = np.complex128 if b.dtype.kind == "c" else np.float64
            close = CLOSE[label]
            np.testing.assert_allclose(a.astype(wide), b.astype(wide), rtol=close, atol=close)
        else:
            np.testing.assert_array_equal(a, b)


@pytest.fixture
def empty_dimensions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(SMALLEST, "dimension", 0)


@pytest.mark.usefixtures("empty_dimensions")
@pytest.mark.parametrize("op", sorted(CASES))
@settings(
    max_examples=6, deadline=None, derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)  # fmt: skip
@given(data=st.data())
def test_without_elements_it_is_the_same_or_refused(
    device: Client, op: str, data: st.DataObject
) -> None:
    try:
        inputs, attrs, known, outputs = CASES[op](data.draw, op)
    except (InvalidArgument, ValueError):
        return  # there are no such numbers to draw
    with np.errstate(all="ignore"), suppress(DrystoneError):
        alike(*beside(device, op, inputs, attrs, known, outputs))


@pytest.mark.parametrize("size", [(), (1,), (3,), (64,)])
@pytest.mark.parametrize("op", ["Maximum", "Minimum", "Relu", "Relu6"])
def test_what_is_no_number_stays_in_extremes(
    device: Client, op: str, size: tuple[int, ...]
) -> None:
    nan, one = np.full(size, np.nan, np.float32), np.ones(size, np.float32)
    pairs = [(nan, one), (one, nan)] if op.endswith("imum") else [(nan,)]
    for pair in pairs:
        found, expected = beside(device, op, pair, typed("float32"))
        assert np.isnan(expected).all()
        alike(found, expected)


@pytest.mark.parametrize("dtype", COMPLEX)
@pytest.mark.parametrize("op", COMPLEX_OPS)
@settings(
    max_examples=6, deadline=None, derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)  # fmt: skip
@given(data=st.data())
def test_complex_numbers(device: Client, op: str, dtype: str, data: st.DataObject) -> None:
    size = shape(data.draw)
    given = [numbers(data.draw, size, dtype) for _ in range(COMPLEX_OPS[op])]
    alike(*beside(device, op, given, typed(dtype)))


@pytest.mark.parametrize("op", ["Exp", "Log", "Max", "Tanh", "Softmax", "Relu"])
def test_what_is_not_for_complex_numbers_says_so(op: str) -> None:
    given = np.zeros((2, 2), np.complex64)
    assert complex_use(op, [given.dtype]) == "it is of complex64"
