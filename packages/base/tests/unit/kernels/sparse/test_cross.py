"""Feature crosses and scripts of characters beyond the golden cases."""

from typing import Any

import numpy as np
import pytest
from stateful import Bench, i32, i64

ROWS = i64([[0, 0], [1, 0], [1, 1]])


def _words(*values: bytes) -> Any:
    return np.array(values, object)


def _cross(run: Bench, dense: Any, shape: Any = (2, 2)) -> list[Any]:
    return run.all("SparseCrossV2", ROWS, _words(b"a", b"b", b"c"), i64(shape), dense,
                   np.array(b"-", object), N=1, sparse_types=["string"],
                   dense_types=["string"])  # fmt: skip


def test_a_cross_has_every_combination_the_last_column_fastest() -> None:
    dense = _words(b"x", b"y", b"z", b"w").reshape(2, 2)
    indices, values, shape = _cross(Bench(), dense)
    assert values.tolist() == [b"a-x", b"a-y", b"b-z", b"b-w", b"c-z", b"c-w"]
    assert indices.tolist() == [[0, 0], [0, 1], [1, 0], [1, 1], [1, 2], [1, 3]]
    assert shape.tolist() == [2, 4]


def test_columns_must_have_as_many_examples() -> None:
    run = Bench()
    dense = _words(b"x", b"y").reshape(1, 2)
    run.fails("INVALID_ARGUMENT", "all columns must have as many examples", "SparseCrossV2", ROWS,
              _words(b"a", b"b", b"c"), i64([2, 2]), dense, np.array(b"-", object), N=1,
              sparse_types=["string"], dense_types=["string"])  # fmt: skip


def test_crosses_that_do_not_fit_in_memory_are_refused_before_they_are_made() -> None:
    wide = np.zeros((1, 2**21), np.int64)
    kinds = {"N": 0, "sparse_types": [], "dense_types": ["int64"] * 3}
    Bench().fails("INVALID_ARGUMENT", "63 bits", "SparseCrossV2", wide, wide, wide,
                  np.array(b"-", object), **kinds)  # fmt: skip


@pytest.mark.parametrize("columns", [0, 1, 2])
def test_no_examples_or_no_columns_give_no_crosses(columns: int) -> None:
    dense = [np.zeros((0, 2), np.int64)] * columns
    kinds = {"N": 0, "sparse_types": [], "dense_types": ["int64"] * columns}
    plain = {"num_buckets": 5, "hash_key": 3, "internal_type": "int64", **kinds}
    run, none = Bench(), i64([0, 0]).tolist()
    keyed = [np.int64(5), np.bool_(False), i64([1, 2])]
    for out in (
        run.all("SparseCross", *dense, hashed_output=True, out_type="int64", **plain),
        run.all("SparseCrossV2", *dense, np.array(b"-", object), **kinds),
        run.all("SparseCrossHashed", *dense, *keyed, **kinds),
    ):
        assert [out[0].shape, out[1].shape, out[2].tolist()] == [(0, 2), (0,), none]


def test_scripts_have_icus_numbers() -> None:
    run = Bench()
    points = [ord("a"), ord("я"), ord("字"), ord("1"), 0x0378, -1, 0x110000]
    assert run("UnicodeScript", i32(points)).tolist() == [25, 8, 17, 0, 103, -1, -1]
