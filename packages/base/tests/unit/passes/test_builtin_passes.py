"""Each pass of drystone-base: what it makes, that values stay, and what it leaves alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from drystone_base import BadRequest, Graph, GraphError, Session, SessionConfig
from drystone_base.core import dtypes
from drystone_base.graph import Node
from drystone_base.host import available
from drystone_base.ops.attrs import TensorAttr
from drystone_base.passes import Grouping, PassOptions, run_grouping

FLOAT = dtypes.FLOAT32
EXECUTORS = ["reference", *(["native"] if available() else [])]


def constants(graph: Graph, rows: int, *shape: int) -> list[Node]:
    draws = np.random.default_rng(rows)
    return [
        graph.add(
            "Const", f"c{k}",
            attrs={
                "dtype": FLOAT,
                "value": TensorAttr(array=draws.normal(size=shape).astype(np.float32)),
            },
        )
        for k in range(rows)
    ]  # fmt: skip


def gathered(op: str, rows: int, shape: list[int], whole: list[int]) -> Graph:
    """``op`` over constants, between nodes that it waits for and that wait for it."""
    graph = Graph()
    first = graph.add("NoOp", "first")
    inputs = constants(graph, rows, *shape)
    attrs: dict[str, Any] = {"T": FLOAT, "N": rows, "shape": tuple(whole)}
    node = graph.add(op, "whole", inputs, controls=[first], attrs=attrs, device="/cpu:0")
    twice = graph.add("AddV2", "twice", [node, node], attrs={"T": FLOAT})
    graph.add("NoOp", "last", controls=[node, twice])
    return graph


def ran(graph: Graph, name: str, settings: Any = True, feeds: list[str] | None = None) -> Graph:
    """A copy after one of the PRE_PLACEMENT passes, checked to have nothing left to do."""
    graph = graph.copy()
    options = PassOptions(graph=graph, feeds=feeds or [])
    run_grouping(Grouping.PRE_PLACEMENT, options, {name: settings})
    return graph


@pytest.mark.parametrize("executor", EXECUTORS)
@pytest.mark.parametrize("rows", [1, 3])
@pytest.mark.parametrize("name", ["ParallelConcatRemovePass", "AccumulateNV2RemovePass"])
def test_values_stay(name: str, rows: int, executor: Any) -> None:
    """Rows H10, H11. S3-parallel-concat, S3-accumulate."""
    graph = (
        gathered("ParallelConcat", rows, [1, 4], [rows, 4])
        if name == "ParallelConcatRemovePass"
        else gathered("AccumulateNV2", rows, [2, 4], [2, 4])
    )
    plain = Session(graph, SessionConfig(executor=executor))
    config = SessionConfig(executor=executor, passes={name: True})
    changed = Session(graph, config)
    for _ in range(3):
        for fetch in ("whole:0", "twice:0"):
            assert changed.run(fetch).tobytes() == plain.run(fetch).tobytes()


def test_parallel_concat_becomes_updates_of_one_buffer() -> None:
    """Rows H5, H10. S3-parallel-concat, S3-direct."""
    graph = ran(gathered("ParallelConcat", 3, [1, 4], [3, 4]), "ParallelConcatRemovePass")
    counts = Counter(node.op for node in graph)
    assert counts["_ParallelConcatUpdate"] == 3
    assert counts["_ParallelConcatStart"] == 1
    whole = graph["whole"]
    assert whole.op == "Identity"
    assert [c.attr("loc") for c in whole.controls] == [0, 1, 2]
    (start, _), = whole.inputs  # fmt: skip
    assert [c.name for c in start.controls] == ["first"]
    assert {n.device for n in (start, *whole.controls)} == {"/cpu:0"}
    assert ran(graph, "ParallelConcatRemovePass").to_bytes() == graph.to_bytes()


def test_accumulate_becomes_a_temporary_variable() -> None:
    """Rows H5, H11. S3-accumulate, S3-direct."""
    graph = ran(gathered("AccumulateNV2", 3, [2, 4], [2, 4]), "AccumulateNV2RemovePass")
    counts = Counter(node.op for node in graph)
    assert (counts["TemporaryVariable"], counts["Assign"], counts["AssignAdd"]) == (1, 1, 2)
    whole = graph["whole"]
    assert whole.op == "DestroyTemporaryVariable"
    variable = whole.inputs[0][0]
    assert variable.attr("var_name") == whole.attr("var_name")
    assert [c.name for c in variable.controls] == ["first"]
    assert ran(graph, "AccumulateNV2RemovePass").to_bytes() == graph.to_bytes()


def loop_around_a_sum() -> Graph:
    """A v1 loop that doubles a number by AccumulateNV2 until it exceeds 100."""
    graph = Graph()
    t = {"T": FLOAT}
    frame = {"T": FLOAT, "frame_name": "loop", "is_constant": False, "parallel_iterations": 10}

    def number(name: str, value: float, controls: Sequence[Node] = ()) -> Node:
        attrs = {"dtype": FLOAT, "value": TensorAttr(array=np.array(value, np.float32))}
        return graph.add("Const", name, controls=controls, attrs=attrs)

    enter = graph.add("Enter", "enter", [number("start", 3)], attrs=frame)
    merge = graph.add("Merge", "merge", [enter, enter], attrs=t | {"N": 2})
    limit = number("limit", 100, [merge])
    go = graph.add("LoopCond", "go", [graph.add("Less", "less", [merge, limit], attrs=t)])
    switch = graph.add("Switch", "switch", [merge, go], attrs=t)
    body = graph.add(
        "AccumulateNV2", "sum", [(switch, 1), (switch, 1)], attrs=t | {"N": 2, "shape": ()}
    )
    back = graph.add("NextIteration", "next", [body], attrs=t)
    graph.set_input(merge, 1, (back, 0))
    graph.add("Exit", "exit", [(switch, 0)], attrs=t)
    return graph


@pytest.mark.parametrize("executor", EXECUTORS)
def test_in_a_loop_of_frames_it_is_summed_at_once(executor: Any) -> None:
    graph = loop_around_a_sum()
    assert ran(graph, "AccumulateNV2RemovePass")["sum"].op == "AddN"
    config = SessionConfig(executor=executor, passes={"AccumulateNV2RemovePass": True})
    assert Session(graph, config).run("exit:0") == 192


@pytest.mark.parametrize("shape", [None, (-1, 4)])
@pytest.mark.parametrize("op", ["ParallelConcat", "AccumulateNV2"])
def test_an_unknown_shape_is_left_alone(op: str, shape: Any) -> None:
    graph = gathered(op, 2, [1, 4], [2, 4])
    graph.set_attr(graph["whole"], "shape", shape)
    assert ran(graph, f"{op}RemovePass").to_bytes() == graph.to_bytes()


@pytest.mark.parametrize("op", ["ParallelConcat", "AccumulateNV2"])
def test_a_fed_node_is_left_alone(op: str) -> None:
    graph = gathered(op, 2, [1, 4], [2, 4])
    assert ran(graph, f"{op}RemovePass", feeds=["whole:0"]).to_bytes() == graph.to_bytes()


def test_jitter_changes_the_named_tensors_by_the_seed() -> None:
    """Row H15. S3-jitter."""
    graph = gathered("AccumulateNV2", 2, [2, 4], [2, 4])
    settings = {"tensors": ["whole:0"], "amount": 1e-3, "seed": 7}

    def run(settings: Any) -> Any:
        config = SessionConfig(passes={"IntroduceFloatingPointJitterPass": settings})
        return Session(graph, config).run(["whole:0", "twice:0"])

    plain = Session(graph).run(["whole:0", "twice:0"])
    whole, twice = run(settings)
    assert whole.tobytes() == plain[0].tobytes()
    assert 0 < np.abs(twice - plain[1]).max() <= 2.1e-3
    assert run(settings)[1].tobytes() == twice.tobytes()
    assert run(settings | {"seed": 8})[1].tobytes() != twice.tobytes()
    assert run({"tensors": []})[1].tobytes() == plain[1].tobytes()


def test_jitter_is_for_floats() -> None:
    graph = Graph()
    value = TensorAttr(array=np.int32(1))
    graph.add("Const", "i", attrs={"dtype": dtypes.INT32, "value": value})
    settings = {"tensors": ["i:0"]}
    with pytest.raises(GraphError) as caught:
        ran(graph, "IntroduceFloatingPointJitterPass", settings)
    assert isinstance(caught.value.inner, BadRequest)
    assert caught.value.inner.render() == (
        "jitter cannot be added to 'i:0' [bad-pass-setting]\n"
        "  check: jitter is for tensors of floats\n"
        "  found: int32\n"
        "  needed: bfloat16, float16, float32, float64\n"
        "  remedy: `drystone inspect` lists names and dtypes"
    )
