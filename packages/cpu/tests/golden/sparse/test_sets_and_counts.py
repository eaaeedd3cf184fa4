"""Sets, counts, sparse sums and distances of sequences against NumPy's kernels, drawn at random."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from agreement import assert_agrees
from hypothesis import given, settings
from hypothesis import strategies as st
from native_ops import run_native

from drystone_base.core.dtypes import as_dtype

pytestmark = pytest.mark.cases_in_gate(3)

drawn = settings(max_examples=25, deadline=None, derandomize=True, database=None)
seeds = st.integers(0, 2**32 - 1)
WORDS = [b"", b"a", b"b\0", b"b\0c", b"\xff", "é".encode()]
INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16"]


def elements(rng: Any, shape: Any, dtype: str) -> Any:
    """A tensor of few distinct elements of any dtype."""
    if dtype == "string":
        return np.array(WORDS, object)[rng.integers(0, len(WORDS), shape)]
    return np.asarray(rng.integers(-2, 3, shape)).astype(as_dtype(dtype).np)


def sparse(rng: Any, dims: list[int], dtype: str) -> list[Any]:
    """A sparse tensor in row-major order, sometimes with an index twice."""
    count = int(rng.integers(0, 7)) if all(dims) else 0
    rows = rng.integers(0, [max(d, 1) for d in dims], (count, len(dims)))
    indices = rows[np.lexsort(rows.T[::-1])]
    return [indices, elements(rng, count, dtype), np.array(dims, np.int64)]


def dims_of(rng: Any, least: int, most: int = 3) -> list[int]:
    return [int(d) for d in rng.integers(0, 4, rng.integers(least, most + 1))]


@drawn
@given(seeds, st.sampled_from([*INTEGERS, "string"]))
def test_sets(seed: int, dtype: str) -> None:
    rng = np.random.default_rng(seed)
    operation = str(rng.choice(["a-b", "b-a", "intersection", "union", "sum"]))
    attrs: dict[str, Any] = {"set_operation": operation, "validate_indices": bool(seed % 2)}
    lead = dims_of(rng, 0, 2)
    wide = [[*lead, int(n)] for n in rng.integers(0, 5, 2)]
    a, b = (elements(rng, dims, dtype) for dims in wide)
    assert_agrees("DenseToDenseSetOperation", a, b, **attrs)
    x, y = (sparse(rng, dims, dtype) for dims in wide)
    assert_agrees("DenseToSparseSetOperation", a, *y, **attrs)
    assert_agrees("SparseToSparseSetOperation", *x, *y, **attrs)
    y[0], y[1] = y[0][::-1].copy(), y[1][::-1].copy()
    assert_agrees("SparseToSparseSetOperation", *x, *y, **attrs)
    assert_agrees("SetSize", *y, validate_indices=bool(seed % 2))


def test_sets_that_do_not_fit_are_refused() -> None:
    attrs: dict[str, Any] = {"set_operation": "union"}
    row = np.zeros((2, 3), np.int32)
    assert_agrees("DenseToDenseSetOperation", row, row[:1], **attrs)
    assert_agrees("DenseToDenseSetOperation", row[0, 0], row[0, 0], **attrs)
    none = np.zeros((1 << 40, 0), np.int32)
    assert_agrees("DenseToDenseSetOperation", none, none, **attrs)
    far = [np.array([[0, 9]]), np.zeros(1, np.int32), np.array([2, 3])]
    assert_agrees("DenseToSparseSetOperation", row, *far, **attrs)
    assert_agrees(
        "SetSize", np.zeros((1, 0), np.int64), np.zeros(1, np.int32), np.zeros(0, np.int64)
    )


@drawn
@given(seeds, st.sampled_from([*INTEGERS, "string", "float32", "float64"]), st.booleans())
def test_distances(seed: int, dtype: str, normalize: bool) -> None:
    rng = np.random.default_rng(seed)
    lead = dims_of(rng, 1, 2)
    pair = [sparse(rng, [*lead, int(n)], dtype) for n in rng.integers(0, 6, 2)]
    assert_agrees("EditDistance", *pair[0], *pair[1], normalize=normalize)
    other = sparse(rng, [*(d + 1 for d in lead), 4], dtype)
    assert_agrees("EditDistance", *pair[0], *other, normalize=normalize)
    assert_agrees("EditDistance", *pair[0], *sparse(rng, [2], dtype), normalize=normalize)


@drawn
@given(seeds, st.sampled_from(["int32", "int64", "float32", "float64"]), st.booleans())
def test_counts(seed: int, dtype: str, binary: bool) -> None:
    rng = np.random.default_rng(seed)
    low = -1 if seed % 5 == 0 else 0
    lengths = rng.integers(0, 4, rng.integers(0, 5))
    splits = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    index = [np.int32, np.int64][seed % 2]
    size = np.array(rng.integers(low, 6), index)
    values = rng.integers(low, 6, int(splits[-1])).astype(index)
    weights = rng.normal(0, 9, values.shape).astype(dtype)
    for given_weights in (weights, weights[:0], weights[1:]):
        attrs: dict[str, Any] = {"binary_output": binary}
        assert_agrees("RaggedBincount", splits, values, size, given_weights, **attrs)
        assert_agrees("RaggedBincount", splits[1:], values, size, given_weights, **attrs)
        assert_agrees("DenseBincount", values, size, given_weights, **attrs)
        assert_agrees("Bincount", values.astype(np.int32), size.astype(np.int32), given_weights)
    for dims in ([5], [3, 4], [1, 2, 3]):
        indices, found, shape = sparse(rng, dims, "int64")
        found = np.abs(found).astype(index)
        weights = rng.normal(0, 9, found.shape).astype(dtype)
        assert_agrees("SparseBincount", indices, found, shape, size, weights, binary_output=binary)
        assert_agrees("SparseBincount", indices + 3, found, shape, size, weights)
        assert_agrees("SparseBincount", indices, found[:, None], shape, size, weights[:, None])
        assert_agrees("SparseBincount", indices[:1], found[:1].sum(), shape, size, weights[:0])
        assert_agrees("SparseBincount", indices[:0], found[:0], shape - 4, size, weights[:0])


SUMS = [*INTEGERS[:4], "float16", "bfloat16", "float32", "float64", "complex64", "complex128"]


@drawn
@given(seeds, st.sampled_from(SUMS), st.integers(0, 3))
def test_sparse_sums(seed: int, dtype: str, threshold: int) -> None:
    rng = np.random.default_rng(seed)
    dims = dims_of(rng, 1)
    a, b = (sparse(rng, dims, dtype) for _ in range(2))
    if dtype.startswith(("float", "complex")) and a[1].size:
        a[1][0] = np.nan
    real = {"complex64": "float32", "complex128": "float64"}.get(dtype, dtype)
    least = np.array(threshold, as_dtype(real).np)
    assert_agrees("SparseAdd", *a, *b, least)
    assert_agrees("SparseAdd", *a, *b, least[None])
    assert_agrees("SparseAdd", *a, b[0], b[1], b[2] + 1, least)
    if not dtype.startswith("complex"):
        assert_agrees("SparseSparseMaximum", *a, *b)
        assert_agrees("SparseSparseMinimum", *a, *b)
        assert_agrees("SparseSparseMinimum", a[0] - 1, a[1], a[2], *b)
    places = np.unique(np.concatenate([a[0], b[0]]), axis=0)[threshold:]
    grad = elements(rng, len(places), dtype)
    assert_agrees("SparseAddGrad", grad, a[0], b[0], places)
    assert_agrees("SparseAddGrad", grad[:-1], a[0], b[0], places)


@pytest.mark.parametrize("dtype", [*INTEGERS, "uint32", "uint64", "float16", "bfloat16", "float32",
                                   "float64"])  # fmt: skip
@drawn
@given(seed=seeds)
def test_pooling_with_places(dtype: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    x = elements(rng, [int(d) for d in rng.integers([0, 1, 1, 0], [3, 6, 6, 4])], dtype)
    if dtype.startswith(("float", "bfloat")) and x.size:
        x.reshape(-1)[rng.integers(0, x.size, 3)] = np.nan
    attrs: dict[str, Any] = {
        "ksize": [1, *(int(n) for n in rng.integers(1, 4, 2)), 1],
        "strides": [1, *(int(n) for n in rng.integers(1, 4, 2)), 1],
        "padding": ["SAME", "VALID"][seed % 2],
        "include_batch_in_index": bool(seed & 2),
    }
    index = ["int32", "int64"][seed % 3 % 2]
    assert_agrees("MaxPoolWithArgmax", x, Targmax=index, **attrs)
    rows = -(-x.shape[1] // attrs["strides"][1]), -(-x.shape[2] // attrs["strides"][2])
    shape = (x.shape[0], *rows, x.shape[3])
    most = max(int(np.prod(x.shape if seed & 2 else x.shape[1:])), 1)
    places = rng.integers(0, most, shape).astype(index)
    for given_places in (places, places - 1):
        grad = elements(rng, shape, dtype)
        assert_agrees("MaxPoolGradWithArgmax", x, grad, given_places, **attrs)
        assert_agrees("MaxPoolGradGradWithArgmax", x, x, given_places, **attrs)
        assert_agrees("MaxPoolGradGradWithArgmax", x, grad, given_places, **attrs)


def test_windows_far_larger_than_the_image_see_all_of_it() -> None:
    x = np.random.default_rng(0).normal(size=(2, 4, 5, 3)).astype(np.float32)
    same: dict[str, Any] = {"strides": [1, 1, 1, 1], "padding": "SAME"}
    for op in ("MaxPoolWithArgmax", "MaxPool"):
        found = run_native(op, x, ksize=[1, 1 << 39, 1 << 39, 1], **same)
        want = run_native(op, x, ksize=[1, 9, 9, 1], **same)
        for got, expected in zip(found, want, strict=True):
            np.testing.assert_array_equal(got, expected)
