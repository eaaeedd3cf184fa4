"""Comparison, selection and casting kernels against plain Python."""

import operator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drystone_base.core.errors import KernelError, ShapeError
from drystone_base.executor.testing import infer_shapes, run_op

FEW = settings(max_examples=40, deadline=None)
FLOATS = st.floats(width=32)


@FEW
@given(st.lists(st.tuples(FLOATS, FLOATS), min_size=1, max_size=20))
def test_orders(pairs: list[tuple[float, float]]) -> None:
    x, y = (np.array(v, np.float32) for v in zip(*pairs, strict=True))
    plain: dict[str, Any] = {
        "Less": operator.lt, "LessEqual": operator.le, "Greater": operator.gt,
        "GreaterEqual": operator.ge, "Equal": operator.eq, "NotEqual": operator.ne,
    }  # fmt: skip
    for op, function in plain.items():
        assert run_op(op, x, y)[0].tolist() == [function(a, b) for a, b in pairs]


@FEW
@given(st.lists(st.tuples(st.booleans(), FLOATS, FLOATS), min_size=1, max_size=20))
def test_selection(rows: list[tuple[bool, float, float]]) -> None:
    condition, then, other = (np.array(v) for v in zip(*rows, strict=True))
    want = np.array([a if c else b for c, a, b in rows])
    for op in ("Select", "SelectV2"):
        np.testing.assert_array_equal(run_op(op, condition, then, other)[0], want)


@FEW
@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=20))
def test_fitting_floats_are_cut_towards_zero(values: list[float]) -> None:
    for name in ("int32", "int64"):
        assert run_op("Cast", np.array(values), DstT=name)[0].tolist() == [int(v) for v in values]


@FEW
@given(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=20))
def test_integers_wrap(values: list[int]) -> None:
    x = np.array(values, np.int64)
    assert run_op("Cast", x, DstT="uint8")[0].tolist() == [v % 256 for v in values]
    assert run_op("Cast", x, DstT="uint32")[0].tolist() == [v % 2**32 for v in values]


@FEW
@given(st.lists(st.integers(0, 255), min_size=8, max_size=8))
def test_bitcast_there_and_back(values: list[int]) -> None:
    x = np.array(values, np.uint8).reshape(2, 4)
    wide = run_op("Bitcast", x, type="float32")[0]
    assert wide.shape == (2,)
    assert (run_op("Bitcast", wide, type="uint8")[0] == x).all()


def test_bitcast_of_a_wrong_dimension_is_refused() -> None:
    with pytest.raises(KernelError, match="a last dimension of 4"):
        run_op("Bitcast", np.zeros((2, 3), np.uint8), type="int32")
    with pytest.raises(ShapeError, match="a last dimension of 4"):
        infer_shapes("Bitcast", [(2, 3)], dtypes_in=["uint8"], type="int32")


def test_strings_cannot_be_cast() -> None:
    with pytest.raises(KernelError, match="StringToNumber") as caught:
        run_op("Cast", np.array("1"), DstT="int32")
    assert caught.value.status == "UNIMPLEMENTED"


def test_check_numerics_says_what_it_found() -> None:
    with pytest.raises(KernelError, match="loss: the tensor must hold finite numbers") as caught:
        run_op("CheckNumerics", np.array([1, np.nan, np.inf]), message="loss")
    assert caught.value.found == "NaN and Inf"


def test_select_of_misfits_is_refused() -> None:
    two = np.ones((2, 2), np.float32)
    with pytest.raises(KernelError, match="the condition must fit the branches"):
        run_op("Select", np.array([True, False, True]), two, two)


@pytest.mark.parametrize(
    ("shapes", "want"),
    [
        ([(), (2, -1), (-1, 3)], (2, 3)),
        ([(5,), (-1, 3), (-1, 3)], (5, 3)),
        ([(2, 3), None, None], (2, 3)),
        ([None, None, None], None),
    ],
)
def test_select_shapes(shapes: Any, want: Any) -> None:
    assert infer_shapes("Select", shapes, dtypes_in=["bool", "float32", "float32"]) == [want]


def test_equal_of_unknown_shapes_may_be_a_scalar() -> None:
    loose: dict[str, Any] = {"incompatible_shape_error": False}
    assert infer_shapes("Equal", [(-1,), (3,)], **loose) == [None]
    assert infer_shapes("Equal", [(2,), (3,)], **loose) == [()]
    assert infer_shapes("Equal", [(-1,), (3,)]) == [(3,)]
