"""Ops that deal rows out to several tensors by number, and put them together again."""

from __future__ import annotations

import numpy as np

from drystone_base.kernels._indices import check_below
from drystone_base.kernels._limits import check_size
from drystone_base.kernels._registry import Array, Call, kernel

__all__: list[str] = []


@kernel("DynamicPartition")
def dynamic_partition(call: Call, data: Array, partitions: Array) -> list[Array]:
    """For each of ``num_partitions``, the rows of ``data`` whose partition has that number."""
    call.require(
        data.shape[: partitions.ndim] == partitions.shape,
        "the shape of data must begin with that of partitions",
        found=list(data.shape),
        needed=f"{list(partitions.shape)} ...",
    )
    count = call.attrs["num_partitions"]
    check_below(call, partitions, count, "partitions")
    return [data[partitions == k] for k in range(count)]


@kernel("DynamicStitch", "ParallelDynamicStitch")
def dynamic_stitch(call: Call, *args: Array) -> Array:
    """One tensor with row ``indices[k][i]`` taken from ``data[k][i]``; the last writer wins.

    Rows that nothing writes are zero (empty for strings).
    """
    indices, data = args[call.input_slices["indices"]], args[call.input_slices["data"]]
    inner = data[0].shape[indices[0].ndim :]
    for rows, values in zip(indices, data, strict=True):
        call.require(
            values.shape == rows.shape + inner,
            "data must have the shape of its indices, then one common row shape",
            found=list(values.shape),
            needed=list(rows.shape + inner),
        )
    size = 1 + max((int(rows.max()) for rows in indices if rows.size), default=-1)
    call.require(
        size < 1 << 31, "the number of rows must fit 32 bits", found=size, needed=f"< {1 << 31}"
    )
    shape = check_size(call, (max(size, 0), *inner), data[0].dtype)
    out = np.zeros(shape, data[0].dtype)
    if out.dtype == object:
        out[...] = b""
    for rows, values in zip(indices, data, strict=True):
        check_below(call, rows, size)
        out[rows.reshape(-1)] = values.reshape(rows.size, *inner)
    return out
