"""Diagonals taken out and put back; NumPy's own for single ones."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drystone_base.core.errors import KernelError
from drystone_base.executor.testing import infer_shapes, run_op

ALIGN = st.sampled_from(["LEFT_RIGHT", "RIGHT_LEFT", "LEFT_LEFT", "RIGHT_RIGHT"])


@settings(max_examples=50, deadline=None)
@given(st.integers(1, 5), st.integers(1, 5), ALIGN, st.data())
def test_parts_put_back_change_nothing(m: int, n: int, align: str, data: st.DataObject) -> None:
    low = data.draw(st.integers(1 - m, n - 1))
    high = data.draw(st.integers(low, n - 1))
    x = np.arange(2 * m * n).reshape(2, m, n)
    k = np.int32([low, high])
    attrs: dict[str, Any] = {"align": align}
    (part,) = run_op("MatrixDiagPartV3", x, k, np.int64(-1), **attrs)
    np.testing.assert_array_equal(run_op("MatrixSetDiagV3", x, part, k, **attrs)[0], x)
    whole = infer_shapes("MatrixDiagPartV3", [x.shape, (2,), ()], values=[None, k, None], **attrs)
    assert whole == [part.shape]
    if low == high:
        np.testing.assert_array_equal(part, np.diagonal(x, low, -2, -1))


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 5), st.integers(1, 5), st.integers(-1, 5), st.integers(-1, 5))
def test_bands_are_triangles(m: int, n: int, low: int, high: int) -> None:
    low, high = min(low, m), min(high, n)
    x = np.arange(1, m * n + 1).reshape(m, n)
    (out,) = run_op("MatrixBandPart", x, np.int64(low), np.int64(high))
    want = np.triu(x, -low) if low >= 0 else x
    np.testing.assert_array_equal(out, np.tril(want, high) if high >= 0 else want)


def test_strings_have_an_empty_zero() -> None:
    (out,) = run_op("MatrixDiag", np.array(["a", "b"]))
    assert out.tolist() == [[b"a", b""], [b"", b"b"]]


def test_partly_known_shapes() -> None:
    values: list[Any] = [None, np.array(0), np.array(-1), np.array(-1), None]
    shapes: list[Any] = [(-1, 4), (), (), (), ()]
    assert infer_shapes("MatrixDiagV3", shapes, values=values) == [(-1, 4, 4)]
    values[3] = None
    assert infer_shapes("MatrixDiagV3", shapes, values=values) == [(-1, -1, -1)]
    assert infer_shapes("MatrixDiagV3", shapes) == [None]
    assert infer_shapes("MatrixDiagPart", [(-1, 3, 5)]) == [(-1, 3)]
    assert infer_shapes("Diag", [(2, -1)]) == [(2, -1, 2, -1)]
    assert infer_shapes("DiagPart", [(2, -1, -1, 3)]) == [(2, 3)]


def test_a_diagonal_outside_is_refused() -> None:
    with pytest.raises(KernelError, match="diagonals must lie in the matrix"):
        run_op("MatrixDiagPartV3", np.ones((2, 3)), np.int32(3), np.float64(0))


def test_older_names_are_the_same_ops() -> None:
    x = np.arange(18.0).reshape(2, 3, 3)
    sizes = np.int64(1), np.int64(0)
    (band,) = run_op("BatchMatrixBandPart", x, *sizes)
    np.testing.assert_array_equal(band, run_op("MatrixBandPart", x, *sizes)[0])
    (part,) = run_op("BatchMatrixDiagPart", x)
    np.testing.assert_array_equal(part, np.diagonal(x, axis1=1, axis2=2))
    (whole,) = run_op("BatchMatrixDiag", part)
    np.testing.assert_array_equal(whole, run_op("MatrixDiag", part)[0])
    np.testing.assert_array_equal(run_op("BatchMatrixSetDiag", x, part)[0], x)
