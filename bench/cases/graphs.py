"""Graphs of the synthetic cases, in drystone's own form."""

from __future__ import annotations

from typing import Any

import numpy as np
from google.protobuf import text_format

from drystone_abi.protos import FunctionDef
from drystone_base.core.dtypes import FLOAT32, INT32, INT64, STRING, DType, from_numpy
from drystone_base.graph import Graph, Node
from drystone_base.ops.attrs import FunctionRef, TensorAttr

__all__ = ["CHAIN", "chain", "hashed_text", "loop_of_frames", "loop_of_functions", "nms_loop"]

CHAIN = ("AddV2", "Tanh", "Mul", "Relu", "Sub", "Sigmoid", "Maximum", "Exp", "Square", "Sqrt")
"""Ops of the mixed chain, in turn; those that take two read the second input."""
BINARY = ("AddV2", "Mul", "Sub", "Maximum")

COUNTING = """
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

STATE = """input_arg { name: "k" type: DT_INT32 } input_arg { name: "kept" type: DT_INT32 }
  input_arg { name: "boxes" type: DT_FLOAT } input_arg { name: "scores" type: DT_FLOAT }"""
SELECTING = f"""
signature {{ name: "more" {STATE} output_arg {{ name: "out" type: DT_BOOL }} }}
node_def {{ name: "classes" op: "Const" attr {{ key: "dtype" value {{ type: DT_INT32 }} }}
  attr {{ key: "value" value {{ tensor {{ dtype: DT_INT32 tensor_shape {{ }} int_val: 20 }} }} }} }}
node_def {{ name: "less" op: "Less" input: "k" input: "classes:output:0"
  attr {{ key: "T" value {{ type: DT_INT32 }} }} }}
ret {{ key: "out" value: "less:z:0" }}
---
signature {{ name: "select" {STATE} output_arg {{ name: "next" type: DT_INT32 }}
  output_arg {{ name: "sum" type: DT_INT32 }} output_arg {{ name: "boxes_out" type: DT_FLOAT }}
  output_arg {{ name: "scores_out" type: DT_FLOAT }} }}
node_def {{ name: "one" op: "Const" attr {{ key: "dtype" value {{ type: DT_INT32 }} }}
  attr {{ key: "value" value {{ tensor {{ dtype: DT_INT32 tensor_shape {{ }} int_val: 1 }} }} }} }}
node_def {{ name: "zero" op: "Const" attr {{ key: "dtype" value {{ type: DT_INT32 }} }}
  attr {{ key: "value" value {{ tensor {{ dtype: DT_INT32 tensor_shape {{ }} int_val: 0 }} }} }} }}
node_def {{ name: "most" op: "Const" attr {{ key: "dtype" value {{ type: DT_INT32 }} }}
  attr {{ key: "value" value {{ tensor {{ dtype: DT_INT32 tensor_shape {{ }} int_val: 50 }} }} }} }}
node_def {{ name: "limit" op: "Const" attr {{ key: "dtype" value {{ type: DT_FLOAT }} }}
  attr {{ key: "value" value {{ tensor {{ dtype: DT_FLOAT tensor_shape {{ }}
    float_val: 0.5 }} }} }} }}
node_def {{ name: "floor" op: "Const" attr {{ key: "dtype" value {{ type: DT_FLOAT }} }}
  attr {{ key: "value" value {{ tensor {{ dtype: DT_FLOAT tensor_shape {{ }}
    float_val: 0.1 }} }} }} }}
node_def {{ name: "row" op: "GatherV2" input: "scores" input: "k" input: "zero:output:0"
  attr {{ key: "Tparams" value {{ type: DT_FLOAT }} }}
  attr {{ key: "Tindices" value {{ type: DT_INT32 }} }}
  attr {{ key: "Taxis" value {{ type: DT_INT32 }} }} }}
node_def {{ name: "chosen" op: "NonMaxSuppressionV3" input: "boxes" input: "row:output:0"
  input: "most:output:0" input: "limit:output:0" input: "floor:output:0"
  attr {{ key: "T" value {{ type: DT_FLOAT }} }}
  attr {{ key: "T_threshold" value {{ type: DT_FLOAT }} }} }}
node_def {{ name: "size" op: "Size" input: "chosen:selected_indices:0"
  attr {{ key: "T" value {{ type: DT_INT32 }} }}
  attr {{ key: "out_type" value {{ type: DT_INT32 }} }} }}
node_def {{ name: "total" op: "AddV2" input: "kept" input: "size:output:0"
  attr {{ key: "T" value {{ type: DT_INT32 }} }} }}
node_def {{ name: "added" op: "AddV2" input: "k" input: "one:output:0"
  attr {{ key: "T" value {{ type: DT_INT32 }} }} }}
ret {{ key: "next" value: "added:z:0" }} ret {{ key: "sum" value: "total:z:0" }}
ret {{ key: "boxes_out" value: "boxes" }} ret {{ key: "scores_out" value: "scores" }}
"""


def placeholder(graph: Graph, name: str, dtype: DType, shape: tuple[int, ...]) -> Node:
    """A node that is fed."""
    return graph.add("Placeholder", name, attrs={"dtype": dtype, "shape": shape})


def constant(graph: Graph, name: str, value: object, dtype: type[np.generic] = np.int32) -> Node:
    """A node with a value."""
    array = np.array(value, dtype)
    attrs = {"dtype": from_numpy(array.dtype), "value": TensorAttr(array=array)}
    return graph.add("Const", name, attrs=attrs)


def chain(length: int, ops: tuple[str, ...] = ("AddV2",)) -> Graph:
    """``length`` element-wise nodes on 4 x 4 floats in a row, from ``x`` and ``y`` to ``out``."""
    graph = Graph()
    x, y = (placeholder(graph, name, FLOAT32, (4, 4)) for name in "xy")
    for k in range(length):
        op = ops[k % len(ops)]
        inputs = [x, y] if op in BINARY else [x]
        x = graph.add(op, "out" if k == length - 1 else f"node_{k}", inputs, attrs={"T": FLOAT32})
    return graph


def loop_of_frames() -> Graph:
    """``while k < limit: k += 1`` of Enter, Merge, Switch, NextIteration and Exit."""
    graph, typed = Graph(), {"T": INT32}

    def enter(name: str, value: Node, is_constant: bool) -> Node:
        attrs = {"T": INT32, "frame_name": "loop", "is_constant": is_constant,
                 "parallel_iterations": 10}  # fmt: skip
        return graph.add("Enter", name, [value], attrs=attrs)

    start = enter("start", constant(graph, "zero", 0), False)
    limit = enter("bound", placeholder(graph, "limit", INT32, ()), True)
    merge = graph.add("Merge", "merge", [start, start], attrs={"T": INT32, "N": 2})
    less = graph.add("Less", "less", [merge, limit], attrs=typed)
    again = graph.add("LoopCond", "again", [less])
    switch = graph.add("Switch", "switch", [merge, again], attrs=typed)
    stay = graph.add("Identity", "stay", [(switch, 1)], attrs=typed)
    one = constant(graph, "one", 1)
    graph.add_control(one, stay)
    added = graph.add("AddV2", "added", [stay, one], attrs=typed)
    graph.set_input(merge, 1, (graph.add("NextIteration", "next", [added], attrs=typed), 0))
    graph.add("Exit", "out", [(switch, 0)], attrs=typed)
    return graph


def loop_of_functions() -> Graph:
    """The same loop as one node over two functions."""
    graph = _with_functions(COUNTING)
    inputs = [constant(graph, "zero", 0), placeholder(graph, "limit", INT32, ())]
    return _while(graph, "below", "count", [INT32, INT32], inputs, [(), ()], output=0)


def nms_loop() -> Graph:
    """Boxes chosen class by class: a loop of 20 steps around NonMaxSuppression of 300 boxes."""
    graph = _with_functions(SELECTING)
    inputs = [constant(graph, "first", 0), constant(graph, "none", 0),
              placeholder(graph, "boxes", FLOAT32, (300, 4)),
              placeholder(graph, "scores", FLOAT32, (20, 300))]  # fmt: skip
    shapes: list[tuple[int, ...]] = [(), (), (300, 4), (20, 300)]
    return _while(
        graph, "more", "select", [INT32, INT32, FLOAT32, FLOAT32], inputs, shapes, output=1
    )


def _with_functions(text: str) -> Graph:
    graph = Graph()
    for part in text.split("---"):
        graph.functions.add(text_format.Parse(part, FunctionDef()))
    return graph


def _while(
    graph: Graph, cond: str, body: str, types: list[DType], inputs: list[Node],
    shapes: list[tuple[int, ...]], *, output: int,
) -> Graph:  # fmt: skip
    attrs: dict[str, Any] = {
        "T": types, "cond": FunctionRef(cond), "body": FunctionRef(body),
        "output_shapes": shapes, "parallel_iterations": 10,
    }  # fmt: skip
    loop = graph.add("StatelessWhile", "loop", inputs, attrs=attrs)
    graph.add("Identity", "out", [(loop, output)], attrs={"T": types[output]})
    return graph


def hashed_text() -> Graph:
    """Lines to words to hash buckets to rows of a table, added up per line."""
    graph = Graph()
    lines = placeholder(graph, "lines", STRING, (64,))
    blank = constant(graph, "blank", b" ", np.bytes_)
    words = graph.add("StringSplitV2", "words", [lines, blank], attrs={"maxsplit": -1})
    buckets = graph.add("StringToHashBucketFast", "buckets", [(words, 1)],
                        attrs={"num_buckets": 5000})  # fmt: skip
    rng = np.random.default_rng(5)
    table = constant(graph, "table", rng.standard_normal((5000, 16)), np.float32)
    axis = constant(graph, "axis", 0)
    gathered = {"Tparams": FLOAT32, "Tindices": INT64, "Taxis": INT32}
    rows = graph.add("GatherV2", "rows", [table, buckets, axis], attrs=gathered)
    first = {"Tparams": INT64, "Tindices": INT32, "Taxis": INT32}
    column = constant(graph, "column", 0)
    along = constant(graph, "along", 1)
    ids = graph.add("GatherV2", "ids", [(words, 0), column, along], attrs=first)
    graph.add("SegmentSum", "out", [rows, ids], attrs={"T": FLOAT32, "Tindices": INT64})
    return graph
