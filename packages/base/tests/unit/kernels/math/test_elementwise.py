"""Elementwise kernels against plain Python, and what the golden cases cannot show."""

import math
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from drystone_base.core.errors import KernelError, ShapeError
from drystone_base.executor.testing import infer_shapes, run_op

FEW = settings(max_examples=40, deadline=None)
INT32 = st.integers(-(2**31), 2**31 - 1)
SMALL = st.floats(-50, 50, width=32)


def _wrap(value: int) -> int:
    return (value + 2**31) % 2**32 - 2**31


@FEW
@given(st.lists(st.tuples(INT32, INT32), min_size=1, max_size=20))
def test_int_arithmetic_wraps(pairs: list[tuple[int, int]]) -> None:
    x, y = (np.array(v, np.int32) for v in zip(*pairs, strict=True))
    plain = {"AddV2": int.__add__, "Sub": int.__sub__, "Mul": int.__mul__}
    for op, function in plain.items():
        assert run_op(op, x, y)[0].tolist() == [_wrap(function(a, b)) for a, b in pairs]


@FEW
@given(st.lists(st.tuples(INT32, INT32.filter(bool)), min_size=1, max_size=20))
def test_int_divisions(pairs: list[tuple[int, int]]) -> None:
    x, y = (np.array(v, np.int32) for v in zip(*pairs, strict=True))
    assert run_op("FloorDiv", x, y)[0].tolist() == [_wrap(a // b) for a, b in pairs]
    assert run_op("FloorMod", x, y)[0].tolist() == [a % b for a, b in pairs]
    cut = [_wrap(abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)) for a, b in pairs]
    assert run_op("TruncateDiv", x, y)[0].tolist() == cut
    assert run_op("TruncateMod", x, y)[0].tolist() == [int(math.fmod(a, b)) for a, b in pairs]


@FEW
@given(hnp.mutually_broadcastable_shapes(num_shapes=2, max_dims=3, max_side=3))
def test_broadcast_shapes_are_inferred(shapes: Any) -> None:
    x, y = (np.ones(s, np.float32) for s in shapes.input_shapes)
    assert run_op("AddV2", x, y)[0].shape == shapes.result_shape
    assert infer_shapes("AddV2", [x.shape, y.shape]) == [shapes.result_shape]


@FEW
@given(st.lists(SMALL, min_size=1, max_size=20))
def test_sigmoid_and_its_mirror_add_to_one(values: list[float]) -> None:
    x = np.array(values, np.float64)
    pair = run_op("Sigmoid", x)[0] + run_op("Sigmoid", -x)[0]
    np.testing.assert_allclose(pair, 1, rtol=1e-15)
    exact = [1 / (1 + math.exp(-v)) for v in values]
    np.testing.assert_allclose(run_op("Sigmoid", x)[0], exact, rtol=1e-13)


@FEW
@given(st.lists(st.floats(0.01, 30), min_size=1, max_size=10))
def test_gradients_are_slopes(values: list[float]) -> None:
    x, step = np.array(values), 1e-6
    for op in ("Sigmoid", "Tanh", "Sqrt", "Rsqrt", "Reciprocal"):
        above, below = (run_op(op, x * (1 + s))[0] for s in (step, -step))
        slope = (above - below) / (2 * step * x)
        grad = run_op(f"{op}Grad", run_op(op, x)[0], np.ones_like(x))[0]
        np.testing.assert_allclose(grad, slope, rtol=1e-5, atol=1e-8)


@FEW
@given(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=10))
def test_bits(values: list[int]) -> None:
    x = np.array(values, np.int64)
    assert run_op("PopulationCount", x)[0].tolist() == [(v % 2**64).bit_count() for v in values]
    assert run_op("Invert", x)[0].tolist() == [~v for v in values]
    for op, function in (("BitwiseAnd", int.__and__), ("BitwiseXor", int.__xor__)):
        got = run_op(op, x, x[::-1])[0].tolist()
        assert got == [function(a, b) for a, b in zip(values, values[::-1], strict=True)]


@pytest.mark.parametrize("op", ["Exp", "Sqrt", "Log", "Reciprocal", "Sigmoid", "Square"])
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_half_types_are_rounded_once(op: str, dtype: str) -> None:
    kind: Any = {"float16": np.float16, "bfloat16": ml_dtypes.bfloat16}[dtype]
    x = np.linspace(0.1, 4, 50).astype(kind)
    got = run_op(op, x)[0]
    assert got.dtype == kind
    assert (got == run_op(op, x.astype(np.float32))[0].astype(kind)).all()


def test_round_leaves_integers() -> None:
    """TensorFlow 2.21 gives zeros here, against its own documentation; we follow the latter."""
    assert run_op("Round", np.array([5, -7], np.int32))[0].tolist() == [5, -7]


def test_inputs_are_not_changed() -> None:
    x = np.ones(3, np.float32)
    x.setflags(write=False)
    assert run_op("AddN", x, x, x)[0].tolist() == [3, 3, 3]
    assert x.tolist() == [1, 1, 1]


def test_no_warnings(recwarn: pytest.WarningsRecorder) -> None:
    odd = np.array([0, -1, np.inf, np.nan], np.float32)
    for op in ("Log", "Sqrt", "Rsqrt", "Reciprocal", "Acosh", "Exp"):
        run_op(op, odd)
    for op in ("RealDiv", "FloorMod", "Pow", "Xlogy", "Less"):
        run_op(op, odd, odd[::-1])
    assert not recwarn.list


def test_division_by_zero_is_refused() -> None:
    with pytest.raises(KernelError, match="an integer divisor must not be zero") as caught:
        run_op("FloorDiv", np.array([1], np.int32), np.array([0], np.int32))
    assert caught.value.status == "INVALID_ARGUMENT"


def test_shapes_that_do_not_broadcast_are_refused() -> None:
    with pytest.raises(KernelError, match=r"found: \[2\] and \[3\]"):
        run_op("Mul", np.ones(2, np.float32), np.ones(3, np.float32))
    with pytest.raises(ShapeError, match="shapes must broadcast"):
        infer_shapes("Mul", [(2,), (3,)])


def test_negative_powers_of_integers_are_refused() -> None:
    with pytest.raises(KernelError, match="exponent -2"):
        run_op("Pow", np.array([2], np.int32), np.array([-2], np.int32))


@pytest.mark.parametrize(
    ("shapes", "want"),
    [
        ([(2, -1), (2, 3)], (2, 3)),
        ([None, (2, 3)], None),
        ([(-1,), (-1,)], (-1,)),
        ([(-1,), (1,)], (-1,)),
        ([(-2, 1), (4,)], (-2, 4)),
    ],
)
def test_partly_known_shapes(shapes: Any, want: Any) -> None:
    assert infer_shapes("AddV2", shapes) == [want]


def test_shape_of_sums() -> None:
    assert infer_shapes("AddN", [(2, -1), (-1, 3), None]) == [(2, 3)]
    with pytest.raises(ShapeError, match="dimensions must be equal"):
        infer_shapes("AddN", [(2,), (3,)])


def test_accumulate_n_adds_like_add_n() -> None:
    """TensorFlow rewrites this op away before it runs, so there is nothing to record."""
    x = np.array([1, 2], np.float32)
    assert run_op("AccumulateNV2", x, x, x, shape=(2,))[0].tolist() == [3, 6]
    assert infer_shapes("AccumulateNV2", [(-1,), None], shape=(-1,)) == [(-1,)]
    assert infer_shapes("AccumulateNV2", [(2,), None], shape=(-1,)) == [(2,)]
