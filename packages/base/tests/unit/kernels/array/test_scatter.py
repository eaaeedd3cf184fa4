"""Scatters against loops; variables get new arrays; wrong indices are named."""

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drystone_base.core.dtypes import from_numpy
from drystone_base.core.errors import KernelError
from drystone_base.executor.testing import infer_shapes, run_op
from drystone_base.state.variables import Variable

STEPS: dict[str, Callable[[Any, Any], Any]] = {
    "Update": lambda _, new: new,
    "Add": operator.add,
    "Sub": operator.sub,
    "Mul": operator.mul,
    "Min": min,
    "Max": max,
    "Div": lambda a, b: int(a / b),
}


def _variable(value: np.ndarray[Any, Any]) -> Variable:
    variable = Variable("v", from_numpy(value.dtype), value.shape)
    variable.write(value)
    return variable


@settings(max_examples=40)
@given(
    st.sampled_from(sorted(STEPS)),
    st.lists(st.tuples(st.integers(0, 3), st.integers(1, 9)), max_size=6),
)
def test_scatter_applies_updates_one_by_one(name: str, writes: list[tuple[int, int]]) -> None:
    start = np.array([[5], [-7], [9], [-20]])
    rows = np.array([row for row, _ in writes], np.int32)
    updates = np.array([[value] for _, value in writes], np.int64).reshape(len(writes), 1)
    wanted = start[:, 0].tolist()
    for row, value in writes:
        wanted[row] = STEPS[name](wanted[row], value)
    variable = _variable(start)
    (out,) = run_op(f"Scatter{name}", variable, rows, updates)
    assert out is variable
    assert out.read()[:, 0].tolist() == wanted
    assert start[:, 0].tolist() == [5, -7, 9, -20]


@settings(max_examples=40)
@given(
    st.sampled_from(["Update", "Add", "Sub", "Min", "Max"]),
    st.lists(st.tuples(st.integers(0, 2), st.integers(0, 1), st.integers(-9, 9)), max_size=6),
)
def test_nd_scatters_agree(name: str, writes: list[tuple[int, int, int]]) -> None:
    start = np.arange(6).reshape(3, 2)
    at = np.array([w[:2] for w in writes], np.int32).reshape(len(writes), 2)
    updates = np.array([w[2] for w in writes], np.int64)
    wanted = start.copy()
    for a, b, value in writes:
        wanted[a, b] = STEPS[name](wanted[a, b], value)
    assert run_op(f"TensorScatter{name}", start, at, updates)[0].tolist() == wanted.tolist()
    (variable,) = run_op(f"ScatterNd{name}", _variable(start), at, updates)
    assert variable.read().tolist() == wanted.tolist()


def test_a_scalar_update_changes_whole_rows() -> None:
    (out,) = run_op("ScatterAdd", _variable(np.zeros((2, 2))), np.int32(1), np.float64(3))
    assert out.read().tolist() == [[0, 0], [3, 3]]


def test_refusals() -> None:
    variable = _variable(np.array([1, 2]))
    with pytest.raises(KernelError, match=r"indices\[1\] = 2\n  needed: a value in \[0, 2\)"):
        run_op("ScatterAdd", variable, np.array([0, 2]), np.array([1, 1]))
    with pytest.raises(KernelError, match="updates must not contain 0"):
        run_op("ScatterDiv", variable, np.array([0]), np.array([0]))
    assert variable.read().tolist() == [1, 2]


def test_inference() -> None:
    assert infer_shapes(
        "ScatterNd", [(-1, 1), (-1, 4), (2,)], values=[None, None, np.array([8, 4])]
    ) == [(8, 4)]
    assert infer_shapes("TensorScatterAdd", [(-3, 4), (5, 1), (5, 4)]) == [(-3, 4)]
