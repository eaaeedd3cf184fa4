"""Systems of a triangular matrix that has few diagonals; TF op BandedTriangularSolve."""

from __future__ import annotations

import numpy as np

from drystone_base.kernels._registry import Array, Call, kernel
from drystone_base.kernels._widen import quiet


def _by_distance(bands: Array, lower: bool, adjoint: bool) -> tuple[Array, bool]:
    """Diagonals [..., distance from the main one, row], and whether they lie below it."""
    rows = bands if lower else bands[..., ::-1, :]
    if not adjoint:
        return rows, lower
    shift = -1 if lower else 1
    moved = [np.roll(np.conj(rows[..., k, :]), shift * k, -1) for k in range(rows.shape[-2])]
    return np.stack(moved, axis=-2), not lower


@kernel("BandedTriangularSolve")
@quiet
def banded_triangular_solve(call: Call, bands: Array, rhs: Array) -> Array:
    """``x`` with ``matrix @ x = rhs``; batches broadcast.

    ``bands`` [..., diagonals, size] holds element [i, j] of a diagonal in column i; the main
    diagonal is the first of a lower matrix, the last of an upper one.
    """
    size, lower = bands.shape[-1] if bands.ndim else 0, bool(call.attrs["lower"])
    call.require(
        min(bands.ndim, rhs.ndim) >= 2 and rhs.shape[-2] == size and bands.size and rhs.size,
        "bands and right-hand sides must have as many rows, and not be empty",
        found=f"{list(bands.shape)} and {list(rhs.shape)}",
        needed="[..., bands, rows] and [..., rows, columns]",
    )
    rows, below = _by_distance(bands, lower, bool(call.attrs["adjoint"]))
    call.require(
        bool((rows[..., 0, :] != 0).all()),
        "the matrix must be invertible",
        found="0 in the main diagonal",
    )
    try:
        lead = np.broadcast_shapes(bands.shape[:-2], rhs.shape[:-2])
    except ValueError as error:
        call.fail(
            "the batch dimensions must broadcast",
            found=f"{list(bands.shape)} and {list(rhs.shape)}",
            inner=error,
        )
    out = np.broadcast_to(rhs, (*lead, *rhs.shape[-2:])).copy()
    for i in range(size) if below else reversed(range(size)):
        for k in range(1, min(rows.shape[-2], i + 1 if below else size - i)):
            out[..., i, :] -= rows[..., k, i, None] * out[..., i - k if below else i + k, :]
        out[..., i, :] /= rows[..., 0, i, None]
    return out
