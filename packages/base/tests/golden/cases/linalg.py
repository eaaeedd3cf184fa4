"""Golden cases of decompositions and linear systems (those whose answer is unique)."""

from collections.abc import Iterator

import numpy as np
from drawing import Array, drawer
from oracle import Case, case

_draw = drawer(114)
_KINDS = {"f4": 1e-4, "f8": 1e-9, "c8": 1e-4, "c16": 1e-9}


def _positive(shape: tuple[int, ...], kind: str) -> Array:
    """Positive definite matrices."""
    x = _draw(shape, kind)
    eye = np.eye(shape[-1], dtype=kind)
    return np.asarray(np.matmul(x, np.conj(np.swapaxes(x, -1, -2))) + eye).astype(kind)


def _unique() -> Iterator[Case]:
    for (kind, tol), shape in [
        (item, shape) for item in _KINDS.items() for shape in [(3, 3), (2, 4, 4), (1, 1)]
    ]:
        x = _draw(shape, kind) + 2 * np.eye(shape[-1], dtype=kind)
        rhs = _draw((*shape[:-1], 2), kind)
        positive = _positive(shape, kind)
        yield case("Cholesky", positive, tol=tol)
        yield case("MatrixDeterminant", x, tol=tol)
        yield case("LogMatrixDeterminant", x, tol=tol)
        for adjoint in (False, True):
            yield case("MatrixInverse", x, adjoint=adjoint, tol=tol)
            yield case("MatrixSolve", x, rhs, adjoint=adjoint, tol=tol)
            for lower in (False, True):
                attrs = {"adjoint": adjoint, "lower": lower, "tol": tol}
                yield case("MatrixTriangularSolve", x, rhs, **attrs)
        yield case("Lu", x, tol=tol)
        yield case("SelfAdjointEigV2", positive, compute_v=False, tol=tol, compared=1)
        for size in (shape[-1], 2, 6):
            wide = _draw((*shape[:-1], size), kind)
            yield case("Svd", wide, compute_uv=False, tol=tol, compared=1)
        if kind in ("f4", "f8"):
            yield case("CholeskyGrad", np.tril(x), _draw(shape, kind), tol=10 * tol)
            tall = _draw((*shape[:-1], 2), kind)[..., :, : shape[-1]]
            yield case("MatrixSolveLs", tall, rhs, np.float64(0.1), tol=100 * tol)


def _edges() -> Iterator[Case]:
    x, rhs = _draw((3, 3)), _draw((3, 2))
    for op in ("Cholesky", "MatrixInverse", "MatrixDeterminant", "LogMatrixDeterminant"):
        yield case(op, _draw((2, 3)), note="refused")
        yield case(op, _draw((3,)), note="refused")
        yield case(op, _draw((0, 3, 3)))
        yield case(op, _draw((0, 0)))
    singular = np.ones((2, 2), np.float32)
    yield case("MatrixInverse", singular, note="singular")
    yield case("MatrixDeterminant", singular)
    yield case("MatrixSolve", singular, _draw((2, 1)), note="singular")
    yield case("LogMatrixDeterminant", singular)
    yield case("MatrixTriangularSolve", np.tril(singular, -1), _draw((2, 1)), note="singular")
    yield case("MatrixTriangularSolve", x, _draw((4, 3, 2)))
    yield case("MatrixSolve", x, _draw((2, 2)), note="refused")
    yield case("MatrixSolve", x, rhs[:, 0], note="refused")
    yield case("Qr", _draw((3,)), note="refused")
    yield case("Lu", singular, note="singular")
    yield case("Lu", _draw((2, 3)), note="refused")
    yield case("Lu", x, output_idx_type="int64", tol=1e-4)
    yield case("Svd", _draw((3,)), note="refused")


CASES: list[Case] = [*_unique(), *_edges()]
