"""What a plugin's optimizer gives back: held against what was known, and blamed for later."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from drystone_abi.protos import DataType, FunctionDef
from drystone_base import Session, SessionConfig, modules
from drystone_base.core.dtypes import FLOAT32, FLOAT64, INT32
from drystone_base.core.errors import DrystoneError
from drystone_base.graph import Graph
from drystone_base.ops.attrs import FunctionRef, TensorAttr
from drystone_base.plugins import PluginWarning
from drystone_optimizer import OptimizerConfig, OptimizerWarning, graph_optimizer
from drystone_optimizer.pipeline.pipeline import optimize_with_report
from drystone_optimizer.plugins.sources import Optimizer, Work
from drystone_optimizer.session.module import MODULE

Edit = Callable[[Graph], Any]


@pytest.fixture(autouse=True, scope="module")
def installed() -> None:
    modules.register(MODULE, "tests")


def negation(shape: tuple[int, ...] | None = (-1, 3)) -> Graph:
    """``z = -y``, ``y = -x``."""
    graph = Graph()
    node = graph.add("Placeholder", "x", attrs={"dtype": FLOAT32, "shape": shape})
    for name in "yz":
        node = graph.add("Neg", name, [node], attrs={"T": FLOAT32})
    return graph


def const(graph: Graph, name: str, value: list[int]) -> Any:
    attrs = {"dtype": INT32, "value": TensorAttr(array=np.array(value, np.int32))}
    return graph.add("Const", name, attrs=attrs)


# ---- what was known before -----------------------------------------------------------------------


def optimized(edit: Edit, shape: tuple[int, ...] | None = (-1, 3), **more: Any) -> tuple[str, str]:
    """Outcome and reason of an optimizer that edits the graph."""

    def run(work: Work) -> bytes:
        made = Graph.from_bytes(work.graph)
        edit(made)
        return made.to_bytes()

    one = Optimizer("p", "1.2", "/plugins/p.so", "CPU", run)
    config = OptimizerConfig(min_graph_nodes=100, **more)
    with warnings.catch_warnings(record=True, category=OptimizerWarning) as warned:
        warnings.simplefilter("always")
        after, report = optimize_with_report(negation(shape), ["z:0"], ["x:0"], config, [one])
    (ran,) = report.runs
    said = [str(one.message) for one in warned if one.category is OptimizerWarning]
    assert (ran.outcome == "changed") == (not said)
    assert all("plugin p 1.2 (/plugins/p.so) did not" in text for text in said)
    assert (after["z"].op, after["y"].op) == ("Neg", "Neg") or ran.outcome == "changed"
    return ran.outcome, ran.reason


def to_op(graph: Graph, name: str, op: str, inputs: list[Any], attrs: dict[str, Any]) -> None:
    node = graph[name]
    for known in list(node.attrs):
        graph.remove_attr(node, known)
    graph.set_op(node, op)
    for key, value in attrs.items():
        graph.set_attr(node, key, value)
    graph.set_inputs(node, inputs)


def transposed(graph: Graph) -> None:
    order = const(graph, "order", [1, 0])
    to_op(graph, "z", "Transpose", [(graph["y"], 0), (order, 0)], {"T": FLOAT32, "Tperm": INT32})


def summed(graph: Graph) -> None:
    axes = const(graph, "axes", [0])
    attrs = {"T": FLOAT32, "Tidx": INT32, "keep_dims": False}
    to_op(graph, "z", "Sum", [(graph["y"], 0), (axes, 0)], attrs)


def fed_otherwise(graph: Graph) -> None:
    graph.set_attr(graph["x"], "shape", (-1, 4))


def kept_otherwise(graph: Graph) -> None:
    """The kept node alone: the fetch does not need it any more."""
    graph.set_inputs(graph["z"], [(graph["x"], 0)])
    one = graph.add("Cast", "wide", [graph["x"]], attrs={"SrcT": FLOAT32, "DstT": FLOAT64})
    graph.set_attr(graph["y"], "T", FLOAT64)
    graph.set_inputs(graph["y"], [(one, 0)])


@pytest.mark.parametrize(
    ("edit", "found", "needed"),
    [
        (transposed, "'z:0' has shape [3, 2] now", "shape [2, 3]"),
        (summed, "'z:0' has shape [3] now", "shape [2, 3]"),
        (fed_otherwise, "'z:0' has shape [?, 4] now", "shape [2, 3]"),
        (kept_otherwise, "'y:0' has dtype float64 now", "dtype float32"),
    ],
)
def test_an_answer_against_what_was_known_is_refused(edit: Edit, found: str, needed: str) -> None:
    outcome, reason = optimized(edit, (2, 3), keep=("y",))
    assert outcome == "failed"
    assert "[optimizer-changed-shape]" in reason
    assert f"found: {found}" in reason
    assert f"needed: {needed}" in reason


def test_a_graph_that_has_grown_beyond_measure_is_refused() -> None:
    """Before anything is done to each of its nodes."""

    def grown(graph: Graph) -> None:
        for k in range(10_100):
            graph.add("Neg", f"more{k}", [graph["x"]], attrs={"T": FLOAT32})

    outcome, reason = optimized(grown)
    assert outcome == "failed"
    assert "[optimizer-grown-graph]" in reason
    assert "check: a graph of 3 nodes does not grow beyond 10030" in reason
    assert "found: 10103 nodes" in reason


def to_fixed(graph: Graph) -> None:
    graph.set_attr(graph["x"], "shape", (7, 3))


def to_unknown(graph: Graph) -> None:
    graph.set_attr(graph["x"], "shape", None)


@pytest.mark.parametrize("edit", [to_fixed, to_unknown])
def test_an_answer_of_which_more_or_less_is_known_holds(edit: Edit) -> None:
    assert optimized(edit) == ("changed", "")


def test_where_nothing_was_known_any_shape_holds() -> None:
    assert optimized(summed, None) == ("changed", "")


# ---- nodes that a plugin made --------------------------------------------------------------------


def registered(name: str, edit: Edit) -> None:
    @graph_optimizer(name=name, phase="end")
    def run(graph: Graph) -> Graph:
        edit(graph)
        return graph


def without_kernel(graph: Graph) -> None:
    graph.set_op(graph["z"], "RiscNeg")


def refuses_nan(graph: Graph) -> None:
    made = graph.add(
        "CheckNumerics", "made", [graph["y"]], attrs={"T": FLOAT32, "message": "looked at"}
    )
    graph.set_inputs(graph["z"], [(made, 0)])


@pytest.fixture(params=["native", "reference"])
def config(request: pytest.FixtureRequest) -> SessionConfig:
    few = OptimizerConfig(min_graph_nodes=100)
    return SessionConfig(executor=request.param, optimizer=few)


@pytest.fixture
def x() -> Any:
    return np.ones((2, 3), np.float32)


def test_a_graph_that_cannot_be_prepared_goes_on_without_the_plugin(
    config: SessionConfig, x: Any
) -> None:
    registered("no_kernel", without_kernel)
    with Session(negation(), config) as session:
        with pytest.warns(PluginWarning, match="changed cannot be run") as warned:
            assert session.run("z:0", {"x:0": x}).tolist() == x.tolist()
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            session.run("z:0", {"x:0": x})
    (text,) = (str(one.message) for one in warned)
    assert text.startswith(
        "the graph that the optimizer of plugin no_kernel changed cannot be run; it runs without "
        "it: node 'z' cannot run: "
    )
    assert "; plugin no_kernel's optimizer made the node [" in text
    assert "op-not-implemented" in text


def test_a_graph_that_cannot_be_prepared_without_it_either_is_nobodys_fault(
    config: SessionConfig,
) -> None:
    registered("refuses", refuses_nan)
    graph = negation()
    graph.set_op(graph["y"], "RiscNeg")
    with Session(graph, config) as session, warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(DrystoneError) as caught:
            session.run("z:0", {"x:0": np.ones((2, 3), np.float32)})
    assert caught.value.code == "op-not-implemented"
    assert "made the node" not in str(caught.value)


def test_a_run_that_fails_at_a_node_of_a_plugin_says_so(config: SessionConfig, x: Any) -> None:
    registered("checks", refuses_nan)
    with Session(negation(), config) as session:
        assert session.run("z:0", {"x:0": x}).tolist() == x.tolist()
        for run in (session.run, session.make_callable("z:0", ["x:0"])):
            given: Any = {"x:0": x * np.nan} if run == session.run else x * np.nan
            with pytest.raises(DrystoneError) as caught:
                run("z:0", given) if run == session.run else run(given)
            what = caught.value.what
            assert what.startswith("node 'made' (CheckNumerics) failed")
            assert what.endswith("; plugin checks's optimizer made the node")
            assert caught.value.details["drystone/made-by"] == "checks"
            assert "use_plugin_optimizers=False" in caught.value.remedy


@pytest.mark.parametrize("inlined", [True, False])
def test_a_node_that_a_plugin_made_in_a_function_is_named_as_its(
    config: SessionConfig, x: Any, inlined: bool
) -> None:
    """Also after its call has become its nodes, which are named after it."""
    proto = FunctionDef()
    proto.signature.name = "negate"
    proto.signature.input_arg.add(name="a", type=FLOAT32.number)
    proto.signature.output_arg.add(name="b", type=FLOAT32.number)
    proto.ret["b"] = "n:y:0"
    proto.node_def.add(name="n", op="Neg", input=["a"]).attr["T"].type = DataType.DT_FLOAT
    if not inlined:
        proto.attr["_noinline"].b = True
    graph = Graph()
    graph.functions.add(proto)
    given = graph.add("Placeholder", "x", attrs={"dtype": FLOAT32, "shape": (-1, 3)})
    attrs = {"Tin": [FLOAT32], "Tout": [FLOAT32], "f": FunctionRef("negate", {})}
    graph.add("PartitionedCall", "z", [given], attrs=attrs)

    def looks(graph: Graph) -> None:
        if "n" not in graph:
            return
        given = {"T": FLOAT32, "message": "looked at"}
        made = graph.add("CheckNumerics", "made", graph["n"].inputs, attrs=given)
        graph.set_inputs(graph["n"], [(made, 0)])

    registered("checks", looks)
    with Session(graph, config) as session, pytest.raises(DrystoneError) as caught:
        session.run("z:0", {"x:0": x * np.nan})
    assert "made' (CheckNumerics) failed" in caught.value.what
    assert caught.value.what.endswith("; plugin checks's optimizer made the node")
    assert caught.value.details["drystone/made-by"] == "checks"
    assert "use_plugin_optimizers=False" in caught.value.remedy


def test_a_run_that_fails_at_another_node_blames_nobody(config: SessionConfig, x: Any) -> None:
    registered("adds", lambda graph: graph.add("NoOp", "aside"))
    graph = negation()
    refuses_nan(graph)
    with Session(graph, config) as session, pytest.raises(DrystoneError) as caught:
        session.run("z:0", {"x:0": x * np.nan})
    assert "made the node" not in str(caught.value)


# ---- values --------------------------------------------------------------------------------------


def to_abs(graph: Graph) -> None:
    graph.set_op(graph["z"], "Abs")


def ran_both(edit: Edit, graph: Graph) -> tuple[str, str]:
    """Outcome and reason where all plugins' graphs are run."""

    def run(work: Work) -> bytes:
        made = Graph.from_bytes(work.graph)
        edit(made)
        return made.to_bytes()

    one = Optimizer("p", "1.2", "/plugins/p.so", "CPU", run)
    config = OptimizerConfig(min_graph_nodes=100, verify="all")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OptimizerWarning)
        _, report = optimize_with_report(graph, ["z:0"], ["x:0"], config, [one])
    return report.runs[0].outcome, report.runs[0].reason


def test_an_answer_with_another_result_is_refused() -> None:
    graph = negation()
    graph.set_op(graph["y"], "Exp")
    outcome, reason = ran_both(to_abs, graph)
    assert outcome == "rejected"
    assert "plugin p changed the result [pass-changed-result]" in reason


def test_an_answer_that_does_not_run_any_more_is_refused() -> None:
    outcome, reason = ran_both(without_kernel, negation())
    assert outcome == "rejected"
    assert "the graph does not run any more: node 'z'" in reason


def test_an_answer_with_the_same_result_holds() -> None:
    def straight(graph: Graph) -> None:
        graph.set_op(graph["z"], "Identity")
        graph.set_inputs(graph["z"], [(graph["x"], 0)])

    assert ran_both(straight, negation()) == ("changed", "")


def test_a_graph_with_state_or_chance_is_not_run() -> None:
    graph = negation((2,))
    shape = const(graph, "shape", [2])
    attrs = {"T": INT32, "dtype": FLOAT32, "seed": 0, "seed2": 0}
    drawn = graph.add("RandomUniform", "drawn", [shape], attrs=attrs)
    graph.set_inputs(graph["y"], [(drawn, 0)])
    untried = "used untried: the graph has state, effects or random numbers"
    assert ran_both(to_abs, graph) == ("changed", untried)


def test_a_graph_that_does_not_run_on_made_up_inputs_is_not_tried() -> None:
    graph = negation()
    attrs = {"T": FLOAT32, "Tshape": INT32}
    rows = graph.add("Reshape", "rows", [graph["y"], const(graph, "to", [-1, 1000])], attrs=attrs)
    graph.set_inputs(graph["z"], [(rows, 0)])
    untried = "used untried: the graph does not run on made-up inputs"
    assert ran_both(to_abs, graph) == ("changed", untried)


NO_TIME = "there was no time to try the graph of plugin p [plugin-answer-untried]"


@pytest.mark.parametrize("late", ["Neg", "Abs"])
def test_an_answer_that_is_not_tried_in_time_is_refused(
    late: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whichever graph is late: what a session gives must not depend on what else the machine does.

    An answer with another result went through when the machine was busy.
    """
    from drystone_optimizer.checking import trials

    real = trials._of_each

    def in_time(graph: Graph, *more: Any) -> Any:
        if graph["z"].op == late:
            raise DrystoneError("late", code="deadline-exceeded")
        return real(graph, *more)

    monkeypatch.setattr(trials, "_of_each", in_time)
    outcome, reason = ran_both(to_abs, negation())
    assert outcome == "failed"
    assert NO_TIME in reason
    which = "the graph before" if late == "Neg" else "the plugin's graph"
    assert f"found: {which} is not done after 3 s" in reason
    assert 'OptimizerConfig(verify="off")' in reason


def test_a_busy_machine_gets_more_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """A deadline that passed while others had the processor is no verdict."""
    from drystone_optimizer.checking import trials

    real, allowed = trials._of_each, []

    def busy(graph: Graph, fetches: Any, samples: Any, seconds: float) -> Any:
        allowed.append(seconds)
        if seconds == trials.SECONDS:
            raise DrystoneError("late", code="deadline-exceeded")
        return real(graph, fetches, samples, seconds)

    monkeypatch.setattr(trials, "_of_each", busy)
    outcome, reason = ran_both(to_abs, negation())
    assert "[pass-changed-result]" in reason
    assert (outcome, allowed) == ("rejected", [3.0, 30.0] * 2)


def test_by_default_graphs_of_plugins_in_python_are_not_run() -> None:
    graph = negation()
    graph.set_op(graph["y"], "Exp")
    assert OptimizerConfig().verify == "unsigned"
    one = Optimizer("p", "1.2", "/plugins/p.so", "CPU", lambda work: work.graph)
    assert not one.is_unsigned()


def test_both_signs_are_tried() -> None:
    """Neg of Relu is Neg of what is positive: the first sample alone would not tell."""
    graph = negation()
    graph.set_op(graph["y"], "Relu")
    outcome, reason = ran_both(lambda after: after.set_op(after["y"], "Abs"), graph)
    assert outcome == "rejected"
    assert "check: sample 1 gives the same" in reason


def calls_negation() -> Graph:
    """``z = f(x)``, where ``f`` negates."""
    proto = FunctionDef()
    proto.signature.name = "f"
    proto.signature.input_arg.add(name="a", type=1)
    proto.signature.output_arg.add(name="r", type=1)
    node = proto.node_def.add(name="inner", op="Neg", input=["a"])
    node.attr["T"].type = DataType.DT_FLOAT
    proto.ret["r"] = "inner:y:0"
    graph = Graph()
    graph.functions.add(proto)
    x = graph.add("Placeholder", "x", attrs={"dtype": FLOAT32, "shape": (3,)})
    graph.add("f", "z", [x])
    return graph


@pytest.mark.parametrize("phase", ["end", "before constant_folding"])
def test_bodies_of_functions_are_run_in_their_graph(phase: str) -> None:
    def run(work: Work) -> bytes:
        return work.graph.replace(b"\x12\x03Neg", b"\x12\x03Abs")

    one = Optimizer("p", "1.2", "/plugins/p.so", "CPU", run, phase=phase)
    off = OptimizerConfig(min_graph_nodes=-1, function_optimization=False)
    for verify, outcomes in (("all", {"rejected"}), ("off", {"changed"})):
        config = replace(off, verify=verify)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", OptimizerWarning)
            _, report = optimize_with_report(calls_negation(), ["z:0"], ["x:0"], config, [one])
        assert {run.outcome for run in report.runs if run.where == "f"} == outcomes


def test_trials_end_with_their_time(monkeypatch: pytest.MonkeyPatch) -> None:
    from drystone_optimizer.checking import trials

    monkeypatch.setattr(trials, "SECONDS", 0.0)
    monkeypatch.setattr(trials, "try_both", lambda *_: pytest.fail("it has no time"))
    outcome, reason = ran_both(to_abs, negation())
    assert outcome == "failed"
    assert NO_TIME in reason
    assert "found: trials before took 0.0 s" in reason
