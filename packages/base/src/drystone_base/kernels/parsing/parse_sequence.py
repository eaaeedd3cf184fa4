"""Serialized sequence examples parsed: a context of features, and lists with a feature a step.

Source: TensorFlow ops ParseSequenceExample, ParseSequenceExampleV2, ParseSingleSequenceExample.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from google.protobuf.message import DecodeError

from drystone_abi.protos import SequenceExample
from drystone_base.core.dtypes import DType
from drystone_base.kernels._limits import check_size
from drystone_base.kernels._registry import Array, Call, kernel
from drystone_base.kernels._variants import blank
from drystone_base.kernels.parsing._examples import entry, feature_values, flat_of
from drystone_base.kernels.parsing.parse_example import Spec, key_texts, parse_features


@dataclass(frozen=True)
class Lists:
    """What to look for in feature lists; ``optional`` are the dense keys that may be missing."""

    sparse: Sequence[tuple[str, DType]]
    dense: Sequence[tuple[str, DType, tuple[int, ...]]]
    optional: Collection[str]
    ragged: Sequence[tuple[str, DType, DType]] = ()
    batched: bool = True


def _texts(call: Call, inputs: Sequence[Array], names: Sequence[str]) -> dict[str, list[str]]:
    return {name: key_texts(inputs[call.input_slices[name]]) for name in names}


def _check_keys(call: Call, inputs: Sequence[Array], names: Sequence[str]) -> None:
    """Fail unless each key is a scalar."""
    for name in names:
        shapes = [list(np.shape(v)) for v in inputs[call.input_slices[name]]]
        call.require(not any(shapes), f"{name} must be scalars", found=shapes, needed="rank 0")


def _read(call: Call, text: bytes) -> SequenceExample:
    try:
        return SequenceExample.FromString(text)
    except DecodeError as error:
        call.fail(
            "an example must be a serialized SequenceExample proto",
            found=repr(text[:40]),
            needed="SequenceExample",
            inner=error,
        )


def _steps(
    call: Call, examples: Sequence[SequenceExample], key: str, dtype: DType
) -> list[list[Sequence[Any]] | None]:
    """For each example the values of each step of a list; None where it has no such list."""
    out: list[list[Sequence[Any]] | None] = []
    for example in examples:
        found = entry(example.feature_lists.feature_list, key)
        if found is None:
            out.append(None)
            continue
        out.append([feature_values(call, f, key, dtype) or () for f in found.feature])
    return out


def _sparse_list(
    steps: Sequence[Sequence[Sequence[Any]]], dtype: DType, batched: bool
) -> tuple[Array, Array, Array]:
    """Indices [example, step, place], values, and the shape that holds all of them."""
    places = [
        (b, t, k)
        for b, rows in enumerate(steps)
        for t, row in enumerate(rows)
        for k in range(len(row))
    ]
    flat = [row for rows in steps for row in rows]
    longest = max((len(rows) for rows in steps), default=0)
    shape = [len(steps), longest, max((len(row) for row in flat), default=0)]
    indices = np.array(places, np.int64).reshape(-1, 3)
    if not batched:
        indices, shape = indices[:, 1:], shape[1:]
    return indices, flat_of(flat, dtype), np.array(shape, np.int64)


def _dense_list(
    call: Call,
    steps: Sequence[Sequence[Sequence[Any]]],
    key: str,
    dtype: DType,
    shape: tuple[int, ...],
    batched: bool,
) -> tuple[Array, Array]:
    """Each step a tensor of ``shape``, padded with zeros to the longest; and the lengths."""
    size = int(np.prod(shape))
    lengths = np.array([len(rows) for rows in steps], np.int64)
    whole = (len(steps), int(lengths.max(initial=0)), size)
    out = blank(check_size(call, whole, dtype.np), dtype)
    for b, rows in enumerate(steps):
        for t, row in enumerate(rows):
            call.require(
                len(row) == size,
                f"every step of list {key!r} must have as many values as its shape",
                found=f"{len(row)} at step {t}",
                needed=list(shape),
            )
            out[b, t] = row
    out = out.reshape(*whole[:2], *shape)
    return (out, lengths) if batched else (out[0], lengths.reshape(()))


def _ragged_list(
    steps: Sequence[Sequence[Sequence[Any]]], dtype: DType, splits: DType, batched: bool
) -> tuple[Array, Array, Array]:
    """Values, splits of examples into steps, and of steps into values."""
    flat = [row for rows in steps for row in rows]
    # One example has no outer splits: TensorFlow gives a scalar for them.
    outer = np.cumsum([0, *(len(rows) for rows in steps)]) if batched else np.zeros(())
    inner = np.cumsum([0, *(len(row) for row in flat)])
    return flat_of(flat, dtype), outer.astype(splits.np), inner.astype(splits.np)


def _parse(
    call: Call, examples: Sequence[SequenceExample], context: Spec, lists: Lists
) -> list[Array]:
    """All outputs of ParseSequenceExampleV2, in order."""
    call.require(examples, "the batch must not be empty", found=0, needed="1 or more examples")
    features = [example.context.feature for example in examples]
    sparse = [
        _sparse_list([s or [] for s in _steps(call, examples, key, dtype)], dtype, lists.batched)
        for key, dtype in lists.sparse
    ]
    dense = []
    for key, dtype, shape in lists.dense:
        steps = _steps(call, examples, key, dtype)
        call.require(
            key in lists.optional or all(s is not None for s in steps),
            f"list {key!r} is required",
            found="missing",
            needed="the list, or its key among feature_list_dense_missing_assumed_empty",
        )
        rows = [s or [] for s in steps]
        dense.append(_dense_list(call, rows, key, dtype, shape, lists.batched))
    ragged = [
        _ragged_list(
            [s or [] for s in _steps(call, examples, key, dtype)], dtype, splits, lists.batched
        )
        for key, dtype, splits in lists.ragged
    ]
    parsed = parse_features(call, features, context)
    if not lists.batched:
        splits = len(parsed) - len(context.ragged)
        parsed[splits:] = [v.dtype.type(0).reshape(()) for v in parsed[splits:]]
    return [
        *parsed,
        *(s[k] for k in range(3) for s in sparse),
        *(d[k] for k in range(2) for d in dense),
        *(r[k] for k in range(3) for r in ragged),
    ]


def _context(
    call: Call,
    sparse: Sequence[str],
    dense: Sequence[str],
    defaults: Sequence[Array],
    batched: bool,
) -> Spec:
    a = call.attrs
    columns = zip(dense, a["Tcontext_dense"], a["context_dense_shapes"], defaults, strict=True)
    return Spec(
        list(zip(sparse, a["context_sparse_types"], strict=True)), list(columns), batched=batched
    )


def _lists(
    call: Call, sparse: Sequence[str], dense: Sequence[str], optional: Collection[str]
) -> tuple[list[tuple[str, DType]], list[tuple[str, DType, tuple[int, ...]]], Collection[str]]:
    a = call.attrs
    kinds, shapes = a["feature_list_dense_types"], a["feature_list_dense_shapes"]
    return (
        list(zip(sparse, a["feature_list_sparse_types"], strict=True)),
        list(zip(dense, kinds, shapes, strict=True)),
        optional,
    )


@kernel("ParseSequenceExample")
def parse_sequence_example(call: Call, *inputs: Array) -> list[Array]:
    """Context features, then lists, of a vector of examples; dense lists with their lengths."""
    a, serialized = call.attrs, inputs[0]
    call.require(serialized.ndim == 1, "examples must be a vector", found=list(serialized.shape))
    defaults = inputs[call.input_slices["context_dense_defaults"]]
    context = _context(call, a["context_sparse_keys"], a["context_dense_keys"], defaults, True)
    lists = Lists(
        *_lists(
            call,
            a["feature_list_sparse_keys"],
            a["feature_list_dense_keys"],
            set(a["feature_list_dense_missing_assumed_empty"]),
        )
    )
    return _parse(call, [_read(call, text) for text in serialized.tolist()], context, lists)


@kernel("ParseSequenceExampleV2")
def parse_sequence_example_v2(call: Call, *inputs: Array) -> list[Array]:
    """As ParseSequenceExample with ragged ones, for one example or a vector of them."""
    a, serialized = call.attrs, inputs[0]
    call.require(
        serialized.ndim <= 1,
        "examples must be a scalar or a vector",
        found=list(serialized.shape),
        needed="rank 0 or 1",
    )
    batched = serialized.ndim == 1
    kinds = ("context_sparse", "context_dense", "context_ragged", "feature_list_sparse",
             "feature_list_dense", "feature_list_ragged")  # fmt: skip
    keys = _texts(call, inputs, [f"{kind}_keys" for kind in kinds])
    may_miss = inputs[call.input_slices["feature_list_dense_missing_assumed_empty"]][0]
    dense_keys = keys["feature_list_dense_keys"]
    call.require(
        may_miss.shape == (len(dense_keys),),
        "there must be one flag for each dense list",
        found=list(may_miss.shape),
        needed=len(dense_keys),
    )
    optional = {key for key, may in zip(dense_keys, may_miss.tolist(), strict=True) if may}
    defaults = inputs[call.input_slices["context_dense_defaults"]]
    plain = _context(
        call, keys["context_sparse_keys"], keys["context_dense_keys"], defaults, batched
    )
    ragged = zip(keys["context_ragged_keys"], a["context_ragged_value_types"],
                 a["context_ragged_split_types"], strict=True)  # fmt: skip
    ragged_lists = zip(keys["feature_list_ragged_keys"], a["feature_list_ragged_value_types"],
                       a["feature_list_ragged_split_types"], strict=True)  # fmt: skip
    context = Spec(plain.sparse, plain.dense, list(ragged), batched)
    found = _lists(call, keys["feature_list_sparse_keys"], dense_keys, optional)
    lists = Lists(*found, list(ragged_lists), batched)
    return _parse(call, [_read(call, t) for t in serialized.ravel().tolist()], context, lists)


@kernel("ParseSingleSequenceExample")
def parse_single_sequence_example(call: Call, *inputs: Array) -> list[Array]:
    """Context features, then lists, of one example; no lengths."""
    serialized = inputs[0]
    call.require(serialized.ndim == 0, "the example must be a scalar", found=list(serialized.shape))
    name = inputs[-1]
    call.require(name.ndim == 0, "debug_name must be a scalar", found=list(name.shape))
    single = ("context_sparse_keys", "context_dense_keys", "feature_list_sparse_keys",
              "feature_list_dense_keys")  # fmt: skip
    _check_keys(call, inputs, single)
    keys = _texts(call, inputs, ["feature_list_dense_missing_assumed_empty", *single])
    defaults = inputs[call.input_slices["context_dense_defaults"]]
    context = _context(
        call, keys["context_sparse_keys"], keys["context_dense_keys"], defaults, False
    )
    optional = set(keys["feature_list_dense_missing_assumed_empty"])
    parts: Mapping[str, Any] = keys
    found = _lists(
        call, parts["feature_list_sparse_keys"], parts["feature_list_dense_keys"], optional
    )
    lists = Lists(*found, batched=False)
    out = _parse(call, [_read(call, serialized.item())], context, lists)
    return out[: len(out) - len(lists.dense)]
