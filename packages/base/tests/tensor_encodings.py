"""Tensors in every legal encoding of a TensorProto, and what they mean: drawn at random."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st

from drystone_abi.protos import TensorProto
from drystone_base.core import dtypes
from drystone_base.core.dtypes import DType, from_number
from drystone_base.core.wire import write_varint

__all__ = ["bytes_of", "listed", "same", "tensors"]

DTYPES = [from_number(k) for k in range(1, 29) if k not in (20, 21)]
_LISTS = {
    "float32": "float_val", "float64": "double_val", "int64": "int64_val", "bool": "bool_val",
    "uint32": "uint32_val", "uint64": "uint64_val", "complex64": "scomplex_val",
    "complex128": "dcomplex_val", "float16": "half_val", "bfloat16": "half_val",
    "string": "string_val",
}  # fmt: skip


def bytes_of(texts: list[bytes]) -> bytes:
    """The ``tensor_content`` of strings."""
    return b"".join([*(write_varint(len(t)) for t in texts), *texts])


def listed(proto: TensorProto, dtype: DType, values: np.ndarray[Any, Any]) -> None:
    """Put values into the field of the dtype."""
    if dtype.label.startswith("float8"):
        proto.float8_val = values.tobytes()
        return
    name = _LISTS.get(dtype.label, "int_val")
    plain = values
    if name == "half_val":
        plain = values.view(np.uint16)
    elif name in ("scomplex_val", "dcomplex_val"):
        plain = values.view(np.float32 if name == "scomplex_val" else np.float64)
    getattr(proto, name).extend(plain.tolist())


@st.composite
def tensors(draw: Any) -> tuple[TensorProto, np.ndarray[Any, Any]]:
    """A proto in one of the legal encodings, and what it means."""
    dtype = draw(st.sampled_from(DTYPES))
    shape = tuple(draw(st.lists(st.integers(0, 4), max_size=3)))
    count = int(np.prod(shape, dtype=int))
    if dtype is dtypes.STRING:
        flat = np.empty(count, object)
        flat[:] = draw(st.lists(st.binary(max_size=300), min_size=count, max_size=count))
    else:
        raw = draw(st.binary(min_size=count * dtype.size, max_size=count * dtype.size))
        flat = np.frombuffer(raw, dtype.np).copy()
        if dtype is dtypes.BOOL:
            flat = np.frombuffer(raw, np.uint8) > 127
    proto = TensorProto(dtype=dtype.number)
    for size in shape:
        proto.tensor_shape.dim.add(size=size)
    if draw(st.booleans()) and count:
        strings = dtype is dtypes.STRING
        proto.tensor_content = bytes_of(flat.tolist()) if strings else flat.tobytes()
    else:
        given_count = draw(st.integers(0, count))
        if _LISTS.get(dtype.label) in ("float_val", "scomplex_val"):
            _quieted(flat)
        listed(proto, dtype, flat[:given_count])
        filler = flat[given_count - 1] if given_count else (b"" if flat.dtype == object else 0)
        flat[given_count:] = filler
    return proto, flat.reshape(shape)


def _quieted(values: np.ndarray[Any, Any]) -> None:
    """Make NaNs quiet that signal: lists take Python's floats, and single ones become that."""
    parts = values.view(np.float32)
    with np.errstate(invalid="ignore"):
        parts[:] = parts.astype(np.float64)


def same(a: np.ndarray[Any, Any], b: np.ndarray[Any, Any]) -> bool:
    """Whether both arrays have one dtype, one shape and the same bits."""
    if a.shape != b.shape or a.dtype != b.dtype:
        return False
    return a.tolist() == b.tolist() if a.dtype == object else a.tobytes() == b.tobytes()
