"""Triangular matrices of a few diagonals; the largest entries along a dimension.

Source: TensorFlow ops BandedTriangularSolve, ApproxTopK.
"""

from __future__ import annotations

import numpy as np

from drystone_base.kernels._indices import wrap_axis
from drystone_base.kernels._registry import Array, Call, kernel
from drystone_base.kernels._widen import quiet, widen


def _dense(bands: Array, lower: bool) -> Array:
    """The square matrices whose diagonals lie in the rows of ``bands`` [..., diagonals, size].

    Entry i of a diagonal is in row i. The main diagonal is the first of a lower matrix, the last of
    an upper one.
    """
    count, size = bands.shape[-2:]
    out = np.zeros((*bands.shape[:-2], size, size), bands.dtype)
    rows = np.arange(size)
    for k in range(count):
        columns = rows - k if lower else rows + k
        inside = (columns >= 0) & (columns < size)
        line = bands[..., k if lower else count - 1 - k, :]
        out[..., rows[inside], columns[inside]] = line[..., inside]
    return out


@kernel("BandedTriangularSolve")
@quiet
def banded_triangular_solve(call: Call, bands: Array, rhs: Array) -> Array:
    """``x`` with ``matrix @ x = rhs``, the matrices given by their diagonals; batches broadcast."""
    call.require(
        bands.ndim >= 2 and rhs.ndim >= 2,
        "bands and right-hand sides must be matrices or more",
        found=f"{list(bands.shape)} and {list(rhs.shape)}",
        needed="rank 2 or more",
    )
    lower, size = bool(call.attrs["lower"]), bands.shape[-1]
    call.require(
        rhs.shape[-2] == size and bands.shape[-2] and bands.size and rhs.size,
        "bands and right-hand sides must have as many rows, and not be empty",
        found=f"{list(bands.shape)} and {list(rhs.shape)}",
        needed="[..., bands, rows] and [..., rows, columns]",
    )
    main = bands[..., 0 if lower else -1, :]
    call.require(
        bool((main != 0).all()), "the matrix must be invertible", found="0 in the main diagonal"
    )
    matrix = _dense(bands, lower)
    if call.attrs["adjoint"]:
        matrix = np.conj(np.swapaxes(matrix, -1, -2))
    try:
        lead = np.broadcast_shapes(matrix.shape[:-2], rhs.shape[:-2])
    except ValueError as error:
        call.fail(
            "the batch dimensions must broadcast",
            found=f"{list(bands.shape)} and {list(rhs.shape)}",
            inner=error,
        )
    right = np.broadcast_to(rhs, (*lead, *rhs.shape[-2:]))
    return np.linalg.solve(np.broadcast_to(matrix, (*lead, size, size)), right)


@kernel("ApproxTopK")
@quiet
def approx_top_k(call: Call, x: Array) -> tuple[Array, Array]:
    """The ``k`` largest (or smallest) entries along a dimension, exactly, and their places."""
    axis = wrap_axis(call, int(call.attrs["reduction_dimension"]), x.ndim)
    count = int(call.attrs["k"])
    call.require(
        0 <= count <= x.shape[axis],
        "k must not exceed the dimension",
        found=count,
        needed=f"at most {x.shape[axis]}",
    )
    wide = widen(x)
    order = np.argsort(-wide if call.attrs["is_max_k"] else wide, axis=axis, kind="stable")
    places = np.take(order, np.arange(count), axis=axis)
    return np.take_along_axis(x, places, axis), places.astype(np.int32)
