"""Sparse tensors passed as handles: kept, taken once."""

from typing import Any

from stateful import Bench, f32, i64, shapes

from drystone_base.core.dtypes import FLOAT32, INT32

NAME: dict[str, Any] = {"shared_name": "m"}


def test_a_batch_is_split_and_joined() -> None:
    b = Bench()
    whole = i64([[0, 1], [0, 2], [2, 0]]), f32([1, 2, 3]), i64([3, 4])
    handles = b("AddManySparseToTensorsMap", *whole, **NAME)
    assert handles.tolist() == [0, 2, 1]  # the empty row comes last
    back = b.all("TakeManySparseFromTensorsMap", handles, dtype=FLOAT32, **NAME)
    assert [part.tolist() for part in back] == [part.tolist() for part in whole]
    b.fails(
        "INVALID_ARGUMENT", "was not taken", "TakeManySparseFromTensorsMap",
        handles, dtype=FLOAT32, **NAME,
    )  # fmt: skip


def test_one_tensor_is_kept_as_it_is() -> None:
    b = Bench()
    handle = b("AddSparseToTensorsMap", i64([[5]]), f32([1]), i64([9]), **NAME)
    b.fails(
        "INVALID_ARGUMENT", "dtype that is asked for", "TakeManySparseFromTensorsMap",
        handle.reshape(1), dtype=INT32, **NAME,
    )  # fmt: skip
    b.fails(
        "INVALID_ARGUMENT", "must have a name", "TakeManySparseFromTensorsMap",
        handle.reshape(1), dtype=FLOAT32,
    )  # fmt: skip
    b.fails(
        "INVALID_ARGUMENT", "ascending order", "AddManySparseToTensorsMap",
        i64([[1, 0], [0, 0]]), f32([1, 2]), i64([2, 2]),
    )  # fmt: skip


def test_shapes() -> None:
    assert shapes("AddManySparseToTensorsMap", [(4, 2), (4,), (2,)])[0] == [(-1,)]
    assert shapes("TakeManySparseFromTensorsMap", [(4,)], count=3)[0] == [(-1, -1), (-1,), (-1,)]
