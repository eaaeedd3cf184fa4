"""Sliced operands: fused element-wise nodes read pieces of a tensor in place of a split."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from pass_checks import (
    Maker,
    assert_same_natively,
    assert_same_values,
    assert_unchanged,
    check,
    define,
    node,
    run_pass,
)

from drystone_base.core.dtypes import BOOL, FLOAT32, INT32
from drystone_base.graph import Graph
from drystone_base.ops.attrs import FunctionRef, TensorAttr
from drystone_base.ops.own import FUSED_ELEMENTWISE
from drystone_optimizer.passes import elementwise_fusion

F: dict[str, Any] = {"T": FLOAT32}
NAME = "elementwise_fusion"
WIDTH = 8


@pytest.fixture(autouse=True)
def _with_a_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if a plugin had one; the reference runs what comes out."""
    monkeypatch.setattr(elementwise_fusion, "of_plugins", lambda: {FUSED_ELEMENTWISE: ()})


def gates(
    *, axis: int = 1, shape: Any = (-1, 3 * WIDTH), kind: str = "Split", **attrs: Any
) -> Maker:
    """``Sigmoid(a) * Tanh(b)`` and ``c + c`` of three pieces."""
    m = Maker()
    x, where = m.x(shape=shape), m.const("axis", axis)
    if kind == "Split":
        m.op("Split", "s", where, x, num_split=3, **F, **attrs)
    else:
        sizes = m.const("sizes", [WIDTH, -1, WIDTH])
        m.op("SplitV", "s", x, sizes, where, num_split=3, Tlen=INT32, **F, **attrs)
    m.op("Mul", "y", m.op("Sigmoid", "i", "s:0", **F), m.op("Tanh", "g", "s:1", **F), **F)
    m.op("AddV2", "z", "s:2", "s:2", **F)
    return m


def fed(*shape: int) -> dict[str, Any]:
    return {"x:0": np.random.default_rng(0).normal(size=shape).astype(np.float32)}


FEEDS = fed(2, 3 * WIDTH)
FETCHES = ["y:0", "z:0"]
LINES = [f"y = {FUSED_ELEMENTWISE}(x, x)", f"z = {FUSED_ELEMENTWISE}(x)", "x = Placeholder()"]


@pytest.mark.parametrize("kind", ["Split", "SplitV"])
@pytest.mark.parametrize("axis", [1, -1])
def test_readers_read_where_the_pieces_lie(kind: str, axis: int) -> None:
    """Also one that is no region: it becomes a node of one op."""
    m = gates(kind=kind, axis=axis)
    report = check(m, NAME, FETCHES, LINES, FEEDS)
    assert [s.rewrites for s in report.steps if s.name == NAME] == [
        {"region": 1, "split-operands": 2}
    ]
    after, _ = run_pass(m.graph, NAME, FETCHES, ["x:0"])
    assert after["y"].attrs["slices"] == [0, WIDTH, WIDTH, WIDTH]
    assert after["z"].attrs["slices"] == [2 * WIDTH, WIDTH]


def test_a_piece_beside_what_is_broadcast() -> None:
    m = gates()
    m.op("Less", "l", "s:1", m.x("w", (5, 1, WIDTH)), **F)
    m.op("SelectV2", "c", "l", "s:0", m.const("zero", 0.0), **F)
    feeds = FEEDS | {"w:0": np.zeros((5, 1, WIDTH), np.float32)}
    after, _ = run_pass(m.graph, NAME, [*FETCHES, "c:0"], list(feeds))
    assert "Split" not in [n.op for n in after]
    assert_same_values(m.graph, after, [*FETCHES, "c:0"], feeds, exact=True)


def assert_stays(m: Maker, feeds: dict[str, Any], *more: str) -> None:
    """The split is left, and values are what they were."""
    fetches = [*FETCHES, *more]
    after, _ = run_pass(m.graph, NAME, fetches, list(feeds))
    assert [n.op for n in after if n.name == "s"] == [m.graph["s"].op]
    assert_same_values(m.graph, after, fetches, feeds, exact=True)


def test_not_where_another_reads_a_piece() -> None:
    m = gates()
    m.op("Softmax", "o", "s:2", **F)
    assert_stays(m, FEEDS, "o:0")


def test_not_what_is_fetched() -> None:
    assert_stays(gates(), FEEDS, "s:1")


def test_not_along_another_axis() -> None:
    assert_stays(gates(axis=0, shape=(3, WIDTH)), fed(3, WIDTH))


def test_not_of_a_size_that_is_not_known() -> None:
    assert_stays(gates(shape=(2, -1)), FEEDS)


def test_not_short_rows() -> None:
    assert_stays(gates(shape=(2, 9)), fed(2, 9))


def test_not_across_devices() -> None:
    assert_stays(gates(device="/device:CPU:1"), FEEDS)


def test_not_what_is_waited_for() -> None:
    m = gates()
    m.op("Identity", "o", "x", controls=["s"], **F)
    assert_stays(m, FEEDS, "o:0")


def test_nothing_without_readers_of_that_kind() -> None:
    m = Maker()
    m.op("Split", "s", m.const("axis", 1), m.x(shape=(2, 16)), num_split=2, **F)
    m.op("Softmax", "y", "s:0", **F)
    assert_unchanged(m, NAME, ["y:0"], ["x:0"])


# ---- a cell in a loop --------------------------------------------------------------------------

TYPES = [INT32, INT32, FLOAT32, FLOAT32]
NAMES = ["t", "times", "h", "bias"]


def recurrent(times_called: int = 1) -> Maker:
    """``h`` goes through a cell of two gates, with a bias that the loop is given."""
    m = Maker()
    args = list(zip(NAMES, TYPES, strict=True))
    one = node("Const", "one", dtype=INT32, value=TensorAttr(array=np.int32(1)))
    weights = np.random.default_rng(1).normal(size=(WIDTH, 2 * WIDTH)).astype(np.float32)
    body = [
        one, node("Const", "w", dtype=FLOAT32, value=TensorAttr(array=weights)),
        node("MatMul", "product", "h", "w:output:0", **F),
        node("BiasAdd", "biased", "product:product:0", "bias", **F),
        node("Split", "gates", "one:output:0", "biased:output:0", num_split=2, **F),
        node("Sigmoid", "i", "gates:output:0", **F), node("Tanh", "g", "gates:output:1", **F),
        node("Mul", "ig", "i:y:0", "g:y:0", **F), node("AddV2", "sum", "h", "ig:z:0", **F),
        node("AddV2", "next", "t", "one:output:0", T=INT32),
    ]  # fmt: skip
    ends = {"t": "next:z:0", "h": "sum:z:0"}
    define(m, "body", args, [(f"{n}_", t, ends.get(n, n)) for n, t in args], *body)
    define(m, "cond", args, [("go", BOOL, "less:z:0")],
           node("Less", "less", "t", "times", T=INT32))  # fmt: skip
    inputs = [m.const("zero", 0), m.x("times", (), INT32), m.x("h", (-1, WIDTH)),
              m.x("b", (2 * WIDTH,))]  # fmt: skip
    for k in range(times_called):
        m.op("StatelessWhile", f"loop{k}", *inputs, T=TYPES, cond=FunctionRef("cond"),
             body=FunctionRef("body"), output_shapes=[], parallel_iterations=10)  # fmt: skip
        m.op("Identity", f"y{k}", f"loop{k}:2", **F)
    return m


LOOP_FEEDS = {
    "times:0": np.int32(4), "h:0": np.ones((3, WIDTH), np.float32),
    "b:0": np.linspace(-1, 1, 2 * WIDTH, dtype=np.float32),
}  # fmt: skip


def ops_of_body(graph: Graph) -> list[str]:
    function = graph.functions.get("body")
    assert function is not None
    return sorted(n.op for n in function.proto.node_def if n.op != "Const")


def test_the_body_of_a_loop_knows_what_the_loop_gives_it() -> None:
    m = recurrent()
    after, _ = run_pass(m.graph, NAME, ["y0:0"], list(LOOP_FEEDS))
    assert ops_of_body(after) == ["AddV2", "BiasAdd", FUSED_ELEMENTWISE, "MatMul"]
    assert_same_values(m.graph, after, ["y0:0"], LOOP_FEEDS, exact=True)
    assert_same_natively(m.graph, after, ["y0:0"], LOOP_FEEDS)


def test_not_the_body_of_two_loops() -> None:
    """Each may give it something else."""
    m = recurrent(2)
    after, _ = run_pass(m.graph, NAME, ["y0:0", "y1:0"], list(LOOP_FEEDS))
    assert ops_of_body(after) == [*["AddV2"] * 2, "BiasAdd", FUSED_ELEMENTWISE, "MatMul"]
    assert_same_values(m.graph, after, ["y0:0", "y1:0"], LOOP_FEEDS, exact=True)


def test_not_a_body_that_another_function_calls() -> None:
    m = recurrent()
    args = list(zip(NAMES, TYPES, strict=True))
    define(m, "other", args, [("y", FLOAT32, "call:h_:0")],
           node("body", "call", *NAMES))  # fmt: skip
    after, _ = run_pass(m.graph, NAME, ["y0:0"], list(LOOP_FEEDS))
    assert ops_of_body(after).count("AddV2") == 2
