"""Ragged tensors go into variants and come out the same."""

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drystone_base.core.errors import KernelError
from drystone_base.executor.testing import infer_shapes, run_op
from drystone_base.kernels.sparse.ragged_variant import Ragged
from drystone_base.state.variables import handle_array

ROWS = st.lists(
    st.lists(st.lists(st.integers(0, 9), max_size=3), max_size=3), min_size=1, max_size=4
)


def _nested(rows: list[list[list[int]]]) -> list[np.ndarray[Any, Any]]:
    lines = [line for row in rows for line in row]
    return [
        np.array([0, *itertools.accumulate(map(len, rows))]),
        np.array([0, *itertools.accumulate(map(len, lines))]),
        np.array([v for line in lines for v in line], np.int64),
    ]


@settings(max_examples=50)
@given(ROWS, st.booleans())
def test_round_trip(rows: list[list[list[int]]], batched: bool) -> None:
    parts = _nested(rows)
    (packed,) = run_op("RaggedTensorToVariant", *parts, batched_input=batched)
    assert packed.shape == ((len(rows),) if batched else ())
    back = run_op(
        "RaggedTensorFromVariant",
        packed,
        input_ragged_rank=1 if batched else 2,
        output_ragged_rank=2,
        Tvalues="int64",
        Tsplits="int64",
    )
    assert [b.tolist() for b in back] == [p.tolist() for p in parts]


def test_a_row_holds_its_own_splits() -> None:
    (packed,) = run_op(
        "RaggedTensorToVariant", *_nested([[[1], [2, 3]], [[4]]]), batched_input=True
    )
    assert [s.tolist() for s in packed[0].splits] == [[0, 1, 3]]
    assert packed[1].values.tolist() == [4]


def test_the_gradient_fills_rows_that_got_none() -> None:
    encoded = np.empty(2, object)
    encoded[:] = [Ragged((), np.float32([1, 2])), None]
    attrs = {"Tvalues": "float32"}
    (out,) = run_op(
        "RaggedTensorToVariantGradient", encoded, np.array([0, 2, 3]), np.int32([3]), **attrs
    )
    assert out.tolist() == [1, 2, 0]


def test_refusals_and_inference() -> None:
    ranks = {"input_ragged_rank": -1, "output_ragged_rank": 0, "Tvalues": "int64"}
    with pytest.raises(KernelError, match=r"must hold ragged tensors\n  found: \['int'\]"):
        run_op("RaggedTensorFromVariant", handle_array(3), **ranks)
    with pytest.raises(KernelError, match="rank 0 for output_ragged_rank 0"):
        run_op(
            "RaggedTensorFromVariant", handle_array(Ragged((np.array([0]),), np.ones(0))), **ranks
        )
    shapes: list[Any] = [(4,), (-1,)]
    assert infer_shapes("RaggedTensorToVariant", shapes, batched_input=True) == [(3,)]
    assert infer_shapes("RaggedTensorFromVariant", [()], **(ranks | {"output_ragged_rank": 1})) == [
        (-1,),
        None,
    ]
