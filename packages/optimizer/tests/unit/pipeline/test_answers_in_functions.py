"""What a plugin's optimizer gives back for bodies of functions, held with what these are given."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from drystone_abi.protos import DataType, FunctionDef
from drystone_base import Session, SessionConfig
from drystone_base.core.dtypes import BOOL, FLOAT32, FLOAT64, INT32, DType
from drystone_base.graph import Graph, body_to_function
from drystone_base.ops.attrs import FunctionRef, TensorAttr
from drystone_optimizer import OptimizerConfig, OptimizerWarning
from drystone_optimizer.pipeline.pipeline import optimize_with_report
from drystone_optimizer.plugins.sources import Optimizer, Work

Edit = Callable[[Graph], Any]
F: Any = DataType.DT_FLOAT


def function(name: str, takes: DType = FLOAT32, gives: DType = FLOAT32) -> FunctionDef:
    """One that is not inlined, of the argument ``a``; it has no nodes yet, and gives ``n:y:0``."""
    proto = FunctionDef()
    proto.signature.name = name
    proto.signature.input_arg.add(name="a", type=takes.number)
    proto.signature.output_arg.add(name="b", type=gives.number)
    proto.ret["b"] = "n:y:0"
    proto.attr["_noinline"].b = True
    return proto


def negate(name: str) -> FunctionDef:
    proto = function(name)
    proto.node_def.add(name="n", op="Neg", input=["a"]).attr["T"].type = F
    return proto


def through(name: str, inner: str) -> FunctionDef:
    """One that calls another."""
    proto = function(name)
    proto.ret["b"] = "n:output:0"
    node = proto.node_def.add(name="n", op="PartitionedCall", input=["a"])
    node.attr["Tin"].list.type.append(F)
    node.attr["Tout"].list.type.append(F)
    node.attr["f"].func.name = inner
    return proto


def never(name: str) -> FunctionDef:
    """A condition that does not hold."""
    proto = function(name, gives=BOOL)
    node = proto.node_def.add(name="n", op="Const")
    node.attr["dtype"].type = DataType.DT_BOOL
    node.attr["value"].tensor.dtype = DataType.DT_BOOL
    node.attr["value"].tensor.tensor_shape.SetInParent()
    node.attr["value"].tensor.bool_val.append(False)
    proto.ret["b"] = "n:output:0"
    return proto


ONE: dict[str, Any] = {"Tin": [FLOAT32], "Tout": [FLOAT32]}


def calling(kind: str) -> Graph:
    """``z`` calls ``negate`` with what has the shape [2, 3]."""
    graph = Graph()
    x = graph.add("Placeholder", "x", attrs={"dtype": FLOAT32, "shape": (2, 3)})
    graph.functions.add(negate("negate"))
    if kind == "call":
        graph.add("PartitionedCall", "z", [x], attrs={**ONE, "f": FunctionRef("negate")})
    elif kind == "op":
        graph.add("negate", "z", [x])
    elif kind == "nested":
        graph.functions.add(through("outer", "negate"))
        graph.add("PartitionedCall", "z", [x], attrs={**ONE, "f": FunctionRef("outer")})
    elif kind == "If":
        graph.functions.add(negate("other"))
        p = graph.add("Placeholder", "p", attrs={"dtype": BOOL, "shape": ()})
        branches = {"then_branch": FunctionRef("negate"), "else_branch": FunctionRef("other")}
        graph.add("StatelessIf", "z", [p, x], attrs={"Tcond": BOOL, **ONE, **branches})
    elif kind == "Case":
        graph.functions.add(negate("other"))
        p = graph.add("Placeholder", "p", attrs={"dtype": INT32, "shape": ()})
        chosen = [FunctionRef("negate"), FunctionRef("other")]
        graph.add("StatelessCase", "z", [p, x], attrs={**ONE, "branches": chosen})
    else:
        graph.functions.add(never("never"))
        turns = {"T": [FLOAT32], "body": FunctionRef("negate"), "cond": FunctionRef("never")}
        graph.add("StatelessWhile", "z", [x], attrs=turns)
    return graph


KINDS = ["call", "op", "nested", "If", "Case", "While"]


def optimized(
    graph: Graph, edits: dict[str, Edit], phase: str = "end"
) -> tuple[Graph, dict[str, str]]:
    """The graph, and by function why an optimizer's answer was refused; "" is the graph itself."""

    def run(work: Work) -> bytes | None:
        if work.where not in edits:
            return None
        made = Graph.from_bytes(work.graph)
        edits[work.where](made)
        return made.to_bytes()

    one = Optimizer("p", "1.2", "/plugins/p.so", "CPU", run, phase=phase, ordered=True)
    few = 100 if phase == "end" else -1
    config = OptimizerConfig(min_graph_nodes=few, function_optimization="off")
    feeds = [f"{n.name}:0" for n in graph if n.op == "Placeholder"]
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        after, report = optimize_with_report(graph, ["z:0"], feeds, config, [one])
    ran = {run.where: run.reason for run in report.runs if run.where in edits}
    assert set(ran) == set(edits)
    refused = [run for run in report.runs if run.outcome == "failed"]
    said = [str(one.message) for one in warned if one.category is OptimizerWarning]
    assert bool(said) == bool(refused)
    assert all("plugin p 1.2 (/plugins/p.so) did not" in text for text in said)
    return after, ran


def order(graph: Graph) -> Any:
    attrs = {"dtype": INT32, "value": TensorAttr(array=np.array([1, 0], np.int32))}
    return graph.add("Const", "order", attrs=attrs)


def transposed(graph: Graph) -> None:
    """``n`` gives its input's transpose, also where nothing in the body says a shape."""
    node = graph["n"]
    source = node.inputs[0]
    attrs = {"T": FLOAT32, "Tperm": INT32}
    turned = graph.add("Transpose", "turned", [source, order(graph)], attrs=attrs)
    graph.set_inputs(node, [(turned, 0)])


def multiplied(graph: Graph) -> None:
    """It takes a product of what has no product."""
    node = graph["n"]
    source = node.inputs[0]
    attrs = {"T": FLOAT32, "transpose_a": False, "transpose_b": False}
    product = graph.add("MatMul", "product", [source, source], attrs=attrs)
    graph.set_inputs(node, [(product, 0)])


WRONG = [
    (transposed, "'b_RetVal' has shape [3, 2] now in function 'negate'", "shape [2, 3]"),
    (multiplied, "node 'product' (MatMul)", ""),
]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("edit", "found", "needed"), WRONG)
def test_a_body_against_what_was_known_is_refused(
    kind: str, edit: Edit, found: str, needed: str
) -> None:
    graph = calling(kind)
    after, ran = optimized(graph, {"negate": edit})
    assert "[optimizer-changed-shape]" in ran["negate"]
    assert f"found: {found}" in ran["negate"]
    assert f"needed: {needed}" in ran["negate"]
    assert after is graph


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("phase", ["start", "before model_pruning", "after model_pruning"])
def test_also_at_a_built_in_pass(kind: str, phase: str) -> None:
    _, ran = optimized(calling(kind), {"negate": transposed}, phase)
    assert "has shape [3, 2] now in function 'negate'" in ran["negate"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_function_that_the_graphs_own_answer_changes_is_held_too(kind: str) -> None:
    """The answer for the main graph has all functions, and may change each."""

    def edit(graph: Graph) -> None:
        proto = function("negate")
        proto.node_def.add(name="m", op="Transpose", input=["a", "o:output:0"])
        for name, value in (("T", F), ("Tperm", DataType.DT_INT32)):
            proto.node_def[0].attr[name].type = value
        made = proto.node_def.add(name="o", op="Const")
        made.CopyFrom(order(Graph()).to_proto())
        made.name = "o"
        proto.node_def.add(name="n", op="Neg", input=["m:y:0"]).attr["T"].type = F
        graph.functions.add(proto, replace=True)

    graph = calling(kind)
    after, ran = optimized(graph, {"": edit})
    assert "[optimizer-changed-shape]" in ran[""]
    assert "has shape [3, 2] now" in ran[""]
    assert after is graph


def test_a_loop_that_a_new_function_runs_keeps_its_shapes() -> None:
    """No function is another: the loop names a new one."""

    def edit(graph: Graph) -> None:
        body = graph.functions["negate"].body(graph.functions)
        transposed(body.graph)
        made = body_to_function(body, function("another"))
        graph.functions.add(made)
        graph.set_attr(graph["z"], "body", FunctionRef("another"))

    graph = calling("While")
    after, ran = optimized(graph, {"": edit})
    assert "[optimizer-changed-shape]" in ran[""]
    assert "'z' gives [2, 3] or [3, 2] now" in ran[""]
    assert "needed: shapes [2, 3], whatever it runs" in ran[""]
    assert after is graph


def to_double(graph: Graph) -> None:
    node, made = graph["n"], graph["b_RetVal"]
    attrs = {"SrcT": FLOAT32, "DstT": FLOAT64}
    wide = graph.add("Cast", "wide", [node], attrs=attrs)
    graph.set_attr(made, "T", FLOAT64)
    graph.set_inputs(made, [(wide, 0)])


def other_end(graph: Graph) -> None:
    graph.set_op(graph["b_RetVal"], "Identity")


def unknown(graph: Graph) -> None:
    graph.set_op(graph["n"], "RiscNobody")


def circle(graph: Graph) -> None:
    first = graph.add("Neg", "first", [graph["a"]], attrs={"T": FLOAT32})
    second = graph.add("Neg", "second", [first], attrs={"T": FLOAT32})
    graph.set_inputs(first, [(second, 0)])


def elsewhere(graph: Graph) -> None:
    graph.set_device(graph["n"], "/device:nowhere:::0")


def grown(graph: Graph) -> None:
    for k in range(10_200):
        graph.add("Neg", f"more{k}", [graph["a"]], attrs={"T": FLOAT32})


OF_ENDS = [
    (to_double, "'b_RetVal' has dtype float64 now in function 'negate'", "body"),
    (other_end, "'b_RetVal' has op Identity now in function 'negate'", "body"),
]
"""A function has no such nodes: its signature says what it gives."""
OF_ALL = [
    (unknown, "[optimizer-unknown-op]"),
    (circle, "cycle"),
    (elsewhere, "[bad-device]"),
    (grown, "[optimizer-grown-graph]"),
]


@pytest.mark.parametrize(
    ("edit", "told", "of"),
    [*OF_ENDS, *((*one, of) for one in OF_ALL for of in ("body", "library"))],
)
def test_what_is_asked_of_the_graph_is_asked_of_bodies(edit: Edit, told: str, of: str) -> None:
    """Whether the answer is that for the body, or that for the graph with another library."""

    def in_library(graph: Graph) -> None:
        one = graph.functions["negate"]
        body = one.body(graph.functions)
        edit(body.graph)
        graph.functions.add(body_to_function(body, one.proto), replace=True)

    graph = calling("While")
    after, ran = optimized(graph, {"": in_library} if of == "library" else {"negate": edit})
    (reason,) = ran.values()
    assert told in reason
    assert after is graph


@pytest.mark.parametrize("kind", KINDS)
def test_a_right_answer_is_taken(kind: str) -> None:
    def twice(graph: Graph) -> None:
        transposed(graph)
        attrs = {"T": FLOAT32, "Tperm": INT32}
        back = graph.add("Transpose", "back", [graph["n"], graph["order"]], attrs=attrs)
        graph.set_inputs(graph["b_RetVal"], [(back, 0)])

    after, ran = optimized(calling(kind), {"negate": twice})
    assert ran == {"negate": ""}
    assert "turned" in {node.name for node in after.functions["negate"].proto.node_def}
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    with Session(after, SessionConfig(optimizer="off")) as session:
        fed: dict[str, Any] = {"x:0": x, "p:0": True} if kind == "If" else {"x:0": x}
        if kind == "Case":
            fed["p:0"] = np.int32(0)
        assert np.array_equal(session.run("z:0", fed), x if kind == "While" else -x)


def test_a_loop_that_grows_may_be_known_better() -> None:
    """Its first shape was unknown: that it is another after a turn contradicts nothing."""
    graph = calling("While")
    graph.set_attr(graph["x"], "shape", (-1, 3))
    one = graph.functions["negate"]
    body = one.body(graph.functions)
    attrs = {"dtype": INT32, "value": TensorAttr(array=np.int32(0))}
    at = body.graph.add("Const", "at", attrs=attrs)
    more = {"N": 2, "T": FLOAT32, "Tidx": INT32}
    longer = body.graph.add("ConcatV2", "longer", [body.args[0], body.args[0], at], attrs=more)
    body.graph.set_inputs(body.graph["n"], [(longer, 0)])
    graph.functions.add(body_to_function(body, one.proto), replace=True)
    _, ran = optimized(graph, {"": lambda made: made.set_attr(made["x"], "shape", (1, 3))})
    assert ran == {"": ""}


def test_functions_that_are_made_for_bodies_keep_apart() -> None:
    """Of two that an optimizer makes under one name, for two bodies, the second is refused."""

    def outlined(op: str) -> Edit:
        def edit(graph: Graph) -> None:
            proto = function("made")
            proto.node_def.add(name="n", op=op, input=["a"]).attr["T"].type = F
            graph.functions.add(proto)
            source = graph["n"].inputs[0]
            attrs = {**ONE, "f": FunctionRef("made")}
            call = graph.add("PartitionedCall", "c", [source], attrs=attrs)
            graph.set_inputs(graph["n"], [(call, 0)])

        return edit

    graph = calling("If")
    after, ran = optimized(graph, {"negate": outlined("Abs"), "other": outlined("Neg")})
    assert ran["negate"] == ""
    assert "[duplicate-function]" in ran["other"]
    assert after.functions["made"].proto.node_def[0].op == "Abs"
    assert after.functions["other"].proto == graph.functions["other"].proto
