"""Calls of functions row by row and by device, references that are chosen, queues of two kinds."""

# ruff: noqa: D103 - scenarios are named by what they run

from __future__ import annotations

from typing import Any

import numpy as np
from stateful import f32, i32

from scenarios import Program, scenario, with_tensorflow


def pick(rng: np.random.Generator, items: list[Any]) -> Any:
    """One of them."""
    return items[int(rng.integers(len(items)))]


@with_tensorflow(draws=12)
def rows(tf: Any, p: Program, rng: np.random.Generator) -> None:
    a, b = rng.normal(size=[3, 2]).astype("f4"), rng.normal(size=[3]).astype("f4")
    scale = rng.normal(size=[2]).astype("f4")

    f = tf.function(lambda x, y, c: (x * c + y, tf.reduce_sum(x)))
    one = f.get_concrete_function(
        tf.TensorSpec([2], "float32"), tf.TensorSpec([], "float32"), tf.TensorSpec([2], "float32")
    )
    one.add_to_graph()
    x = tf.compat.v1.placeholder("float32", [None, 2])
    y = tf.compat.v1.placeholder("float32", [None])
    mapped = tf.raw_ops.MapDefun(
        arguments=[x, y],
        captured_inputs=[tf.constant(scale)],
        output_types=["float32", "float32"],
        output_shapes=pick(rng, [[[2], []], [None, []], [[None], None], [[3], []]]),
        f=one,
    )
    p.step(*mapped, feeds={x: a, y: b})
    p.step(*mapped, feeds={x: a[:0], y: b[:0]})
    p.step(*mapped, feeds={x: a[:2], y: b})


@with_tensorflow()
def rows_of_other_sizes(tf: Any, p: Program) -> None:
    one = tf.function(lambda n: tf.range(n)).get_concrete_function(tf.TensorSpec([], "int32"))
    one.add_to_graph()
    n = tf.compat.v1.placeholder("int32", [None])
    mapped = tf.raw_ops.MapDefun(
        arguments=[n], captured_inputs=[], output_types=["int32"], output_shapes=[None], f=one
    )
    p.step(*mapped, feeds={n: i32([2, 2, 2])})
    p.step(*mapped, feeds={n: i32([2, 1, 2])})


@with_tensorflow()
def by_device(tf: Any, p: Program) -> None:
    one = tf.function(lambda x: x + 1).get_concrete_function(tf.TensorSpec([], "float32"))
    one.add_to_graph()
    target = tf.compat.v1.placeholder("string", [])
    out = tf.raw_ops.RemoteCall(target=target, args=[tf.constant(1.0)], Tout=["float32"], f=one)
    here = ["", "/job:localhost/replica:0/task:0/device:CPU:0", "/device:CPU:0", "/cpu:0", "CPU:0"]
    other = ["/job:worker/replica:0/task:0/device:CPU:0", "/job:localhost/replica:0/task:1/cpu:0"]
    for name in (*here, *other, "nonsense"):
        p.step(out[0], feeds={target: name})


@with_tensorflow()
def options_of_calls(tf: Any, p: Program) -> None:
    """Where and how a call runs does not change what it gives."""
    one = tf.function(lambda x: (x + 1, x * x)).get_concrete_function(tf.TensorSpec([], "float32"))
    one.add_to_graph()
    proto = tf.compat.v1.ConfigProto(allow_soft_placement=True, device_count={"CPU": 1})
    x = tf.compat.v1.placeholder("float32", [])
    for call in (tf.raw_ops.PartitionedCall, tf.raw_ops.StatefulPartitionedCall):
        for kind in ("", "SINGLE_THREADED_EXECUTOR"):
            out = call(
                args=[x],
                Tout=["float32", "float32"],
                f=one,
                config_proto=proto.SerializeToString(),
                executor_type=kind,
            )
            p.step(*out, feeds={x: 3.0})


@scenario()
def chosen_reference(p: Program) -> None:
    a, b = (p("VariableV2", dtype="float32", shape=[2], shared_name=n) for n in "ab")
    first, second = p("Assign", a, f32([1, 2])), p("Assign", b, f32([3, 4]))
    p.step(first, second)
    index = p.feed("int32", [])
    chosen = p("RefSelect", index, [a, b])
    for k in (0, 1, 2, -1):
        p.step(p("AssignAdd", chosen, f32([10, 10])), feeds={index: k})
        p.step(a, b)


@scenario()
def switched_reference(p: Program) -> None:
    a = p("VariableV2", dtype="float32", shape=[2])
    p.step(p("Assign", a, f32([1, 2])))
    flag = p.feed("bool", [])
    switch = p("RefSwitch", a, flag)
    more = p("AssignAdd", (switch, 1), f32([5, 5]))
    less = p("AssignSub", (switch, 0), f32([1, 1]))
    merged = p("RefMerge", [less, more])
    for given in (True, False):
        p.step(p("Identity", merged), (merged, 1), feeds={flag: given})
        p.step(a)


@scenario()
def one_queue_for_both_generations(p: Program) -> None:
    q = p("FIFOQueueV2", component_types=["int32"], shapes=[[]])
    old = p("FakeQueue", q)
    p.step(p("QueueEnqueueV2", q, [p.const(7)]))
    p.step(p("QueueSize", old))
    p.step(p("QueueDequeue", old, component_types=["int32"]))
    p.step(p("QueueEnqueue", old, [p.const(8)]))
    p.step(p("QueueSizeV2", q))
