"""The pass registry, and where a session runs the passes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from drystone_base import Graph, GraphError, PluginError, Session, SessionConfig
from drystone_base.cli._app import app
from drystone_base.core import dtypes
from drystone_base.ops.attrs import TensorAttr
from drystone_base.passes import (
    Grouping,
    Pass,
    PassOptions,
    PassRegistry,
    PassWarning,
    graph_pass,
    registered,
    registry,
)

FLOAT = dtypes.FLOAT32


def sample() -> Graph:
    """y = -x for a constant x."""
    graph = Graph()
    value = TensorAttr(array=np.float32([1, 2]))
    x = graph.add("Const", "x", attrs={"dtype": FLOAT, "value": value})
    graph.add("Neg", "y", [x], attrs={"T": FLOAT})
    return graph


def named(name: str, log: list[str], phase: int = 0) -> Pass:
    return Pass(name, Grouping.PRE_PLACEMENT, phase, lambda _: log.append(name))


@pytest.fixture
def forget() -> Iterator[list[str]]:
    """Names of passes that are removed again after the test."""
    names: list[str] = []
    yield names
    for name in names:
        registry().remove(name)


def test_phases_ascend_and_registration_decides_within_one() -> None:
    """Rows H3, H4. S3-order, S3-registry."""
    log: list[str] = []
    made = PassRegistry()
    for name, phase in (("c", 7), ("a", -1), ("d", 7), ("b", 0)):
        made.register(named(name, log, phase))
    report = made.run(Grouping.PRE_PLACEMENT, PassOptions(graph=sample()))
    assert log == ["a", "b", "c", "d"]
    assert [run.name for run in report.passes] == log
    assert report.changed
    assert not made.run(Grouping.POST_PLACEMENT, PassOptions(graph=sample())).passes


def test_a_name_is_taken_once() -> None:
    """Row H2. S3-register."""
    made = PassRegistry()
    made.register(named("a", []))
    with pytest.raises(PluginError, match="pass 'a' cannot be registered by the program") as caught:
        made.register(named("a", []))
    assert caught.value.code == "already-registered"


def test_the_first_failure_stops_and_names_the_pass() -> None:
    """Row H4. S3-failure."""

    def fails(_: PassOptions) -> None:
        raise ZeroDivisionError("oh")

    log: list[str] = []
    made = PassRegistry()
    made.register(named("first", log))
    made.register(Pass("second", Grouping.PRE_PLACEMENT, 1, fails))
    made.register(named("third", log, 2))
    with pytest.raises(GraphError) as caught:
        made.run(Grouping.PRE_PLACEMENT, PassOptions(graph=sample()))
    assert log == ["first"]
    assert caught.value.render() == (
        "pass 'second' of the program failed [pass-failed]\n"
        "  check: a pass of PRE_PLACEMENT, phase 1, must leave a graph that can run\n"
        "  found: ZeroDivisionError: oh\n"
        "  needed: success\n"
        '  remedy: SessionConfig(passes={"second": False}) leaves the pass out\n'
        "  caused by: ZeroDivisionError: oh"
    )


def test_a_pass_may_not_add_a_partition() -> None:
    made = PassRegistry()

    def splits(options: PassOptions) -> None:
        assert options.partitions is not None
        options.partitions["b"] = sample()

    made.register(Pass("splits", Grouping.POST_PARTITIONING, 0, splits))
    with pytest.raises(GraphError, match="a partition was added"):
        made.run(Grouping.POST_PARTITIONING, PassOptions(partitions={"a": sample()}))


def test_what_does_not_run_says_why() -> None:
    log: list[str] = []
    made = PassRegistry()
    made.register(named("a", log))
    made.register(Pass("b", Grouping.PRE_PLACEMENT, 0, lambda _: log.append("b"), is_default=False))
    made.register(
        Pass("c", Grouping.PRE_PLACEMENT, 0, lambda _: log.append("c"), frozenset({"Conv2D"}))
    )
    report = made.run(Grouping.PRE_PLACEMENT, PassOptions(graph=sample()), {"a": False})
    assert [run.skipped for run in report.passes] == [
        "switched off", "not switched on", "the graph has none of its ops",
    ]  # fmt: skip
    made.run(Grouping.PRE_PLACEMENT, PassOptions(graph=sample()), {"b": True})
    assert log == ["a", "b"]


def test_checked_runs_refuse_a_graph_that_cannot_run() -> None:
    def breaks(options: PassOptions) -> None:
        assert options.graph is not None
        options.graph.set_attr(options.graph["y"], "T", dtypes.STRING)

    made = PassRegistry()
    made.register(Pass("breaks", Grouping.PRE_PLACEMENT, 0, breaks))
    with pytest.warns(PassWarning, match="does not count"):
        made.run(Grouping.PRE_PLACEMENT, PassOptions(graph=sample()))
    with pytest.raises(GraphError, match="pass 'breaks'"):
        made.run(Grouping.PRE_PLACEMENT, PassOptions(graph=sample()), check=True)


def test_graphs_before_and_after_are_kept(tmp_path: Path) -> None:
    """Row H9."""

    def negates(options: PassOptions) -> None:
        assert options.graph is not None
        options.graph.set_op(options.graph["y"], "Abs")

    made = PassRegistry()
    made.register(Pass("negates", Grouping.PRE_PLACEMENT, 0, negates))
    made.run(Grouping.PRE_PLACEMENT, PassOptions(graph=sample()), dump=tmp_path)
    folder = tmp_path / "PRE_PLACEMENT-00-negates"
    assert 'op: "Neg"' in (folder / "before-0.pbtxt").read_text()
    assert 'op: "Abs"' in (folder / "after-0.pbtxt").read_text()


def test_a_session_runs_each_grouping_once_in_order(forget: list[str]) -> None:
    """Rows H1, H6, H7. S3-groupings, S3-pipeline."""
    seen: list[tuple[str, PassOptions]] = []
    for grouping in reversed(Grouping):
        forget.append(f"probe-{grouping}")

        def probe(options: PassOptions, grouping: Grouping = grouping) -> bool:
            seen.append((grouping, options))
            return False

        graph_pass(grouping, 3, name=f"probe-{grouping}")(probe)
    config = SessionConfig(optimizer="off", passes={"probe-PRE_PLACEMENT": {"depth": 2}})
    graph = sample()
    session = Session(graph, config)
    for _ in range(2):
        assert session.run("y:0").tolist() == [-1, -2]
    assert [name for name, _ in seen] == list(Grouping)
    first, *_, last = (options for _, options in seen)
    assert first.graph is not None
    assert first.graph is not graph
    assert (first.fetches, first.feeds, first.session) == (["y:0"], [], config)
    assert seen[0][1].settings == {"depth": 2}
    assert first.devices == ["/job:localhost/replica:0/task:0/device:CPU:0"]
    assert last.graph is None
    assert last.devices is None
    assert list(last.partitions or ()) == list(first.devices)
    assert last.library is not None


def test_what_a_pass_changes_is_what_runs(forget: list[str]) -> None:
    """Row H2. S3-register."""
    forget.append("absolute")

    @graph_pass(Grouping.POST_REWRITE_FOR_EXEC, 0, ops=["Neg"])
    def absolute(options: PassOptions) -> None:
        """Makes Neg an Abs."""
        assert options.graph is not None
        options.graph.set_op(options.graph["y"], "Abs")

    graph = sample()
    assert Session(graph).run("y:0").tolist() == [1, 2]
    assert graph["y"].op == "Neg"
    assert Session(graph, SessionConfig(passes={"absolute": False})).run("y:0").tolist() == [-1, -2]
    shown = CliRunner().invoke(app, ["passes", "--json", "--grouping", "POST_REWRITE_FOR_EXEC"])
    row = next(p for p in json.loads(shown.output) if p["name"] == "absolute")
    assert (row["summary"], row["origin"]) == ("Makes Neg an Abs.", "the program")


def test_the_command_lists_ours() -> None:
    """Row H9."""
    assert CliRunner().invoke(app, ["passes"]).exit_code == 0
    shown = CliRunner().invoke(app, ["passes", "--json"])  # a table may have to shorten names
    names = [row["name"] for row in json.loads(shown.output)]
    assert names == [p.name for p in registered()]
    assert "ParallelConcatRemovePass" in names


def on_two_devices() -> Graph:
    """y on one device and y0 on another, both of tanh(abs(c))."""
    graph = Graph()
    value = TensorAttr(array=np.float32([1, 2]))
    c = graph.add("Const", "c", attrs={"dtype": FLOAT, "value": value}, device="/cpu:0")
    a = graph.add("Abs", "a", [c], attrs={"T": FLOAT}, device="/cpu:0")
    b = graph.add("Tanh", "b", [a], attrs={"T": FLOAT}, device="/cpu:0")
    graph.add("Exp", "y", [b], attrs={"T": FLOAT}, device="/cpu:1")
    graph.add("Exp", "y0", [b], attrs={"T": FLOAT}, device="/cpu:0")
    return graph


@pytest.mark.parametrize("way", ["in place", "as bytes", "another node"])
@pytest.mark.parametrize("count", [1, 2])
def test_what_a_pass_after_partitioning_changes_is_what_runs(
    forget: list[str], way: str, count: int
) -> None:
    """A pass of a plugin gives whole graphs: no node of theirs is the one that was there before."""

    @graph_pass(Grouping.POST_PARTITIONING, 0, name="negate")
    def negate(options: PassOptions) -> None:
        for graph in options.graphs():
            if "a" not in graph:
                continue
            if way == "in place":
                graph.set_op(graph["a"], "Neg")
            elif way == "as bytes":
                data = graph.to_bytes().replace(b"\x12\x03Abs", b"\x12\x03Neg")
                graph.become(Graph.from_bytes(data))
            else:
                other = graph.add("Neg", "n", graph["a"].inputs, attrs={"T": FLOAT},
                                  device=graph["a"].device)  # fmt: skip
                graph.redirect((graph["a"], 0), (other, 0))

    forget.append("negate")
    config = SessionConfig(device_count={"CPU": count}, optimizer="off")
    found = Session(on_two_devices(), config).run(["y:0", "y0:0"])
    for value in found:
        np.testing.assert_allclose(value, np.exp(np.tanh(np.float32([-1, -2]))), rtol=1e-6)


def test_a_pass_after_partitioning_that_loses_one_end_of_a_transfer_is_named(
    forget: list[str],
) -> None:
    @graph_pass(Grouping.POST_PARTITIONING, 0, name="halves")
    def halves(options: PassOptions) -> None:
        for graph in options.graphs():
            graph.remove([node for node in graph if node.op == "_Send"])

    forget.append("halves")
    config = SessionConfig(device_count={"CPU": 2}, optimizer="off")
    with pytest.raises(GraphError, match="pass 'halves'") as found:
        Session(on_two_devices(), config).run(["y:0", "y0:0"])
    assert "sent or received, but not both" in str(found.value)


def test_passes_after_the_rewrite_see_what_runs_and_no_more(forget: list[str]) -> None:
    """What the fetches do not reach is gone, and so is what a fed node would read."""
    seen: list[list[str]] = []

    @graph_pass(Grouping.POST_REWRITE_FOR_EXEC, 0, name="sees")
    def sees(options: PassOptions) -> bool:
        assert options.graph is not None
        seen.append([f"{n.name} = {n.op}" for n in options.graph])
        return False

    forget.append("sees")
    graph = on_two_devices()
    session = Session(graph, SessionConfig(optimizer="off"))
    assert session.run("y0:0", {"a:0": np.float32([0, 0])}).tolist() == [1, 1]
    assert session.run("a:0", {"a:0": np.float32([3, 4])}).tolist() == [3, 4]
    assert seen == [["a = Placeholder", "b = Tanh", "y0 = Exp"], ["a = Placeholder"]]
    assert graph["a"].op == "Abs"
    split = graph.add("Split", "s", [graph.add("Const", "axis", attrs={
        "dtype": dtypes.INT32, "value": TensorAttr(array=np.int32(0))}), graph["c"]],
        attrs={"T": FLOAT, "num_split": 2})  # fmt: skip
    graph.add("AddV2", "sum", [(split, 0), (split, 1)], attrs={"T": FLOAT})
    found = Session(graph, SessionConfig(optimizer="off")).run("sum:0", {"s:1": np.float32([5])})
    assert found.tolist() == [6]
    assert seen[-1] == ["c = Const", "axis = Const", "s = Split", "sum = AddV2"]


def test_a_pass_that_leaves_what_ops_do_not_allow_is_undone(forget: list[str]) -> None:
    @graph_pass(Grouping.PRE_PLACEMENT, 0, name="wrong", ops=["Neg"])
    def wrong(options: PassOptions) -> None:
        assert options.graph is not None
        options.graph.set_op(options.graph["y"], "LogicalNot")

    forget.append("wrong")
    session = Session(sample(), SessionConfig(optimizer="off"))
    with pytest.warns(PassWarning, match=r"pass 'wrong' .* does not count.*'y' \(LogicalNot\)"):
        assert session.run("y:0").tolist() == [-1, -2]
