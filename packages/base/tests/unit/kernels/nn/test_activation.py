"""Properties of activations, softmax and bias."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drystone_base.core.errors import KernelError
from drystone_base.executor.testing import infer_shapes, run_op

ROWS = st.lists(st.lists(st.floats(-50, 50), min_size=4, max_size=4), min_size=1, max_size=5)


@settings(max_examples=40, deadline=None)
@given(ROWS, st.floats(-100, 100))
def test_softmax_is_a_distribution_and_ignores_shifts(rows: Any, shift: float) -> None:
    x = np.array(rows)
    (out,), (log,) = run_op("Softmax", x), run_op("LogSoftmax", x)
    np.testing.assert_allclose(out.sum(-1), 1)
    np.testing.assert_allclose(np.exp(log), out, atol=1e-12)
    np.testing.assert_allclose(run_op("Softmax", x + shift)[0], out, atol=1e-9)


@pytest.mark.parametrize(
    ("op", "by_output"),
    [("Relu", False), ("Relu6", False), ("LeakyRelu", False), ("Softplus", False),
     ("Softsign", False), ("Elu", True), ("Selu", True)],
)  # fmt: skip
def test_gradients_are_slopes(op: str, by_output: bool) -> None:
    x = np.linspace(-7.03, 7.01, 61)
    (up,), (down,), (y,) = (run_op(op, x + d) for d in (1e-6, -1e-6, 0.0))
    (dx,) = run_op(f"{op}Grad", np.full_like(x, 2), y if by_output else x)
    np.testing.assert_allclose(dx, (up - down) / 1e-6, atol=1e-5)


def test_bias_lies_along_the_channels() -> None:
    x, bias = np.zeros((2, 3, 4, 5)), np.arange(3.0)
    (out,) = run_op("BiasAdd", x, bias, data_format="NCHW")
    np.testing.assert_array_equal(out[1, :, 2, 3], bias)
    (back,) = run_op("BiasAddGrad", out, data_format="NCHW")
    np.testing.assert_array_equal(back, bias * 40)
    with pytest.raises(KernelError, match="one entry per channel"):
        run_op("BiasAdd", x, bias)


def test_partly_known_shapes() -> None:
    assert infer_shapes("BiasAdd", [(-1, -2, -1), (7,)]) == [(-1, -2, 7)]
    assert infer_shapes("BiasAdd", [(-1, -1, 4), (7,)], data_format="NCHW") == [(-1, 7, 4)]
    assert infer_shapes("BiasAddGrad", [None]) == [(-1,)]
    assert infer_shapes("ReluGrad", [(-1, 3), (2, -1)]) == [(2, 3)]
