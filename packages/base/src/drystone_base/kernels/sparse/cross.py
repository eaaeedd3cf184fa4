"""Feature crosses: every combination of one value from each column, joined or hashed.

Source: TensorFlow ops SparseCross, SparseCrossV2, SparseCrossHashed, RaggedCross. The hashes are
fixed for ever, as trained weights depend on them.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeAlias

import numpy as np

from drystone_base.core.dtypes import INT64
from drystone_base.core.fingerprint import fingerprint64
from drystone_base.core.tensor import string_array
from drystone_base.kernels._indices import scalar_int
from drystone_base.kernels._limits import check_size
from drystone_base.kernels._registry import Array, Call, kernel
from drystone_base.kernels._strings import scalar_string
from drystone_base.kernels._widen import quiet
from drystone_base.kernels.sparse._sparse import check_splits
from drystone_base.kernels.string.string_hash import siphash

_FACTOR: Final = 0xC6A4A7935BD1E995
_MASK: Final = (1 << 64) - 1

Column: TypeAlias = tuple[Array, Array]  # values; where the values of each example begin and end


def _parts(call: Call, inputs: Sequence[Array]) -> Mapping[str, Sequence[Array]]:
    return {name: inputs[where] for name, where in call.input_slices.items()}


def _rank(call: Call, value: Array, rank: int, what: str) -> None:
    call.require(
        value.ndim == rank, f"{what} must have its rank", found=list(value.shape), needed=rank
    )


def _sparse_column(call: Call, indices: Array, values: Array, shape: Array) -> None:
    _rank(call, indices, 2, "indices")
    _rank(call, values, 1, "values")
    call.require(
        shape.shape == (2,) and len(indices) == len(values),
        "a column must be a sparse matrix",
        found=f"{list(indices.shape)}, {list(values.shape)} and {list(shape.shape)}",
        needed="[n, 2], [n] and [2]",
    )


def _batch(call: Call, sizes: Sequence[int]) -> int:
    batch = sizes[0] if sizes else 0
    call.require(
        all(n == batch for n in sizes),
        "all columns must have as many examples",
        found=list(sizes),
        needed="equal sizes",
    )
    check_size(call, (batch,), np.dtype(np.int64))
    return batch


def _dense_ends(value: Array) -> Array:
    return np.asarray(np.arange(len(value) + 1) * value.shape[1])


def _columns(call: Call, part: Mapping[str, Sequence[Array]]) -> list[Column]:
    """The sparse columns, then the dense ones."""
    sparse = list(zip(part["indices"], part["values"], part["shapes"], strict=True))
    for indices, values, shape in sparse:
        _sparse_column(call, indices, values, shape)
        call.require(
            indices.shape[1] == 2,
            "a column must be a sparse matrix",
            found=f"rank {indices.shape[1]}",
            needed="rank 2",
        )
    for value in part["dense_inputs"]:
        _rank(call, value, 2, "a dense column")
    sizes = [int(shape[0]) for _, _, shape in sparse] + [len(v) for v in part["dense_inputs"]]
    batch = _batch(call, sizes)
    return [
        *((values, _ends_of_rows(indices[:, 0], batch)) for indices, values, _ in sparse),
        *((value.reshape(-1), _dense_ends(value)) for value in part["dense_inputs"]),
    ]


def _ends_of_rows(rows: Array, batch: int) -> Array:
    """Where each example's values begin and end, of rows in order; a row out of order ends all."""
    good = (rows >= 0) & (rows < batch) & (np.diff(rows, prepend=0) >= 0)
    fits = int(np.minimum.accumulate(good).sum())
    return np.searchsorted(rows[:fits], np.arange(batch + 1))


def _texts(values: Array) -> list[bytes]:
    flat = values.reshape(-1).tolist()
    return flat if values.dtype == object else [str(v).encode() for v in flat]


def _numbers(values: Array) -> list[int]:
    """Strings by their fingerprint, integers as they are, modulo 2^64."""
    if values.dtype == object:
        return [int(v) for v in fingerprint64(values.reshape(-1).tolist())]
    return [v & _MASK for v in values.reshape(-1).tolist()]


def mix(a: int, b: int) -> int:
    """One 64-bit fingerprint of two."""
    b = b * _FACTOR & _MASK
    out = a ^ _FACTOR ^ ((b ^ b >> 47) * _FACTOR & _MASK)
    out = out * _FACTOR & _MASK
    out = (out ^ out >> 47) * _FACTOR & _MASK
    return out ^ out >> 47


def _bucket(value: int, buckets: int) -> int:
    return value % (buckets if buckets > 0 else (1 << 63) - 1)


def _cross(
    call: Call,
    columns: Sequence[Column],
    items: Sequence[Sequence[Any]],
    join: Callable[[Sequence[Any]], Any],
) -> tuple[list[Any], Array]:
    """All crosses, example by example, the last column fastest; how many each example has."""
    batch = len(columns[0][1]) - 1 if columns else 0
    lengths = np.array([np.diff(ends) for _, ends in columns], object).reshape(len(columns), batch)
    counts = lengths.prod(axis=0) if columns else np.zeros(batch, object)
    check_size(call, (int(counts.sum()),), np.dtype(np.int64))
    out: list[Any] = []
    for b in range(batch):
        chosen = [row[e[b] : e[b + 1]] for row, (_, e) in zip(items, columns, strict=True)]
        out.extend(join(combination) for combination in itertools.product(*chosen))
    return out, counts.astype(np.int64)


def _sparse(values: Array, counts: Array) -> tuple[Array, Array, Array]:
    rows = np.repeat(np.arange(len(counts), dtype=np.int64), counts)
    starts = np.repeat(np.cumsum(counts) - counts, counts)
    indices = np.stack([rows, np.arange(len(rows), dtype=np.int64) - starts], axis=1)
    return indices, values, np.array([len(counts), counts.max(initial=0)], np.int64)


def _joined(call: Call, columns: Sequence[Column], separator: bytes) -> tuple[Array, Array]:
    out, counts = _cross(call, columns, [_texts(v) for v, _ in columns], separator.join)
    return string_array(out, (len(out),)), counts


def _hashed(call: Call, columns: Sequence[Column], buckets: int, key: int) -> tuple[Array, Array]:
    def join(numbers: Sequence[int]) -> int:
        value = key & _MASK
        for number in numbers:
            value = mix(value, number)
        return _bucket(value, buckets)

    out, counts = _cross(call, columns, [_numbers(v) for v, _ in columns], join)
    return np.array(out, np.int64), counts


@kernel("SparseCross")
@quiet
def sparse_cross(call: Call, *inputs: Array) -> tuple[Array, Array, Array]:
    """A sparse matrix of crosses, joined by ``_X_``, or hashed from ``hash_key`` on."""
    part, a = _parts(call, inputs), call.attrs
    if a["internal_type"] is not INT64:
        for value in (*part["values"], *part["dense_inputs"]):
            call.require(
                value.dtype == object,
                "columns must have the internal type",
                found=value.dtype,
                needed="string",
            )
    columns = _columns(call, part)
    if a["out_type"] is INT64:
        return _sparse(*_hashed(call, columns, int(a["num_buckets"]), int(a["hash_key"])))
    return _sparse(*_joined(call, columns, b"_X_"))


@kernel("SparseCrossV2")
@quiet
def sparse_cross_v2(call: Call, *inputs: Array) -> tuple[Array, Array, Array]:
    """A sparse matrix of crosses, joined by a separator."""
    part = _parts(call, inputs)
    columns = _columns(call, part)
    return _sparse(*_joined(call, columns, scalar_string(call, part["sep"][0], "sep")))


def _keyed(values: Array, strong: bool, salt: Sequence[int], dense: bool) -> list[int]:
    """As :func:`_numbers`, or keyed; of integers TensorFlow hashes the four low bytes alone."""
    if values.dtype == object:
        texts = values.reshape(-1).tolist()
    elif dense and not strong:
        return _numbers(values)
    else:
        texts = [(v & _MASK).to_bytes(8, "little")[:4] for v in values.reshape(-1).tolist()]
    if strong:
        return [siphash(text, salt[0] & _MASK, salt[1] & _MASK) for text in texts]
    return [int(v) for v in fingerprint64(texts)]


@kernel("SparseCrossHashed")
@quiet
def sparse_cross_hashed(call: Call, *inputs: Array) -> tuple[Array, Array, Array]:
    """A sparse matrix of crosses' hashes, int64; ``strong_hash`` is keyed with ``salt``."""
    part = _parts(call, inputs)
    columns = _columns(call, part)
    buckets = scalar_int(call, part["num_buckets"][0], "num_buckets")
    strong, salt = bool(scalar_int(call, part["strong_hash"][0], "strong_hash")), part["salt"][0]
    call.require(salt.size == 2, "salt must be two integers", found=list(salt.shape), needed="[2]")
    key, first_dense = salt.reshape(-1).tolist(), len(part["values"])
    items = [_keyed(v, strong, key, k >= first_dense) for k, (v, _) in enumerate(columns)]

    def join(numbers: Sequence[int]) -> int:
        value = numbers[0]
        for number in numbers[1:]:
            value = mix(value, number)
        return _bucket(value, buckets)

    out, counts = _cross(call, columns, items, join)
    return _sparse(np.array(out, np.int64), counts)


def _ragged_columns(call: Call, part: Mapping[str, Sequence[Array]]) -> list[Column]:
    """The columns in the order that ``input_order`` tells: R, S or D for each."""
    ragged = list(zip(part["ragged_values"], part["ragged_row_splits"], strict=True))
    for values, splits in ragged:
        _rank(call, values, 1, "ragged values")
        check_splits(call, splits, len(values))
    triples = zip(part["sparse_indices"], part["sparse_values"], part["sparse_shape"], strict=True)
    sparse = list(triples)
    for indices, values, shape in sparse:
        _sparse_column(call, indices, values, shape)
    for value in part["dense_inputs"]:
        _rank(call, value, 2, "a dense column")
    sizes = [len(s) - 1 for _, s in ragged] + [len(v) for v in part["dense_inputs"]]
    batch = _batch(call, sizes + [int(shape[0]) for _, _, shape in sparse])
    kinds = {
        "R": [(values, splits) for values, splits in ragged],
        "S": [(v, np.searchsorted(i[:, 0], np.arange(batch + 1))) for i, v, _ in sparse],
        "D": [(v.reshape(-1), _dense_ends(v)) for v in part["dense_inputs"]],
    }
    order = str(call.attrs["input_order"])
    call.require(
        all(order.count(kind) == len(kinds[kind]) for kind in kinds)
        and len(order) == sum(map(len, kinds.values())),
        "input_order must tell the kind of each column",
        found=order,
        needed=", ".join(f"{len(v)} {k}" for k, v in kinds.items()),
    )
    turns = {kind: iter(found) for kind, found in kinds.items()}
    return [next(turns[kind]) for kind in order]


@kernel("RaggedCross")
@quiet
def ragged_cross(call: Call, *inputs: Array) -> tuple[Array, Array]:
    """Ragged rows of crosses, joined by ``_X_`` or hashed: values and row splits."""
    a = call.attrs
    columns = _ragged_columns(call, _parts(call, inputs))
    if a["out_values_type"] is INT64:
        values, counts = _hashed(call, columns, int(a["num_buckets"]), int(a["hash_key"]))
    else:
        values, counts = _joined(call, columns, b"_X_")
    splits = np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)])
    return values, splits.astype(a["out_row_splits_type"].np)
