"""Parsing: properties against round trips and Python's csv module."""

import csv
import io
import itertools
import json

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from stateful import Bench, f32, i32, i64, shapes

from drystone_abi.protos import BytesList, Example, Feature, Features, FloatList, Int64List
from drystone_base.core.dtypes import FLOAT32, INT32, INT64, STRING
from drystone_base.core.tensor import string_array

B = Bench()
FIELD = st.text(alphabet='ab," \n', max_size=5)


@settings(max_examples=30, deadline=None)
@given(hnp.arrays(st.sampled_from([np.float32, np.int64, np.uint8, np.bool_]), hnp.array_shapes()))
def test_tensors_survive_serializing(value: np.ndarray) -> None:
    text = B("SerializeTensor", value)
    back = B("ParseTensor", text, out_type=str(value.dtype))
    assert np.array_equal(back, value, equal_nan=value.dtype.kind == "f")


@settings(max_examples=30, deadline=None)
@given(st.lists(FIELD, min_size=1, max_size=4))
def test_csv_against_python(fields: list[str]) -> None:
    line = io.StringIO()
    csv.writer(line, quoting=csv.QUOTE_ALL, lineterminator="").writerow(fields)
    defaults = [string_array([b"-"], (1,))] * len(fields)
    record = string_array([line.getvalue().encode()], (1,))
    out = B.all("DecodeCSV", record, *defaults, OUT_TYPE=[STRING] * len(fields))
    assert [c.item() for c in out] == [f.encode() or b"-" for f in fields]


@settings(max_examples=20, deadline=None)
@given(st.lists(st.lists(st.integers(-9, 9), max_size=4), min_size=1, max_size=4))
def test_sparse_and_ragged_hold_the_same_rows(rows: list[list[int]]) -> None:
    texts = [
        Example(features=Features(feature={"k": Feature(int64_list=Int64List(value=r))}))
        for r in rows
    ]
    batch = string_array([t.SerializeToString() for t in texts], (len(rows),))
    none, key = string_array([], (0,)), string_array([b"k"], (1,))
    indices, values, shape = B.all(
        "ParseExampleV2", batch, none, key, none, none, num_sparse=1, sparse_types=[INT64],
        Tdense=[], dense_shapes=[], ragged_value_types=[], ragged_split_types=[],
    )  # fmt: skip
    ragged, splits = B.all(
        "ParseExampleV2", batch, none, none, none, key, num_sparse=0, sparse_types=[], Tdense=[],
        dense_shapes=[], ragged_value_types=[INT64], ragged_split_types=[INT32],
    )  # fmt: skip
    assert [ragged[a:b].tolist() for a, b in itertools.pairwise(splits.tolist())] == rows
    assert values.tolist() == ragged.tolist()
    want = [[r, c] for r, row in enumerate(rows) for c in range(len(row))]
    assert indices.tolist() == want
    assert shape.tolist() == [len(rows), max(map(len, rows))]


def test_json_examples() -> None:
    made = {"a": {"floatList": {"value": [1.5]}}, "b": {"bytesList": {"value": ["eA=="]}}}
    text = json.dumps({"features": {"feature": made}})
    example = Example.FromString(B("DecodeJSONExample", text).item())
    assert example.features.feature["a"].float_list == FloatList(value=[1.5])
    assert example.features.feature["b"].bytes_list == BytesList(value=[b"x"])
    B.fails("INVALID_ARGUMENT", "JSON", "DecodeJSONExample", "{")


def test_refusals_say_which_feature() -> None:
    example = Example(features=Features(feature={"a": Feature(int64_list=Int64List(value=[1, 2]))}))
    single = ("ParseSingleExample", string_array([example.SerializeToString()], ()))
    attrs = {"num_sparse": 0, "sparse_keys": [], "sparse_types": [], "dense_keys": ["a"]}
    one = {**attrs, "Tdense": [INT64], "dense_shapes": [()]}
    B.fails("INVALID_ARGUMENT", "'a' must have as many", *single, i64([]), **one)
    other = {**attrs, "Tdense": [FLOAT32], "dense_shapes": [(2,)]}
    B.fails("INVALID_ARGUMENT", "'a' must have the declared type", *single, f32([]), **other)
    missing = {**one, "dense_keys": ["b"]}
    B.fails("INVALID_ARGUMENT", "'b' is required", *single, i64([]), **missing)
    junk = string_array([b"\xff"], ())
    B.fails("INVALID_ARGUMENT", "Example proto", "ParseSingleExample", junk, i64([]), **one)
    B.fails("INVALID_ARGUMENT", "serialized tensor", "ParseTensor", "junk", out_type="int32")
    B.fails("INVALID_ARGUMENT", "declared type", "ParseTensor", B("SerializeTensor", i32(1)),
            out_type="int64")  # fmt: skip


def test_shapes() -> None:
    attrs = {"sparse_types": [INT64], "dense_shapes": [(2,), (-1, 3)]}
    triple = [(-1, 2), (-1,), (2,)]
    out, _ = shapes("ParseExample", [(5,), (0,), ()], **attrs)
    assert out == [*triple, (5, 2), (5, -1, 3)]
    v2 = {**attrs, "ragged_value_types": [INT64]}
    assert shapes("ParseExampleV2", [(5,)], **v2)[0] == [*triple, (5, 2), (5, -1, 3), (-1,), (6,)]
    out, _ = shapes("ParseExampleV2", [()], **v2)
    assert out == [(-1, 1), (-1,), (1,), (2,), (-1, 3), (-1,), (0,)]
    assert shapes("ParseExampleV2", [None], **v2, count=7)[0] == [None] * 7
    assert shapes("ParseSingleExample", [()], **attrs)[0] == out[:5]
    assert shapes("DecodeCSV", [(2, 3)], count=2)[0] == [(2, 3), (2, 3)]
    assert shapes("ParseTensor", [()])[0] == [None]
