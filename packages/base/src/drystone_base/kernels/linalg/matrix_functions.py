"""Functions of square matrices: exponential, principal logarithm and square root.

N. Higham, "Functions of Matrices", 2008: a Schur form, and recurrences over its triangle.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

import numpy as np

from drystone_base.kernels._registry import Array, Call, kernel
from drystone_base.kernels._widen import quiet

__all__: list[str] = []

_PADE: Final = (
    64764752532480000, 32382376266240000, 7771770303897600, 1187353796428800, 129060195264000,
    10559470521600, 670442572800, 33522128640, 1323241920, 40840800, 960960, 16380, 182, 1,
)  # fmt: skip
_REACH: Final = 5.37  # of the approximation by these coefficients
_NODES: Final = 12


def _each(call: Call, x: Array, function: Callable[[Array], Array]) -> Array:
    """A function of each matrix of a batch, computed in 64 bits a part."""
    call.require(
        x.ndim >= 2 and x.shape[-1] == x.shape[-2],
        "the input must be (a batch of) square matrices",
        found=list(x.shape),
        needed="[..., n, n]",
    )
    if not x.size:
        return x
    wide = x.astype(np.complex128 if x.dtype.kind == "c" else np.float64)
    flat = wide.reshape(-1, *x.shape[-2:])
    out = np.empty_like(flat)
    for k, matrix in enumerate(flat):
        ready = np.isfinite(matrix).all()
        out[k] = function(matrix) if ready else np.full_like(matrix, np.nan)
    return out.reshape(x.shape).astype(x.dtype)


@kernel("MatrixExponential")
@quiet
def matrix_exponential(call: Call, x: Array) -> Array:
    """``I + x + x^2 / 2! + ...``, by scaling and squaring; TF ``MatrixExponential``."""
    return _each(call, x, _exponential)


def _exponential(a: Array) -> Array:
    size = np.abs(a).sum(0).max()
    halvings = max(0, math.ceil(math.log2(size / _REACH))) if size > _REACH else 0
    scaled = a / 2.0**halvings
    one, square = np.eye(len(a), dtype=a.dtype), scaled @ scaled
    power, even, odd = one, np.zeros_like(a), np.zeros_like(a)
    for k in range(0, len(_PADE), 2):
        even, odd = even + _PADE[k] * power, odd + _PADE[k + 1] * power
        power = power @ square
    odd = scaled @ odd
    out = np.linalg.solve(even - odd, even + odd)
    for _ in range(halvings):
        out = out @ out
    return np.asarray(out)


def _schur(a: Array) -> tuple[Array, Array]:
    """Unitary ``q`` and upper triangular ``t`` with ``a = q t q^H``: shifted QR steps."""
    t, q = a.astype(np.complex128), np.eye(len(a), dtype=np.complex128)
    last, tries = len(a) - 1, 0
    while last > 0:
        near = np.abs(t[last, :last]).max()
        if near <= np.finfo(float).eps * (abs(t[last, last]) + np.abs(t).max() * 1e-3):
            t[last, :last] = 0
            last, tries = last - 1, 0
            continue
        tries += 1
        if tries > 60 * len(a):
            return q, np.full_like(t, np.nan)
        block = t[last - 1 : last + 1, last - 1 : last + 1]
        values = np.linalg.eigvals(block)
        shift = values[np.argmin(np.abs(values - t[last, last]))]
        if tries % 11 == 0:  # out of a cycle
            shift = shift + near
        m = last + 1
        turn, _ = np.linalg.qr(t[:m, :m] - shift * np.eye(m))
        t[:m] = turn.conj().T @ t[:m]
        t[:, :m] = t[:, :m] @ turn
        q[:, :m] = q[:, :m] @ turn
    return q, np.triu(t)


def _triangle_root(t: Array) -> Array:
    """The square root of an upper triangle, diagonal by diagonal."""
    n = len(t)
    out = np.diag(np.sqrt(np.diag(t)))
    for j in range(n):
        for i in range(j - 1, -1, -1):
            inner = out[i, i + 1 : j] @ out[i + 1 : j, j]
            rest, both = t[i, j] - inner, out[i, i] + out[j, j]
            out[i, j] = 0 if rest == 0 and both == 0 else rest / both
    return out


def _as_given(result: Array, a: Array) -> Array:
    """Complex results for complex input; for real input the real part, NaN if there is another."""
    if a.dtype.kind == "c":
        return result
    small = np.abs(result.imag).max() <= 1e-7 * max(np.abs(result).max(), 1e-300)
    return np.asarray(result.real if small else np.full(a.shape, np.nan))


@kernel("MatrixSquareRoot")
@quiet
def matrix_square_root(call: Call, x: Array) -> Array:
    """The matrix whose square is ``x``, eigenvalues in the right half plane; NaN for none.

    TF ``MatrixSquareRoot``.
    """

    def root(a: Array) -> Array:
        q, t = _schur(a)
        return _as_given(q @ _triangle_root(t) @ q.conj().T, a)

    return _each(call, x, root)


@kernel("MatrixLogarithm")
@quiet
def matrix_logarithm(call: Call, x: Array) -> Array:
    """The principal logarithm; TF ``MatrixLogarithm``."""
    return _each(call, x, _logarithm)


def _logarithm(a: Array) -> Array:
    """Roots until the triangle is near the unit matrix, then an integral by Gauss's rule."""
    q, t = _schur(a)
    one, diagonal = np.eye(len(a)), np.diag(t)
    root, halvings = t, 0
    while np.abs(root - one).sum(0).max() > 0.25 and halvings < 100:
        root, halvings = _triangle_root(root), halvings + 1
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    near = root - one
    out = np.zeros_like(root)
    for node, weight in zip((nodes + 1) / 2, weights / 2, strict=True):
        if np.isfinite(near).all():
            out += weight * np.linalg.solve(one + node * near, near)
        else:
            out += np.nan
    out = np.triu(out) * 2.0**halvings
    np.fill_diagonal(out, np.log(diagonal))
    return np.asarray(q @ out @ q.conj().T)
