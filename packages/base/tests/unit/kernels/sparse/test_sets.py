"""Set operations against Python's sets."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drystone_base.core.errors import KernelError
from drystone_base.executor.testing import infer_shapes, run_op

ROWS = st.lists(st.lists(st.integers(0, 5), min_size=3, max_size=3), min_size=2, max_size=2)
OPERATIONS = {
    "a-b": lambda a, b: a - b,
    "b-a": lambda a, b: b - a,
    "intersection": lambda a, b: a & b,
    "union": lambda a, b: a | b,
}


def _as_sparse(rows: list[list[int]]) -> list[np.ndarray[Any, Any]]:
    places = [(i, j) for i, row in enumerate(rows) for j in range(len(row))]
    return [np.array(places), np.array(rows).reshape(-1), np.array([len(rows), len(rows[0])])]


@settings(max_examples=50)
@given(ROWS, ROWS, st.sampled_from(sorted(OPERATIONS)))
def test_all_three_forms_agree(a: list[list[int]], b: list[list[int]], name: str) -> None:
    found = [sorted(OPERATIONS[name](set(x), set(y))) for x, y in zip(a, b, strict=True)]
    places = [[i, j] for i, row in enumerate(found) for j in range(len(row))]
    dense_a, dense_b = np.array(a), np.array(b)
    for op, inputs in (
        ("DenseToDense", [dense_a, dense_b]),
        ("DenseToSparse", [dense_a, *_as_sparse(b)]),
        ("SparseToSparse", [*_as_sparse(a), *_as_sparse(b)]),
    ):
        rows, values, shape = run_op(f"{op}SetOperation", *inputs, set_operation=name)
        assert rows.tolist() == places
        assert values.tolist() == [v for row in found for v in row]
        assert shape.tolist() == [2, max(map(len, found))]
    (sizes,) = run_op("SetSize", *_as_sparse(a))
    assert sizes.tolist() == [len(set(row)) for row in a]


def test_refusals_and_inference() -> None:
    x = np.ones((2, 2), np.int32)
    with pytest.raises(KernelError, match=r"found: xor\n  needed: a-b, b-a, intersection, union"):
        run_op("DenseToDenseSetOperation", x, x, set_operation="xor")
    with pytest.raises(KernelError, match="row-major order"):
        run_op("SetSize", np.array([[1, 0], [0, 0]]), np.ones(2, np.int32), np.array([2, 1]))
    shapes: list[Any] = [(2, -1), (2, 3)]
    assert infer_shapes("DenseToDenseSetOperation", shapes, set_operation="union") == [
        (-1, 2),
        (-1,),
        (2,),
    ]
