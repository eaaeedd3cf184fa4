"""What a call costs from Python: one Add, chains of Adds, loops of both generations."""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Any

import numpy as np
from google.protobuf import text_format

from bench._measure import interleaved
from bench._report import Column, Report, number, span, text
from drystone_abi.protos import FunctionDef
from drystone_base.dtypes import FLOAT32, INT32
from drystone_base.graph import Graph, Node
from drystone_base.ops.attrs import FunctionRef, TensorAttr
from drystone_base.session import Session

__all__ = ["run"]

TARGETS = {"one Add": 2.5e-6, "100 Adds": 8e-6, "1000 Adds": 10e-6, "loop": 1e-3}
"""Seconds that the compiled executor is to need; the reference executor has no such aim."""

FUNCTIONS = """
signature { name: "below" input_arg { name: "k" type: DT_INT32 }
  input_arg { name: "limit" type: DT_INT32 } output_arg { name: "out" type: DT_BOOL } }
node_def { name: "less" op: "Less" input: "k" input: "limit"
  attr { key: "T" value { type: DT_INT32 } } }
ret { key: "out" value: "less:z:0" }
---
signature { name: "count" input_arg { name: "k" type: DT_INT32 }
  input_arg { name: "limit" type: DT_INT32 } output_arg { name: "next" type: DT_INT32 }
  output_arg { name: "same" type: DT_INT32 } }
node_def { name: "one" op: "Const" attr { key: "dtype" value { type: DT_INT32 } }
  attr { key: "value" value { tensor { dtype: DT_INT32 tensor_shape { } int_val: 1 } } } }
node_def { name: "added" op: "AddV2" input: "k" input: "one:output:0"
  attr { key: "T" value { type: DT_INT32 } } }
ret { key: "next" value: "added:z:0" }
ret { key: "same" value: "limit" }
"""


def run(quick: bool) -> Report:
    """Median seconds of each call, one prepared callable each, in interleaved rounds."""
    steps = 1_000 if quick else 10_000
    calls: dict[str, tuple[int, Callable[[], Any], float | None]] = {
        "one Add, Session.run": (1, _add_by_name(), None),
        "one Add, make_callable": (1, _adds(1), TARGETS["one Add"]),
        "100 Adds in a chain": (100, _adds(100), TARGETS["100 Adds"]),
        "1000 Adds in a chain": (1000, _adds(1000), TARGETS["1000 Adds"]),
        f"while loop, {steps} steps, frames": (steps, _frames_loop(steps), None),
        f"while loop, {steps} steps, functions": (steps, _function_loop(steps), None),
    }
    if not quick:
        for name in list(calls)[-2:]:
            calls[name] = (*calls[name][:2], TARGETS["loop"])
    repeats = {name: max(1, 200 // count) for name, (count, *_) in calls.items()}
    gc.collect()
    timings = interleaved(
        {name: _repeat(call, repeats[name]) for name, (_, call, _) in calls.items()},
        seconds=0.1 if quick else 2.0,
        most=30,
    )
    rows = [
        {"what": name, "median_s": timings[name].median / repeats[name],
         "least_s": timings[name].least / repeats[name],
         "per_node_s": timings[name].median / repeats[name] / count, "target_s": target,
         "runs": len(timings[name].seconds) * repeats[name]}
        for name, (count, _, target) in calls.items()
    ]  # fmt: skip
    columns = [
        Column("what", "call", text), Column("median_s", "median", span),
        Column("least_s", "least", span), Column("per_node_s", "per Add or step", span),
        Column("target_s", "target, compiled", span), Column("runs", "runs", number),
    ]  # fmt: skip
    notes = ["all by the reference executor; the targets are those of the compiled one"]
    return Report("calls", "Calls from Python", columns, rows, notes)


def _repeat(call: Callable[[], Any], times: int) -> Callable[[], None]:
    def repeated() -> None:
        for _ in range(times):
            call()

    return repeated


def _chain(length: int) -> Graph:
    graph = Graph()
    first = graph.add("Placeholder", "x", attrs={"dtype": FLOAT32, "shape": ()})
    last = first
    for k in range(length):
        last = graph.add("AddV2", f"add_{k}", [last, first], attrs={"T": FLOAT32})
    return graph


def _add_by_name() -> Callable[[], Any]:
    session, x = Session(_chain(1)), np.float32(1)
    return lambda: session.run("add_0:0", {"x:0": x})


def _adds(length: int) -> Callable[[], Any]:
    call = Session(_chain(length)).make_callable(f"add_{length - 1}:0", ["x:0"])
    x = np.array(1, np.float32)
    assert call(x) == length + 1
    return lambda: call(x)


def _const(graph: Graph, name: str, value: int) -> Node:
    tensor = TensorAttr(array=np.array(value, np.int32))
    return graph.add("Const", name, attrs={"dtype": INT32, "value": tensor})


def _frames_loop(steps: int) -> Callable[[], Any]:
    """``while k < steps: k += 1`` of Enter, Merge, Switch, NextIteration and Exit."""
    graph, typed = Graph(), {"T": INT32}

    def enter(name: str, value: Node, constant: bool) -> Node:
        attrs = {"T": INT32, "frame_name": "loop", "is_constant": constant}
        return graph.add("Enter", name, [value], attrs=attrs)

    start = enter("start", _const(graph, "zero", 0), False)
    limit = enter("limit", _const(graph, "steps", steps), True)
    one = enter("one", _const(graph, "unit", 1), True)
    merge = graph.add("Merge", "merge", [start, start], attrs={"T": INT32, "N": 2})
    less = graph.add("Less", "less", [merge, limit], attrs=typed)
    again = graph.add("LoopCond", "again", [less])
    switch = graph.add("Switch", "switch", [merge, again], attrs=typed)
    added = graph.add("AddV2", "added", [(switch, 1), one], attrs=typed)
    graph.set_input(merge, 1, (graph.add("NextIteration", "next", [added], attrs=typed), 0))
    graph.add("Exit", "exit", [(switch, 0)], attrs=typed)
    call = Session(graph).make_callable("exit:0")
    assert call() == steps
    return call


def _function_loop(steps: int) -> Callable[[], Any]:
    """The same loop as one While node over two functions."""
    graph = Graph()
    for part in FUNCTIONS.split("---"):
        graph.functions.add(text_format.Parse(part, FunctionDef()))
    attrs = {"T": [INT32, INT32], "cond": FunctionRef("below"), "body": FunctionRef("count")}
    inputs = [_const(graph, "zero", 0), _const(graph, "steps", steps)]
    graph.add("StatelessWhile", "loop", inputs, attrs=attrs)
    call = Session(graph).make_callable("loop:0")
    assert call() == steps
    return call
