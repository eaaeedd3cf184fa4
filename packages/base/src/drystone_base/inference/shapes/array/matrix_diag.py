"""Shapes of diagonals and bands of matrices."""

from __future__ import annotations

from drystone_base.inference.shapes._registry import UNKNOWN, Shape, ShapeCall, shape

__all__: list[str] = []


def _span(c: ShapeCall, index: int) -> tuple[int, int] | None:
    """The lowest and highest diagonal, when known."""
    k = c.value(index)
    if k is None:
        return None
    if not 1 <= k.size <= 2 or k.reshape(-1)[0] > k.reshape(-1)[-1]:
        c.fail("diag_index must be one diagonal or a range", found=k.tolist(), needed="low, high")
    return int(k.reshape(-1)[0]), int(k.reshape(-1)[-1])


@shape("MatrixDiag", "BatchMatrixDiag")
def matrix_diag(c: ShapeCall) -> list[Shape]:
    """``[..., n] -> [..., n, n]``."""
    given = c.with_rank_at_least(c.shape(0), 1)
    return [None if given is None else (*given, given[-1])]


@shape("MatrixDiagV2", "MatrixDiagV3")
def matrix_diag_v3(c: ShapeCall) -> list[Shape]:
    """The diagonals' leading dims, then rows and columns."""
    given, span = c.with_rank_at_least(c.shape(0), 1), _span(c, 1)
    if given is None or span is None:
        return [None]
    low, high = span
    lead = given[:-1] if low == high else given[:-2]
    rows, columns = c.int_value(2), c.int_value(3)
    if rows is None or columns is None or given[-1] < 0:
        return [(*lead, *(UNKNOWN if d in (None, -1) else d for d in (rows, columns)))]
    least_rows, least_columns = given[-1] - min(high, 0), given[-1] + max(low, 0)
    square = max(least_rows, least_columns)
    if rows == -1:
        rows = square if columns == -1 else least_rows
        columns = square if columns == -1 else columns
    elif columns == -1:
        columns = least_columns
    return [(*lead, rows, columns)]


def _longest(matrix: tuple[int, ...], low: int, high: int) -> int:
    rows, columns = matrix[-2:]
    if rows < 0 or columns < 0:
        return UNKNOWN
    return max(min(rows + min(high, 0), columns - max(low, 0)), 0)


@shape("MatrixDiagPart", "BatchMatrixDiagPart")
def matrix_diag_part(c: ShapeCall) -> list[Shape]:
    """``[..., m, n] -> [..., min(m, n)]``."""
    given = c.with_rank_at_least(c.shape(0), 2)
    return [None if given is None else (*given[:-2], _longest(given, 0, 0))]


@shape("MatrixDiagPartV2", "MatrixDiagPartV3")
def matrix_diag_part_v3(c: ShapeCall) -> list[Shape]:
    """``[..., (diagonals,) longest]``."""
    given, span = c.with_rank_at_least(c.shape(0), 2), _span(c, 1)
    if given is None or span is None:
        return [None]
    low, high = span
    own = () if low == high else (high - low + 1,)
    return [(*given[:-2], *own, _longest(given, low, high))]


@shape("MatrixSetDiag", "BatchMatrixSetDiag", "MatrixSetDiagV2", "MatrixSetDiagV3")
@shape("MatrixBandPart", "BatchMatrixBandPart")
def same_matrix(c: ShapeCall) -> list[Shape]:
    """The input's shape, of rank 2 or more."""
    return [c.with_rank_at_least(c.shape(0), 2)]


@shape("Diag")
def diag(c: ShapeCall) -> list[Shape]:
    """The dims twice."""
    given = c.with_rank_at_least(c.shape(0), 1)
    return [None if given is None else given * 2]


@shape("DiagPart")
def diag_part(c: ShapeCall) -> list[Shape]:
    """The first half of the dims, which the second must equal."""
    given = c.shape(0)
    if given is None:
        return [None]
    half = len(given) // 2
    if not given or len(given) % 2:
        c.fail("input must have an even rank above 0", found=list(given), needed="rank 2, 4, ...")
    return [c.merge(given[:half], given[half:])]
