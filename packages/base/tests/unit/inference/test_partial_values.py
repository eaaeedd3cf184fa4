"""Partly known values on their way from ``Shape`` to the op that takes a shape."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drystone_base.core.dtypes import BOOL, INT32, INT64, DType, from_numpy
from drystone_base.core.errors import ShapeError
from drystone_base.executor.testing import run_op
from drystone_base.inference.shapes._registry import PartialValue, ShapeCall, find_shape_function
from drystone_base.inference.shapes._values import propagate
from drystone_base.ops.defs import op_def

BATCH = -5
DIMS = PartialValue.of_shape((BATCH, 3, -1))


def _call(op: str, values: Sequence[Any], **attrs: Any) -> ShapeCall:
    """A shape call whose inputs are arrays, partial values, or shapes of which nothing is known."""
    definition = op_def(op)
    filled = {name: a.default for name, a in definition.attrs.items() if a.has_default} | attrs
    shapes = [v if isinstance(v, tuple) else v.shape for v in values]
    kinds: list[DType] = [
        from_numpy(v.dtype) if isinstance(v, np.ndarray) else INT32 for v in values
    ]
    known = [None if isinstance(v, tuple) else v for v in values]
    count = attrs.get("num", attrs.get("num_split", 1))
    return ShapeCall("n", op, filled, shapes, known, kinds, output_count=count)


def _one(op: str, *values: Any, **attrs: Any) -> Any:
    out = propagate(_call(op, values, **attrs))
    return None if out is None else out[0]


def _ints(*values: int) -> np.ndarray[Any, Any]:
    return np.array(values, np.int32)


SCALAR = np.array(0, np.int32)
DIM = PartialValue.of_dim(BATCH)


@pytest.mark.parametrize(
    ("op", "inputs", "attrs", "wanted"),
    [
        ("ConcatV2", (DIMS, _ints(7), SCALAR), {}, PartialValue((4,), (BATCH, 3, -1, 7))),
        ("Pack", (DIM, np.array(4, np.int32)), {"axis": 0}, PartialValue((2,), (BATCH, 4))),
        ("Slice", (DIMS, _ints(0), _ints(2)), {}, PartialValue((2,), (BATCH, 3))),
        ("ReverseV2", (DIMS, _ints(0)), {}, PartialValue((3,), (-1, 3, BATCH))),
        ("GatherV2", (DIMS, _ints(1, 0), SCALAR), {}, PartialValue((2,), (3, BATCH))),
        ("ExpandDims", (DIM, SCALAR), {}, PartialValue((1,), (BATCH,))),
        ("Squeeze", (PartialValue((1,), (BATCH,)),), {}, DIM),
        ("Reshape", (DIM, _ints(1)), {}, PartialValue((1,), (BATCH,))),
        ("Fill", (_ints(2), DIM), {}, PartialValue((2,), (BATCH, BATCH))),
        ("Mul", (DIM, np.array(1, np.int32)), {}, DIM),
        ("AddV2", (DIMS, SCALAR), {}, DIMS),
        ("Sub", (DIMS, _ints(0, 1, 0)), {}, PartialValue((3,), (BATCH, 2, -1))),
        ("FloorDiv", (DIM, np.array(1, np.int32)), {}, DIM),
        ("Maximum", (DIM, SCALAR), {}, DIM),
        ("Prod", (PartialValue((3,), (1, BATCH, 1)), _ints(0)), {"keep_dims": False}, DIM),
        ("Cast", (DIMS,), {"DstT": INT64}, DIMS),
        ("Cast", (DIMS,), {"DstT": BOOL}, None),
        ("Mul", (DIM, np.array(2, np.int32)), {}, None),
        ("Identity", ((3,),), {}, None),
    ],
)
def test_what_is_known_survives(op: str, inputs: Any, attrs: Any, wanted: Any) -> None:
    assert _one(op, *inputs, **attrs) == wanted


def test_complete_results_become_arrays() -> None:
    masks = {"begin_mask": 0, "end_mask": 0, "shrink_axis_mask": 1}
    middle = _one("StridedSlice", DIMS, _ints(1), _ints(2), _ints(1), **masks)
    assert isinstance(middle, np.ndarray)
    assert middle.dtype == np.int32
    assert middle.tolist() == 3
    assert _one("Mul", DIM, SCALAR).tolist() == 0
    assert _one("Sub", DIM, DIM).tolist() == 0
    assert _one("Minimum", DIM, SCALAR).tolist() == 0
    first, *others = propagate(_call("Unpack", [DIMS], num=3, axis=0)) or []
    assert first == DIM
    assert others[0].tolist() == 3
    assert others[1] is None


def test_an_overflow_is_not_a_value() -> None:
    big = PartialValue((1,), (2**31 - 1,), (True,))
    assert isinstance(_one("AddV2", big, _ints(1)), PartialValue)


def test_selection() -> None:
    which = np.array([True, False])
    pair = PartialValue((2,), (BATCH, 3))
    assert _one("SelectV2", which, pair, _ints(8, 9)) == PartialValue((2,), (BATCH, 9))
    assert _one("SelectV2", (2,), pair, pair) == pair
    assert _one("SelectV2", (2,), pair, _ints(8, 9)) is None


def test_infer_marker_is_not_an_unknown_dimension() -> None:
    reshape = find_shape_function("Reshape")
    assert reshape is not None
    target = _one("Pack", DIM, np.array(-1, np.int32), axis=0)
    assert target == PartialValue((2,), (BATCH, -1), (False, True))
    assert list(reshape(_call("Reshape", [(BATCH, 3, 4), target]))) == [(BATCH, 12)]
    unknown = PartialValue((2,), (BATCH, -1))
    assert list(reshape(_call("Reshape", [(-1, 3, 4), unknown]))) == [(BATCH, -1)]
    with pytest.raises(ShapeError, match="a new shape may hold one -1"):
        reshape(_call("Reshape", [(8,), _ints(-1, -1)]))


@settings(max_examples=50)
@given(st.data())
def test_propagation_admits_what_the_kernel_gives(data: st.DataObject) -> None:
    """Hide some elements of known vectors: what is still claimed must be true."""
    a = np.array(data.draw(st.lists(st.integers(0, 4), min_size=3, max_size=3)), np.int32)
    b = np.array(data.draw(st.lists(st.integers(0, 4), min_size=3, max_size=3)), np.int32)
    hidden = data.draw(st.lists(st.booleans(), min_size=3, max_size=3))
    part = PartialValue((3,), [-1 if h else int(v) for h, v in zip(hidden, a, strict=True)])
    for op in ("AddV2", "Sub", "Mul", "Maximum", "Minimum"):
        claimed = _one(op, part, b)
        (real,) = run_op(op, a, b)
        if claimed is None:
            continue
        if isinstance(claimed, np.ndarray):
            claimed = PartialValue.of_array(claimed)
        for item, known, value in zip(claimed.items, claimed.known, real, strict=True):
            assert not known or item == value
