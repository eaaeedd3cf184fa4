"""XLA's decompositions: eigenvalues of self-adjoint matrices, singular values."""

from __future__ import annotations

import numpy as np

from drystone_base.kernels._registry import Array, Call, kernel
from drystone_base.kernels._widen import quiet, widen
from drystone_base.kernels.linalg._finite import finite_matrices

__all__: list[str] = []


def _check(call: Call, x: Array, square: bool) -> None:
    call.require(
        x.ndim >= 2 and (not square or x.shape[-1] == x.shape[-2]),
        "the input must be (a batch of) matrices" + (", square" if square else ""),
        found=list(x.shape),
        needed="[..., n, n]" if square else "[..., m, n]",
    )


@kernel("XlaSelfAdjointEig")
@quiet
def self_adjoint_eig(call: Call, x: Array) -> tuple[Array, Array]:
    """Eigenvalues in rising order and eigenvectors; one triangle is read.

    Signs of vectors are open. ``max_iter`` and ``epsilon`` do not bound our method.
    """
    _check(call, x, True)
    values, vectors = np.linalg.eigh(widen(x), "L" if call.attrs["lower"] else "U")
    return values.astype(x.dtype), vectors.astype(x.dtype)


@kernel("XlaSvd")
@quiet
def xla_svd(call: Call, x: Array) -> tuple[Array, Array, Array]:
    """Singular values in falling order, left and right vectors: ``x = u s v^H``.

    Signs of vectors are open. ``max_iter`` and ``epsilon`` do not bound our method.
    """
    _check(call, x, False)
    call.require(min(x.shape[-2:]) > 0, "matrices must have rows and columns", found=list(x.shape))
    lost, whole = finite_matrices(x)
    u, s, v = np.linalg.svd(whole, full_matrices=True)
    for part in (u, s, v):
        part[lost] = np.nan
    wide = (s, u, np.conj(np.swapaxes(v, -1, -2)))
    return tuple(part.astype(x.dtype) for part in wide)  # type: ignore[return-value]
