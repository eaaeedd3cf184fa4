"""Ops that wait for other steps: threads of one session, deadlines, and what fails at once."""

import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import pytest
from scenarios import Program
from stateful import Bench, f32, i32, i64, shapes

from drystone_base.api.session import Session, SessionConfig
from drystone_base.core.dtypes import FLOAT32, INT32
from drystone_base.core.errors import KernelError
from drystone_base.kernels.state.mutex import Lock


class Threads:
    """Runs calls in threads and gives what they gave, or raised."""

    def __init__(self) -> None:
        self.started: list[threading.Thread] = []
        self.answers: dict[int, Any] = {}

    def start(self, call: Callable[[], Any]) -> int:
        number = len(self.started)

        def work() -> None:
            try:
                self.answers[number] = call()
            except KernelError as error:
                self.answers[number] = error

        thread = threading.Thread(target=work, daemon=True)
        self.started.append(thread)
        thread.start()
        return number

    def join(self) -> dict[int, Any]:
        for thread in self.started:
            thread.join(20)
            assert not thread.is_alive()
        return self.answers


@pytest.fixture
def threads() -> Iterator[Threads]:
    found = Threads()
    yield found
    found.join()


def session(p: Program, deadline: float | None = 10) -> Session:
    return Session(p.graph, SessionConfig(deadline=deadline))


def settle() -> None:
    """Let the other threads come to where they wait."""
    time.sleep(0.05)


def test_a_dequeue_waits_for_an_enqueue_of_another_thread(threads: Threads) -> None:
    p = Program()
    q = p("FIFOQueueV2", component_types=["int32"], shapes=[[]])
    x = p.feed("int32", [])
    put = p("QueueEnqueueV2", q, [x])
    many = p("QueueDequeueManyV2", q, 3, component_types=["int32"])
    s = session(p)
    waiting = threads.start(lambda: s.run(many.name))
    settle()
    for value in (4, 5, 6):
        s.run(put.name, {f"{x.name}:0": value})
    assert threads.join()[waiting].tolist() == [4, 5, 6]


def test_many_threads_share_a_full_queue(threads: Threads) -> None:
    p = Program()
    q = p("FIFOQueueV2", component_types=["int32"], shapes=[[]], capacity=2)
    x = p.feed("int32")
    put = p("QueueEnqueueManyV2", q, [x])
    many = p("QueueDequeueManyV2", q, 5, component_types=["int32"])
    s = session(p)
    for k in range(4):
        values = np.arange(5 * k, 5 * k + 5, dtype=np.int32)
        threads.start(partial(s.run, put.name, {f"{x.name}:0": values}))
    taken = [threads.start(lambda: s.run(many.name)) for _ in range(4)]
    answers = threads.join()
    rows = [answers[k].tolist() for k in taken]
    assert sorted(v for row in rows for v in row) == list(range(20))


def test_closing_wakes_what_waits(threads: Threads) -> None:
    p = Program()
    q = p("FIFOQueueV2", component_types=["int32"], shapes=[[]], capacity=1)
    put = p("QueueEnqueueV2", q, [p.const(1)])
    take = p("QueueDequeueV2", q, component_types=["int32"])
    other = p("FIFOQueueV2", component_types=["int32"], shapes=[[]])
    none = p("QueueDequeueV2", other, component_types=["int32"])
    s = session(p)
    s.run(put.name)
    stuck = threads.start(lambda: s.run(put.name))
    empty = threads.start(lambda: s.run(none.name))
    settle()
    s.run(p("QueueCloseV2", other).name)
    s.run(p("QueueCloseV2", q, cancel_pending_enqueues=True).name)
    answers = threads.join()
    assert answers[stuck].status == "CANCELLED"
    assert answers[empty].status == "OUT_OF_RANGE"
    assert s.run(take.name) == 1


def test_the_deadline_ends_a_wait() -> None:
    p = Program()
    q = p("FIFOQueueV2", component_types=["int32"], shapes=[[]])
    put = p("QueueEnqueueV2", q, [p.const(1)])
    many = p("QueueDequeueManyV2", q, 2, component_types=["int32"])
    s = session(p, deadline=0.1)
    s.run(put.name)
    with pytest.raises(KernelError, match="waited until the session's deadline") as caught:
        s.run(many.name)
    assert (caught.value.code, caught.value.status) == ("queue-would-block", "DEADLINE_EXCEEDED")
    assert s.run(p("QueueSizeV2", q).name) == 1  # what was taken is put back


def test_priorities_survive_a_dequeue_that_fails() -> None:
    p = Program()
    q = p("PriorityQueueV2", component_types=["int32"], shapes=[[]])
    put = p("QueueEnqueueManyV2", q, [p.const(i64([1, 0, 1])), p.const([7, 8, 9])])
    types = ["int64", "int32"]
    s = session(p, deadline=0.1)
    s.run(put.name)
    with pytest.raises(KernelError, match="asked for"):
        s.run(p("QueueDequeueManyV2", q, 4, component_types=types).name)
    assert s.run(p("QueueDequeueManyV2", q, 3, component_types=types).name + ":1").tolist() == [
        8, 7, 9,
    ]  # fmt: skip


def test_staging_areas_wait(threads: Threads) -> None:
    p = Program()
    attrs: dict[str, Any] = {"dtypes": ["int32"], "shared_name": "s", "capacity": 1}
    put, take = p("Stage", [p.const(3)], **attrs), p("Unstage", **attrs)
    key = p("MapUnstage", i64(5), i32([0]), **attrs)
    bring = p("MapStage", i64(5), i32([0]), [p.const(6)], **attrs)
    s = session(p)
    first = threads.start(lambda: s.run(take.name))
    by_key = threads.start(lambda: s.run(key.name))
    settle()
    s.run(put.name)
    s.run(bring.name)
    answers = threads.join()
    assert (answers[first], answers[by_key]) == (3, 6)
    s.run(put.name)
    full = threads.start(lambda: s.run(put.name))
    settle()
    s.run(take.name)
    assert threads.join()[full] is None


def test_barriers_and_accumulators_wait(threads: Threads) -> None:
    p = Program()
    b = p("Barrier", component_types=["int32"], shapes=[[]])
    key = np.array([b"k"], object)
    bring = p("BarrierInsertMany", b, key, i32([4]), component_index=0)
    element = p("BarrierTakeMany", b, 1, component_types=["int32"])
    a = p("ConditionalAccumulator", dtype="float32", shape=[])
    add = p("AccumulatorApplyGradient", a, i64(0), np.float32(3))
    mean = p("AccumulatorTakeGradient", a, 2, dtype="float32")
    s = session(p)
    taken = threads.start(lambda: s.run(f"{element.name}:2"))
    total = threads.start(lambda: s.run(mean.name))
    settle()
    s.run(bring.name)
    s.run(add.name)
    s.run(add.name)
    answers = threads.join()
    assert (answers[taken].tolist(), answers[total]) == ([4], 3)


def test_a_mutex_is_held_by_one_step_at_a_time(threads: Threads) -> None:
    b = Bench()
    b.runtime.deadline = time.monotonic() + 10
    m = b("MutexV2")
    held = b("MutexLock", m)
    assert isinstance(held.item(), Lock)
    second = threads.start(lambda: b("MutexLock", m))
    settle()
    assert second not in threads.answers
    b.all("ConsumeMutexLock", held)
    lock = threads.join()[second]
    b.all("ConsumeMutexLock", held)  # the second time does nothing
    b.runtime.deadline = None
    b.fails("DEADLINE_EXCEEDED", "held by another", "MutexLock", m)
    threads.answers.clear()
    del lock
    b.all("ConsumeMutexLock", b("MutexLock", m))  # a lock that is forgotten is released


def test_nothing_waits_without_a_deadline() -> None:
    b = Bench()
    attrs: dict[str, Any] = {"dtypes": [INT32]}
    b.fails("DEADLINE_EXCEEDED", "0 tuples, number 0 asked for", "Unstage", **attrs)
    b.fails("DEADLINE_EXCEEDED", "5 asked for", "MapUnstage", i64(5), i32([0]), **attrs)
    h = b("ConditionalAccumulator", dtype="float32", shape=())
    b.fails("DEADLINE_EXCEEDED", "0 of 2", "AccumulatorTakeGradient", h, i32(2), dtype="float32")
    with pytest.raises(KernelError, match="would wait for ever"):
        b("AccumulatorTakeGradient", h, i32(2), dtype="float32")


def test_limits_of_a_staging_area() -> None:
    b = Bench()
    attrs: dict[str, Any] = {"shared_name": "s", "memory_limit": 20, "dtypes": [FLOAT32]}
    b.all("Stage", f32([1, 2, 3]), **attrs)
    b.fails("DEADLINE_EXCEEDED", "1 tuples of 12 bytes", "Stage", f32([1, 2, 3]), **attrs)
    b.fails("RESOURCE_EXHAUSTED", "must fit", "Stage", f32([0] * 6), **attrs)
    b.all("StageClear", **attrs)
    b.all("Stage", f32([1, 2, 3]), **attrs)
    two = {"dtypes": [FLOAT32] * 2, "shared_name": "m", "memory_limit": 20}
    b.all("MapStage", i64(1), i32([0]), f32([1, 2, 3]), **two, fake_dtypes=[FLOAT32])
    b.fails("DEADLINE_EXCEEDED", "12 bytes", "MapStage", i64(2), i32([1]), f32([1, 2, 3]), **two)


def test_wrong_uses_are_refused() -> None:
    b = Bench()
    wide = {"dtype": "float32", "shape": ()}
    b.fails("INVALID_ARGUMENT", "real numbers", "ConditionalAccumulator", dtype="int32", shape=())
    h = b("ConditionalAccumulator", **wide, shared_name="a")
    b.fails(
        "INVALID_ARGUMENT", "must have the accumulator's dtype", "AccumulatorTakeGradient",
        h, i32(1), dtype="float64",
    )  # fmt: skip
    b.fails(
        "INVALID_ARGUMENT", "must be what the node declares", "ConditionalAccumulator",
        dtype="float64", shape=(), shared_name="a",
    )  # fmt: skip
    barrier = b("Barrier", component_types=[INT32], shapes=[()])
    b.fails(
        "INVALID_ARGUMENT", "must not be negative", "BarrierTakeMany",
        barrier, i32(-1), component_types=[INT32],
    )  # fmt: skip
    b.fails(
        "INVALID_ARGUMENT", "each key", "BarrierInsertMany",
        barrier, np.array([b"a"], object), i32([1, 2]), component_index=0,
    )  # fmt: skip


def test_shapes() -> None:
    assert shapes("BarrierTakeMany", [(), ()], count=4)[0] == [None] * 4
    assert shapes("Unstage", [], dtypes=[], count=2)[0] == [None, None]
    assert shapes("TensorMapLookup", [(), (2,)])[0] == [None]
    assert shapes("MutexLock", [()])[0] == [()]
    assert shapes("AccumulatorApplyGradient", [(), (), (3,)])[0] == []
