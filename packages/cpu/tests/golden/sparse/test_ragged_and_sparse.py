"""Ragged and sparse tensors drawn at random: drystone-cpu against the kernels in NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
from agreement import assert_agrees
from hypothesis import given, settings
from hypothesis import strategies as st

drawn = settings(max_examples=20, deadline=None, derandomize=True, database=None)
seeds = st.integers(0, 2**32 - 1)


def splits_of(rng: Any, levels: int) -> list[Any]:
    """Nested row splits; the last ends with the number of values."""
    out, rows = [], int(rng.integers(0, 5))
    for _ in range(levels):
        out.append(np.concatenate([[0], np.cumsum(rng.integers(0, 4, rows))]).astype(np.int64))
        rows = int(out[-1][-1])
    return out


@drawn
@given(seeds)
def test_ragged(seed: int) -> None:
    rng = np.random.default_rng(seed)
    levels = int(rng.integers(1, 4))
    nested = splits_of(rng, levels)
    values = rng.integers(0, 99, (int(nested[-1][-1]), *rng.integers(1, 4, rng.integers(0, 3))))
    assert_agrees("RaggedTensorToSparse", *nested, values, RAGGED_RANK=levels)
    rows = nested[0].size - 1
    shape = tuple(rng.integers(0, 4, rng.integers(1, 3)))
    indices = rng.integers(0, max(rows, 1), shape)
    result = levels + len(shape) - 1
    attrs: dict[str, Any] = {"PARAMS_RAGGED_RANK": levels, "OUTPUT_RAGGED_RANK": result}
    assert_agrees("RaggedGather", *nested, values, indices, **attrs)
    whole = levels + values.ndim
    limits = [-1] * whole
    for k in range(levels + 1):
        limits[k] = int(rng.integers(-1, 6))
    for target in (np.array(-1), np.array(limits)):
        assert_agrees("RaggedTensorToTensor", target, values, np.array(7), *nested,
             row_partition_types=["ROW_SPLITS"] * levels)  # fmt: skip
    ids = np.repeat(np.arange(rows), np.diff(nested[0]))
    if levels == 1:
        kinds = ["FIRST_DIM_SIZE", "VALUE_ROWIDS"]
        filler = np.full(values.shape[1:], 3)
        assert_agrees("RaggedTensorToTensor", np.array(-1), values, filler, np.array(rows), ids,
             row_partition_types=kinds)  # fmt: skip


@drawn
@given(seeds)
def test_ragged_ranges(seed: int) -> None:
    rng = np.random.default_rng(seed)
    count = int(rng.integers(0, 6))
    for dtype in ("int32", "int64", "float32", "float64"):
        parts = [rng.integers(-9, 9, count).astype(dtype) for _ in range(2)]
        step = rng.choice([-3, -1, 1, 2], count).astype(dtype)
        assert_agrees("RaggedRange", *parts, step)
        assert_agrees("RaggedRange", parts[0], np.array(5, dtype), np.array(2, dtype))


def sparse(rng: Any, dims: list[int], dtype: str = "int64") -> tuple[Any, Any, Any]:
    """A sparse tensor without repeats, in order."""
    total = int(np.prod(dims))
    flat = np.sort(rng.choice(total, int(rng.integers(0, total + 1)), replace=False))
    indices = np.stack(np.unravel_index(flat, dims), -1).astype(np.int64)
    values = rng.integers(-9, 9, flat.size).astype(dtype)
    return indices.reshape(-1, len(dims)), values, np.array(dims, np.int64)


@drawn
@given(seeds)
def test_sparse(seed: int) -> None:
    rng = np.random.default_rng(seed)
    dims = rng.integers(1, 5, rng.integers(1, 4)).tolist()
    x = sparse(rng, dims)
    order = rng.permutation(len(x[0]))
    assert_agrees("SparseReorder", x[0][order], x[1][order], x[2])
    assert_agrees("SparseSlice", *x, rng.integers(0, 4, len(dims)), rng.integers(0, 5, len(dims)))
    axis = int(rng.integers(0, len(dims)))
    parts = int(rng.integers(1, dims[axis] + 1))
    assert_agrees("SparseSplit", np.array(axis), *x, num_split=parts)
    other_dims = [*dims]
    other_dims[axis] = int(rng.integers(1, 5))
    y = sparse(rng, other_dims)
    both = [part for pair in zip(x, y, strict=True) for part in pair]
    assert_agrees("SparseConcat", *both, concat_dim=axis, N=2)
    grad = rng.integers(-9, 9, len(x[1]) + 3)
    assert_agrees("SparseFillEmptyRowsGrad", rng.permutation(grad.size)[: len(x[1])], grad)


@drawn
@given(seeds)
def test_sparse_products(seed: int) -> None:
    rng = np.random.default_rng(seed)
    height, depth, width = (int(n) for n in rng.integers(1, 6, 3))
    for dtype in ("float32", "float64", "int32", "complex64"):
        a = sparse(rng, [height, depth], dtype)
        b = rng.integers(-9, 9, (depth, width)).astype(dtype)
        assert_agrees("SparseTensorDenseMatMul", *a, b)
        assert_agrees("SparseTensorDenseMatMul", *a, b.T.copy(), adjoint_b=True)
        assert_agrees("SparseTensorDenseMatMul", a[0][:, ::-1].copy(), a[1], a[2][::-1].copy(), b,
             adjoint_a=True)  # fmt: skip
