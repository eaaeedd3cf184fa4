"""Strided slices against Python's own slicing; writes through them; unknown bounds."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drystone_base.core.dtypes import FLOAT32
from drystone_base.core.errors import KernelError
from drystone_base.executor.testing import infer_shapes, run_op
from drystone_base.state.variables import ResourceHandle, Variable, handle_array

X = np.arange(60).reshape(3, 4, 5)
BOUND = st.none() | st.integers(-7, 7)
ITEM = st.one_of(
    st.builds(slice, BOUND, BOUND, st.sampled_from([None, 1, 2, -1, -2])),
    st.just(None),
    st.integers(0, 2),
)


def _specification(index: tuple[Any, ...]) -> tuple[list[Any], dict[str, int]]:
    """Begin, end, strides and masks that say what a NumPy index says."""
    begin, end, strides = [], [], []
    masks = dict.fromkeys(("begin", "end", "ellipsis", "new_axis", "shrink_axis"), 0)
    for k, item in enumerate(index):
        low, high, step = 0, 0, 1
        if item is Ellipsis:
            masks["ellipsis"] |= 1 << k
        elif item is None:
            masks["new_axis"] |= 1 << k
        elif isinstance(item, int):
            low, high = item, item + 1
            masks["shrink_axis"] |= 1 << k
        else:
            low, high, step = item.start or 0, item.stop or 0, item.step or 1
            masks["begin"] |= (item.start is None) << k
            masks["end"] |= (item.stop is None) << k
        begin.append(low)
        end.append(high)
        strides.append(step)
    arrays = [np.array(v, np.int32) for v in (begin, end, strides)]
    return arrays, {f"{name}_mask": bits for name, bits in masks.items()}


@settings(max_examples=50)
@given(st.lists(ITEM, max_size=3), st.integers(0, 4))
def test_strided_slice_is_python_slicing(items: list[Any], ellipsis_at: int) -> None:
    index: tuple[Any, ...] = tuple(items)
    if ellipsis_at <= len(index):
        index = (*index[:ellipsis_at], Ellipsis, *index[ellipsis_at:])
    arrays, masks = _specification(index)
    (out,) = run_op("StridedSlice", X, *arrays, **masks)
    wanted = X[index]
    assert out.tolist() == wanted.tolist()
    shapes = [X.shape] + [a.shape for a in arrays]
    assert infer_shapes("StridedSlice", shapes, values=[None, *arrays], **masks) == [wanted.shape]
    (grad,) = run_op("StridedSliceGrad", np.array(X.shape, np.int32), *arrays, out + 1, **masks)
    scattered = np.zeros_like(X)
    scattered[index] = wanted + 1
    assert grad.tolist() == scattered.tolist()


def test_writes_replace_the_value_of_a_variable() -> None:
    spec = [np.array(v, np.int32) for v in ([0], [9], [2])]
    variable = Variable("v", FLOAT32, (4,))
    first = np.zeros(4, np.float32)
    variable.write(first)
    assert run_op("StridedSliceAssign", variable, *spec, np.float32([1, 2])) == [variable]
    assert variable.read().tolist() == [1, 0, 2, 0]
    assert first.tolist() == [0, 0, 0, 0]
    handle = handle_array(ResourceHandle("Variable", "v", "", variable))
    assert run_op("ResourceStridedSliceAssign", handle, *spec, np.float32(7)) == []
    assert variable.read().tolist() == [7, 0, 7, 0]
    with pytest.raises(KernelError, match=r"found: \[3\]\n  needed: \[2\]"):
        run_op("StridedSliceAssign", variable, *spec, np.zeros(3, np.float32))


def test_unknown_bounds_leave_unknown_dimensions() -> None:
    shapes: list[Any] = [(-4, 3, 8), (2,), (2,), (2,)]
    one = np.array([1, 1])
    zero = np.array([0, 0])
    whole = infer_shapes("StridedSlice", shapes, values=[None, zero, zero, one], end_mask=3)
    assert whole == [(-1, 3, 8)]
    masked = infer_shapes(
        "StridedSlice", shapes, values=[None, zero, zero, one], begin_mask=3, end_mask=3
    )
    assert masked == [(-4, 3, 8)]
    assert infer_shapes("StridedSlice", shapes, values=[None, None, None, one]) == [(-1, -1, 8)]
    shrunk = infer_shapes("StridedSlice", shapes, values=[None] * 4, shrink_axis_mask=1)
    assert shrunk == [(-1, 8)]
    assert infer_shapes(
        "Slice", [(5, -3), (2,), (2,)], values=[None, zero, np.array([-1, -1])]
    ) == [(5, -3)]


def test_an_index_outside_names_dimension_and_range() -> None:
    spec = [np.array(v, np.int32) for v in ([4], [5], [1])]
    with pytest.raises(KernelError, match=r"inside dimension 0.*\n.*found: 4 .*\n.*\[-3, 3\)"):
        run_op("StridedSlice", X, *spec, shrink_axis_mask=1)
    with pytest.raises(KernelError, match="found: begin 2, size 3"):
        run_op("Slice", np.zeros(4), np.array([2]), np.array([3]))
