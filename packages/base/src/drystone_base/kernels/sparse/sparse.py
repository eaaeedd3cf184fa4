"""Ops that keep sparse tensors (indices, values, dense shape) in order, or change their shape."""

from __future__ import annotations

import math

import numpy as np

from drystone_base.kernels._indices import at, bad_rows, check_below, int_vector, only_scalar_int
from drystone_base.kernels._limits import check_size
from drystone_base.kernels._registry import Array, Call, kernel
from drystone_base.kernels.sparse._sparse import (
    check_elements,
    check_sparse,
    fill_order,
    repeated,
    row_major_order,
)

__all__: list[str] = []


@kernel("SparseToDense")
def sparse_to_dense(
    call: Call, indices: Array, output_shape: Array, values: Array, default: Array
) -> Array:
    """A tensor of ``default`` with ``values`` at ``indices`` (a scalar, vector or matrix).

    With ``validate_indices`` they must be sorted and without repeats.
    """
    dims = check_size(call, int_vector(call, output_shape, "output_shape"), values.dtype)
    rows = indices.reshape(indices.size, 1) if indices.ndim < 2 else indices
    call.require(
        rows.ndim == 2 and rows.shape[1] == len(dims),
        "indices must hold one number for each dimension",
        found=list(indices.shape),
        needed=f"[n, {len(dims)}]",
    )
    call.require(
        values.shape in ((), (len(rows),)),
        "values must be a scalar or hold one element for each index",
        found=list(values.shape),
        needed=[len(rows)],
    )
    call.require(
        default.ndim == 0,
        "the default must be a scalar",
        found=list(default.shape),
        needed="rank 0",
    )
    bad_rows(call, rows, dims)
    if call.attrs["validate_indices"]:
        _check_sorted(call, rows)
    out = np.empty(dims, values.dtype)
    out[...] = default
    out[tuple(rows.T)] = values
    return out


def _check_sorted(call: Call, rows: Array) -> None:
    """Fail unless the index vectors rise strictly in row-major order."""
    later, before = rows[1:], rows[:-1]
    differs = later != before
    first = np.argmax(differs, axis=1) if rows.shape[1] else np.zeros(len(later), np.intp)
    steps = np.arange(len(later))
    rises = differs.any(axis=1)
    if rows.shape[1]:
        rises &= later[steps, first] > before[steps, first]
    if not rises.all():
        place = int(np.argmin(rises)) + 1
        call.fail(
            "indices must be sorted and must not repeat",
            found=f"indices[{place}] = {rows[place].tolist()} after {rows[place - 1].tolist()}",
            needed="rising index vectors",
            remedy="sort them with SparseReorder",
        )


@kernel("SparseReorder")
def sparse_reorder(call: Call, indices: Array, values: Array, shape: Array) -> tuple[Array, Array]:
    """Indices and values in row-major order; equal indices keep their order."""
    check_sparse(call, indices, values, shape)
    bad_rows(call, indices, shape.tolist())
    order = row_major_order(indices)
    return indices[order], values[order]


@kernel("SparseReshape")
def sparse_reshape(
    call: Call, indices: Array, shape: Array, new_shape: Array
) -> tuple[Array, Array]:
    """The same elements under another dense shape, in which one -1 is inferred."""
    old, new = (
        int_vector(call, shape, "input_shape"),
        list(int_vector(call, new_shape, "new_shape")),
    )
    call.require(
        indices.ndim == 2 and indices.shape[1] == len(old),
        "indices must hold one number for each dimension",
        found=list(indices.shape),
        needed=f"[n, {len(old)}]",
    )
    call.require(
        all(d >= 0 for d in old), "dimensions must not be negative", found=list(old), needed="0+"
    )
    call.require(
        new.count(-1) <= 1 and all(d >= -1 for d in new),
        "a new shape may hold one -1 and no other negative number",
        found=new,
        needed="at most one -1",
    )
    check_elements(call, shape)
    total, rest = math.prod(old), math.prod(d for d in new if d != -1)
    if -1 in new:
        call.require(
            rest > 0 and total % rest == 0,
            "the inferred dimension must be whole",
            found=f"{total} elements",
            needed=f"a multiple of {rest}",
        )
        new[new.index(-1)] = total // rest
    call.require(
        math.prod(new) == total,
        "a reshape must keep the number of elements",
        found=f"{total} elements in {list(old)}",
        needed=f"{math.prod(new)} elements for {new}",
    )
    bad_rows(call, indices, old)
    return _moved(indices, old, new), np.array(new, np.int64)


def _moved(indices: Array, old: tuple[int, ...], new: list[int]) -> Array:
    flat = np.zeros(len(indices), np.int64)
    for k, d in enumerate(old):
        flat = flat * d + indices[:, k]
    out = np.zeros((len(indices), len(new)), np.int64)
    for k in reversed(range(len(new))):
        if new[k]:
            flat, out[:, k] = np.divmod(flat, new[k])
    return out


@kernel("SparseFillEmptyRows")
def sparse_fill_empty_rows(
    call: Call, indices: Array, values: Array, shape: Array, default: Array
) -> tuple[Array, Array, Array, Array]:
    """Rows without elements get ``default`` in column 0.

    Returns indices and values ordered by row, whether each row was empty, and for each input
    element its place in the output.
    """
    check_sparse(call, indices, values, shape)
    call.require(
        default.ndim == 0 and shape.size > 0,
        "the default must be a scalar, the shape not empty",
        found=f"default {list(default.shape)}, shape {shape.tolist()}",
        needed="rank 0, and one dimension or more",
    )
    count = int(shape[0])
    call.require(
        count or not len(indices), "a tensor without rows must be empty", found=len(indices)
    )
    empty, order, places = fill_order(call, indices[:, 0], count)
    added = np.flatnonzero(empty)
    filler = np.zeros((added.size, indices.shape[1]), np.int64)
    filler[:, 0] = added
    return (
        np.concatenate([indices, filler])[order],
        np.concatenate([values, repeated(default, added.size)])[order],
        empty,
        places,
    )


@kernel("SparseFillEmptyRowsGrad", "RaggedFillEmptyRowsGrad")
def sparse_fill_empty_rows_grad(
    call: Call, reverse_index_map: Array, grad: Array
) -> tuple[Array, Array]:
    """The gradient at the original elements, and the sum over those that were filled in."""
    call.require(
        reverse_index_map.ndim == grad.ndim == 1,
        "both inputs must be vectors",
        found=f"{list(reverse_index_map.shape)} and {list(grad.shape)}",
        needed="rank 1",
    )
    check_below(call, reverse_index_map, grad.size, "reverse_index_map")
    kept = np.ones(grad.size, bool)
    kept[reverse_index_map] = False
    return grad[reverse_index_map], np.asarray(grad[kept].sum(dtype=grad.dtype))


@kernel("SparseSlice")
def sparse_slice(
    call: Call, indices: Array, values: Array, shape: Array, start: Array, size: Array
) -> tuple[Array, Array, Array]:
    """The elements inside a box, with indices counted from its corner."""
    check_sparse(call, indices, values, shape)
    check_elements(call, shape)
    call.require(
        start.shape == size.shape == shape.shape and not (start < 0).any() and not (size < 0).any(),
        "start and size must hold one number of 0 or more for each dimension",
        found=f"start {start.tolist()}, size {size.tolist()}",
        needed=f"{shape.size} numbers",
    )
    extent = np.maximum(np.minimum(size, shape - start), 0)
    inside = ((indices >= start) & (indices < start + extent)).all(axis=1)
    return indices[inside] - start, values[inside], extent


@kernel("SparseSliceGrad")
def sparse_slice_grad(
    call: Call, grad: Array, input_indices: Array, start: Array, output_indices: Array
) -> Array:
    """The gradient of the slice at its elements, zero elsewhere."""
    call.require(
        output_indices.ndim == input_indices.ndim == 2
        and grad.shape == output_indices.shape[:1]
        and start.shape == output_indices.shape[1:],
        "there must be one gradient for each element of the slice",
        found=f"{list(grad.shape)} for indices {list(output_indices.shape)}",
        needed="[n] for matrices of indices [n, rank]",
    )
    places = {tuple(row): k for k, row in enumerate((output_indices + start).tolist())}
    out = np.zeros(len(input_indices), grad.dtype)
    for k, row in enumerate(input_indices.tolist()):
        if tuple(row) in places:
            out[k] = grad[places[tuple(row)]]
    return out


@kernel("SparseConcat")
def sparse_concat(call: Call, *args: Array) -> tuple[Array, Array, Array]:
    """Sparse tensors one after the other along ``concat_dim``, in row-major order."""
    indices, values, shapes = (args[call.input_slices[n]] for n in ("indices", "values", "shapes"))
    for triple in zip(indices, values, shapes, strict=True):
        check_sparse(call, *triple)
        check_elements(call, triple[2])
    rank = shapes[0].size
    axis = call.attrs["concat_dim"]
    call.require(
        -rank <= axis < rank, "concat_dim must be a dimension", found=axis, needed=f"rank {rank}"
    )
    axis %= rank
    others = np.arange(rank) != axis
    call.require(
        all(s.size == rank and (s == shapes[0])[others].all() for s in shapes),
        "shapes must be equal except in the joined dimension",
        found=[s.tolist() for s in shapes],
        needed=f"equal but for dimension {axis}",
    )
    offset, moved = 0, []
    for rows, dims in zip(indices, shapes, strict=True):
        moved.append(rows + np.where(others, 0, offset))
        offset += int(dims[axis])
    call.require(offset < 1 << 63, "64 bits must hold the joined dimension", found=offset)
    joined = np.concatenate(moved)
    order = row_major_order(joined)
    return joined[order], np.concatenate(values)[order], np.where(others, shapes[0], offset)


@kernel("SparseSplit")
def sparse_split(
    call: Call, split_dim: Array, indices: Array, values: Array, shape: Array
) -> list[Array]:
    """``num_split`` parts along a dimension; what does not divide goes to the first ones."""
    check_sparse(call, indices, values, shape)
    check_elements(call, shape)
    bad_rows(call, indices, shape.tolist())
    axis, count = only_scalar_int(call, split_dim, "split_dim"), call.attrs["num_split"]
    call.require(
        -shape.size <= axis < shape.size,
        "split_dim must be a dimension",
        found=axis,
        needed=f"rank {shape.size}",
    )
    whole = int(at(shape, axis))
    call.require(
        1 <= count <= whole,
        "num_split must not exceed the split dimension",
        found=count,
        needed=f"1 to {whole}",
    )
    part, longer = divmod(whole, count)
    first, out = 0, []
    for k in range(count):
        length = part + (k < longer)
        inside = (indices[:, axis] >= first) & (indices[:, axis] < first + length)
        rows, dims = indices[inside].copy(), shape.copy()
        rows[:, axis] -= first
        dims[axis] = length
        out.append((rows, values[inside], dims))
        first += length
    return [entry[j] for j in range(3) for entry in out]
