"""Batched calls: each is a batch of its own, taken apart by keys."""

from typing import Any

import numpy as np
import pytest
from stateful import Bench, f32, i64

from drystone_base.executor.testing import infer_shapes
from drystone_base.ops.attrs import FunctionRef

X = np.arange(6, dtype=np.float32).reshape(3, 2)
BATCH: dict[str, Any] = {
    "num_batch_threads": 1, "max_batch_size": 8, "batch_timeout_micros": 1000,
    "grad_timeout_micros": 1000,
}  # fmt: skip
CALL: dict[str, Any] = {k: v for k, v in BATCH.items() if k != "grad_timeout_micros"} | {
    "f": FunctionRef("double", {}), "Tin": ["float32"], "Tcaptured": ["float32"],
    "Tout": ["float32"],
}  # fmt: skip
WAIT = {"timeout_micros": 60_000_000}


def test_a_call_is_a_batch_of_its_own() -> None:
    bench = Bench()
    first, second, index, key = bench.all("Batch", X, X[:, :1], **BATCH)
    assert first.tolist() == X.tolist()
    assert second.tolist() == X[:, :1].tolist()
    assert index.tolist() == [[int(key), 0, 3]]
    assert bench("Unbatch", first * 2, index, key, **WAIT).tolist() == (X * 2).tolist()


def test_the_first_row_fills_an_allowed_size() -> None:
    bench = Bench()
    made, index, key = bench.all("Batch", X, allowed_batch_sizes=[2, 4, 8], **BATCH)
    assert made.tolist() == [*X.tolist(), X[0].tolist()]
    assert bench("Unbatch", made, index, key, **WAIT).tolist() == X.tolist()
    grad = bench("UnbatchGrad", made, index, X * 3, key)
    assert grad.tolist() == (X * 3).tolist()


def test_no_rows_are_no_batch() -> None:
    made, index, key = Bench().all("Batch", X[:0], **BATCH)
    assert (made.shape, index.shape, key.shape) == ((0,), (0,), (0,))


def test_parts_wait_for_the_run_of_their_key() -> None:
    bench, index = Bench(), i64([[6, 0, 1], [5, 1, 3]])
    assert bench("Unbatch", X, index, i64(5), **WAIT).tolist() == X[1:].tolist()
    none = np.zeros((0, 3), np.int64)
    assert bench("Unbatch", X[:0], none, i64(6), **WAIT).tolist() == X[:1].tolist()
    bench.fails("DEADLINE_EXCEEDED", "a batch that was run", "Unbatch", X[:0], none, i64(6), **WAIT)


def test_parts_are_forgotten_after_their_time() -> None:
    bench, index = Bench(), i64([[6, 0, 1], [5, 1, 3]])
    bench("Unbatch", X, index, i64(5), timeout_micros=-1)
    none = np.zeros((0, 3), np.int64)
    bench.fails("DEADLINE_EXCEEDED", "no part of key 6", "Unbatch", X[:0], none, i64(6), **WAIT)


def test_gradients_are_put_together_in_the_order_of_the_batch() -> None:
    bench, index, none = Bench(), i64([[7, 0, 1], [8, 1, 3]]), np.zeros((0, 3), np.int64)
    assert bench("UnbatchGrad", X[:0], none, X[:1], i64(7)).shape == (0, 2)
    bench.fails("INVALID_ARGUMENT", "one part", "UnbatchGrad", X[:0], none, X[:1], i64(7))
    assert bench("UnbatchGrad", X, index, X[1:], i64(8)).tolist() == X.tolist()
    bench.fails("DEADLINE_EXCEEDED", "must have arrived", "UnbatchGrad", X, index, X[1:], i64(8))


@pytest.mark.parametrize(
    ("status", "text", "index", "key"),
    [
        ("INVALID_ARGUMENT", "rows of three", [[5, 0]], 5),
        ("INVALID_ARGUMENT", "lie in the batch", [[5, 0, 9]], 5),
        ("INVALID_ARGUMENT", "more parts than rows", [[k, 0, 0] for k in range(4)], 5),
        ("INVALID_ARGUMENT", "must be a scalar", [[5, 0, 3]], [5]),
        ("ALREADY_EXISTS", "one part", [[5, 0, 1], [6, 1, 2], [6, 2, 3]], 5),
    ],
)
def test_wrong_indices_are_refused(status: str, text: str, index: Any, key: Any) -> None:
    Bench().fails(status, text, "Unbatch", X, i64(index), i64(key), **WAIT)


def test_wrong_batches_are_refused() -> None:
    bench = Bench()
    bench.fails("INVALID_ARGUMENT", "as many rows", "Batch", X, X[:2], **BATCH)
    bench.fails("INVALID_ARGUMENT", "must have rows", "Batch", f32(1), **BATCH)
    bench.fails("INVALID_ARGUMENT", "room in a batch", "Batch", np.zeros((9, 1)), **BATCH)
    for sizes, text in (([4, 2, 8], "must rise"), ([2, 4], "must be max_batch_size")):
        bench.fails("INVALID_ARGUMENT", text, "Batch", X, allowed_batch_sizes=sizes, **BATCH)
    bench.fails("INVALID_ARGUMENT", "num_batch_threads", "Batch", X,
                **BATCH | {"num_batch_threads": 0})  # fmt: skip


def test_a_function_runs_for_a_padded_batch_and_in_pieces() -> None:
    seen: list[int] = []

    def double(x: np.ndarray, by: np.ndarray) -> list[np.ndarray]:
        seen.append(len(x))
        return [x * by]

    bench = Bench({"double": double})
    assert bench("BatchFunction", X, f32(3), **CALL).tolist() == (X * 3).tolist()
    bench("BatchFunction", X, f32(3), allowed_batch_sizes=[4, 8], **CALL)
    assert seen == [3, 4]
    seen.clear()
    rows = np.arange(18, dtype=np.float32).reshape(9, 2)
    got = bench("BatchFunction", rows, f32(2), enable_large_batch_splitting=True,
                allowed_batch_sizes=[2, 4], **CALL | {"max_batch_size": 16})  # fmt: skip
    assert got.tolist() == (rows * 2).tolist()
    assert seen == [4, 4, 2]
    bench.fails("INVALID_ARGUMENT", "room in a batch", "BatchFunction", rows, f32(2), **CALL)


def test_a_function_must_keep_the_rows() -> None:
    bench = Bench({"double": lambda x, _: [x[:1]]})
    bench.fails(
        "FAILED_PRECONDITION", "as many rows as it takes", "BatchFunction", X, f32(1), **CALL
    )


def test_shapes() -> None:
    assert infer_shapes("Batch", [(3, 2), (4,)], **BATCH) == [(-1, 2), (-1,), (-1, 3), ()]
    kinds = ["float32", "int64", "int64"]
    assert infer_shapes("Unbatch", [(3, 2), (1, 3), ()], dtypes_in=kinds, **WAIT) == [(-1, 2)]
