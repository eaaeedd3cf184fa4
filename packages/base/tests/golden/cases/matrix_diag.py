"""Golden cases of diagonals and bands."""

import itertools
from collections.abc import Iterator

import numpy as np
from drawing import BFLOAT16, Array, drawer, ints
from oracle import Case, case

_draw = drawer(113, 1, 99)
_ALIGN = ("LEFT_RIGHT", "RIGHT_LEFT", "LEFT_LEFT", "RIGHT_RIGHT")
_SPANS = [(0, 0), (-1, 1), (1, 2), (-2, -1), (-2, 0), (2, 2), (-1, 3)]


def _one(value: int) -> Array:
    return np.asarray(value, np.int32)


def _longest(low: int, high: int, rows: int, columns: int) -> int:
    return min(rows + min(high, 0), columns - max(low, 0))


def _parts() -> Iterator[Case]:
    for shape in [(3, 4), (4, 3), (2, 3, 3), (2, 1, 4, 4)]:
        x = _draw(shape)
        yield case("MatrixDiagPart", x, tol=0)
        for (low, high), align in itertools.product(_SPANS, _ALIGN):
            if high >= shape[-1] or -low >= shape[-2]:
                continue
            k = _one(low) if low == high else ints(low, high)
            pad = np.float32(-5)
            yield case("MatrixDiagPartV3", x, k, pad, align=align, tol=0)
            if align == "LEFT_LEFT":
                yield case("MatrixDiagPartV2", x, k, pad, tol=0)
            own = () if low == high else (high - low + 1,)
            diagonal = _draw((*shape[:-2], *own, _longest(low, high, *shape[-2:])))
            yield case("MatrixSetDiagV3", x, diagonal, k, align=align, tol=0)
            if align == "LEFT_LEFT":
                yield case("MatrixSetDiagV2", x, diagonal, k, tol=0)
    x = _draw((3, 4))
    yield case("MatrixDiagPartV3", x, ints(2, 1), np.float32(0), note="refused")
    yield case("MatrixDiagPartV3", x, ints(0, 4), np.float32(0), note="refused")
    yield case("MatrixSetDiag", x, _draw((4,)), note="refused")
    yield case("MatrixSetDiag", x, _draw((3,)), tol=0)
    yield case("MatrixSetDiag", _draw((2, 2, 2), "i4"), _draw((2, 2), "i4"), tol=0)
    yield case("MatrixDiagPart", x[0], note="refused")


def _builds() -> Iterator[Case]:
    for kind in ("f4", "f8", "f2", BFLOAT16, "i4", "i8", "u1", "c8", "?"):
        yield case("MatrixDiag", _draw((2, 3), kind), tol=0)
    yield case("MatrixDiag", _draw((0,)), tol=0)
    yield case("MatrixDiag", np.float32(1), note="refused")
    pad = np.float32(7)
    for (low, high), align in itertools.product(_SPANS, _ALIGN):
        k = _one(low) if low == high else ints(low, high)
        own = () if low == high else (high - low + 1,)
        for rows, columns in [(-1, -1), (5, -1), (-1, 5)]:
            longest = 4 if rows == columns else max(_longest(low, high, 5, 5), 1)
            diagonal = _draw((2, *own, longest))
            sizes = _one(rows), _one(columns)
            yield case("MatrixDiagV3", diagonal, k, *sizes, pad, align=align, tol=0)
            if align == "LEFT_LEFT":
                yield case("MatrixDiagV2", diagonal, k, *sizes, pad, tol=0)
    yield case("MatrixDiagV3", _draw((2, 3)), ints(0, 2), _one(-1), _one(-1), pad, note="refused")
    yield case("MatrixDiagV3", _draw((3,)), _one(0), _one(2), _one(2), pad, note="refused")
    yield case("MatrixDiagV3", _draw((3,)), _one(0), _one(5), _one(5), pad, note="refused")


def _bands() -> Iterator[Case]:
    for shape, low, high in itertools.product([(3, 4), (2, 4, 3)], (-1, 0, 1, 2), (-1, 0, 1, 2)):
        x = _draw(shape)
        yield case("MatrixBandPart", x, np.int64(low), np.int64(high), tol=0)
    for kind in ("i4", "u1", "?", "f2", "c8", BFLOAT16):
        yield case("MatrixBandPart", _draw((3, 3), kind), _one(1), _one(0), tol=0)
    yield case("MatrixBandPart", _draw((3, 3)), _one(4), _one(0), note="refused")
    yield case("MatrixBandPart", _draw((3,)), _one(0), _one(0), note="refused")
    for shape in [(3,), (2, 3), (0,)]:
        for kind in ("f4", "i4", "f2", "c16", "i8"):
            yield case("Diag", _draw(shape, kind), tol=0)
            yield case("DiagPart", _draw(shape * 2, kind), tol=0)
    yield case("DiagPart", _draw((2, 3)), note="refused")
    yield case("DiagPart", _draw((2,)), note="refused")
    yield case("Diag", np.float32(1), note="refused")


CASES: list[Case] = [*_parts(), *_builds(), *_bands()]
