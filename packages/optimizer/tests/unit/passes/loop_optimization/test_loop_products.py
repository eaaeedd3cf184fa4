"""Row C14: products of a list's elements with a matrix that stays the same in all iterations."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from list_loops import constant, list_loop, ops_of_body
from pass_checks import (
    Maker,
    assert_same_natively,
    assert_same_values,
    assert_unchanged,
    define,
    node,
    run_pass,
)

from drystone_base.core.dtypes import FLOAT32, FLOAT64, INT32, VARIANT, DType
from drystone_base.ops.attrs import FunctionRef
from drystone_optimizer import OptimizerConfig, optimize

LOOP = "loop_optimization"
MOVED = {"hoist-matmul": 1}
DEPTH, WIDTH = 3, 4
TYPES = [INT32, INT32, FLOAT32, VARIANT, FLOAT32]


def recurrent(
    *more: Any, flips: bool = False, rows: Any = (-1, -1, DEPTH), matrix: str = "w",
    carried: dict[str, str] | None = None, product: dict[str, Any] | None = None,
    dtype: DType = FLOAT32, width: int = WIDTH,
) -> Maker:  # fmt: skip
    """A loop that adds ``x[t] @ w`` to ``h``; ``more`` nodes are in its body."""
    steps = [
        node("Identity", "weights", matrix, T=dtype),
        node("MatMul", "product", "read:item:0", "weights:output:0",
             **({"T": dtype, "transpose_b": flips} | (product or {}))),
        node("AddV2", "sum", "h", "product:product:0", T=dtype),
        *more,
    ]  # fmt: skip
    shape = (width, DEPTH) if flips else (DEPTH, width)
    ends = {"h": "sum:z:0"} | (carried or {})
    return list_loop(steps, ends, "w", rows=rows, depth=DEPTH, shape=shape, dtype=dtype)


def fed(*, times: int = 5, length: int = 5, batch: int = 2, flips: bool = False) -> dict[str, Any]:
    random = np.random.default_rng(length)
    made = {"x:0": (length, batch, DEPTH), "h:0": (batch, WIDTH),
            "w:0": (WIDTH, DEPTH) if flips else (DEPTH, WIDTH)}  # fmt: skip
    arrays = {k: random.standard_normal(s).astype(np.float32) for k, s in made.items()}
    return {**arrays, "times:0": np.int32(times)}


FEEDS = list(fed())


@pytest.mark.parametrize("flips", [False, True])
def test_products_go_before_the_loop(flips: bool) -> None:
    m = recurrent(flips=flips)
    before = m.graph.to_bytes()
    after, report = run_pass(m.graph, LOOP, ["y:0"], FEEDS)
    assert report.steps[0].rewrites == MOVED
    assert m.graph.to_bytes() == before, "the given graph was changed"
    assert "MatMul" not in ops_of_body(after)
    assert "held" not in after
    [products] = [n for n in after if n.op == "BatchMatMulV2"]
    assert [source.name for source, _ in products.inputs] == ["x", "w"]
    for given in (fed(flips=flips), fed(flips=flips, times=0), fed(flips=flips, times=2, batch=1)):
        assert_same_values(m.graph, after, ["y:0"], given, exact=False)
    assert_same_natively(m.graph, after, ["y:0"], fed(flips=flips))


def test_lists_without_elements_or_rows() -> None:
    m = recurrent()
    after, report = run_pass(m.graph, LOOP, ["y:0"], FEEDS)
    assert report.steps[0].rewrites == MOVED
    for given in (fed(times=0, length=0), fed(batch=0)):
        assert_same_values(m.graph, after, ["y:0"], given, exact=True)
        assert_same_natively(m.graph, after, ["y:0"], given)


def test_nan_and_infinity_stay() -> None:
    m = recurrent()
    after, report = run_pass(m.graph, LOOP, ["y:0"], FEEDS)
    assert report.steps[0].rewrites == MOVED
    given = fed()
    given["x:0"][1, 0, 1], given["x:0"][2, 1, 0] = np.nan, np.inf
    assert_same_values(m.graph, after, ["y:0"], given, exact=False)


def test_two_loops_with_one_body_each_get_one() -> None:
    m = recurrent()
    m.graph.adopt(m.graph["loop"], "other")
    m.graph.set_inputs(m.graph["other"], list(m.graph["loop"].inputs))
    m.op("Identity", "z", "other:2", T=FLOAT32)
    after, report = run_pass(m.graph, LOOP, ["y:0", "z:0"], FEEDS)
    assert report.steps[0].rewrites == {"hoist-matmul": 2}
    bodies = {after[name].attrs["body"].name for name in ("loop", "other")}
    assert bodies == {"body_products", "body_products_1"}
    assert_same_values(m.graph, after, ["y:0", "z:0"], fed(), exact=False)


READ = node("Neg", "again", "read:item:0", T=FLOAT32)
OTHER_MATRIX = node("Neg", "changed", "w", T=FLOAT32)
OTHER_LIST = node("TensorListSetItem", "other", "list", "t", "read:item:0", element_dtype=FLOAT32)
ELSEWHERE = node("TensorListLength", "length", "list")


@pytest.mark.parametrize(
    "made",
    [
        {"rows": None},
        {"rows": (-1, -1, -1)},
        {"rows": (-1, DEPTH)},
        {"rows": (-1, -1, DEPTH + 1)},
        {"width": -1},
        {"carried": {"w": "changed:y:0"}, "more": OTHER_MATRIX},
        {"carried": {"list": "other:output_handle:0"}, "more": OTHER_LIST},
        {"matrix": "h"},
        {"more": READ},
        {"more": ELSEWHERE},
        {"product": {"transpose_a": True}},
        {"more": node("NoOp", "waits", "^read")},
        {"more": node("NoOp", "waits", "^product")},
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


def test_fetched_loops_and_functions_that_are_not_there_stay() -> None:
    assert_unchanged(recurrent(), LOOP, ["loop:2"], FEEDS)
    m = recurrent()
    m.graph.set_attr(m.graph["loop"], "body", FunctionRef("nowhere"))
    assert_unchanged(m, LOOP, ["y:0"], FEEDS)


def test_float64_goes_out_and_other_dtypes_stay() -> None:
    after, _ = run_pass(recurrent(dtype=FLOAT64).graph, LOOP, ["y:0"], FEEDS)
    assert "BatchMatMulV2" in {n.op for n in after}
    assert_unchanged(recurrent(dtype=INT32), LOOP, ["y:0"], FEEDS)


def test_exact_sessions_leave_it() -> None:
    assert_unchanged(recurrent(), LOOP, ["y:0"], FEEDS, numeric="exact")


def reshaped(name: str, source: str, shape: list[int]) -> list[Any]:
    size = f"{name}_shape"
    moved = node("Reshape", name, source, f"{size}:output:0", T=FLOAT32, Tshape=INT32)
    return [constant(size, shape), moved]


@pytest.mark.parametrize("verified", [False, True])
def test_loops_inside_of_functions(verified: bool) -> None:
    """What is made for them is part of the graph; two that make the same name get two."""
    inner, m = recurrent().graph, Maker()
    for function in inner.functions:
        m.graph.functions.add(function.proto)
    args = [("x", FLOAT32), ("times", INT32), ("h", FLOAT32), ("w", FLOAT32)]
    given = [m.x(name, None if dtype is FLOAT32 else (), dtype) for name, dtype in args]
    calls = []
    for k, steps in enumerate((5, 4)):
        define(
            m, f"outer{k}", args, [("y", FLOAT32, "loop:output:2")],
            *reshaped("rows", "x", [-1, 2, DEPTH]), *reshaped("matrix", "w", [DEPTH, WIDTH]),
            constant("zero", 0), constant("steps", steps), constant("element", [-1, DEPTH]),
            node("TensorListFromTensor", "held", "rows:output:0", "element:output:0",
                 element_dtype=FLOAT32, shape_type=INT32),
            node("StatelessWhile", "loop", "zero:output:0", "steps:output:0", "h",
                 "held:output_handle:0", "matrix:output:0", T=TYPES, cond=FunctionRef("cond"),
                 body=FunctionRef("body"), output_shapes=[], parallel_iterations=10),
        )  # fmt: skip
        m.op("PartitionedCall", f"call{k}", *given,
             Tin=[t for _, t in args], Tout=[FLOAT32], f=FunctionRef(f"outer{k}"))  # fmt: skip
        calls.append(f"call{k}")
    m.op("AddV2", "y", *calls, T=FLOAT32)
    config = OptimizerConfig(
        function_optimization="off", min_graph_nodes=-1, fail_on_optimizer_errors=True,
        verify_passes=verified,
    )  # fmt: skip
    after = optimize(m.graph, ["y:0"], FEEDS, config)
    loops = [n for f in after.functions for n in f.proto.node_def if n.op == "StatelessWhile"]
    names = {n.attr["body"].func.name for n in loops}
    assert len(names) == 2
    assert "body" not in names
    assert len(m.graph.functions) == 4, "the graph that was given stays as it is"
    assert_same_values(m.graph, after, ["y:0"], fed(), exact=False)
