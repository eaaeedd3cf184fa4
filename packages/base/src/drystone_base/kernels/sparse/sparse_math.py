"""Arithmetic and reductions on sparse tensors (indices [n, rank], values [n], shape [rank])."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from drystone_base.kernels._indices import bad_rows, wrap_axis
from drystone_base.kernels._limits import check_size
from drystone_base.kernels._registry import Array, Call, kernel
from drystone_base.kernels.sparse._sparse import check_elements, check_sparse, find_rows, group_rows

__all__: list[str] = []


@kernel("SparseTensorDenseMatMul")
def sparse_dense_matmul(call: Call, indices: Array, values: Array, shape: Array, b: Array) -> Array:
    """The product of a sparse and a dense matrix, each transposed and conjugated if asked."""
    check_sparse(call, indices, values, shape, "sparse matrix's")
    call.require(
        shape.size == 2 and b.ndim == 2,
        "both factors must be matrices",
        found=f"ranks {shape.size} and {b.ndim}",
        needed="rank 2",
    )
    bad_rows(call, indices, shape.tolist())
    rows, columns = indices[:, 0], indices[:, 1]
    height, depth = int(shape[0]), int(shape[1])
    if call.attrs["adjoint_a"]:
        rows, columns, height, depth, values = columns, rows, depth, height, np.conj(values)
    if call.attrs["adjoint_b"]:
        b = np.conj(b.T)
    call.require(
        b.shape[0] == depth,
        "the inner dimensions must be equal",
        found=f"{depth} and {b.shape[0]}",
        needed="equal dimensions",
    )
    out = np.zeros(check_size(call, (height, b.shape[1]), values.dtype), values.dtype)
    np.add.at(out, rows, values[:, None] * b[columns])
    return out


@kernel("SparseTensorDenseAdd")
def sparse_dense_add(call: Call, indices: Array, values: Array, shape: Array, b: Array) -> Array:
    """A dense tensor with the sparse elements added."""
    check_sparse(call, indices, values, shape)
    call.require(
        b.shape == tuple(shape.tolist()),
        "both terms must have one shape",
        found=f"{shape.tolist()} and {list(b.shape)}",
        needed="equal shapes",
    )
    bad_rows(call, indices, b.shape)
    out = b.copy()
    np.add.at(out, tuple(indices.T), values)
    return out


def _check_pair(call: Call, a: Sequence[Array], b: Sequence[Array]) -> None:
    check_sparse(call, a[0], a[1], a[2], "first")
    check_sparse(call, b[0], b[1], b[2], "second")
    call.require(a[2].size > 0, "both sparse tensors must have a rank", found=0, needed="1 or more")
    call.require(
        a[2].tolist() == b[2].tolist(),
        "both sparse tensors must have one shape",
        found=f"{a[2].tolist()} and {b[2].tolist()}",
        needed="equal shapes",
    )


def _aligned(a: Sequence[Array], b: Sequence[Array]) -> tuple[Array, Array, Array]:
    """The union of both index sets in order, and each tensor's values there (0 where absent)."""
    groups, classes = group_rows(np.concatenate([a[0], b[0]]))
    count = len(a[0])
    left, right = (np.zeros(len(groups), a[1].dtype) for _ in range(2))
    left[classes[:count]] = a[1]
    right[classes[count:]] = b[1]
    return groups, left, right


@kernel("SparseAdd")
def sparse_add(call: Call, *args: Array) -> tuple[Array, Array, Array]:
    """The sum of two sparse tensors, without sums of a magnitude below ``thresh``.

    An element that only one of them has is kept, however small.
    """
    a, b, threshold = args[:3], args[3:6], args[6]
    _check_pair(call, a, b)
    call.require(
        threshold.ndim == 0, "thresh must be a scalar", found=list(threshold.shape), needed="rank 0"
    )
    indices, left, right = _aligned(a, b)
    total = left + right
    single = np.unique(np.concatenate([a[0], b[0]]), axis=0, return_counts=True)[1] == 1
    kept = single | (np.abs(total) >= threshold)
    return indices[kept], total[kept], a[2]


@kernel("SparseAddGrad")
def sparse_add_grad(
    call: Call, grad: Array, a_indices: Array, b_indices: Array, sum_indices: Array
) -> tuple[Array, Array]:
    """The gradient of the sum at the elements of both terms; 0 where the sum left them out."""
    call.require(
        a_indices.ndim == b_indices.ndim == sum_indices.ndim == 2
        and grad.shape == sum_indices.shape[:1],
        "there must be one gradient for each element of the sum",
        found=f"{list(grad.shape)} for indices {list(sum_indices.shape)}",
        needed="[n] for matrices of indices [n, rank]",
    )
    ranks = [v.shape[1] for v in (a_indices, b_indices, sum_indices)]
    call.require(
        len(set(ranks)) == 1, "all indices must be of one rank", found=ranks, needed="equal ranks"
    )
    padded = np.append(grad, np.zeros(1, grad.dtype))
    return padded[find_rows(sum_indices, a_indices)], padded[find_rows(sum_indices, b_indices)]


@kernel("SparseSparseMaximum", "SparseSparseMinimum")
def sparse_sparse_extreme(call: Call, *args: Array) -> tuple[Array, Array]:
    """The larger (smaller) of two sparse tensors' elements, with 0 for absent ones."""
    _check_pair(call, args[:3], args[3:])
    for place, _, dims in (args[:3], args[3:]):
        bad_rows(call, place, dims.tolist())
    indices, left, right = _aligned(args[:3], args[3:])
    return indices, (np.maximum if call.op.endswith("Maximum") else np.minimum)(left, right)


def _reduced(
    call: Call, indices: Array, values: Array, shape: Array, axes: Array
) -> tuple[Array, Array, list[int]]:
    """Index vectors that remain in order, their reduced values, and the dimensions that remain."""
    check_sparse(call, indices, values, shape)
    check_elements(call, shape)
    bad_rows(call, indices, shape.tolist())
    call.require(
        axes.ndim <= 1, "reduction_axes must be a scalar or vector", found=list(axes.shape)
    )
    gone = {wrap_axis(call, int(a), shape.size, "reduction_axes") for a in axes.reshape(-1)}
    kept = [k for k in range(shape.size) if k not in gone]
    groups, classes = group_rows(indices[:, kept])
    if "Max" in call.op:
        order = np.argsort(classes, kind="stable")
        starts = np.searchsorted(classes[order], np.arange(len(groups)))
        out = np.maximum.reduceat(values[order], starts) if len(groups) else values[:0]
    else:
        out = np.zeros(len(groups), values.dtype)
        np.add.at(out, classes, values)
    return groups, out, kept


@kernel("SparseReduceSum", "SparseReduceMax")
def sparse_reduce(call: Call, indices: Array, values: Array, shape: Array, axes: Array) -> Array:
    """The dense sum (maximum) over axes; 0 where nothing is."""
    groups, reduced, kept = _reduced(call, indices, values, shape, axes)
    dims = shape.tolist()
    out = np.zeros(check_size(call, [dims[k] for k in kept], values.dtype), values.dtype)
    out[tuple(groups.T)] = reduced if kept else reduced.sum(dtype=values.dtype)
    if call.attrs["keep_dims"]:
        return out.reshape([dims[k] if k in kept else 1 for k in range(len(dims))])
    return out


@kernel("SparseReduceSumSparse", "SparseReduceMaxSparse")
def sparse_reduce_sparse(
    call: Call, indices: Array, values: Array, shape: Array, axes: Array
) -> tuple[Array, Array, Array]:
    """As ``SparseReduceSum`` and ``SparseReduceMax``, the result sparse."""
    groups, reduced, kept = _reduced(call, indices, values, shape, axes)
    if not call.attrs["keep_dims"]:
        return groups, reduced, shape[kept]
    wide = np.zeros((len(groups), shape.size), np.int64)
    wide[:, kept] = groups
    return wide, reduced, np.where(np.isin(np.arange(shape.size), kept), shape, 1)


@kernel("SparseDenseCwiseMul", "SparseDenseCwiseAdd", "SparseDenseCwiseDiv")
def sparse_dense_elementwise(
    call: Call, indices: Array, values: Array, shape: Array, dense: Array
) -> Array:
    """The values combined with those of a dense tensor, broadcast to the sparse one's shape."""
    check_sparse(call, indices, values, shape)
    check_elements(call, shape)
    dims = tuple(shape.tolist())
    tail = dims[len(dims) - dense.ndim :] if dense.ndim <= len(dims) else ()
    call.require(
        dense.ndim <= len(dims)
        and all(d in (1, s) for d, s in zip(dense.shape, tail, strict=True)),
        "the dense tensor must broadcast to the sparse one",
        found=list(dense.shape),
        needed=f"dimensions of 1 or those of {list(dims)}",
    )
    bad_rows(call, indices, dims)
    # A dense tensor of the whole shape is never made: sparse ones may be larger than memory.
    columns = indices.T[len(dims) - dense.ndim :]
    picked = dense[tuple(c if n > 1 else c * 0 for c, n in zip(columns, dense.shape, strict=True))]
    others = np.broadcast_to(picked, values.shape)
    if call.op.endswith("Mul"):
        return np.asarray(values * others)
    if call.op.endswith("Add"):
        return np.asarray(values + others)
    call.require(
        (others != 0).all(), "the dense tensor divides: it must not be zero there", found=0,
        needed="not 0",
    )  # fmt: skip
    if values.dtype.kind not in "iu":
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(values / others)
    rounded = (values % others != 0) & ((values < 0) != (others < 0))
    quotient: Array = values // others + rounded.astype(values.dtype)  # towards zero
    return quotient


@kernel("SparseSoftmax")
def sparse_softmax(call: Call, indices: Array, values: Array, shape: Array) -> Array:
    """The softmax of the elements that are present, along the last dimension."""
    check_sparse(call, indices, values, shape)
    check_elements(call, shape)
    call.require(shape.size >= 2, "the rank must be 2 or more", found=shape.size, needed="2+")
    bad_rows(call, indices, shape.tolist())
    groups, classes = group_rows(indices[:, :-1])
    top = np.full(len(groups), -np.inf, values.dtype)
    np.maximum.at(top, classes, values)
    powers = np.exp(values - top[classes])
    total = np.zeros(len(groups), values.dtype)
    np.add.at(total, classes, powers)
    return np.asarray(powers / total[classes])
