"""What parsers of training examples share: the values of a feature as tensors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeVar

import numpy as np

from drystone_abi.protos import Feature
from drystone_base.core.dtypes import FLOAT32, INT64, STRING, DType
from drystone_base.core.tensor import string_array
from drystone_base.kernels._limits import check_size
from drystone_base.kernels._registry import Array, Call
from drystone_base.kernels._variants import blank

__all__ = [
    "dense_of", "entry", "feature_rows", "feature_values", "flat_of", "ragged_of", "sparse_of",
]  # fmt: skip

_KINDS: Final = {"bytes_list": STRING, "float_list": FLOAT32, "int64_list": INT64}


_Entry = TypeVar("_Entry")


def entry(found: Mapping[str, _Entry], key: str) -> _Entry | None:
    """What a message has under a key; None where it is missing, as all that is no UTF-8 is."""
    try:
        return found.get(key)
    except UnicodeEncodeError:
        return None


def feature_rows(
    call: Call, batch: Sequence[Mapping[str, Feature]], key: str, dtype: DType
) -> list[Sequence[Any] | None]:
    """The values of a feature in each example; None where it is missing."""
    found = [entry(features, key) for features in batch]
    return [None if one is None else feature_values(call, one, key, dtype) for one in found]


def feature_values(call: Call, feature: Feature, key: str, dtype: DType) -> Sequence[Any] | None:
    """The values of one feature; None where it has none of any kind."""
    kind = feature.WhichOneof("kind")
    if kind is None:
        return None
    call.require(
        _KINDS[kind] is dtype,
        f"feature {key!r} must have the declared type",
        found=_KINDS[kind],
        needed=dtype,
    )
    values: Sequence[Any] = getattr(feature, kind).value
    return values


def flat_of(rows: Sequence[Sequence[Any]], dtype: DType) -> Array:
    """All values, one row after the other."""
    values = [v for row in rows for v in row]
    return string_array(values, (len(values),)) if dtype is STRING else np.array(values, dtype.np)


def sparse_of(
    rows: Sequence[Sequence[Any]], dtype: DType, batched: bool
) -> tuple[Array, Array, Array]:
    """Indices, values and shape of a sparse tensor with these rows."""
    counts = np.array([len(row) for row in rows], np.int64)
    columns = [np.arange(n, dtype=np.int64) for n in counts]
    indices = np.concatenate([np.zeros(0, np.int64), *columns])
    if not batched:
        return indices[:, None], flat_of(rows, dtype), counts
    row_ids = np.repeat(np.arange(len(rows), dtype=np.int64), counts)
    shape = np.array([len(rows), counts.max(initial=0)], np.int64)
    return np.stack([row_ids, indices], axis=1), flat_of(rows, dtype), shape


def ragged_of(
    rows: Sequence[Sequence[Any]], dtype: DType, splits: DType, batched: bool
) -> tuple[Array, Array]:
    """Values and row splits."""
    values = flat_of(rows, dtype)
    if not batched:
        return values, np.zeros(0, splits.np)
    return values, np.cumsum([0, *(len(row) for row in rows)]).astype(splits.np)


def dense_of(
    call: Call,
    batch: Sequence[Mapping[str, Feature]],
    key: str,
    dtype: DType,
    shape: tuple[int, ...],
    default: Array,
    batched: bool,
) -> Array:
    """One row an example; a first dimension of -1 is padded with the default to the longest."""
    rows = feature_rows(call, batch, key, dtype)
    open_ended = bool(shape) and shape[0] < 0
    inner = shape[1:] if open_ended else shape
    size = int(np.prod(inner))
    call.require(
        default.size == 1 if open_ended else not default.size or default.shape == tuple(shape),
        f"the default of feature {key!r} must have its shape, or be one value to pad with",
        found=list(default.shape),
        needed=list(shape),
    )
    filled: list[Sequence[Any]] = []
    for row in rows:
        call.require(
            row is not None or open_ended or default.size or not size,
            f"feature {key!r} is required",
            found="missing",
            needed="the feature, or a default",
        )
        values = default.ravel().tolist() if row is None and not open_ended else row or ()
        fits = len(values) % max(size, 1) == 0 if open_ended else len(values) == size
        call.require(
            fits,
            f"feature {key!r} must have as many values as its shape",
            found=len(values),
            needed=list(shape),
        )
        filled.append(values)
    if open_ended:
        longest = max((len(v) for v in filled), default=0) // max(size, 1)
        return _padded(call, filled, dtype, (longest, *inner), default, batched)
    out = flat_of(filled, dtype).reshape(len(filled), *shape)
    return out if batched else out[0, ...]


def _padded(
    call: Call,
    rows: Sequence[Sequence[Any]],
    dtype: DType,
    shape: tuple[int, ...],
    default: Array,
    batched: bool,
) -> Array:
    out = blank(check_size(call, (len(rows), int(np.prod(shape))), dtype.np), dtype)
    out[...] = default.item()
    for place, row in zip(out, rows, strict=True):
        place[: len(row)] = row
    return out.reshape(len(rows), *shape) if batched else out.reshape(shape)
