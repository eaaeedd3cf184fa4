"""Diagonals and bands of (batches of) matrices."""

from __future__ import annotations

import numpy as np

from drystone_base.kernels._limits import check_size
from drystone_base.kernels._registry import Array, Call, kernel

__all__: list[str] = []


def _diagonals(call: Call, k: Array) -> tuple[int, int]:
    """The lowest and highest diagonal that ``k``, a scalar or a pair, names."""
    call.require(
        k.ndim <= 1 and 1 <= k.size <= 2,
        "diag_index must be a scalar or a vector with one or two elements",
        found=list(k.shape),
        needed="one diagonal, or a lowest and a highest one",
    )
    low, high = int(k.reshape(-1)[0]), int(k.reshape(-1)[-1])
    call.require(
        low <= high, "the lowest diagonal must not lie above the highest",
        found=[low, high], needed="lowest <= highest",
    )  # fmt: skip
    return low, high


def _check_inside(call: Call, low: int, high: int, rows: int, columns: int) -> None:
    call.require(
        all(d == 0 or -rows < d < columns for d in (low, high)),
        "diagonals must lie in the matrix",
        found=[low, high],
        needed=f"{-rows + 1} to {columns - 1}",
    )


def _length(diagonal: int, rows: int, columns: int) -> int:
    return max(min(rows + min(diagonal, 0), columns - max(diagonal, 0)), 0)


def _placement(call: Call, low: int, high: int, rows: int, columns: int) -> tuple[Array, ...]:
    """For each slot of packed diagonals (highest first): row, column, and whether it is in use.

    Shorter diagonals are aligned as the ``align`` attribute says (V2 is ``LEFT_LEFT``).
    """
    upper, lower = call.attrs.get("align", "LEFT_LEFT").split("_")
    numbers = np.arange(high, low - 1, -1)
    lengths = np.array([_length(int(d), rows, columns) for d in numbers])
    width = max(int(lengths.max()), 0)
    to_right = np.where(numbers >= 0, upper == "RIGHT", lower == "RIGHT")
    shift = np.where(to_right, width - lengths, 0)
    step = np.arange(width) - shift[:, None]
    used = (step >= 0) & (step < lengths[:, None])
    row = step + np.maximum(-numbers, 0)[:, None]
    column = step + np.maximum(numbers, 0)[:, None]
    return np.where(used, row, 0), np.where(used, column, 0), used


def _matrix_shape(
    call: Call, diagonal: Array, wanted: tuple[int, int], span: tuple[int, int]
) -> tuple[int, int]:
    """Rows and columns of the matrix to build; -1 stands for the smallest that fit."""
    low, high = span
    rows, columns = wanted
    longest = diagonal.shape[-1]
    least_rows = longest - min(high, 0)
    least_columns = longest + max(low, 0)
    if rows == -1 and columns == -1:
        rows = columns = max(least_rows, least_columns)
    elif rows == -1:
        rows = least_rows
    elif columns == -1:
        columns = least_columns
    call.require(
        rows >= least_rows and columns >= least_columns,
        "the matrix must hold its diagonals",
        found=f"{rows} x {columns}",
        needed=f"at least {least_rows} x {least_columns}",
    )
    call.require(
        rows == least_rows or columns == least_columns,
        "the matrix must be as small as its diagonals allow in rows or in columns",
        found=f"{rows} x {columns}",
        needed=f"{least_rows} rows or {least_columns} columns",
    )
    _check_inside(call, low, high, rows, columns)
    return rows, columns


def _fill(call: Call, matrix: Array, diagonal: Array, span: tuple[int, int]) -> Array:
    """``matrix``, which is written to, with packed diagonals put in place."""
    low, high = span
    packed = diagonal if high > low else diagonal[..., None, :]
    row, column, used = _placement(call, low, high, *matrix.shape[-2:])
    matrix[..., row[used], column[used]] = packed[..., used]
    return matrix


@kernel("MatrixDiag", "BatchMatrixDiag")
def matrix_diag(call: Call, diagonal: Array) -> Array:
    """``[..., n] -> [..., n, n]`` with zeros off the main diagonal; TF ``MatrixDiag``."""
    call.require(
        diagonal.ndim >= 1, "the diagonal must be a vector or more",
        found="a scalar", needed="rank 1 or more",
    )  # fmt: skip
    size = diagonal.shape[-1]
    shape = check_size(call, (*diagonal.shape[:-1], size, size), diagonal.dtype)
    return _fill(call, _full(shape, diagonal), diagonal, (0, 0))


def _full(shape: tuple[int, ...], like: Array, value: object = None) -> Array:
    """An array of ``value``, or of the zero of its type (an empty string for strings)."""
    zero = b"" if like.dtype == object else 0
    return np.full(shape, zero if value is None else value, like.dtype)


@kernel("MatrixDiagV2", "MatrixDiagV3")
def matrix_diag_v3(
    call: Call, diagonal: Array, k: Array, rows: Array, columns: Array, padding: Array
) -> Array:
    """Matrices with the given diagonals ``k`` and ``padding`` elsewhere; TF ``MatrixDiagV3``."""
    scalars = {"num_rows": rows, "num_cols": columns, "padding_value": padding}
    for name, size in scalars.items():
        call.require(size.ndim == 0, f"{name} must be a scalar", found=list(size.shape))
    span = _diagonals(call, k)
    count = span[1] - span[0] + 1
    call.require(
        diagonal.ndim >= (1 if count == 1 else 2)
        and (count == 1 or diagonal.shape[-2] == count)
        and rows.size == columns.size == padding.size == 1,
        "diagonals must be [..., (diagonals,) length], and the other inputs scalars",
        found=list(diagonal.shape),
        needed=f"{count} diagonals",
    )
    shape = _matrix_shape(call, diagonal, (int(rows.item()), int(columns.item())), span)
    lead = diagonal.shape[:-1] if count == 1 else diagonal.shape[:-2]
    whole = check_size(call, (*lead, *shape), diagonal.dtype)
    return _fill(call, _full(whole, diagonal, padding.item()), diagonal, span)


def _check_matrix(call: Call, x: Array) -> None:
    call.require(
        x.ndim >= 2, "input must be at least 2-dim", found=list(x.shape), needed="rank 2 or more"
    )


@kernel("MatrixDiagPart", "BatchMatrixDiagPart")
def matrix_diag_part(call: Call, x: Array) -> Array:
    """``[..., m, n] -> [..., min(m, n)]``, the main diagonals; TF ``MatrixDiagPart``."""
    _check_matrix(call, x)
    return np.ascontiguousarray(np.diagonal(x, axis1=-2, axis2=-1))


@kernel("MatrixDiagPartV2", "MatrixDiagPartV3")
def matrix_diag_part_v3(call: Call, x: Array, k: Array, padding: Array) -> Array:
    """Diagonals ``k``, highest first, short ones padded; TF ``MatrixDiagPartV3``."""
    _check_matrix(call, x)
    low, high = _diagonals(call, k)
    _check_inside(call, low, high, *x.shape[-2:])
    call.require(
        padding.size == 1, "padding_value must be a scalar",
        found=list(padding.shape), needed="a scalar",
    )  # fmt: skip
    row, column, used = _placement(call, low, high, *x.shape[-2:])
    out = _full((*x.shape[:-2], *used.shape), x, padding.item())
    out[..., used] = x[..., row[used], column[used]]
    return out if high > low else out[..., 0, :]


@kernel("MatrixSetDiag", "BatchMatrixSetDiag", "MatrixSetDiagV2", "MatrixSetDiagV3")
def matrix_set_diag(call: Call, x: Array, diagonal: Array, *k: Array) -> Array:
    """``x`` with its diagonals replaced (the main one without ``k``); TF ``MatrixSetDiagV3``."""
    _check_matrix(call, x)
    low, high = _diagonals(call, k[0]) if k else (0, 0)
    _check_inside(call, low, high, *x.shape[-2:])
    longest = max(_length(d, *x.shape[-2:]) for d in range(low, high + 1))
    own = (longest,) if low == high else (high - low + 1, longest)
    call.require(
        diagonal.shape == (*x.shape[:-2], *own),
        "the diagonals must fit the input",
        found=list(diagonal.shape),
        needed=[*x.shape[:-2], *own],
    )
    return _fill(call, x.copy(), diagonal, (low, high))


@kernel("MatrixBandPart", "BatchMatrixBandPart")
def matrix_band_part(call: Call, x: Array, below: Array, above: Array) -> Array:
    """``x``, zero outside a band; a negative number keeps the triangle; TF ``MatrixBandPart``."""
    _check_matrix(call, x)
    rows, columns = x.shape[-2:]
    call.require(
        below.ndim == above.ndim == 0,
        "num_lower and num_upper must be scalars",
        found=f"{list(below.shape)} and {list(above.shape)}",
        needed="scalars",
    )
    lower, upper = int(below), int(above)
    call.require(
        lower <= rows and upper <= columns,
        "the band must not be wider than the matrix",
        found=[lower, upper],
        needed=f"at most {rows} and {columns}",
    )
    offset = np.arange(columns) - np.arange(rows)[:, None]
    kept = (lower < 0) | (offset >= -lower)
    kept &= (upper < 0) | (offset <= upper)
    return np.where(kept, x, _full((), x))


@kernel("Diag")
def diag(call: Call, diagonal: Array) -> Array:
    """``[d1..dk] -> [d1..dk, d1..dk]``, zero off the diagonal; TF ``Diag``."""
    call.require(
        diagonal.ndim >= 1, "input must be at least 1-D", found="a scalar", needed="rank 1 or more"
    )
    check_size(call, diagonal.shape * 2, diagonal.dtype)
    flat = diagonal.reshape(-1)
    out = _fill(call, _full((flat.size, flat.size), flat), flat, (0, 0))
    return out.reshape(diagonal.shape * 2)


@kernel("DiagPart")
def diag_part(call: Call, x: Array) -> Array:
    """``[d1..dk, d1..dk] -> [d1..dk]``; TF ``DiagPart``."""
    half = x.ndim // 2
    call.require(
        x.ndim > 0 and x.ndim % 2 == 0 and x.shape[:half] == x.shape[half:],
        "input must have an even rank and the same dims twice",
        found=list(x.shape),
        needed="[d1, ..., dk, d1, ..., dk]",
    )
    dims = x.shape[:half]
    size = int(np.prod(dims))
    return np.ascontiguousarray(np.diagonal(x.reshape(size, size))).reshape(dims)
