"""Reductions, running reductions, segments, counts and ranges against loops in Python."""

import math
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drystone_base.core.errors import KernelError, ShapeError
from drystone_base.executor.testing import infer_shapes, run_op
from drystone_base.inference.shapes._registry import PartialValue

FEW = settings(max_examples=40, deadline=None)
I32 = np.int32
VALUES = st.lists(st.integers(-9, 9), min_size=24, max_size=24)
AXES = st.lists(st.integers(0, 2), max_size=3, unique=True)


@FEW
@given(VALUES, AXES, st.booleans())
def test_reductions(values: list[int], axes: list[int], keep: bool) -> None:
    x = np.array(values, np.float64).reshape(2, 3, 4)
    groups: dict[tuple[int, ...], list[float]] = {}
    for index in np.ndindex(2, 3, 4):
        kept = [0 if k in axes else i for k, i in enumerate(index)]
        groups.setdefault(tuple(kept), []).append(float(x[index]))
    plain: dict[str, Any] = {"Sum": sum, "Prod": math.prod, "Max": max, "Min": min,
                             "Mean": lambda v: sum(v) / len(v)}  # fmt: skip
    for op, function in plain.items():
        got = run_op(op, x, np.array(axes, I32), keep_dims=keep)[0]
        want = [function(groups[k]) for k in sorted(groups)]
        np.testing.assert_allclose(got.reshape(-1), want, rtol=1e-12)
        inferred = infer_shapes(op, [x.shape, (len(axes),)], values=[None, np.array(axes, I32)],
                                keep_dims=keep)  # fmt: skip
        assert inferred == [got.shape]


@FEW
@given(st.lists(st.floats(allow_nan=True, width=16), min_size=1, max_size=12))
def test_extremes_are_the_first_and_never_nan(values: list[float]) -> None:
    x = np.array(values, np.float32)
    numbers = [v for v in values if not math.isnan(v)]
    for op, function in (("ArgMax", max), ("ArgMin", min)):
        got = int(run_op(op, x, I32(0))[0])
        if numbers and not math.isinf(function(numbers)):
            assert got == values.index(function(numbers))


@FEW
@given(st.lists(st.integers(-9, 9), min_size=1, max_size=9), st.booleans(), st.booleans())
def test_running_sums(values: list[int], exclusive: bool, reverse: bool) -> None:
    way = values[::-1] if reverse else values
    sums = [sum(way[: k if exclusive else k + 1]) for k in range(len(way))]
    products = [math.prod(way[: k if exclusive else k + 1]) for k in range(len(way))]
    flags: dict[str, Any] = {"exclusive": exclusive, "reverse": reverse}
    x = np.array(values, np.int64)
    for op, want in (("Cumsum", sums), ("Cumprod", products)):
        got = run_op(op, x, I32(0), **flags)[0].tolist()
        assert got == (want[::-1] if reverse else want)


@FEW
@given(st.lists(st.tuples(st.integers(-1, 4), st.integers(-9, 9)), min_size=1, max_size=20))
def test_unsorted_segments(rows: list[tuple[int, int]]) -> None:
    ids, data = (np.array(v, I32) for v in zip(*rows, strict=True))
    info = np.iinfo(I32)
    plain: dict[str, Any] = {"Sum": sum, "Prod": math.prod,
                             "Max": lambda v: max(v, default=info.min),
                             "Min": lambda v: min(v, default=info.max)}  # fmt: skip
    for name, function in plain.items():
        got = run_op(f"UnsortedSegment{name}", data, ids, I32(5))[0].tolist()
        assert got == [function([v for k, v in rows if k == s]) for s in range(5)]


@FEW
@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 5)), min_size=1, max_size=20))
def test_gathered_segments(rows: list[tuple[int, int]]) -> None:
    rows.sort()
    ids, indices = (np.array(v, I32) for v in zip(*rows, strict=True))
    data = np.arange(12, dtype=np.float64).reshape(6, 2)
    for name, power in (("Sum", 0.0), ("Mean", 1.0), ("SqrtN", 0.5)):
        got = run_op(f"SparseSegment{name}WithNumSegments", data, indices, ids, I32(6))[0]
        for s in range(6):
            picked = [data[i] for k, i in rows if k == s]
            want = sum(picked, np.zeros(2)) / max(len(picked), 1) ** power
            np.testing.assert_allclose(got[s], want, rtol=1e-12)


@FEW
@given(st.lists(st.integers(0, 9), max_size=20), st.integers(0, 8))
def test_counts(values: list[int], size: int) -> None:
    none = np.zeros(0, np.int64)
    got = run_op("Bincount", np.array(values, I32), I32(size), none)[0].tolist()
    assert got == [values.count(k) for k in range(size)]


@FEW
@given(st.integers(-20, 20), st.integers(-20, 20), st.integers(-5, 5).filter(bool))
def test_ranges(start: int, limit: int, delta: int) -> None:
    values = [I32(start), I32(limit), I32(delta)]
    if (limit - start) * delta < 0:
        with pytest.raises(KernelError, match="delta must point from start to limit"):
            run_op("Range", *values)
        return
    want = list(range(start, limit, delta))
    assert run_op("Range", *values)[0].tolist() == want
    known = [np.array(v) for v in values]
    shapes = infer_shapes("Range", [()] * 3, values=known, dtypes_in=["int32"] * 3)
    assert shapes == [(len(want),)]


def test_half_types_accumulate_in_float32() -> None:
    for kind in (np.float16, ml_dtypes.bfloat16):
        assert float(run_op("Sum", np.ones(3000, kind), I32(0))[0]) == pytest.approx(3000, rel=4e-3)


def test_repeated_axes_are_refused() -> None:
    with pytest.raises(KernelError, match="each axis may be named once"):
        run_op("Sum", np.ones((2, 2), np.float32), np.array([0, -2], I32))


def test_decreasing_ids_are_refused() -> None:
    with pytest.raises(KernelError, match="segment ids must not decrease"):
        run_op("SegmentSum", np.ones(2, np.float32), np.array([1, 0], I32))


def test_absurd_sizes_are_refused() -> None:
    with pytest.raises(KernelError) as caught:
        run_op("Range", np.int64(0), np.int64(2**62), np.int64(1))
    assert caught.value.status == "RESOURCE_EXHAUSTED"
    with pytest.raises(KernelError):
        run_op("SegmentSum", np.ones(1, np.float32), np.array([2**60], np.int64))


@pytest.mark.parametrize(
    ("given_shape", "axes_shape", "keep", "want"),
    [
        ((2, 3, 4), (2,), False, (-1,)),
        ((2, 3, 4), (-1,), False, None),
        ((2, 3, 4), (-1,), True, (-1, -1, -1)),
        ((2, 3, 4), (0,), False, (2, 3, 4)),
        ((2, 3, 4), (), False, (-1, -1)),
        (None, (1,), False, None),
    ],
)
def test_reduction_over_unknown_axes(
    given_shape: Any, axes_shape: Any, keep: bool, want: Any
) -> None:
    assert infer_shapes("Sum", [given_shape, axes_shape], keep_dims=keep) == [want]


def test_reduction_over_a_foreign_axis_is_refused() -> None:
    with pytest.raises(ShapeError, match="axis must be a dimension of the tensor"):
        infer_shapes("Max", [(2, 3), (1,)], values=[None, np.array([2], I32)])


def test_range_up_to_a_dimension_keeps_its_symbol() -> None:
    values: list[Any] = [np.array(0, I32), PartialValue.of_dim(-7), np.array(1, I32)]
    assert infer_shapes("Range", [()] * 3, values=values, dtypes_in=["int32"] * 3) == [(-7,)]
