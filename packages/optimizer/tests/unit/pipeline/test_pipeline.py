"""Optimizers one after another: choice, order, verification, failures, report."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from optimizing import small_graph

import drystone_optimizer as do
from drystone_base.core.dtypes import from_number
from drystone_base.core.errors import BadRequest, GraphError, PluginError
from drystone_base.graph import Graph
from drystone_optimizer import OptimizerConfig, OptimizerWarning
from drystone_optimizer.pipeline.pipeline import optimize_with_report
from drystone_optimizer.plugins import sources
from drystone_optimizer.plugins.sources import Optimizer, Work, caller, register

Edit = Callable[[Graph], Any]
FLOAT = from_number(1)
CAST = {"SrcT": FLOAT, "DstT": from_number(2)}


@pytest.fixture
def graph() -> Graph:
    return small_graph()


def python(edit: Edit, name: str = "p", device: str = "CPU", **configs: str) -> Optimizer:
    """An optimizer that edits the graph it is given."""

    def run(work: Work) -> bytes | None:
        made = Graph.from_bytes(work.graph)
        return None if edit(made) == "unchanged" else made.to_bytes()

    return Optimizer(name, "1.2", f"/plugins/{name}.so", device, run, configs)


def raw(function: Callable[[Work], bytes | None], name: str = "p") -> Optimizer:
    return Optimizer(name, "1.2", f"/plugins/{name}.so", "CPU", function)


def run(
    graph: Graph, *optimizers: Optimizer, config: OptimizerConfig | None = None
) -> tuple[Graph, do.Report]:
    config = config or OptimizerConfig(min_graph_nodes=100)  # of plugins alone
    return optimize_with_report(graph, ["z:0"], ["x:0"], config, optimizers)


def add_n(graph: Graph) -> None:
    graph.add("NoOp", graph.unique_name("n"))


def test_changed_graph_takes_the_place_of_the_graph(graph: Graph) -> None:
    after, report = run(graph, python(add_n))
    assert "n" in after
    assert "n" not in graph
    (only,) = report.runs
    assert (only.outcome, only.nodes_before, only.nodes_after) == ("changed", 3, 4)
    assert (only.plugin, only.version, only.path) == ("p", "1.2", "/plugins/p.so")
    assert only.seconds > 0
    assert report.seconds >= only.seconds


def test_unchanged_graph_is_the_same_object(graph: Graph) -> None:
    after, report = run(graph, python(lambda _: "unchanged"))
    assert after is graph
    assert report.runs[0].outcome == "unchanged"


def test_second_optimizer_sees_what_the_first_made(graph: Graph) -> None:
    """S0-last: plugins run after one another, at the end."""
    after, report = run(graph, python(add_n, "a"), python(add_n, "b"))
    assert {"n", "n_1"} <= {node.name for node in after}
    assert [(r.plugin, r.nodes_before) for r in report.runs] == [("a", 3), ("b", 4)]


def test_only_optimizers_for_device_types_in_the_graph_run(graph: Graph) -> None:
    """Row B14. S0-device-match: run if graph device type and registered device type are matched."""
    graph.add("NoOp", "g", device="/device:GPU:0")
    _, report = run(graph, *(python(add_n, d, d) for d in ("CPU", "GPU", "XPU")))
    assert [r.plugin for r in report.runs] == ["CPU", "GPU"]


def test_graph_on_another_device_leaves_the_cpu_plugin_out() -> None:
    """S0-device-match: a graph that does not use the device type."""
    only = Graph()
    only.add("NoOp", "z", device="/device:GPU:0")
    after, report = optimize_with_report(only, ["z"], available=[python(add_n)])
    assert after is only
    assert report.runs == []


def test_node_without_device_counts_as_the_hosts_cpu() -> None:
    """Row B15. S0-no-device: registering a graph optimizer without a pluggable device."""
    only = Graph()
    only.add("NoOp", "z")
    after, _ = optimize_with_report(only, ["z"], available=[python(add_n)])
    assert "n" in after


@pytest.mark.parametrize("device", ["/device:7", "nonsense"])
def test_device_that_cannot_be_understood_is_an_error(graph: Graph, device: str) -> None:
    graph.add("NoOp", "odd", device=device)
    with pytest.raises(GraphError) as caught:
        run(graph, python(add_n))
    assert caught.value.code == "bad-device"


def test_switch_turns_all_plugins_off(graph: Graph) -> None:
    """S0-switch: turn all registered plugin graph optimizers on or off."""
    plugin = python(add_n, remapping="off")
    for choice in (True, None, "on"):
        after, report = run(graph, plugin, config=OptimizerConfig(use_plugin_optimizers=choice))
        assert "n" in after
        assert report.passes["remapping"] is False
    after, report = run(graph, plugin, config=OptimizerConfig(use_plugin_optimizers=False))
    assert after is graph
    assert report.runs == []
    assert report.passes["remapping"] is True


def test_configs_count_only_of_plugins_that_run(graph: Graph) -> None:
    _, report = run(graph, python(add_n, "x", "XPU", remapping="off"))
    assert report.passes["remapping"] is True
    assert report.merged.changes == ()


# ---- failures ----------------------------------------------------------------------------------


def explode(_: Graph) -> None:
    raise ZeroDivisionError("deliberate")


def rename_fetch(graph: Graph) -> None:
    graph.rename(graph["z"], "zz")


def unknown_op(graph: Graph) -> None:
    graph.add("OpOfNobody", "u", [graph["x"]])


def change_dtype(graph: Graph) -> None:
    graph.set_op(graph["z"], "Cast")
    graph.remove_attr(graph["z"], "T")
    graph.set_attr(graph["z"], "SrcT", FLOAT)
    graph.set_attr(graph["z"], "DstT", from_number(2))


def cycle(graph: Graph) -> None:
    graph.set_inputs(graph["y"], [(graph["z"], 0)])


def wrong_fan_in(graph: Graph) -> None:
    graph.set_inputs(graph["y"], [(graph["x"], 0), (graph["x"], 0)])


def no_dtype(graph: Graph) -> None:
    graph.remove_attr(graph["y"], "T")


@pytest.mark.parametrize(
    ("edit", "code", "text"),
    [
        (explode, "", "ZeroDivisionError: deliberate"),
        (rename_fetch, "optimizer-lost-node", "'z' is gone"),
        (unknown_op, "optimizer-unknown-op", "node 'u' has op 'OpOfNobody'"),
        (change_dtype, "optimizer-changed-fetch", "'z:0' is float64 now"),
        (cycle, "graph-cycle", "cycle"),
        (wrong_fan_in, "wrong-fan-in", "2 inputs"),
        (no_dtype, "missing-attr", "'T' is missing"),
    ],
)
def test_bad_graph_is_dropped_with_one_warning(
    graph: Graph, edit: Edit, code: str, text: str
) -> None:
    """One warning that names plugin, version and file; the graph goes on."""
    with pytest.warns(OptimizerWarning) as warned:
        after, report = run(graph, python(edit), python(add_n, "next"))
    assert [r.outcome for r in report.runs] == ["failed", "changed"]
    assert "n" in after
    (warning,) = warned
    said = str(warning.message)
    assert said.startswith("plugin p 1.2 (/plugins/p.so) did not optimize the graph")
    assert text in said
    assert code in said
    assert text in report.runs[0].reason


@pytest.mark.parametrize("data", [b"\xff\xff", b"\x0a\x05abc"])
def test_answer_that_is_no_graph_is_dropped(graph: Graph, data: bytes) -> None:
    with pytest.warns(OptimizerWarning, match="bad-graphdef"):
        after, _ = run(graph, raw(lambda _: data))
    assert after is graph


def test_node_that_reads_from_a_changed_one_is_checked(graph: Graph) -> None:
    """Only what changed, and what reads from it, is held against the op definitions."""

    def to_double(edited: Graph) -> None:
        edited.set_attr(edited["y"], "T", from_number(2))
        edited.set_inputs(edited["y"], [(edited.add("Cast", "c", [edited["x"]], attrs=CAST), 0)])

    read = Graph.from_bytes(graph.to_bytes())
    with pytest.warns(OptimizerWarning, match="node 'z'.*is not valid"):
        after, _ = run(read, python(to_double))
    assert after is read


def test_fault_that_was_there_before_is_not_the_plugins() -> None:
    made = small_graph()
    made.remove_attr(made["y"], "T")
    read = Graph.from_bytes(made.to_bytes())
    after, report = run(read, python(add_n))
    assert "n" in after
    assert report.runs[0].outcome == "changed"


def test_missing_input_and_duplicate_node_are_found(graph: Graph) -> None:
    with pytest.warns(OptimizerWarning, match="missing-input"):
        run(graph, raw(lambda w: w.graph.replace(b"\x1a\x01x", b"\x1a\x01q")))
    with pytest.warns(OptimizerWarning, match="duplicate-node"):
        run(graph, raw(lambda w: w.graph.replace(b"\x0a\x01z\x12", b"\x0a\x01y\x12")))


def test_kept_node_must_survive(graph: Graph) -> None:
    """S0-item: nodes to preserve cannot be removed."""

    def drop(edited: Graph) -> None:
        edited.remove(edited["k"])

    graph.add("NoOp", "k")
    after, _ = run(graph, python(drop))
    assert "k" not in after
    with pytest.warns(OptimizerWarning, match="'k' is gone"):
        after, _ = run(graph, python(drop), config=OptimizerConfig(keep=("k",)))
    assert after is graph


def test_unknown_op_that_was_there_before_is_tolerated(graph: Graph) -> None:
    """S0-graphdef-compat: what is not known is carried along."""
    unknown_op(graph)
    after, _ = run(graph, python(add_n))
    assert {"u", "n"} <= {node.name for node in after}


def test_several_failures_of_one_plugin_are_one_warning(graph: Graph) -> None:
    graph.functions.add(function("f"))
    graph.add("f", "call", [graph["x"]])
    with pytest.warns(OptimizerWarning) as warned:
        _, report = run(graph, python(explode))
    assert [r.where for r in report.runs] == ["", "f"]
    assert len(warned) == 1


def test_nothing_is_warned_of_when_all_goes_well(graph: Graph) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run(graph, python(add_n))


def test_kept_node_that_is_not_there_is_the_callers_error(graph: Graph) -> None:
    with pytest.raises(BadRequest, match="node 'k' is to be kept"):
        run(graph, python(add_n), config=OptimizerConfig(keep=("k",)))


# ---- functions ---------------------------------------------------------------------------------


def function(name: str, op: str = "Relu", **attrs: bool) -> Any:
    from drystone_abi.protos import FunctionDef

    proto = FunctionDef()
    proto.signature.name = name
    proto.signature.input_arg.add(name="a", type=1)
    proto.signature.output_arg.add(name="r", type=1)
    node = proto.node_def.add(name="inner", op=op, input=["a"])
    if op == "Relu":
        node.attr["T"].type = 1  # type: ignore[assignment]
    proto.ret["r"] = "inner:activations:0" if op == "Relu" else "inner:r:0"
    for key, value in attrs.items():
        proto.attr[key].b = value
    return proto


def neg_for_relu(graph: Graph) -> object:
    changed = "unchanged"
    for node in list(graph):
        if node.op == "Relu" and node.name == "inner":
            graph.set_op(node, "Softplus")
            changed = "yes"
    return changed


def test_body_of_a_reachable_function_is_optimized(graph: Graph) -> None:
    """After the main graph every reachable function body."""
    graph.functions.add(function("outer", op="f"))
    graph.functions.add(function("f"))
    graph.functions.add(function("unreached"))
    graph.add("outer", "call", [graph["x"]])
    after, report = run(graph, python(neg_for_relu))
    assert [(r.where, r.outcome) for r in report.runs] == [
        ("", "unchanged"),
        ("outer", "unchanged"),
        ("f", "changed"),
    ]
    assert [n.op for n in after.functions["f"].proto.node_def] == ["Softplus"]
    assert after.functions["f"].proto.ret["r"] == "inner:activations:0"
    assert [n.op for n in graph.functions["f"].proto.node_def] == ["Relu"]
    assert [n.op for n in after.functions["unreached"].proto.node_def] == ["Relu"]


def test_functions_are_left_alone_when_not_wanted(graph: Graph) -> None:
    graph.functions.add(function("f"))
    graph.add("f", "call", [graph["x"]])
    _, report = run(graph, python(neg_for_relu), config=OptimizerConfig(optimize_functions=False))
    assert [r.where for r in report.runs] == [""]


def test_marked_and_parametrised_functions_are_passed_over(graph: Graph) -> None:
    graph.functions.add(function("compiled", _XlaMustCompile=True))
    open_one = function("open")
    open_one.signature.attr.add(name="T", type="type")
    graph.functions.add(open_one)
    graph.add("compiled", "c", [graph["x"]])
    graph.add("open", "o", [graph["x"]], attrs={"T": FLOAT})
    _, report = run(graph, python(neg_for_relu))
    assert [r.where for r in report.runs] == [""]


def test_body_must_keep_its_results(graph: Graph) -> None:
    def drop(edited: Graph) -> object:
        results = [n for n in edited if n.op == "_Retval"]
        edited.remove(results)
        return None if results else "unchanged"

    graph.functions.add(function("f"))
    graph.add("f", "call", [graph["x"]])
    with pytest.warns(OptimizerWarning, match="did not optimize function 'f'"):
        after, _ = run(graph, python(drop))
    assert after is graph


# ---- Python optimizers -------------------------------------------------------------------------


def test_python_optimizer_on_bytes_and_on_graphs(graph: Graph) -> None:
    """In-process optimizers from Python."""

    def on_bytes(data: bytes) -> bytes:
        return data + b"\x0a\x09\x0a\x01n\x12\x04NoOp"

    def on_graph(given: Graph) -> Graph:
        given.add("NoOp", "m")
        return given

    on_graph.takes, on_graph.phase = "graph", "end"  # type: ignore[attr-defined]
    register(on_bytes, version="3")
    register(on_graph, name="other")
    after, report = optimize_with_report(graph, ["z:0"], available=list(sources._python.values()))
    assert {"n", "m"} <= {node.name for node in after}
    assert [(r.plugin, r.version) for r in report.runs] == [("on_bytes", "3"), ("other", "")]


def test_python_optimizers_are_in_the_list_sorted(graph: Graph) -> None:
    for name, device in (("b", "CPU"), ("a", "CPU"), ("z", "AAA")):

        def same(data: bytes) -> bytes:
            return data

        same.device_type, same.phase = device, "end"  # type: ignore[attr-defined]
        register(same, name=name)
    found = [o for o in do.optimizers(load=False) if o.name in "abz"]
    assert [(o.device, o.name) for o in found] == [("AAA", "z"), ("CPU", "a"), ("CPU", "b")]
    _, report = optimize_with_report(graph, ["z:0"], available=found)
    assert [r.outcome for r in report.runs] == ["unchanged"] * 2


def test_python_optimizer_is_told_what_must_stay(graph: Graph) -> None:
    seen: list[Work] = []

    def look(work: Work) -> None:
        seen.append(work)

    look.takes = "work"  # type: ignore[attr-defined]
    one = register(look)
    after, _ = run(graph, one, config=OptimizerConfig(keep=("y",)))
    assert after is graph
    assert [*seen[0].fetches, *seen[0].feeds] == ["z:0", "x:0"]
    assert seen[0].preserve == {"x", "y", "z"}


def test_wrong_type_from_a_python_optimizer(graph: Graph) -> None:
    one = register(lambda _data: "text", name="one")
    with pytest.warns(OptimizerWarning, match="it returned a str, not bytes"):
        run(graph, one)


def test_callable_with_wrong_attributes_is_refused() -> None:
    def odd(data: bytes) -> bytes:
        return data

    odd.takes = "xml"  # type: ignore[attr-defined]
    with pytest.raises(PluginError) as caught:
        register(odd)
    assert caught.value.code == "bad-graph-optimizer"
    assert "takes='xml'" in str(caught.value)


def test_broken_entry_point_is_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    from drystone_base.core.installed import EntryPoint

    point = EntryPoint("gone", "no_such_module_at_all:f", "", "")
    monkeypatch.setattr(sources, "_scanned", False)
    monkeypatch.setattr(sources, "points", lambda _: [point])
    with pytest.warns(OptimizerWarning, match="graph optimizer 'gone' cannot be loaded"):
        do.optimizers(load=False)
    error = sources.failures()["gone"]
    assert error.code == "bad-graph-optimizer"
    assert "No module named 'no_such_module_at_all'" in str(error)


@pytest.mark.parametrize("refused", [True, False])
def test_settings_of_plugins_hold_for_entry_points(
    refused: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    from drystone_base.core.installed import EntryPoint
    from drystone_base.plugins import configure

    point = EntryPoint(f"mason{refused}", "no_such_module_at_all:f", "", "")
    monkeypatch.setattr(sources, "_scanned", False)
    monkeypatch.setattr(sources, "points", lambda _: [point])
    settings: dict[str, Any] = {"policy": "strict"} if refused else {"disabled": [point.name]}
    monkeypatch.setattr(sources, "report", lambda: SimpleNamespace(settings=configure(**settings)))
    try:
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            do.optimizers(load=False)
    finally:
        configure(policy=None, disabled=None)
    told = [f"{point.name!r} is not trusted" in str(one.message) for one in warned]
    assert told == [True] * refused
    found = sources.failures().get(point.name)
    assert (found.code if found else "") == ("plugin-unsigned" if refused else "")


def test_report_is_json_ready(graph: Graph) -> None:
    """Row J21."""
    import json

    _, report = run(graph, python(add_n, remapping="off"))
    data = json.loads(json.dumps(report.as_json()))
    assert data["runs"][0]["plugin"] == "p"
    assert data["passes"]["remapping"] is False
    fusing = ("remapping", "layer_fusion", "elementwise_fusion")  # all hang on remapping
    assert data["changes"] == [f"{name} was turned off by plugin p" for name in fusing]


def test_saved_graph_is_the_same_with_and_without_plugin(graph: Graph) -> None:
    """Row B30. No effect on saved models: the graph that is given is never edited."""
    before = graph.to_bytes()
    run(graph, python(add_n), python(neg_for_relu, "q"))
    assert graph.to_bytes() == before


def test_an_optimizer_that_runs_sessions_is_not_asked_for_theirs(
    graph: Graph,
) -> None:
    """It would be asked without end, one session inside another."""
    calls = list[Graph]()

    def endless(given: Graph) -> Graph:
        calls.append(given)
        with pytest.warns(OptimizerWarning, match="a session that it runs itself"):
            optimize_with_report(small_graph(), ["z:0"], ["x:0"], config, [one])
        return given

    config = OptimizerConfig(min_graph_nodes=100)
    one = raw(caller(endless, "graph"), "endless")
    _, report = run(graph, one)
    assert len(calls) == 1
    assert report.runs[0].outcome == "unchanged"
