"""Matrix products against plain sums, and what TensorFlow's own kernels do not cover."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drystone_base.core.errors import KernelError, ShapeError
from drystone_base.executor.testing import infer_shapes, run_op

DIMS = st.integers(0, 5)


@settings(max_examples=30, deadline=None)
@given(DIMS, DIMS, DIMS, st.booleans(), st.booleans(), st.integers(0, 2**32 - 1))
def test_matmul_is_the_sum_of_products(
    m: int, k: int, n: int, ta: bool, tb: bool, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    a, b = rng.integers(-9, 9, (m, k)), rng.integers(-9, 9, (k, n))
    want = np.zeros((m, n), np.int64)
    for i, j, t in np.ndindex(m, n, k):
        want[i, j] += a[i, t] * b[t, j]
    given_a, given_b = a.T if ta else a, b.T if tb else b
    (out,) = run_op("MatMul", given_a, given_b, transpose_a=ta, transpose_b=tb)
    assert out.dtype == np.int64
    np.testing.assert_array_equal(out, want)
    flags = {"transpose_a": ta, "transpose_b": tb}
    assert infer_shapes("MatMul", [given_a.shape, given_b.shape], **flags) == [(m, n)]


@pytest.mark.parametrize("kind", [np.uint8, np.uint16, np.uint32, np.uint64])
def test_unsigned_products_wrap_around(kind: type) -> None:
    top = np.iinfo(kind).max
    (out,) = run_op("MatMul", np.full((1, 2), top, kind), np.full((2, 1), top, kind))
    assert out.dtype == kind
    assert out.item() == (2 * top * top) % (top + 1)


def test_half_is_summed_in_float32() -> None:
    ones = np.ones((1, 4096), np.float16)
    (out,) = run_op("MatMul", ones, ones.T)
    assert out.dtype == np.float16
    assert out.item() == 4096


def test_mismatch_is_refused_with_both_shapes() -> None:
    with pytest.raises(KernelError, match=r"\[2, 3\] times \[2, 3\]"):
        run_op("MatMul", np.ones((2, 3)), np.ones((2, 3)))
    with pytest.raises(ShapeError, match="dimensions must be equal"):
        infer_shapes("MatMul", [(2, 3), (2, 3)])


@pytest.mark.parametrize(
    ("op", "shapes", "want"),
    [
        ("MatMul", [None, (3, 4)], (-1, 4)),
        ("MatMul", [(-2, -1), (-1, -3)], (-2, -3)),
        ("BatchMatMulV2", [(-1, 2, 3), (5, 3, 4)], (5, 2, 4)),
        ("BatchMatMulV2", [(1, 2, 3), (-1, 3, 4)], (-1, 2, 4)),
        ("BatchMatMulV2", [None, (3, 4)], None),
        ("BatchMatMul", [(-1, 2, 3), (7, -1, 4)], (7, 2, 4)),
        ("Cross", [(-1, 3), (2, -1)], (2, 3)),
    ],
)
def test_partly_known_shapes(op: str, shapes: list[object], want: object) -> None:
    assert infer_shapes(op, shapes) == [want]  # type: ignore[arg-type]
