"""A bias that a loop adds to each element of a list is added before the loop."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from pass_checks import (
    Maker,
    assert_same_natively,
    assert_same_values,
    assert_unchanged,
    define,
    node,
    run_pass,
)

from drystone_base.dtypes import BOOL, FLOAT32, INT32, VARIANT
from drystone_base.graph import Graph
from drystone_base.ops.attrs import FunctionRef, TensorAttr

LOOP = "loop_optimization"
MOVED = {"biases before the loop": 1}
WIDTH = 4
TYPES = [INT32, INT32, FLOAT32, VARIANT, FLOAT32]
NAMES = ["t", "times", "h", "list", "b"]
F: dict[str, Any] = {"T": FLOAT32}


def constant(name: str, value: Any) -> Any:
    return node("Const", name, dtype=INT32, value=TensorAttr(array=np.asarray(value, np.int32)))


SUM = node("AddV2", "inner", "h", "read:item:0", **F)


def recurrent(
    *more: Any, of_sum: bool = True, rows: Any = (-1, -1, WIDTH), bias: Any = (WIDTH,),
    carried: dict[str, str] | None = None, added: str = "b", **attrs: Any,
) -> Maker:  # fmt: skip
    """A loop of ``h = tanh(h + x[t] + b)``, or without ``h`` in the sum."""
    m = Maker()
    args = list(zip(NAMES, TYPES, strict=True))
    value = "inner:z:0" if of_sum else "read:item:0"
    body = [
        constant("shape", [-1, WIDTH]), constant("one", 1),
        node("TensorListGetItem", "read", "list", "t", "shape:output:0", element_dtype=FLOAT32),
        *([SUM] if of_sum else []),
        node("BiasAdd", "biased", value, added, **F, **attrs),
        node("Tanh", "state", "biased:output:0", **F),
        node("AddV2", "next", "t", "one:output:0", T=INT32),
        *more,
    ]  # fmt: skip
    ends = {"t": "next:z:0", "h": "state:y:0"} | (carried or {})
    define(m, "body", args, [(f"{n}_", t, ends.get(n, n)) for n, t in args], *body)
    define(m, "cond", args, [("go", BOOL, "less:z:0")],
           node("Less", "less", "t", "times", T=INT32))  # fmt: skip
    m.op("TensorListFromTensor", "held", m.x("x", rows), m.const("element", [-1, WIDTH]),
         element_dtype=FLOAT32, shape_type=INT32)  # fmt: skip
    inputs = [m.const("zero", 0), m.x("times", (), INT32), m.x("h", (-1, -1)), "held",
              m.x("b", bias)]  # fmt: skip
    m.op("StatelessWhile", "loop", *inputs, T=TYPES, cond=FunctionRef("cond"),
         body=FunctionRef("body"), output_shapes=[], parallel_iterations=10)  # fmt: skip
    m.op("Identity", "y", "loop:2", T=FLOAT32)
    return m


def fed(*, times: int = 5, length: int = 5, batch: int = 2, state: int = 2) -> dict[str, Any]:
    random = np.random.default_rng(length)
    made = {"x:0": (length, batch, WIDTH), "h:0": (state, WIDTH), "b:0": (WIDTH,)}
    arrays = {k: random.standard_normal(s).astype(np.float32) for k, s in made.items()}
    return {**arrays, "times:0": np.int32(times)}


FEEDS = list(fed())


def ops_of_body(graph: Graph) -> list[str]:
    return sorted(graph.functions[graph["loop"].attrs["body"].name].ops())


@pytest.mark.parametrize("of_sum", [True, False])
def test_biases_go_before_the_loop(of_sum: bool) -> None:
    m = recurrent(of_sum=of_sum)
    before = m.graph.to_bytes()
    after, report = run_pass(m.graph, LOOP, ["y:0"], FEEDS)
    assert report.steps[0].rewrites == MOVED
    assert m.graph.to_bytes() == before, "the given graph was changed"
    assert "BiasAdd" not in ops_of_body(after)
    assert "held" not in after
    [biased] = [n for n in after if n.op == "BiasAdd"]
    assert [source.name for source, _ in biased.inputs] == ["x", "b"]
    for given in (fed(), fed(times=0), fed(times=2, batch=1), fed(state=1), fed(batch=0, state=1)):
        assert_same_values(m.graph, after, ["y:0"], given, exact=False)
    assert_same_natively(m.graph, after, ["y:0"], fed())


READ = node("Neg", "again", "read:item:0", **F)
READ_SUM = node("Neg", "again", "inner:z:0", **F)
OTHER_BIAS = node("Neg", "changed", "b", **F)


@pytest.mark.parametrize(
    "made",
    [
        {"rows": None},
        {"rows": (-1, -1, -1)},
        {"rows": (-1, WIDTH)},
        {"rows": (-1, -1, 1), "bias": (1,)},
        {"bias": (-1,)},
        {"bias": None},
        {"bias": (1,)},
        {"carried": {"b": "changed:y:0"}, "more": OTHER_BIAS},
        {"added": "changed:y:0", "more": OTHER_BIAS},
        {"more": READ},
        {"more": READ_SUM},
        {"data_format": "NCHW"},
        {"more": node("NoOp", "waits", "^read")},
        {"more": node("NoOp", "waits", "^inner")},
        {"more": node("NoOp", "waits", "^biased")},
    ],
    ids=str,
)
def test_other_bodies_stay(made: dict[str, Any]) -> None:
    more = [made.pop("more")] if "more" in made else []
    assert_unchanged(recurrent(*more, **made), LOOP, ["y:0"], FEEDS)


def test_a_list_that_is_read_after_the_loop_stays() -> None:
    m = recurrent()
    m.op("TensorListLength", "length", "loop:3")
    assert_unchanged(m, LOOP, ["y:0", "length:0"], FEEDS)


def test_exact_sessions_leave_it() -> None:
    assert_unchanged(recurrent(), LOOP, ["y:0"], FEEDS, numeric="exact")
