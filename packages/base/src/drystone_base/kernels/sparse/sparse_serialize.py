"""Sparse tensors packed into three strings or variants each, and unpacked, also many at once."""

from __future__ import annotations

from typing import Any

import numpy as np
from google.protobuf.message import DecodeError

from drystone_abi.protos import TensorProto
from drystone_base.core.dtypes import INT64, STRING, DType
from drystone_base.core.errors import DrystoneError
from drystone_base.core.tensor import from_proto
from drystone_base.core.wire import write_varint
from drystone_base.kernels._registry import Array, Call, kernel
from drystone_base.kernels._variants import blank
from drystone_base.ops.attrs import encode_shape


def _check(call: Call, indices: Array, values: Array, shape: Array) -> None:
    ok = indices.ndim == 2 and values.ndim == 1 and shape.ndim == 1
    call.require(
        ok and len(indices) == len(values) and indices.shape[1] == len(shape),
        "indices, values and dense shape must fit together",
        found=[list(indices.shape), list(values.shape), list(shape.shape)],
        needed="[n, rank], [n] and [rank]",
    )


def _pack(call: Call, parts: tuple[Array, Array, Array]) -> list[Any]:
    if call.attrs["out_type"] is not STRING:
        return list(parts)
    types = INT64, call.attrs["T"], INT64
    return [_packed(p, t) for p, t in zip(parts, types, strict=True)]


def _packed(array: Array, dtype: DType) -> bytes:
    """A serialized TensorProto; strings too are in its content: all lengths, then all bytes."""
    if dtype is STRING:
        texts = array.ravel().tolist()
        content = b"".join([*(write_varint(len(t)) for t in texts), *texts])
    else:
        content = np.ascontiguousarray(array).tobytes()
    proto = TensorProto(
        dtype=dtype.number,  # type: ignore[arg-type]
        tensor_shape=encode_shape(array.shape),
        tensor_content=content,
    )
    return proto.SerializeToString(deterministic=True)


def _tensor(packed: bytes) -> Array:
    return from_proto(TensorProto.FromString(packed))


@kernel("SerializeSparse")
def serialize_sparse(call: Call, indices: Array, values: Array, shape: Array) -> Array:
    """Indices, values and dense shape, as a vector."""
    _check(call, indices, values, shape)
    out = np.empty(3, dtype=object)
    for k, part in enumerate(_pack(call, (indices, values, shape))):
        out[k] = part
    return out


@kernel("SerializeManySparse")
def serialize_many_sparse(call: Call, indices: Array, values: Array, shape: Array) -> Array:
    """Each row of a sparse tensor as a row of indices, values and dense shape."""
    _check(call, indices, values, shape)
    call.require(len(shape) > 1, "a sparse tensor of rows has rank 2 or more", found=len(shape))
    count, rows = int(shape[0]), indices[:, 0]
    call.require(
        bool(np.all(rows[1:] >= rows[:-1])) and (not rows.size or 0 <= rows[0] <= rows[-1] < count),
        "indices must be in order and name rows of the tensor",
        found=rows[:20].tolist(),
        needed=f"ascending, 0 <= row < {count}",
    )
    ends = np.searchsorted(rows, np.arange(count), side="right")
    out = np.empty((count, 3), dtype=object)
    start = 0
    for k, end in enumerate(ends.tolist()):
        parts = indices[start:end, 1:], values[start:end], shape[1:]
        for column, part in enumerate(_pack(call, parts)):
            out[k, column] = part
        start = end
    return out


def _unpack(call: Call, packed: Any, dtype: DType, rank: int, what: str) -> Array:
    """One part: a tensor of that type and rank."""
    value = packed
    if isinstance(packed, bytes):
        try:
            value = _tensor(packed)
        except (DecodeError, DrystoneError) as error:
            call.fail(
                f"{what} must be a serialized tensor",
                found=repr(packed[:40]),
                needed="TensorProto",
                inner=error,
            )
    ok = isinstance(value, np.ndarray) and value.dtype == dtype.np and value.ndim == rank
    call.require(
        ok,
        f"{what} must be a tensor of {dtype} of rank {rank}",
        found=f"{value.dtype}{list(value.shape)}" if isinstance(value, np.ndarray) else value,
    )
    return np.asarray(value)


def _one(call: Call, row: Array) -> tuple[Array, Array, Array]:
    indices = _unpack(call, row[0], INT64, 2, "the indices")
    values = _unpack(call, row[1], call.attrs["dtype"], 1, "the values")
    shape = _unpack(call, row[2], INT64, 1, "the dense shape")
    _check(call, indices, values, shape)
    return indices, values, shape


@kernel("DeserializeSparse", "DeserializeManySparse")
def deserialize_sparse(call: Call, serialized: Array) -> tuple[Array, Array, Array]:
    """Indices, values and dense shape; leading dimensions become those of the result."""
    call.require(
        serialized.ndim > 0 and serialized.shape[-1] == 3,
        "the last dimension must hold indices, values and dense shape",
        found=list(serialized.shape),
        needed="[..., 3]",
    )
    call.require(
        call.op == "DeserializeSparse" or serialized.ndim == 2,
        "serialized tensors must be a matrix",
        found=list(serialized.shape),
        needed="[n, 3]",
    )
    if serialized.ndim == 1:
        return _one(call, serialized)
    lead = serialized.shape[:-1]
    rows = [_one(call, row) for row in serialized.reshape(-1, 3)]
    call.require(rows, "there must be a sparse tensor", found=list(serialized.shape), needed="1+")
    ranks = {len(shape) for _, _, shape in rows}
    call.require(
        len(ranks) == 1, "sparse tensors must have equal ranks", found=sorted(ranks), needed="one"
    )
    dense = np.concatenate([np.array(lead, np.int64), np.max([s for *_, s in rows], axis=0)])
    indices = [_placed(k, lead, i) for k, (i, _, _) in enumerate(rows)]
    values = blank((sum(len(v) for _, v, _ in rows),), call.attrs["dtype"])
    np.concatenate([v for _, v, _ in rows], out=values)
    return np.concatenate(indices), values, dense


def _placed(index: int, lead: tuple[int, ...], indices: Array) -> Array:
    where = np.array(np.unravel_index(index, lead), np.int64)
    return np.concatenate([np.broadcast_to(where, (len(indices), len(lead))), indices], axis=1)
