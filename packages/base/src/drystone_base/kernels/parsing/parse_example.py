"""Serialized training examples parsed into dense, sparse and ragged tensors.

Source: TensorFlow ops ParseExample, ParseExampleV2, ParseSingleExample.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from google.protobuf.message import DecodeError

from drystone_abi.protos import Example, Feature
from drystone_base.core.dtypes import DType
from drystone_base.core.tensor import string_array
from drystone_base.kernels._registry import Array, Call, kernel
from drystone_base.kernels.parsing._examples import dense_of, feature_rows, ragged_of, sparse_of


@dataclass(frozen=True)
class Spec:
    """What to look for: keys with dtypes; dense ones have a shape and a default each.

    ``batched`` is False when one example is parsed, whose outputs lack the batch dimension.
    """

    sparse: Sequence[tuple[str, DType]]
    dense: Sequence[tuple[str, DType, tuple[int, ...], Array]]
    ragged: Sequence[tuple[str, DType, DType]] = ()
    batched: bool = True


def key_texts(values: Sequence[Array]) -> list[str]:
    """The keys in string tensors."""
    flat = [v for array in values for v in np.ravel(array).tolist()]
    return [v.decode("utf-8", "surrogateescape") for v in flat]


@kernel("ParseExample")
def parse_example(call: Call, *inputs: Array) -> list[Array]:
    """Sparse indices, values and shapes, then dense values, of a vector of examples."""
    part = {name: inputs[where] for name, where in call.input_slices.items()}
    a = call.attrs
    dense = zip(key_texts(part["dense_keys"]), a["Tdense"], a["dense_shapes"],
                part["dense_defaults"], strict=True)  # fmt: skip
    sparse = zip(key_texts(part["sparse_keys"]), a["sparse_types"], strict=True)
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
    dense = zip(key_texts(part["dense_keys"]), a["Tdense"], a["dense_shapes"],
                part["dense_defaults"], strict=True)  # fmt: skip
    sparse = zip(key_texts(part["sparse_keys"]), a["sparse_types"], strict=True)
    ragged = zip(key_texts(part["ragged_keys"]), a["ragged_value_types"], a["ragged_split_types"],
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
    return parse_features(call, [_features(call, text) for text in texts], spec)


def parse_features(call: Call, batch: Sequence[Mapping[str, Feature]], spec: Spec) -> list[Array]:
    """Sparse indices, values and shapes, dense values, ragged values and splits."""
    found = [feature_rows(call, batch, key, dtype) for key, dtype in spec.sparse]
    sparse = [
        sparse_of([() if r is None else r for r in rows], dtype, spec.batched)
        for rows, (_, dtype) in zip(found, spec.sparse, strict=True)
    ]
    dense = [dense_of(call, batch, *column, spec.batched) for column in spec.dense]
    ragged = [
        ragged_of(
            [r or () for r in feature_rows(call, batch, key, dtype)], dtype, splits, spec.batched
        )
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
