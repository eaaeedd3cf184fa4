"""Serialized training examples parsed into dense, sparse and ragged tensors.

Source: TensorFlow ops ParseExample, ParseExampleV2, ParseSingleExample.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from google.protobuf.message import DecodeError

from drystone_abi.protos import Example, Feature
from drystone_base.dtypes import FLOAT32, INT64, STRING, DType
from drystone_base.kernels._limits import check_size
from drystone_base.kernels._registry import Array, Call, kernel
from drystone_base.kernels._variants import blank
from drystone_base.tensor import string_array

_KINDS = {"bytes_list": STRING, "float_list": FLOAT32, "int64_list": INT64}


@dataclass(frozen=True)
class Spec:
    """What to look for: keys with dtypes; dense ones have a shape and a default each.

    ``batched`` is False when one example is parsed, whose outputs lack the batch dimension.
    """

    sparse: Sequence[tuple[str, DType]]
    dense: Sequence[tuple[str, DType, tuple[int, ...], Array]]
    ragged: Sequence[tuple[str, DType, DType]] = ()
    batched: bool = True


def _texts(values: Sequence[Array]) -> list[str]:
    flat = [v for array in values for v in np.ravel(array).tolist()]
    return [v.decode("utf-8", "surrogateescape") for v in flat]


@kernel("ParseExample")
def parse_example(call: Call, *inputs: Array) -> list[Array]:
    """Sparse indices, values and shapes, then dense values, of a vector of examples."""
    part = {name: inputs[where] for name, where in call.input_slices.items()}
    a = call.attrs
    dense = zip(_texts(part["dense_keys"]), a["Tdense"], a["dense_shapes"], part["dense_defaults"],
                strict=True)  # fmt: skip
    sparse = zip(_texts(part["sparse_keys"]), a["sparse_types"], strict=True)
    serialized = part["serialized"][0]
    call.require(
        serialized.ndim == 1,
        "examples must be a vector",
        found=list(serialized.shape),
        needed="rank 1",
    )
    return _parse(call, serialized, part["names"][0], Spec(list(sparse), list(dense)))


@kernel("ParseExampleV2")
def parse_example_v2(call: Call, *inputs: Array) -> list[Array]:
    """As ParseExample, then ragged values and row splits; one example or a vector of them."""
    part = {name: inputs[where] for name, where in call.input_slices.items()}
    a = call.attrs
    dense = zip(_texts(part["dense_keys"]), a["Tdense"], a["dense_shapes"], part["dense_defaults"],
                strict=True)  # fmt: skip
    sparse = zip(_texts(part["sparse_keys"]), a["sparse_types"], strict=True)
    ragged = zip(_texts(part["ragged_keys"]), a["ragged_value_types"], a["ragged_split_types"],
                 strict=True)  # fmt: skip
    serialized = part["serialized"][0]
    call.require(
        serialized.ndim <= 1,
        "examples must be a scalar or a vector",
        found=list(serialized.shape),
        needed="rank 0 or 1",
    )
    spec = Spec(list(sparse), list(dense), list(ragged), serialized.ndim == 1)
    return _parse(call, serialized, part["names"][0], spec)


@kernel("ParseSingleExample")
def parse_single_example(call: Call, serialized: Array, *defaults: Array) -> list[Array]:
    """As ParseExample for one example, whose outputs have no batch dimension."""
    a = call.attrs
    call.require(serialized.ndim == 0, "the example must be a scalar", found=list(serialized.shape))
    dense = zip(a["dense_keys"], a["Tdense"], a["dense_shapes"], defaults, strict=True)
    sparse = zip(a["sparse_keys"], a["sparse_types"], strict=True)
    spec = Spec(list(sparse), list(dense), batched=False)
    return _parse(call, serialized, string_array([], (0,)), spec)


def _parse(call: Call, serialized: Array, names: Array, spec: Spec) -> list[Array]:
    texts = serialized.ravel().tolist()
    call.require(
        names.size in (0, len(texts)),
        "there must be no names, or one for each example",
        found=names.size,
        needed=len(texts),
    )
    batch = [_features(call, text) for text in texts]
    found = [_rows(call, batch, key, dtype) for key, dtype in spec.sparse]
    sparse = [
        _sparse([() if r is None else r for r in rows], dtype, spec.batched)
        for rows, (_, dtype) in zip(found, spec.sparse, strict=True)
    ]
    dense = [_dense(call, batch, *column, spec.batched) for column in spec.dense]
    ragged = [
        _ragged([r or () for r in _rows(call, batch, key, dtype)], dtype, splits, spec.batched)
        for key, dtype, splits in spec.ragged
    ]
    return [
        *(s[0] for s in sparse),
        *(s[1] for s in sparse),
        *(s[2] for s in sparse),
        *dense,
        *(r[0] for r in ragged),
        *(r[1] for r in ragged),
    ]


def _features(call: Call, text: bytes) -> Mapping[str, Feature]:
    try:
        return Example.FromString(text).features.feature
    except DecodeError as error:
        call.fail(
            "an example must be a serialized Example proto",
            found=repr(text[:40]),
            needed="Example",
            inner=error,
        )


def _rows(
    call: Call, batch: Sequence[Mapping[str, Feature]], key: str, dtype: DType
) -> list[Sequence[Any] | None]:
    """The values of a feature in each example; None where it is missing."""
    rows: list[Sequence[Any] | None] = []
    for features in batch:
        kind = features[key].WhichOneof("kind") if key in features else None
        if kind is None:
            rows.append(None)
            continue
        call.require(
            _KINDS[kind] is dtype,
            f"feature {key!r} must have the declared type",
            found=_KINDS[kind],
            needed=dtype,
        )
        rows.append(getattr(features[key], kind).value)
    return rows


def _flat(rows: Sequence[Sequence[Any]], dtype: DType) -> Array:
    values = [v for row in rows for v in row]
    return string_array(values, (len(values),)) if dtype is STRING else np.array(values, dtype.np)


def _sparse(
    rows: Sequence[Sequence[Any]], dtype: DType, batched: bool
) -> tuple[Array, Array, Array]:
    counts = np.array([len(row) for row in rows], np.int64)
    columns = [np.arange(n, dtype=np.int64) for n in counts]
    indices = np.concatenate([np.zeros(0, np.int64), *columns])
    if not batched:
        return indices[:, None], _flat(rows, dtype), counts
    row_ids = np.repeat(np.arange(len(rows), dtype=np.int64), counts)
    shape = np.array([len(rows), counts.max(initial=0)], np.int64)
    return np.stack([row_ids, indices], axis=1), _flat(rows, dtype), shape


def _ragged(
    rows: Sequence[Sequence[Any]], dtype: DType, splits: DType, batched: bool
) -> tuple[Array, Array]:
    values = _flat(rows, dtype)
    if not batched:
        return values, np.zeros(0, splits.np)
    return values, np.cumsum([0, *(len(row) for row in rows)]).astype(splits.np)


def _dense(
    call: Call,
    batch: Sequence[Mapping[str, Feature]],
    key: str,
    dtype: DType,
    shape: tuple[int, ...],
    default: Array,
    batched: bool,
) -> Array:
    """One row an example; a first dimension of -1 is padded with the default to the longest."""
    rows = _rows(call, batch, key, dtype)
    open_ended = bool(shape) and shape[0] < 0
    inner = shape[1:] if open_ended else shape
    size = int(np.prod(inner))
    call.require(
        default.size == 1 if open_ended else default.size in (0, size),
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
    out = _flat(filled, dtype).reshape(len(filled), *shape)
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
