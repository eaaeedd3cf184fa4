"""Distinct elements against dictionaries."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drystone_base.core.errors import KernelError
from drystone_base.executor.testing import infer_shapes, run_op


@settings(max_examples=50)
@given(st.lists(st.sampled_from([b"", b"a", b"b", b"ab", b"\xff"]), max_size=12))
def test_unique_of_strings(words: list[bytes]) -> None:
    x = np.empty(len(words), object)
    x[:] = words
    values, classes, counts = run_op("UniqueWithCounts", x)
    wanted = list(dict.fromkeys(words))
    assert values.tolist() == wanted
    assert [wanted[k] for k in classes] == words
    assert counts.tolist() == [words.count(w) for w in wanted]


@settings(max_examples=50)
@given(st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1)), min_size=1, max_size=8))
def test_unique_rows(rows: list[tuple[int, int]]) -> None:
    values, classes = run_op("UniqueV2", np.array(rows), np.array([0]))
    wanted = list(dict.fromkeys(rows))
    assert [tuple(v) for v in values.tolist()] == wanted
    assert [wanted[k] for k in classes] == rows


@settings(max_examples=40)
@given(st.lists(st.integers(0, 6), max_size=8), st.lists(st.integers(0, 6), max_size=8))
def test_list_diff(x: list[int], y: list[int]) -> None:
    out, places = run_op("ListDiff", np.array(x, np.int64), np.array(y, np.int64))
    assert out.tolist() == [v for v in x if v not in y]
    assert [x[k] for k in places] == out.tolist()


def test_every_nan_is_a_class_of_its_own() -> None:
    values, classes = run_op("Unique", np.array([np.nan, 1, np.nan]))
    assert classes.tolist() == [0, 1, 2]
    assert len(values) == 3


def test_refusals_and_inference() -> None:
    with pytest.raises(KernelError, match=r"x must be a vector\n  found: \[2, 2\]"):
        run_op("Unique", np.zeros((2, 2)))
    assert infer_shapes("Unique", [(-4,)]) == [(-1,), (-4,)]
    known = [None, np.array([1])]
    assert infer_shapes("UniqueV2", [(2, 3), (1,)], values=known) == [(2, -1), (3,)]


@pytest.mark.parametrize(
    "dtype", ["float16", "float32", "float64", "int8", "uint64", "bool", "complex64", "object"]
)
def test_classes_are_those_that_python_tells_apart(dtype: str) -> None:
    """By order of first occurrence; -0 is 0, and NaN equals nothing, not even itself."""
    rng = np.random.default_rng(4)
    for size in (0, 1, 7, 300, 70_000):
        x: Any = rng.integers(0, 90, size)
        x = np.array([b"%d" % v for v in x], object) if dtype == "object" else x.astype(dtype)
        if x.dtype.kind in "fc":
            x[rng.random(size) < 0.1] = np.nan
            x[rng.random(size) < 0.1] = -0.0
        keys, seen = x.tolist(), dict[Any, int]()
        numbers = [seen.setdefault(key, len(seen)) for key in keys]
        values, found, counts = run_op("UniqueWithCounts", x)
        np.testing.assert_array_equal(found, numbers)
        np.testing.assert_array_equal(values, np.array(list(seen), x.dtype))
        np.testing.assert_array_equal(counts, np.bincount(numbers, minlength=len(seen)))
        known = set(keys[::3])
        want = [k for k, key in enumerate(keys) if key not in known or key != key]
        np.testing.assert_array_equal(run_op("ListDiff", x, x[::3])[1], want)
