"""Matrix products: MatMul, the BatchMatMul family, SparseMatMul and Cross."""

from __future__ import annotations

from typing import Any

import numpy as np

from drystone_base.kernels._registry import Array, Call, kernel
from drystone_base.kernels._widen import quiet, widen

__all__: list[str] = []


def _adjoint(x: Array) -> Array:
    """The conjugate transpose of the last two dimensions."""
    flipped = np.swapaxes(x, -1, -2)
    return np.asarray(np.conj(flipped)) if x.dtype.kind == "c" else flipped


def _check_inner(call: Call, a: Array, b: Array) -> None:
    call.require(
        a.shape[-1] == b.shape[-2],
        "the inner dimensions of a matrix product must be equal",
        found=f"{list(a.shape)} times {list(b.shape)}",
        needed="columns of the first = rows of the second",
    )


@quiet
def product(a: Array, b: Array, dtype: np.dtype[Any]) -> Array:
    """``a @ b`` with narrow floats summed in float32, as an array of ``dtype``."""
    out: Array = np.matmul(widen(a), widen(b))
    return out.astype(dtype, copy=False)


@kernel("MatMul")
def matmul(call: Call, a: Array, b: Array) -> Array:
    """``[m, k] x [k, n] -> [m, n]``; TF ``MatMul``."""
    call.require(
        a.ndim == 2 and b.ndim == 2,
        "both inputs must be matrices",
        found=f"ranks {a.ndim} and {b.ndim}",
        needed="rank 2",
    )
    a = a.T if call.attrs["transpose_a"] else a
    b = b.T if call.attrs["transpose_b"] else b
    _check_inner(call, a, b)
    return product(a, b, a.dtype)


@kernel("SparseMatMul")
def sparse_matmul(call: Call, a: Array, b: Array) -> Array:
    """``MatMul`` of float32 or bfloat16 with a float32 product; the sparsity hints are not used."""
    out: Array = matmul(call, a.astype(np.float32), b.astype(np.float32))
    return out


@kernel("BatchMatMul", "BatchMatMulV2", "BatchMatMulV3")
def batch_matmul(call: Call, x: Array, y: Array) -> Array:
    """``[..., m, k] x [..., k, n] -> [..., m, n]``; V2 and V3 broadcast the leading dimensions."""
    _check_batch(call, x, y)
    out = call.attrs["Tout"].np if call.op == "BatchMatMulV3" else x.dtype
    if x.dtype != out and out.kind in "iu":
        x, y = x.astype(out), y.astype(out)
    x = _adjoint(x) if call.attrs["adj_x"] else x
    y = _adjoint(y) if call.attrs["adj_y"] else y
    _check_inner(call, x, y)
    return product(x, y, out)


def _check_batch(call: Call, x: Array, y: Array) -> None:
    call.require(
        x.ndim >= 2 and y.ndim >= 2,
        "both inputs must be (batches of) matrices",
        found=f"ranks {x.ndim} and {y.ndim}",
        needed="rank 2 or more",
    )
    lead_x, lead_y = x.shape[:-2], y.shape[:-2]
    if call.op == "BatchMatMul":
        fits = lead_x == lead_y
    else:
        pairs = zip(reversed(lead_x), reversed(lead_y), strict=False)
        fits = all(p == q or 1 in (p, q) for p, q in pairs)
    call.require(
        fits,
        "the batch dimensions must agree",
        found=f"{list(x.shape)} and {list(y.shape)}",
        needed="equal leading dimensions" if call.op == "BatchMatMul" else "broadcastable ones",
    )


@kernel("Cross")
@quiet
def cross(call: Call, a: Array, b: Array) -> Array:
    """The cross product of ``[..., 3]`` vectors; TF ``Cross``."""
    call.require(
        a.ndim > 0 and a.shape == b.shape,
        "both inputs must have the same shape",
        found=f"{list(a.shape)} and {list(b.shape)}",
        needed="equal shapes",
    )
    call.require(
        a.shape[-1] == 3,
        "vectors must have 3 elements",
        found=list(a.shape),
        needed="[..., 3]",
        status="FAILED_PRECONDITION",
    )
    following, preceding = [1, 2, 0], [2, 0, 1]
    left: Array = a[..., following] * b[..., preceding]
    right: Array = a[..., preceding] * b[..., following]
    return left - right
