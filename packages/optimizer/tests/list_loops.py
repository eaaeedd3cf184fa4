"""Loops over the elements of a list that is made of a tensor, as recurrent layers have them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from pass_checks import Maker, define, node

from drystone_base.core.dtypes import BOOL, FLOAT32, INT32, VARIANT, DType
from drystone_base.graph import Graph
from drystone_base.ops.attrs import FunctionRef, TensorAttr

__all__ = ["constant", "list_loop", "ops_of_body"]


def constant(name: str, value: Any) -> Any:
    """A node of a function: a constant of int32."""
    return node("Const", name, dtype=INT32, value=TensorAttr(array=np.asarray(value, np.int32)))


def list_loop(
    steps: Sequence[Any], ends: Mapping[str, str], kept: str, *,
    rows: Any, depth: int, shape: Any, dtype: DType = FLOAT32,
) -> Maker:  # fmt: skip
    """``y``: the state ``h`` after a loop that reads ``x`` element by element, as ``read``.

    ``steps`` are nodes of its body beside counting, ``ends`` what its arguments become. ``kept``
    is an argument of ``shape`` beside ``h``; elements have ``depth`` columns, ``x`` has the shape
    ``rows``.
    """
    m = Maker()
    args = [("t", INT32), ("times", INT32), ("h", dtype), ("list", VARIANT), (kept, dtype)]
    types = [t for _, t in args]
    body = [
        constant("shape", [-1, depth]), constant("one", 1),
        node("TensorListGetItem", "read", "list", "t", "shape:output:0", element_dtype=dtype),
        *steps, node("AddV2", "next", "t", "one:output:0", T=INT32),
    ]  # fmt: skip
    become = {"t": "next:z:0"} | dict(ends)
    define(m, "body", args, [(f"{n}_", t, become.get(n, n)) for n, t in args], *body)
    define(m, "cond", args, [("go", BOOL, "less:z:0")],
           node("Less", "less", "t", "times", T=INT32))  # fmt: skip
    m.op("TensorListFromTensor", "held", m.x("x", rows, dtype), m.const("element", [-1, depth]),
         element_dtype=dtype, shape_type=INT32)  # fmt: skip
    inputs = [m.const("zero", 0), m.x("times", (), INT32), m.x("h", (-1, -1), dtype), "held",
              m.x(kept, shape, dtype)]  # fmt: skip
    m.op("StatelessWhile", "loop", *inputs, T=types, cond=FunctionRef("cond"),
         body=FunctionRef("body"), output_shapes=[], parallel_iterations=10)  # fmt: skip
    m.op("Identity", "y", "loop:2", T=dtype)
    return m


def ops_of_body(graph: Graph) -> list[str]:
    """What the loop's body does."""
    return sorted(graph.functions[graph["loop"].attrs["body"].name].ops())
