"""Queues and stacks of every kind, never so that an op would wait."""

# ruff: noqa: D102, D103 - scenarios are named by what they run

from __future__ import annotations

from typing import Any

import numpy as np
from stateful import f32, i32, i64

from drystone_base.graph import Node
from scenarios import Program, scenario
from scenarios._draw import pick, values

TYPES = ["float32", "int32", "string", "bool", "float64", "int64"]


class Queue:
    """A queue with the ops on it."""

    def __init__(self, p: Program, op: str, types: list[str], **attrs: Any) -> None:
        self.p, self.types = p, types
        self.node = p(op, component_types=types, shared_name="q", **attrs)
        self.v2 = "V2" if op.endswith("V2") else ""

    def run(self, op: str, *more: Any, **attrs: Any) -> Node:
        return self.p(f"Queue{op}{self.v2}", self.node, *more, **attrs)

    def take(self, op: str = "Dequeue", *more: Any) -> None:
        made = self.run(op, *more, component_types=self.types)
        self.p.step(*[(made, k) for k in range(len(self.types))])


@scenario(draws=40)
def first_in_first_out(p: Program, rng: np.random.Generator) -> None:
    types = [pick(rng, TYPES) for _ in range(rng.integers(1, 4))]
    known = bool(rng.integers(2))
    shapes = [pick(rng, [[], [2], [1, 2]]) for _ in types]
    op = pick(rng, ["FIFOQueue", "FIFOQueueV2", "PaddingFIFOQueue", "PaddingFIFOQueueV2"])
    known = known or "Padding" in op
    q = Queue(p, op, types, capacity=6, **({"shapes": shapes} if known else {}))
    for _ in range(int(rng.integers(1, 4))):
        p.step(q.run("Enqueue", [values(rng, t, s) for t, s in zip(types, shapes, strict=True)]))
    many = [values(rng, t, [2, *s]) for t, s in zip(types, shapes, strict=True)]
    p.step(q.run("EnqueueMany", many))
    p.step(q.run("Size"), q.run("IsClosed") if q.v2 else q.run("Size"))
    q.take()
    q.take("DequeueMany", np.int32(2))
    p.step(q.run("Close", cancel_pending_enqueues=bool(rng.integers(2))))
    p.step(q.run("Enqueue", [values(rng, t, s) for t, s in zip(types, shapes, strict=True)]))
    q.take("DequeueUpTo", np.int32(4))
    q.take()
    q.take("DequeueMany", np.int32(1))
    p.step(q.run("Size"))


@scenario(draws=16)
def padding(p: Program, rng: np.random.Generator) -> None:
    dtype = pick(rng, TYPES)
    op = pick(rng, ["PaddingFIFOQueue", "PaddingFIFOQueueV2"])
    q = Queue(p, op, [dtype], shapes=[[None, 2]])
    for _ in range(4):
        p.step(q.run("Enqueue", [values(rng, dtype, [int(rng.integers(0, 4)), 2])]))
    q.take("DequeueMany", np.int32(3))
    x = p.feed(dtype)
    p.step(q.run("Enqueue", [x]), feeds={x: values(rng, dtype, [2, 3])})
    q.take()


@scenario(draws=16)
def priority(p: Program, rng: np.random.Generator) -> None:
    op = pick(rng, ["PriorityQueue", "PriorityQueueV2"])
    q = Queue(p, op, ["string"], shapes=[[]])
    for k in rng.permutation(5):
        p.step(q.run("Enqueue", [i64(k), values(rng, "string", [])]))
    p.step(q.run("EnqueueMany", [i64([7, -3]), values(rng, "string", [2])]))
    q.types = ["int64", "string"]
    q.take()
    q.take("DequeueMany", np.int32(3))
    q.take("DequeueUpTo", np.int32(3))
    p.step(q.run("Size"))


@scenario(draws=6)
def shuffled(p: Program, rng: np.random.Generator) -> None:
    op = pick(rng, ["RandomShuffleQueue", "RandomShuffleQueueV2"])
    q = Queue(p, op, ["int32"], shapes=[[]], min_after_dequeue=2, seed=int(rng.integers(1, 99)),
              seed2=int(rng.integers(1, 99)))  # fmt: skip
    p.step(q.run("EnqueueMany", [i32(rng.permutation(8))]))
    q.take()
    q.take("DequeueMany", np.int32(3))
    p.step(q.run("Size"))
    p.step(q.run("Close"))
    q.take("DequeueUpTo", np.int32(9))
    q.take()


@scenario()
def refused(p: Program) -> None:
    q = Queue(p, "FIFOQueueV2", ["float32", "int32"], shapes=[[2], []])
    x = p.feed("float32")
    p.step(q.run("Enqueue", [x, np.int32(1)]), feeds={x: f32([1, 2, 3])})
    p.step(q.run("EnqueueMany", [x, i32([1, 2])]), feeds={x: f32([[1, 2]])})
    p.step(p("QueueEnqueueV2", q.node, [f32([1, 2])]))
    n = p.feed("int32", [])
    made = q.run("DequeueMany", n, component_types=q.types)
    p.step((made, 0), feeds={n: -1})
    p.step((made, 0), feeds={n: 0})
    wrong = q.run("Dequeue", component_types=["int32", "float32"])
    p.step(wrong)
    loose = p("FIFOQueueV2", component_types=["float32"], shared_name="loose")
    p.step(p("QueueEnqueueV2", loose, [f32([1])]))
    p.step(p("QueueDequeueManyV2", loose, np.int32(1), component_types=["float32"]))
    twin = p("FIFOQueueV2", component_types=["int32"], shared_name="loose")
    p.step(p("QueueSizeV2", twin))


@scenario(draws=16)
def stack(p: Program, rng: np.random.Generator) -> None:
    dtype = pick(rng, TYPES)
    if rng.integers(2):
        s, v2 = p("StackV2", np.int32(pick(rng, [-1, 2, 5])), elem_type=dtype), "V2"
    else:
        s, v2 = p("Stack", elem_type=dtype), ""
    last: list[Node] = []
    for _ in range(3):
        new = values(rng, dtype, pick(rng, [[], [2], [0]]))
        last = [p(f"StackPush{v2}", s, new, controls=last)]
    pops: list[Node] = []
    for _ in range(int(rng.integers(1, 5))):
        pops.append(p(f"StackPop{v2}", s, elem_type=dtype, controls=[*last, *pops[-1:]]))
    closed = p(f"StackClose{v2}", s, controls=pops)
    p.step(*pops, closed)
