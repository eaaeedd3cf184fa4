"""Queues: order, padding, limits and what would block."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from stateful import Bench, f32, i32, i64, shapes

from drystone_base.core.dtypes import FLOAT32, INT32, INT64
from drystone_base.core.errors import KernelError
from drystone_base.state.variables import Variable

ONE = {"component_types": [INT32]}


def make(b: Bench, kind: str = "FIFOQueueV2", **attrs: Any) -> Any:
    return b(kind, **({"component_types": [INT32], "shapes": [()]} | attrs))


def put(b: Bench, h: Any, *values: int) -> None:
    b.all("QueueEnqueueManyV2", h, i32(values), Tcomponents=[INT32])


def take(b: Bench, h: Any, n: int, op: str = "QueueDequeueManyV2") -> list[int]:
    found: list[int] = b(op, h, i32(n), **ONE).tolist()
    return found


@settings(max_examples=30, deadline=None)
@given(
    st.lists(st.integers(0, 99), max_size=8),
    st.sampled_from(["FIFOQueueV2", "RandomShuffleQueueV2"]),
)
def test_what_goes_in_comes_out(values: list[int], kind: str) -> None:
    b = Bench()
    h = make(b, kind)
    put(b, h, *values)
    assert b("QueueSizeV2", h) == len(values)
    out = take(b, h, len(values))
    assert sorted(out) == sorted(values)
    assert out == values or kind == "RandomShuffleQueueV2"


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(st.integers(-5, 5), st.integers(0, 99)), min_size=1, max_size=8))
def test_priority_order_is_stable(rows: list[tuple[int, int]]) -> None:
    b = Bench()
    h = make(b, "PriorityQueueV2")
    types = [INT64, INT32]
    for priority, value in rows:
        b.all("QueueEnqueueV2", h, i64(priority), i32(value), Tcomponents=types)
    keys, values = b.all("QueueDequeueManyV2", h, i32(len(rows)), component_types=types)
    want = sorted(rows, key=lambda row: row[0])
    assert list(zip(keys.tolist(), values.tolist(), strict=True)) == want


def test_equal_seeds_shuffle_equally() -> None:
    orders = []
    for _ in range(2):
        b = Bench()
        h = make(b, "RandomShuffleQueueV2", seed=3, seed2=4)
        put(b, h, *range(10))
        orders.append(take(b, h, 10))
    assert orders[0] == orders[1] != list(range(10))


def test_some_elements_stay_for_shuffling_until_the_queue_closes() -> None:
    b = Bench()
    h = make(b, "RandomShuffleQueueV2", min_after_dequeue=2)
    put(b, h, 1, 2, 3)
    take(b, h, 1)
    b.fails("DEADLINE_EXCEEDED", "0 elements can be taken", "QueueDequeueV2", h, **ONE)
    b.all("QueueCloseV2", h)
    assert len(take(b, h, 2)) == 2


def test_padding_queue_pads_to_the_largest() -> None:
    b = Bench()
    h = b("PaddingFIFOQueueV2", component_types=[FLOAT32], shapes=[(-1,)])
    for row in ([1], [2, 3]):
        b.all("QueueEnqueueV2", h, f32(row), Tcomponents=[FLOAT32])
    out = b("QueueDequeueManyV2", h, i32(2), component_types=[FLOAT32])
    assert out.tolist() == [[1, 0], [2, 3]]
    assert b("QueueDequeueManyV2", h, i32(0), component_types=[FLOAT32]).shape == (0, 0)


def test_nothing_waits() -> None:
    b = Bench()
    h = make(b, capacity=2)
    with pytest.raises(KernelError, match="would wait for ever") as caught:
        take(b, h, 1)
    assert caught.value.code == "queue-would-block"
    put(b, h, 1, 2)
    with pytest.raises(KernelError, match="2 of 2 places are taken"):
        put(b, h, 3)


def test_closed_queues() -> None:
    b = Bench()
    h = make(b)
    put(b, h, 1, 2)
    assert b("QueueIsClosedV2", h).item() is False
    b.all("QueueCloseV2", h)
    assert b("QueueIsClosedV2", h).item() is True
    b.fails("CANCELLED", "open", "QueueEnqueueV2", h, i32(1), Tcomponents=[INT32])
    b.fails("OUT_OF_RANGE", "enough", "QueueDequeueManyV2", h, i32(3), **ONE)
    assert take(b, h, 3, "QueueDequeueUpToV2") == [1, 2]
    b.fails("OUT_OF_RANGE", "enough", "QueueDequeueUpToV2", h, i32(3), **ONE)
    b.fails("OUT_OF_RANGE", "enough", "QueueDequeueV2", h, **ONE)


def test_types_and_shapes_are_checked() -> None:
    b = Bench()
    h = make(b, shared_name="q")
    enqueue = ("INVALID_ARGUMENT", "queue's", "QueueEnqueueV2", h)
    b.fails(*enqueue, f32(1), Tcomponents=[FLOAT32])
    b.fails(*enqueue, i32([1]), Tcomponents=[INT32])
    b.fails("INVALID_ARGUMENT", "types", "QueueDequeueV2", h, component_types=[FLOAT32])
    b.fails("INVALID_ARGUMENT", "rows", "QueueEnqueueManyV2", h, i32(1), Tcomponents=[INT32])
    b.fails("INVALID_ARGUMENT", "negative", "QueueDequeueManyV2", h, i32(-1), **ONE)
    b.fails("INVALID_ARGUMENT", "declares", "FIFOQueueV2", component_types=[INT64], shared_name="q")
    assert make(b, shared_name="q").item().resource is h.item().resource
    loose = b("FIFOQueueV2", **ONE)
    b.all("QueueEnqueueV2", loose, i32([1, 2]), Tcomponents=[INT32])
    b.fails("INVALID_ARGUMENT", "declared shapes", "QueueDequeueManyV2", loose, i32(1), **ONE)


def test_the_first_generation() -> None:
    b = Bench()
    h = make(b, "FIFOQueue")
    assert isinstance(h, Variable)
    b.all("QueueEnqueue", h, i32(7), Tcomponents=[INT32])
    assert b("QueueSize", h) == 1
    assert b("QueueDequeue", h, **ONE) == 7
    b.all("QueueClose", h)
    assert b("QueueIsClosed", h).item() is True


def test_shapes() -> None:
    assert shapes("FIFOQueueV2", [], component_types=[INT32])[0] == [()]
    assert shapes("QueueDequeueV2", [()], count=2)[0] == [None, None]
    assert shapes("QueueEnqueueV2", [(), (3,)])[0] == []
