"""``keras.ops.linalg.lu_factor``: both triangles of a matrix, of any number of rows."""

from __future__ import annotations

from typing import Any

from drystone_base.core.dtypes import as_dtype
from keras_drystone.src.dispatch import outputs
from keras_drystone.src.ops import core, creating, reducing, shaping
from keras_drystone.src.ops import elementwise as e
from keras_drystone.src.ops.operands import floating

__all__ = ["lu_factor"]


def lu_factor(a: Any) -> tuple[Any, Any]:
    """Both triangles in one matrix (..., m, n), and the rows that were exchanged, int32 (..., k).

    k is the smaller of m and n, which must be known while a graph is traced: row j was exchanged
    with row ``exchanged[j]``, in turn (LAPACK's GETRF). A square matrix without an inverse raises
    ``DrystoneError``, as TensorFlow's Lu does.
    """
    a = floating(a)
    if a.shape[-2] != a.shape[-1]:
        return _by_columns(a)
    packed, order = outputs("Lu", a, output_idx_type=as_dtype("int32"))
    return packed, _exchanges(order)


def _exchanges(order: Any) -> Any:
    """A permutation as the exchanges that make it: row k with row ``found[k]``, in turn."""
    size = order.shape[-1]
    rows = creating.arange(size, dtype="int32")
    now = shaping.broadcast_to(rows, core.shape(order))
    found = []
    for k in range(size):
        wanted = shaping.along(order, order.ndim - 1, k, k + 1)
        there = _first(e.equal(now, wanted))
        found.append(there)
        now = _exchanged(now, k, there, axis=-1)
    return _stacked(found, order, order.ndim - 1)


def _by_columns(a: Any) -> tuple[Any, Any]:
    """One column after the other, as LAPACK's GETF2 does: the op Lu takes square matrices alone.

    A column of zeros is left as it is.
    """
    height, width = a.shape[-2:]
    rows, columns = creating.arange(height, dtype="int32"), creating.arange(width, dtype="int32")
    found = []
    for k in range(min(height, width)):
        sizes = e.where(rows < k, -1, e.abs(_column(a, k)))
        there = core.cast(reducing.argmax(sizes, -1), "int32")
        found.append(there)
        a = _exchanged(a, k, there, axis=-2)
        row, column = shaping.along(a, a.ndim - 2, k, k + 1), _column(a, k)
        pivot = shaping.along(column, column.ndim - 1, k, k + 1)
        divided = e.where(e.equal(pivot, 0), column, column / e.where(e.equal(pivot, 0), 1, pivot))
        column = shaping.expand_dims(e.where(rows > k, divided, column), -1)
        below = shaping.expand_dims(rows > k, -1)
        rest = e.where(below, a - column * row, a)
        a = e.where(columns > k, rest, e.where(columns == k, column, a))
    return a, _stacked(found, a, a.ndim - 2)


def _stacked(found: list[Any], x: Any, batch: int) -> Any:
    """Exchanges of all columns; of none in the batch that a tensor's first axes are."""
    if found:
        return shaping.stack(found, -1)
    return creating.zeros((*core.shape(x)[:batch], 0), "int32")


def _column(a: Any, k: int) -> Any:
    return shaping.squeeze(shaping.along(a, a.ndim - 1, k, k + 1), -1)


def _exchanged(x: Any, k: int, there: Any, axis: int) -> Any:
    """Row k and row ``there`` in each other's place."""
    size, last = x.shape[axis], axis == -1
    rows = creating.arange(size, dtype="int32")
    at_k, at_place = rows == k, e.equal(rows, shaping.expand_dims(there, -1))
    if not last:
        at_k, at_place = (shaping.expand_dims(found, -1) for found in (at_k, at_place))
    first = shaping.along(x, x.ndim + axis, k, k + 1)
    other = reducing.sum(e.where(at_place, x, 0), axis, keepdims=True)
    return e.where(at_k, other, e.where(at_place, first, x))


def _first(found: Any) -> Any:
    return core.cast(reducing.argmax(core.cast(found, "int32"), -1), "int32")
