"""Every op that is written, on drawn shapes, types and attributes, beside the reference kernel."""

from __future__ import annotations

from typing import Final

import numpy as np
import op_cases  # noqa: F401 — it fills the table
import op_cases_of_shapes  # noqa: F401
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from op_drawing import CASES
from op_programs import beside

from drystone_base.core.dtypes import from_numpy
from drystone_pjrt.api.client import Client
from drystone_pjrt.stablehlo.region import emitters

CLOSE: Final = {"float32": 2e-5, "float64": 1e-6, "float16": 4e-3, "bfloat16": 3e-2}


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
    for a, b in zip(found, expected, strict=True):
        kind = from_numpy(b.dtype)
        if kind.is_floating:
            close = CLOSE[kind.label]
            np.testing.assert_allclose(
                a.astype(np.float64), b.astype(np.float64), rtol=close, atol=close
            )
        else:
            np.testing.assert_array_equal(a, b)
