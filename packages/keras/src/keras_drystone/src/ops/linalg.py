"""``keras.ops.linalg``: decompositions, solutions and norms of matrices."""

from __future__ import annotations

from typing import Any

import numpy as np
from keras.src.backend.common.dtypes import result_type

from drystone_base.core.dtypes import as_dtype
from keras_drystone.src.dispatch import emit, outputs
from keras_drystone.src.ops import elementwise as e
from keras_drystone.src.ops.core import cast, convert_to_tensor, shape
from keras_drystone.src.ops.factors import lu_factor
from keras_drystone.src.ops.operands import floating, is_integer, kind_of, like, one_axis

__all__ = [
    "cholesky", "cholesky_inverse", "det", "eig", "eigh", "inv", "jvp", "lstsq", "lu_factor",
    "matrix_power", "matrix_rank", "norm", "pinv", "qr", "solve", "solve_triangular", "svd",
]  # fmt: skip


def _shaping() -> Any:
    from keras_drystone.src.ops import shaping

    return shaping


def _reducing() -> Any:
    from keras_drystone.src.ops import reducing

    return reducing


def _transposed(x: Any) -> Any:
    return _shaping().swapaxes(x, -1, -2)


def _product(x: Any, y: Any) -> Any:
    from keras_drystone.src.ops.products import matmul

    return matmul(x, y)


def _identity_like(x: Any) -> Any:
    from keras_drystone.src.ops.creating import eye

    return eye(shape(x)[-1], dtype=kind_of(x))


def cholesky(a: Any, upper: bool = False) -> Any:
    """The triangle whose product with its transpose is the matrix.

    Raises ``ValueError`` for a matrix that is not positive definite, which has none.
    """
    message = "Cholesky decomposition failed. The input matrix must be positive definite."
    found = emit("CheckNumerics", emit("Cholesky", floating(a)), message=message)
    return _transposed(found) if upper else found


def cholesky_inverse(a: Any, upper: bool = False) -> Any:
    """The inverse of a matrix that is given by its triangle."""
    a = floating(a)
    identity = _shaping().broadcast_to(_identity_like(a), shape(a))
    inverse = solve_triangular(a, identity, lower=not upper)
    return _product(inverse, _transposed(inverse)) if upper else _product(
        _transposed(inverse), inverse)  # fmt: skip


def det(a: Any) -> Any:
    """The determinant."""
    return emit("MatrixDeterminant", floating(a))


def slogdet(x: Any) -> tuple[Any, Any]:
    """The determinant's sign, and the logarithm of its size."""
    sign, size = outputs("LogMatrixDeterminant", floating(x))
    return sign, size


def eig(a: Any) -> tuple[Any, Any]:
    """Eigenvalues and eigenvectors, complex."""
    a = floating(a)
    double = kind_of(a) in ("float64", "complex128")
    wanted = as_dtype("complex128" if double else "complex64")
    values, vectors = outputs("Eig", a, compute_v=True, Tout=wanted)
    return values, vectors


def eigh(a: Any) -> tuple[Any, Any]:
    """Eigenvalues and eigenvectors of a symmetric matrix."""
    values, vectors = outputs("SelfAdjointEigV2", floating(a), compute_v=True)
    return values, vectors


def inv(a: Any) -> Any:
    """The inverse."""
    return emit("MatrixInverse", floating(a))


def qr(x: Any, mode: str = "reduced") -> tuple[Any, Any]:
    """An orthogonal matrix and an upper triangle."""
    if mode not in ("reduced", "complete"):
        raise ValueError(
            "`mode` argument value not supported. Expected one of {'reduced', 'complete'}. "
            f"Received: mode={mode}"
        )
    q, r = outputs("Qr", floating(x), full_matrices=mode == "complete")
    return q, r


def svd(x: Any, full_matrices: bool = True, compute_uv: bool = True) -> Any:
    """Singular values, with the vectors of both sides around them."""
    s, u, v = outputs("Svd", floating(x), full_matrices=full_matrices, compute_uv=compute_uv)
    return (u, s, e.conjugate(_transposed(v))) if compute_uv else s


def _both(a: Any, b: Any) -> tuple[Any, Any]:
    a, b = floating(a), floating(b)
    kind = result_type(a.dtype, b.dtype) if kind_of(a) != kind_of(b) else kind_of(a)
    return cast(a, kind), cast(b, kind)


def solve(a: Any, b: Any) -> Any:
    """x with ``a x = b``; batches are broadcast."""
    a, b = _both(a, b)
    if b.ndim in (1, a.ndim - 1):
        found = emit("MatrixSolve", *_one_batch(a, _shaping().expand_dims(b, -1)))
        return _shaping().squeeze(found, -1)
    return emit("MatrixSolve", *_one_batch(a, b))


def _one_batch(a: Any, b: Any) -> tuple[Any, Any]:
    """Matrices with as many of each other's; batches of unknown sizes as they are."""
    one, other = (tuple(x.shape[:-2]) for x in (a, b))
    if one == other or (len(one) == len(other) and None in one + other):
        return a, b
    if None in one + other:  # one of them has fewer axes: it is taken for each of the other
        batch = shape(a if len(one) > len(other) else b)[:-2]
    else:
        batch = np.broadcast_shapes(one, other)
    s = _shaping()
    return s.broadcast_to(a, (*batch, *shape(a)[-2:])), s.broadcast_to(b, (*batch, *shape(b)[-2:]))


def solve_triangular(a: Any, b: Any, lower: bool = False) -> Any:
    """x with ``a x = b``, of a triangle."""
    a, b = _both(a, b)
    if b.ndim == a.ndim - 1:
        found = emit("MatrixTriangularSolve", a, _shaping().expand_dims(b, -1), lower=lower)
        return _shaping().squeeze(found, -1)
    return emit("MatrixTriangularSolve", a, b, lower=lower)


def _epsilon(x: Any) -> float:
    """The distance of 1 to the next number of a dtype, which NumPy does not know of bfloat16."""
    kind = kind_of(x)
    return 2.0**-7 if kind == "bfloat16" else float(np.finfo(kind).eps)


def _largest(s: Any) -> Any:
    """The largest of the last axis; -inf where there is none."""
    return _reducing().reduced("Max", s, -1, True)


def pinv(x: Any, rcond: Any = None) -> Any:
    """The pseudo-inverse, of singular values above a part of the largest."""
    x = floating(x)
    rows, columns = x.shape[-2:]
    if rcond is None:
        rcond = 10.0 * max(rows, columns) * _epsilon(x)
    u, s, vh = svd(x, full_matrices=False)
    cut = e.multiply(like(rcond, s), _largest(s))
    safe = e.where(e.greater(s, cut), s, like(1, s))
    inverse = e.where(e.greater(s, cut), emit("Reciprocal", safe), like(0, s))
    scaled = e.multiply(_transposed(vh), _shaping().expand_dims(inverse, -2))
    return _product(scaled, _transposed(u))


def lstsq(a: Any, b: Any, rcond: Any = None) -> Any:
    """The shortest x for which ``a x`` is nearest to b."""
    a, b = _both(a, b)
    if a.ndim != 2:
        raise ValueError(f"`a` must be a matrix. Received: a.shape={a.shape}")
    if b.ndim not in (1, 2):
        raise ValueError(f"`b` must have one or two axes. Received: b.shape={b.shape}")
    if a.shape[0] != b.shape[0]:
        raise ValueError("Leading dimensions of input arrays must match")
    rcond = max(a.shape) * _epsilon(a) if rcond is None else rcond
    return _product(pinv(a, rcond), b)


def matrix_rank(x: Any, tol: Any = None) -> Any:
    """How many singular values are above a tolerance."""
    x = floating(x)
    if x.ndim < 2:
        raise ValueError(f"Expected input to have rank >= 2. Received input with shape {x.shape}.")
    s = svd(x, compute_uv=False)
    if tol is None:
        tol = e.multiply(like(max(x.shape[-2:]) * _epsilon(x), s), _largest(s))
    else:
        tol = _shaping().expand_dims(cast(tol, s.dtype), -1)
    return _reducing().sum(cast(e.greater(s, tol), "int32"), -1)


def matrix_power(a: Any, n: int) -> Any:
    """The matrix times itself."""
    a = convert_to_tensor(a)
    if n < 0:
        a, n = inv(a), -n
    found = None
    while n:
        if n & 1:
            found = a if found is None else _product(found, a)
        n >>= 1
        a = _product(a, a) if n else a
    if found is not None:
        return found
    return _shaping().broadcast_to(_identity_like(a), shape(a))


def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    """The norm of vectors, or of matrices where there are two axes."""
    x = convert_to_tensor(x)
    if is_integer(kind_of(x)):
        x = cast(x, result_type(x.dtype, "float32"))
    rank = x.ndim
    if axis is None and ord is not None and rank not in (1, 2):
        raise ValueError("Improper number of dimensions to norm.")
    if axis is None and ord is None:
        return e.sqrt(_reducing().sum(e.square(e.absolute(x)), None, keepdims))
    axes = tuple(range(rank)) if axis is None else (axis,) if isinstance(axis, int) else tuple(axis)
    axes = tuple(one_axis(a, rank) for a in axes)
    if len(axes) == 1:
        return _vector_norm(x, ord, axes[0], keepdims)
    if len(axes) == 2:
        return _matrix_norm(x, ord, axes, keepdims)
    raise ValueError(f"Improper number of dimensions to norm. Received: axis={axis}")


def _vector_norm(x: Any, ord: Any, axis: int, keepdims: bool) -> Any:
    r, size = _reducing(), e.absolute(x)
    if ord is None or ord == 2:
        return e.sqrt(r.sum(e.square(size), axis, keepdims))
    if ord == np.inf:
        return _at_least_zero(size, axis, keepdims)
    if ord == -np.inf:
        return r.min(size, axis, keepdims)
    if ord == 0:
        return r.sum(cast(e.not_equal(x, like(0, x)), size.dtype), axis, keepdims)
    if isinstance(ord, str):
        raise ValueError(f"Invalid `ord` argument for vector norm. Received: ord={ord}")
    total = r.sum(emit("Pow", size, like(ord, size)), axis, keepdims)
    return emit("Pow", total, like(1 / ord, total))


def _at_least_zero(size: Any, axis: int, keepdims: bool = False) -> Any:
    """The largest size; 0 where there is none."""
    return _reducing().max(size, axis, keepdims, 0 if 0 in size.shape else None)


def _matrix_norm(x: Any, ord: Any, axes: tuple[int, ...], keepdims: bool) -> Any:
    r, s = _reducing(), _shaping()
    if ord is None or ord == "fro":
        return e.sqrt(r.sum(e.square(e.absolute(x)), axes, keepdims))
    moved = s.moveaxis(x, axes, (-2, -1))
    if ord in ("nuc", 2, -2):
        values = svd(moved, compute_uv=False)
        found = {"nuc": r.sum, 2: r.max, -2: r.min}[ord](values, -1)
    elif ord in (1, -1, np.inf, -np.inf):
        sums = r.sum(e.absolute(moved), -2 if ord in (1, -1) else -1)
        found = _at_least_zero(sums, -1) if ord > 0 else r.min(sums, -1)
    else:
        raise ValueError(f"Invalid `ord` argument for matrix norm. Received: ord={ord}")
    return s.expand_dims(found, axes) if keepdims else found


def jvp(fun: Any, primals: Any, tangents: Any, has_aux: bool = False) -> Any:
    """Values and their change by a direction: the gradient of the gradient's product.

    The product of the transposed derivative with u is linear in u; its derivative by u, times the
    direction, is the derivative times the direction.
    """
    from keras_drystone.src.ops.gradients import forward_derivative

    return forward_derivative(fun, primals, tangents, has_aux)
