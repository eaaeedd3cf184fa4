"""Matrices for libraries that may never return from infinities: LAPACK's singular values do not."""

from __future__ import annotations

import numpy as np

from drystone_base.kernels._registry import Array
from drystone_base.kernels._widen import widen

__all__ = ["finite_matrices"]


def finite_matrices(x: Array) -> tuple[Array, Array]:
    """Which matrices of a batch are not finite, and the batch, widened, with zeros for those."""
    wide = widen(x)
    lost: Array = np.asarray(~np.isfinite(wide).all((-2, -1)))
    return lost, np.where(lost[..., None, None], 0, wide).astype(wide.dtype, copy=False)
