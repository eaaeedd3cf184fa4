"""Sequence examples beyond the golden cases: one example with ragged features, refusals."""

from typing import Any

import numpy as np
from stateful import Bench

from drystone_abi.protos import BytesList, Feature, FeatureList, FeatureLists, SequenceExample
from drystone_base.core.dtypes import INT64, STRING


def _example(*steps: list[bytes]) -> Any:
    rows = FeatureList(feature=[Feature(bytes_list=BytesList(value=row)) for row in steps])
    lists = FeatureLists(feature_list={"words": rows})
    return np.array(SequenceExample(feature_lists=lists).SerializeToString(), object)


def _ragged(run: Bench, serialized: Any, dense: tuple[bytes, ...] = ()) -> list[Any]:
    none = np.zeros(0, object)
    return run.all(
        "ParseSequenceExampleV2", serialized, none, none, none, none, none,
        np.array(list(dense), object), np.array([b"words"], object), np.zeros(len(dense), bool),
        feature_list_ragged_value_types=[STRING], feature_list_ragged_split_types=[INT64],
        feature_list_dense_types=[STRING] * len(dense),
        feature_list_dense_shapes=[()] * len(dense), Nfeature_list_dense=len(dense),
    )  # fmt: skip


def test_ragged_lists_have_splits_of_examples_and_of_steps() -> None:
    one = _example([b"a"], [], [b"b", b"c"])
    batch = np.array([one.item(), _example([b"d"]).item()], object)
    values, outer, inner = _ragged(Bench(), batch)
    assert values.tolist() == [b"a", b"b", b"c", b"d"]
    assert (outer.tolist(), inner.tolist()) == ([0, 3, 4], [0, 1, 1, 3, 4])
    values, outer, inner = _ragged(Bench(), one)
    assert (values.tolist(), outer.shape, inner.tolist()) == ([b"a", b"b", b"c"], (), [0, 1, 1, 3])


def test_a_missing_dense_list_is_refused_unless_it_may_be_missing() -> None:
    none = np.zeros(0, object)
    Bench().fails(
        "INVALID_ARGUMENT", "list 'other' is required", "ParseSequenceExampleV2",
        np.array([_example().item()], object), none, none, none, none, none,
        np.array([b"other"], object), none, np.zeros(1, bool), feature_list_dense_types=[STRING],
        feature_list_dense_shapes=[()], Nfeature_list_dense=1,
    )  # fmt: skip
