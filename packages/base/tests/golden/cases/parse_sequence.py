"""Golden cases of sequence examples."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from oracle import Case, case
from stateful import f32, i64

from drystone_abi.protos import (
    BytesList,
    Feature,
    FeatureList,
    FeatureLists,
    Features,
    FloatList,
    Int64List,
    SequenceExample,
)
from drystone_base.core.dtypes import FLOAT32, INT32, INT64, STRING
from golden.cases.strings import NONE, texts


def _feature(values: Any) -> Feature:
    if values is None:
        return Feature()
    if values and isinstance(values[0], bytes):
        return Feature(bytes_list=BytesList(value=values))
    if values and isinstance(values[0], float):
        return Feature(float_list=FloatList(value=values))
    return Feature(int64_list=Int64List(value=values))


def _sequence(context: Any, lists: Any) -> bytes:
    made = {k: FeatureList(feature=[_feature(v) for v in rows]) for k, rows in lists.items()}
    return SequenceExample(
        context=Features(feature={k: _feature(v) for k, v in context.items()}),
        feature_lists=FeatureLists(feature_list=made),
    ).SerializeToString(deterministic=True)


ONE = _sequence(
    {"cs": [b"x", b"y"], "cd": [1.5, 2.5], "ci": [4], "cr": [1, 2, 3]},
    {
        "ls": [[1], None, [2, 3]],
        "ld": [[1.0, 2.0], [3.0, 4.0]],
        "li": [[5]],
        "lr": [[b"a"], [b"b", b"c"]],
    },
)
TWO = _sequence(
    {"cd": [0.5, -1.0], "cr": [9]},
    {"ls": [[7, 8, 9, 10]], "ld": [], "li": [[6], [7], [8]], "lr": [None]},
)
THREE = _sequence({"cd": [0.0, 1.0], "ci": [6]}, {"ld": [[9.0, 8.0]], "li": []})
BATCH = texts(ONE, TWO, THREE)
NO_NAMES = np.empty(0, object)


def _v1(
    serialized: Any, optional: Sequence[str], keys: Any = ("cs", "cd", "ls", "ld"), **more: Any
) -> Case:
    cs, cd, ls, ld = keys
    attrs = {
        "context_sparse_types": [STRING], "Tcontext_dense": [FLOAT32, INT64],
        "feature_list_dense_types": [FLOAT32, INT64], "context_dense_shapes": [(2,), ()],
        "feature_list_sparse_types": [INT64], "feature_list_dense_shapes": [(2,), ()],
        "Ncontext_sparse": 1, "Ncontext_dense": 2, "Nfeature_list_sparse": 1,
        "Nfeature_list_dense": 2,
    } | more  # fmt: skip
    return case(
        "ParseSequenceExample", serialized, NO_NAMES, f32([]), i64(-1),
        feature_list_dense_missing_assumed_empty=list(optional), context_sparse_keys=[cs],
        context_dense_keys=[cd, "ci"], feature_list_sparse_keys=[ls],
        feature_list_dense_keys=[ld, "li"], **attrs,
    )  # fmt: skip


def _single(serialized: Any, optional: Any, **more: Any) -> Case:
    attrs = {
        "context_sparse_types": [STRING], "Tcontext_dense": [FLOAT32, INT64],
        "feature_list_dense_types": [FLOAT32, INT64], "context_dense_shapes": [(2,), ()],
        "feature_list_sparse_types": [INT64], "feature_list_dense_shapes": [(2,), ()],
        "Ncontext_sparse": 1, "Ncontext_dense": 2, "Nfeature_list_sparse": 1,
        "Nfeature_list_dense": 2,
    } | more  # fmt: skip
    keys = [np.array(k.encode(), object) for k in ("cs", "cd", "ci", "ls", "ld", "li")]
    return case("ParseSingleSequenceExample", serialized, optional, *keys, f32([]), i64(-1),
                np.array(b"", object), **attrs)  # fmt: skip


def _v2(serialized: Any, flags: Sequence[bool], ragged: bool = True, **more: Any) -> Case:
    kinds = [INT64] if ragged else []
    splits = [INT32] if ragged else []
    attrs = {
        "Ncontext_sparse": 1, "context_sparse_types": [STRING],
        "Tcontext_dense": [FLOAT32, INT64], "context_dense_shapes": [(2,), ()],
        "context_ragged_value_types": kinds, "context_ragged_split_types": splits,
        "Nfeature_list_sparse": 1, "Nfeature_list_dense": 2,
        "feature_list_dense_types": [FLOAT32, INT64], "feature_list_sparse_types": [INT64],
        "feature_list_dense_shapes": [(2,), ()],
        "feature_list_ragged_value_types": [STRING] if ragged else [],
        "feature_list_ragged_split_types": [INT64] if ragged else [],
    } | more  # fmt: skip
    return case(
        "ParseSequenceExampleV2", serialized, NO_NAMES, texts("cs"), texts("cd", "ci"),
        texts("cr") if ragged else NONE, texts("ls"), texts("ld", "li"),
        texts("lr") if ragged else NONE, np.array(flags), f32([]), i64(-1), **attrs,
    )  # fmt: skip


def _cases() -> Iterator[Case]:
    for serialized in (BATCH, BATCH[:1], BATCH[:0], BATCH[::-1].copy()):
        yield _v1(serialized, [])
        yield _v1(serialized, ["ld", "li"])
        for ragged in (True, False):
            yield _v2(serialized, [False, False], ragged)
            yield _v2(serialized, [True, True], ragged)
    for one in (ONE, TWO, THREE):
        # TensorFlow leaves the outer splits of one example uninitialised.
        yield _v2(np.array(one, object), [True, True], False)
        yield _single(np.array(one, object), NONE)
        yield _single(np.array(one, object), texts("ld", "li"))
    missing = _sequence({"cd": [1.0, 2.0]}, {})
    yield _v1(texts(missing), [])
    yield _v1(texts(missing), ["ld", "li"])
    yield _v2(texts(missing), [True, False])
    yield _v2(texts(missing, ONE), [True, True])
    yield _single(np.array(missing, object), NONE)
    yield _single(np.array(missing, object), texts("ld", "li"))


def _refused() -> Iterator[Case]:
    bad_kind = _sequence({"cd": [1, 2]}, {"ld": [], "li": []})
    no_context = _sequence({}, {"ld": [], "li": []})
    bad_step = _sequence({"cd": [1.0, 2.0]}, {"ld": [[1.0]], "li": []})
    bad_list = _sequence({"cd": [1.0, 2.0]}, {"ld": [], "li": [], "ls": [[1.5]]})
    short = _sequence({"cd": [1.0]}, {"ld": [], "li": []})
    for wrong in (bad_kind, no_context, bad_step, bad_list, short, b"\n\x05"):
        yield _v1(texts(wrong), [])
        yield _v2(texts(wrong), [False, False])
        yield _single(np.array(wrong, object), NONE)
    yield _v2(BATCH.reshape(1, 3), [False, False])
    yield _v2(BATCH, [False])


def _odd_keys() -> Iterator[Case]:
    """Keys that are no UTF-8 are nowhere; those that must be there break TensorFlow's Python."""
    whole = _v2(BATCH[:1], [True, True], False)
    single = _single(np.array(ONE, object), texts("ld", "li"))
    for item, places in ((whole, (2, 5, 6)), (single, (2, 4, 5))):
        for k in places:
            odd = item.inputs[k].copy()
            odd.reshape(-1)[:1] = b"\xff"
            yield replace(item, inputs=(*item.inputs[:k], odd, *item.inputs[k + 1 :]))


CASES = [*_cases(), *_refused(), *_odd_keys()]
