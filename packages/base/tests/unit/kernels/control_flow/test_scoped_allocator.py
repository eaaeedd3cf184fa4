"""Several tensors in one buffer."""

import numpy as np
from stateful import Bench, f32, shapes

A, B = f32([[1, 2, 3]]), f32([4, 5])
COMMON = {"sa_name": "buffer", "id": 1}


def test_parts_go_into_a_buffer_and_out_again() -> None:
    run = Bench()
    buffer = run("_ScopedAllocator", shapes=[(1, 3), (2,)], shape=(6,), expected_call_count=2,
                 T="float32", **COMMON)  # fmt: skip
    assert buffer.tolist() == [0] * 6
    whole = run("_ScopedAllocatorConcat", buffer, A, B, shape=(6,), **COMMON)
    assert whole.tolist() == [1, 2, 3, 4, 5, 0]
    apart = run.all("_ScopedAllocatorSplit", -whole, A, B, shapes=[(1, 3), (2,)], **COMMON)
    assert [part.tolist() for part in apart] == [[[-1, -2, -3]], [-4, -5]]


def test_a_buffer_may_take_another_shape() -> None:
    run = Bench()
    whole = run("_ScopedAllocatorConcat", np.zeros(6, np.float32), A, A, shape=(2, 3),
                reshape=True, **COMMON)  # fmt: skip
    assert whole.tolist() == [[1, 2, 3]] * 2
    found, _ = shapes("_ScopedAllocatorConcat", [whole, A, A], shape=(2, 3), reshape=True, **COMMON)
    assert found == [(2, 3)]
    found, _ = shapes("_ScopedAllocatorSplit", [whole, A, B], shapes=[(1, 3), (2,)], **COMMON)
    assert found == [(1, 3), (2,)]


def test_a_buffer_that_is_too_small() -> None:
    run = Bench()
    small = np.zeros(4, np.float32)
    text = "the buffer must hold all of its parts"
    run.fails("INVALID_ARGUMENT", text, "_ScopedAllocatorConcat", small, A, B, shape=(4,), **COMMON)
    run.fails("INVALID_ARGUMENT", text, "_ScopedAllocatorSplit", small, A, B,
              shapes=[(1, 3), (2,)], **COMMON)  # fmt: skip
    run.fails("INVALID_ARGUMENT", text, "_ScopedAllocator", shapes=[(3,), (2,)], shape=(4,),
              expected_call_count=2, T="float32", **COMMON)  # fmt: skip
