"""Strings moved by kernels that look at no element: every output owns its bytes."""

from __future__ import annotations

from typing import Any

import native_ops
import numpy as np
import pytest
from agreement import assert_agrees
from hypothesis import given, settings
from hypothesis import strategies as st

from drystone_base.executor.testing import run_op

INT: Any = np.int64


def texts(shape: tuple[int, ...], seed: int = 0) -> Any:
    """Strings of 0 to 60 bytes: some lie in their tensor, others on the heap."""
    rng = np.random.default_rng(seed)
    out = np.empty(shape, dtype=object)
    flat = [rng.integers(0, 256, rng.integers(0, 60), np.uint8).tobytes() for _ in range(out.size)]
    out.reshape(-1)[:] = flat
    return out


def test_joined_and_cut() -> None:
    x, y = texts((40, 30, 3)), texts((40, 20, 3), 1)
    assert_agrees("ConcatV2", x, y, np.array(1, np.int32), N=2)
    assert_agrees("Pack", x, x, axis=3)
    assert_agrees("Unpack", x, axis=1, num=30)
    assert_agrees("Split", np.array(0, np.int32), x, num_split=4)
    assert_agrees("SplitV", x, np.array([7, -1, 2]), np.array(1, np.int32), num_split=3)
    assert_agrees("Slice", x, np.array([1, 2, 0]), np.array([5, -1, 3]))
    assert_agrees("StridedSlice", x, np.array([30, 0]), np.array([3, 30]), np.array([-4, 3]))


def test_repeated_and_turned() -> None:
    x = texts((12, 10, 3))
    assert_agrees("Tile", x, np.array([2, 1, 3]))
    assert_agrees("BroadcastTo", x, np.array([2, 12, 10, 3]))
    assert_agrees("Fill", np.array([70, 3]), texts((), 2))
    assert_agrees("Pad", x, np.array([[3, 0], [1, 2], [2, 1]]))
    assert_agrees("PadV2", x, np.array([[3, 0], [1, 2], [2, 1]]), np.array(b"z" * 50, object))
    assert_agrees("MirrorPad", x, np.array([[3, 0], [1, 2], [2, 1]]), mode="REFLECT")
    assert_agrees("Transpose", x, np.array([2, 0, 1]))
    assert_agrees("ReverseV2", x, np.array([0, 2]))
    assert_agrees("Roll", x, np.array([5]), np.array([1]))


def test_gathered_dealt_and_chosen() -> None:
    x = texts((30, 6))
    rows = np.random.default_rng(0).integers(0, 30, (20, 2))
    assert_agrees("GatherV2", x, rows, np.array(0))
    assert_agrees("GatherV2", x, rows % 6, np.array(1))
    assert_agrees("GatherNd", x, np.stack([rows[:, 0], rows[:, 1] % 6], -1))
    parts = (rows[:, 0] % 3).astype(np.int32)
    assert_agrees("DynamicPartition", x[:20], parts, num_partitions=3)
    at = [np.array([0, 3, 1], np.int32), np.array([2, 5], np.int32)]
    assert_agrees("DynamicStitch", *at, x[:3], x[3:5], N=2)
    assert_agrees("SelectV2", rows[:, :1] > 14, x[:20], texts((20, 6), 3))
    assert_agrees("Select", rows[:, 0] > 14, x[:20], texts((20, 6), 3))
    assert_agrees("OneHot", rows, np.array(5, np.int32), texts((), 1), texts((), 4), axis=-1)
    places = np.sort(np.random.default_rng(1).choice(100, 10, replace=False))[:, None]
    assert_agrees("SparseToDense", places, np.array([100]), texts((10,)), texts((), 5))


@settings(max_examples=30, deadline=None, derandomize=True, database=None)
@given(st.lists(st.binary(max_size=40), max_size=8), st.lists(st.binary(max_size=40), max_size=8))
def test_compared_and_joined(first: list[bytes], second: list[bytes]) -> None:
    a = np.array([*first, b""], dtype=object)[:, None]
    b = np.array([*second, *first, b"x"], dtype=object)
    for op in ("Equal", "NotEqual", "Add"):
        assert_agrees(op, a, b)
    assert_agrees(
        "ReduceJoin",
        np.concatenate([b, b]).reshape(2, -1),
        np.array([0, 1], np.int32),
        separator="-",
    )
    assert_agrees("StringStrip", b)
    assert_agrees("StringToHashBucketStrong", b, num_buckets=1000, key=[7, -3])


@pytest.mark.parametrize("fill", ["", " ", "+", "-", "0", "#"])
def test_numbers_as_text(fill: str) -> None:
    x = np.array([0.0, -0.0, 1.5, -2.25e300, 1e-310, np.inf, -np.inf, np.nan, 0.1])
    for kind in ({}, {"scientific": True}, {"shortest": True}):
        for width, precision in ((-1, -1), (30, -1), (9, 3), (0, 0), (400, 50)):
            assert_agrees("AsString", x, fill=fill, width=width, precision=precision, **kind)
            with np.errstate(over="ignore"):
                assert_agrees("AsString", x.astype(np.float32), fill=fill, width=width, **kind)
    for dtype in ("int8", "int64", "uint8", "uint64"):
        limits = np.iinfo(dtype)
        assert_agrees("AsString", np.array([limits.min, 0, limits.max], dtype), fill=fill, width=25)


@settings(max_examples=60, deadline=None, derandomize=True, database=None)
@given(st.text("0123456789+-.eExXpPinfINFatyab() \t_", max_size=12) | st.floats().map(repr))
def test_text_as_numbers(text: str) -> None:
    for dtype in ("float32", "float64", "int32", "int64", "uint32", "uint64"):
        results = []
        for run in (native_ops.run_native, run_op):
            try:
                (value,) = run("StringToNumber", np.array([text.encode()], object), out_type=dtype)
                results.append(repr(value))
            except native_ops.NoNativeKernel:
                raise
            except Exception as error:
                results.append(getattr(error, "status", ""))
        assert results[0] == results[1], text
