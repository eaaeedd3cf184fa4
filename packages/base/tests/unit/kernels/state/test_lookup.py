"""Lookup tables: values and refusals as TensorFlow 2.21 gives them."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from stateful import Bench, i32, i64, shapes

from drystone_base.core.dtypes import FLOAT32, INT64
from drystone_base.state.variables import Variable

TYPES = {"key_dtype": "string", "value_dtype": "int64"}
EXPORT = {"Tkeys": "string", "Tvalues": "int64"}


def table(b: Bench, op: str = "AnonymousHashTable", *inputs: Any, **attrs: Any) -> Any:
    return b(op, *inputs, **(TYPES | attrs))


def exported(b: Bench, h: Any, **types: str) -> list[Any]:
    return [v.tolist() for v in b.all("LookupTableExportV2", h, **(EXPORT | types))]


def test_hash_table_is_filled_once() -> None:
    b = Bench()
    h = table(b)
    assert b("LookupTableSizeV2", h) == 0
    find = ("LookupTableFindV2", h)
    b.fails("FAILED_PRECONDITION", "initialised before", *find, ["a"], i64(-1))
    b.fails("ABORTED", "exported", "LookupTableExportV2", h, **EXPORT)
    b.all("InitializeTableV2", h, ["a", "b"], i64([1, 2]))
    b.all("InitializeTableV2", h, ["c"], i64([3]))
    assert b(*find, [["a"], ["z"]], i64(-1)).tolist() == [[1], [-1]]
    assert exported(b, h) == [[b"a", b"b"], [1, 2]]
    b.fails("UNIMPLEMENTED", "can change", "LookupTableInsertV2", h, ["a"], i64([1]))
    b.fails("UNIMPLEMENTED", "can change", "LookupTableRemoveV2", h, ["a"])
    b.fails("INVALID_ARGUMENT", "types", *find, i64([1]), i64(0))
    b.fails("INVALID_ARGUMENT", "types", *find, ["a"], i32(0))
    b.fails("INVALID_ARGUMENT", "default", *find, ["a"], i64([0, 0]))


def test_hash_table_refuses_contradictions() -> None:
    b = Bench()
    h = table(b)
    init = ("InitializeTableV2", h)
    b.fails("FAILED_PRECONDITION", "one value", *init, ["a", "a"], i64([1, 2]))
    b.fails("INVALID_ARGUMENT", "one value for each", *init, ["a", "b"], i64([1]))
    b.all(*init, ["a", "a"], i64([1, 1]))
    assert b("LookupTableSizeV2", h) == 1
    mutable = table(b, "AnonymousMutableHashTable")
    b.fails("INVALID_ARGUMENT", "initialised once", "InitializeTableV2", mutable, ["a"], i64([1]))


def test_import_fills_a_hash_table_the_first_time() -> None:
    b = Bench()
    h = table(b)
    b.all("LookupTableImportV2", h, ["a"], i64([1]))
    b.all("LookupTableImportV2", h, ["b"], i64([2]))
    assert exported(b, h) == [[b"a"], [1]]


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(st.booleans(), st.integers(0, 5), st.integers(0, 99)), max_size=20))
def test_mutable_table_against_a_dict(steps: list[tuple[bool, int, int]]) -> None:
    b, model = Bench(), dict[int, int]()
    h = table(b, "AnonymousMutableHashTable", key_dtype="int64")
    for put, key, value in steps:
        if put:
            b.all("LookupTableInsertV2", h, i64([key]), i64([value]))
            model[key] = value
        else:
            b.all("LookupTableRemoveV2", h, i64([key]))
            model.pop(key, None)
    got = b("LookupTableFindV2", h, np.arange(6), i64(-1))
    assert got.tolist() == [model.get(k, -1) for k in range(6)]
    assert b("LookupTableSizeV2", h) == len(model)


def test_mutable_table_defaults_and_import() -> None:
    b = Bench()
    h = table(b, "AnonymousMutableHashTable")
    b.all("LookupTableInsertV2", h, ["a", "b"], i64([1, 2]))
    assert b("LookupTableFindV2", h, ["a", "z"], i64([7, 8])).tolist() == [1, 8]
    b.all("LookupTableImportV2", h, ["c"], i64([9]))
    assert exported(b, h) == [[b"c"], [9]]
    b.fails("INVALID_ARGUMENT", "one value", "LookupTableInsertV2", h, ["a", "b"], i64([1]))


def test_tables_of_vectors_and_of_strings() -> None:
    b = Bench()
    h = table(b, "AnonymousMutableHashTableOfTensors", value_shape=(2,))
    b.all("LookupTableInsertV2", h, ["a", "b"], i64([[1, 2], [3, 4]]))
    assert b("LookupTableFindV2", h, ["b", "z"], i64([0, 0])).tolist() == [[3, 4], [0, 0]]
    assert exported(b, h) == [[b"a", b"b"], [[1, 2], [3, 4]]]
    b.fails("INVALID_ARGUMENT", "one value", "LookupTableInsertV2", h, ["a", "b"], i64([1, 2]))
    b.fails("INVALID_ARGUMENT", "default", "LookupTableFindV2", h, ["a"], i64(0))
    names = table(
        b, "AnonymousMutableHashTableOfTensors", key_dtype="int64", value_dtype="string",
        value_shape=(2,),
    )  # fmt: skip
    b.all("LookupTableInsertV2", names, i64([5]), np.array([["x", "y"]]))
    out = b("LookupTableFindV2", names, i64([5, 6]), np.array(["-", "-"]))
    assert out.tolist() == [[b"x", b"y"], [b"-", b"-"]]
    plain = table(b, key_dtype="int64", value_dtype="string")
    b.all("InitializeTableV2", plain, i64([1]), ["one"])
    assert b("LookupTableFindV2", plain, i64([[1, 2]]), "?").tolist() == [[b"one", b"?"]]
    assert b("LookupTableFindV2", plain, i64(1), "?").item() == b"one"


def test_strings_keep_their_nul_bytes() -> None:
    b = Bench()
    kinds = {"key_dtype": "int64", "value_dtype": "string"}
    h = table(b, **kinds)
    b.all("InitializeTableV2", h, i64([1, 2]), np.array([b"end\0", b"\0"], object))
    found = b("LookupTableFindV2", h, i64([[1, 2, 3]]), np.array(b"\0\0", object))
    assert found.tolist() == [[b"end\0", b"\0", b"\0\0"]]
    assert {type(value) for value in found.ravel()} == {bytes}


def test_dense_table() -> None:
    b = Bench()
    h = table(b, "AnonymousMutableDenseHashTable", i64(-1), i64(-2), key_dtype="int64")
    b.all("LookupTableInsertV2", h, i64([1, 2]), i64([5, 6]))
    b.all("LookupTableRemoveV2", h, i64([1]))
    assert b("LookupTableFindV2", h, i64([1, 2]), i64(0)).tolist() == [0, 6]
    assert exported(b, h, Tkeys="int64") == [[2], [6]]
    for op, args in (("LookupTableInsertV2", [i64([5])]), ("LookupTableRemoveV2", [])):
        b.fails("INVALID_ARGUMENT", "reserved", op, h, i64([-1]), *args)
    b.fails("INVALID_ARGUMENT", "reserved", "LookupTableFindV2", h, i64([-2]), i64(0))
    wide = table(
        b, "AnonymousMutableDenseHashTable", i64([-1, -1]), i64([-2, -2]), key_dtype="int64",
        value_shape=(2,),
    )  # fmt: skip
    b.all("LookupTableInsertV2", wide, i64([[1, 2]]), i64([[5, 6]]))
    out = b("LookupTableFindV2", wide, i64([[1, 2], [3, 4]]), i64([0, 0]))
    assert out.tolist() == [[5, 6], [0, 0]]
    assert exported(b, wide, Tkeys="int64") == [[[1, 2]], [[5, 6]]]
    b.fails("INVALID_ARGUMENT", "key shape", "LookupTableFindV2", wide, i64([[1]]), i64([0, 0]))
    make = "AnonymousMutableDenseHashTable"
    attrs = TYPES | {"key_dtype": "int64"}
    b.fails("INVALID_ARGUMENT", "must differ", make, i64(-1), i64(-1), **attrs)
    b.fails("INVALID_ARGUMENT", "one shape", make, i64(-1), i64([-1]), **attrs)
    b.fails(
        "INVALID_ARGUMENT", "power of 2", make, i64(-1), i64(-2), **attrs, initial_num_buckets=3
    )


def test_shared_tables_and_the_first_generation() -> None:
    b = Bench()
    one = b("HashTableV2", **TYPES, shared_name="t")
    two = b("HashTableV2", **TYPES, shared_name="t")
    assert one.item().resource is two.item().resource
    b.fails(
        "INVALID_ARGUMENT", "types",
        "HashTableV2", key_dtype="int64", value_dtype="int64", shared_name="t",
    )  # fmt: skip
    ref = b("HashTable", **TYPES, shared_name="v1")
    assert isinstance(ref, Variable)
    b.all("InitializeTable", ref, ["a"], i64([4]))
    assert b("LookupTableFind", ref, ["a", "b"], i64(0)).tolist() == [4, 0]
    assert b("LookupTableSize", ref) == 1
    ref = b("MutableHashTable", **TYPES)
    b.all("LookupTableInsert", ref, ["a"], i64([4]))
    assert [v.tolist() for v in b.all("LookupTableExport", ref, **EXPORT)] == [[b"a"], [4]]


@pytest.mark.parametrize(
    ("kinds", "columns", "want"),
    [
        (("string", "int64"), (-2, -1), [[b"a\t1", b"b\t2"], [0, 1]]),
        (("string", "int64"), (0, 1), [[b"a", b"b"], [1, 2]]),
        (("string", "float32"), (0, 1), [[b"a", b"b"], [1.0, 2.0]]),
        (("int64", "string"), (-1, 0), [[0, 1], [b"a", b"b"]]),
    ],
)
def test_text_files(tmp_path: Path, kinds: Any, columns: Any, want: Any) -> None:
    path = tmp_path / "vocab.txt"
    path.write_bytes(b"a\t1\r\nb\t2")
    b = Bench()
    h = table(b, key_dtype=kinds[0], value_dtype=kinds[1])
    attrs = {"key_index": columns[0], "value_index": columns[1]}
    b.all("InitializeTableFromTextFileV2", h, str(path), **attrs)
    assert exported(b, h, Tkeys=kinds[0], Tvalues=kinds[1]) == want


def test_text_file_options_and_refusals(tmp_path: Path) -> None:
    path = tmp_path / "vocab.txt"
    path.write_bytes(b"a\t1\nb\t2\n")
    b = Bench()
    h = table(b)
    init = "InitializeTableFromTextFileV2"
    args = (init, h, str(path))
    both: dict[str, Any] = {"key_index": 0, "value_index": 1}
    b.fails("INVALID_ARGUMENT", "column", *args, key_index=0, value_index=5)
    b.fails("INVALID_ARGUMENT", "table's type", *args, key_index=1, value_index=0)
    b.fails("INVALID_ARGUMENT", "vocab_size lines", *args, **both, vocab_size=9)
    b.fails("INVALID_ARGUMENT", "one byte", *args, **both, delimiter="ab")
    b.fails("INVALID_ARGUMENT", "int64", *args, key_index=-1, value_index=1)
    b.fails("NOT_FOUND", "readable", init, h, str(tmp_path / "none"), **both)
    (tmp_path / "gap").write_bytes(b"a\n\nb\n")
    b.fails(
        "INVALID_ARGUMENT", "empty", init, h, str(tmp_path / "gap"), key_index=-2, value_index=-1
    )
    b.all(*args, key_index=0, value_index=-1, vocab_size=1, offset=10)
    assert exported(b, h) == [[b"a"], [10]]


def test_shapes() -> None:
    out, call = shapes("HashTableV2", [], key_dtype=INT64, value_dtype=FLOAT32)
    assert out == [()]
    held = call.output_handles
    assert held == [(FLOAT32, ())]
    assert shapes("LookupTableFindV2", [(), (2, -1), ()], [*held, None, None])[0] == [(2, -1)]
    assert shapes("LookupTableFindV2", [(), (2, -1), ()])[0] == [None]
    assert shapes("LookupTableExportV2", [()], held)[0] == [(-1,), (-1,)]
    _, call = shapes("MutableDenseHashTableV2", [(2,), (2,)], value_dtype=FLOAT32, value_shape=(3,))
    assert call.output_handles is None
    _, call = shapes("MutableDenseHashTableV2", [(), ()], value_dtype=FLOAT32, value_shape=(3,))
    assert call.output_handles == [(FLOAT32, (3,))]
