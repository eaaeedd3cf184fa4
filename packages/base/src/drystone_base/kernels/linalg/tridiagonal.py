"""Tridiagonal systems and products."""

from __future__ import annotations

import numpy as np

from drystone_base.kernels._registry import Array, Call, kernel
from drystone_base.kernels._widen import quiet

__all__: list[str] = []


@kernel("TridiagonalMatMul")
@quiet
def tridiagonal_matmul(call: Call, above: Array, main: Array, below: Array, rhs: Array) -> Array:
    """A tridiagonal matrix times a matrix; TF ``TridiagonalMatMul``.

    The diagonals are ``[..., 1, m]``; the last of the upper and first of the lower are not read.
    """
    size = rhs.shape[-2] if rhs.ndim >= 2 else -1
    needed = (*rhs.shape[:-2], 1, size)
    call.require(
        size >= 0 and all(v.shape == needed for v in (above, main, below)),
        "the diagonals must fit the right side",
        found=f"{[list(v.shape) for v in (above, main, below)]} and {list(rhs.shape)}",
        needed="[..., 1, m] and [..., m, n]",
    )
    out = main.swapaxes(-1, -2) * rhs
    out[..., :-1, :] += above.swapaxes(-1, -2)[..., :-1, :] * rhs[..., 1:, :]
    out[..., 1:, :] += below.swapaxes(-1, -2)[..., 1:, :] * rhs[..., :-1, :]
    return np.asarray(out)


@kernel("TridiagonalSolve")
@quiet
def tridiagonal_solve(call: Call, diagonals: Array, rhs: Array) -> Array:
    """``x`` with ``A x = rhs``; rows ``above, main, below`` of A; TF ``TridiagonalSolve``.

    Where A is singular NaN, or 0 for complex numbers: TensorFlow's NaN of a complex type is 0.
    ``perturb_singular`` is for GPUs.
    """
    call.require(
        diagonals.ndim >= 2
        and rhs.ndim == diagonals.ndim
        and diagonals.shape[-2] == 3
        and diagonals.shape[-1] == rhs.shape[-2]
        and diagonals.shape[:-2] == rhs.shape[:-2],
        "the diagonals must fit the right side",
        found=f"{list(diagonals.shape)} and {list(rhs.shape)}",
        needed="[..., 3, m] and [..., m, n]",
    )
    if not rhs.size:
        return rhs
    above, main, below = (diagonals[..., k, :].copy() for k in range(3))
    above[..., -1:] = 0
    solve = _pivoted if call.attrs["partial_pivoting"] else _plain
    out, good = solve(above, main, below, rhs.copy())
    missing = out.dtype.type(0 if out.dtype.kind == "c" else np.nan)
    return np.asarray(np.where(good[..., None, None], out, missing))


def _plain(above: Array, main: Array, below: Array, x: Array) -> tuple[Array, Array]:
    """Elimination without exchanges; also which systems had no zero pivot."""
    size = main.shape[-1]
    good = main[..., 0] != 0
    for i in range(1, size):
        factor = below[..., i] / main[..., i - 1]
        main[..., i] -= factor * above[..., i - 1]
        x[..., i, :] -= factor[..., None] * x[..., i - 1, :]
        good &= main[..., i] != 0
    for i in range(size - 1, -1, -1):
        if i + 1 < size:
            x[..., i, :] -= above[..., i, None] * x[..., i + 1, :]
        x[..., i, :] /= main[..., i, None]
    return x, good


def _pivoted(above: Array, main: Array, below: Array, x: Array) -> tuple[Array, Array]:
    """Elimination where the larger of two rows comes first, which adds a second upper diagonal."""
    size = main.shape[-1]
    second = np.zeros_like(above)
    for i in range(size - 1):
        swap = np.abs(below[..., i + 1]) > np.abs(main[..., i])
        rows = [main[..., i], above[..., i], second[..., i], x[..., i, :]]
        under = [below[..., i + 1], main[..., i + 1], above[..., i + 1], x[..., i + 1, :]]
        first = [np.where(swap[..., None] if a.ndim > swap.ndim else swap, b, a)
                 for a, b in zip(rows, under, strict=True)]  # fmt: skip
        other = [np.where(swap[..., None] if a.ndim > swap.ndim else swap, a, b)
                 for a, b in zip(rows, under, strict=True)]  # fmt: skip
        factor = np.where(first[0] == 0, 0, other[0] / first[0])
        main[..., i], above[..., i], second[..., i], x[..., i, :] = first
        main[..., i + 1] = other[1] - factor * first[1]
        above[..., i + 1] = other[2] - factor * first[2]
        x[..., i + 1, :] = other[3] - factor[..., None] * first[3]
    good = (main != 0).all(-1)
    for i in range(size - 1, -1, -1):
        if i + 1 < size:
            x[..., i, :] -= above[..., i, None] * x[..., i + 1, :]
        if i + 2 < size:
            x[..., i, :] -= second[..., i, None] * x[..., i + 2, :]
        x[..., i, :] /= main[..., i, None]
    return x, good
