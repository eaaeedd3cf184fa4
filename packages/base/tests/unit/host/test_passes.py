"""Passes of plugins: registered through the C interface, run in their places, or refused."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from drystone_base import Graph, GraphError, HostError, Session, SessionConfig
from drystone_base.core import dtypes
from drystone_base.graph import Node
from drystone_base.host import _lib
from drystone_base.host import passes as host
from drystone_base.host.library import HostLibrary, open_library
from drystone_base.ops.attrs import TensorAttr
from drystone_base.passes import Grouping, PassOptions, registry, run_grouping
from drystone_base.passes._plugins import sync

if not _lib.available():
    pytest.skip("the host library is not built", allow_module_level=True)

EXAMPLES = Path(__file__).resolve().parents[5] / "plugin-abi" / "examples"
FLOAT, INT = dtypes.FLOAT32, dtypes.INT32
T = {"T": FLOAT}
Compile = Callable[..., Path]


@pytest.fixture(scope="module", autouse=True)
def registered(compile_library: Compile) -> HostLibrary:
    """The example in C, and that in C++."""
    library = open_library(compile_library(EXAMPLES / "passes_c" / "relu6.c"))
    folder = EXAMPLES / "passes_cpp"
    sources = [folder / f"{name}.cc" for name in ("passes", "nccl_replace", "layout_pair")]
    other = open_library(compile_library(*sources, flags=[f"-I{folder}"]))
    for one in (library, other):
        one.initialise("DS_InitPasses")
    sync()
    return library


@pytest.fixture(scope="module")
def variant(compile_library: Compile) -> Callable[..., HostLibrary]:
    def make(**macros: str) -> HostLibrary:
        flags = [f"-D{macro}={text}" for macro, text in macros.items()]
        return open_library(compile_library("passes_variants.c", flags=flags))

    return make


def relus() -> Graph:
    graph = Graph()
    x = graph.add("Placeholder", "x", attrs={"dtype": FLOAT, "shape": None})
    for name in ("a", "b"):
        graph.add("Relu", name, [x], attrs=T)
    return graph


def test_what_a_plugin_registered_is_listed(registered: HostLibrary) -> None:
    """Row H8. S3-register-c."""
    found = next(p for p in host.passes() if p.name == "Relu6")
    assert (found.grouping, found.phase, found.ops, found.is_default) == (0, 5, ("Relu",), False)
    assert found.library == registered.path
    own = next(p for p in registry().passes(Grouping.PRE_PLACEMENT) if p.name == "Relu6")
    assert own.origin == Path(registered.path).name


@pytest.mark.parametrize(("switch", "want"), [
    (False, [[0, 9], [0, 9]]), (True, [[0, 6], [0, 6]]), ({"only": "b"}, [[0, 9], [0, 6]]),
])  # fmt: skip
def test_a_session_runs_it_with_its_settings(switch: Any, want: Any) -> None:
    """Row H8. S3-register-c."""
    session = Session(relus(), SessionConfig(passes={"Relu6": switch}, optimizer="off"))
    assert [v.tolist() for v in session.run(["a:0", "b:0"], {"x:0": [-1, 9]})] == want


def test_a_graph_without_a_match_keeps_its_bytes() -> None:
    graph = relus()
    options = PassOptions(graph=graph, fetches=["a:0"])
    before = graph.to_bytes()
    run_grouping(Grouping.PRE_PLACEMENT, options, {"Relu6": {"only": "nobody"}})
    assert graph.to_bytes() == before
    report = run_grouping(Grouping.PRE_PLACEMENT, options, {"Relu6": True})
    assert next(r for r in report.passes if r.name == "Relu6").changed
    assert [n.op for n in graph] == ["Placeholder", "Relu6", "Relu6"]
    assert graph["a"].graph is graph
    report = run_grouping(Grouping.PRE_PLACEMENT, options, {"Relu6": True})
    assert next(r for r in report.passes if r.name == "Relu6").skipped


def test_partitions_are_handed_over_one_by_one() -> None:
    data = relus().to_bytes()
    out = host.run("Relu6", [data, b"", data], ["/cpu:0", "/cpu:1", "/cpu:2"])
    assert out[1] is None
    assert out[0] == out[2] is not None


def test_bytes_that_are_no_graph() -> None:
    with pytest.raises(HostError, match=r"pass Relu6 of .* failed: relu6: the bytes are no GraphD"):
        host.run("Relu6", [b"\xff\xff"])


def test_a_pass_that_is_not_there() -> None:
    with pytest.raises(HostError, match="there is no pass nobody") as caught:
        host.run("nobody", [])
    assert caught.value.status == "NOT_FOUND"


@pytest.mark.parametrize(("macros", "text"), [
    ({"NAME": '"a b"'}, r"DS_Pass\.name is no name"),
    ({"NAME": "(const char*)16"}, r"DS_Pass\.name is no name"),
    ({"NAME": '"\\33[2J"'}, r"DS_Pass\.name is no name"),
    ({"OPS": "(void*)16"}, r"pass variant: DS_Pass\.ops has no end, or holds what is no text"),
    ({"OPS": "endless"}, r"pass variant: DS_Pass\.ops has no end, or holds what is no text"),
    ({"GROUPING": "4"}, r"pass variant: DS_Pass\.grouping is 4, which is none of DS_PassGrouping"),
    ({"SIZE": "8"}, r"DS_Pass\.struct_size is 8; it must be set to DS_PASS_STRUCT_SIZE, which is"),
    ({"RUN": "NULL"}, r"pass variant: DS_Pass\.run is not set"),
    ({"NAME": '"Relu6"'}, r"pass Relu6 is registered by .*relu6.* already"),
    ({"TWICE": "1"}, r"pass variant is registered twice by"),
    ({"REFUSE": '"no licence"'}, r"DS_InitPasses: no licence"),
    ({"MAJOR": "7"}, r"pass interface version 7\.0\.1 of the plugin does not fit this host"),
])  # fmt: skip
def test_what_is_refused(variant: Any, macros: dict[str, str], text: str) -> None:
    with pytest.raises(HostError, match=text):
        variant(**macros).initialise("DS_InitPasses")
    assert "variant" not in [p.name for p in host.passes()]


def test_a_pass_that_loses_a_fetched_node(variant: Any) -> None:
    text = "".join(f"\\{byte:03o}" for byte in ONE_NODE)
    macro = f'call->results[0]->data="{text}",call->results[0]->length={len(ONE_NODE)}'
    library = variant(NAME='"loses"', ANSWER=macro)
    library.initialise("DS_InitPasses")
    sync()
    with pytest.raises(GraphError) as caught:
        Session(relus(), SessionConfig(passes={"loses": True}, optimizer="off")).run(
            "a:0", {"x:0": [1]}
        )
    inner = caught.value.inner
    assert inner is not None
    assert inner.render().startswith(  # type: ignore[attr-defined]
        "pass 'loses' lost nodes [pass-lost-nodes]\n"
        "  check: a pass must keep the nodes that are fetched and fed\n"
        "  found: no 'a', 'x' in what it gave\n"
        "  needed: every fetched and fed node, under its name"
    )


ONE_NODE = b"\x0a\x09\x0a\x01q\x12\x04NoOp"


def test_what_a_call_holds() -> None:
    """Settings and names arrive as they are."""
    settings = json.dumps({"only": "a"})
    (out,) = host.run("Relu6", [relus().to_bytes()], None, ["a:0"], ["x:0"], ["/cpu:0"], settings)
    assert out is not None
    assert [n.op for n in Graph.from_bytes(out)] == ["Placeholder", "Relu6", "Relu"]


# ---- the examples in C++ -------------------------------------------------------------------------


def test_collectives_take_the_place_of_a_reduction() -> None:
    """Row H13. S3-nccl."""
    graph = Graph()
    inputs = [
        graph.add("Placeholder", f"x{k}", attrs={"dtype": FLOAT, "shape": None}, device=f"/d:{k}")
        for k in range(3)
    ]
    attrs = T | {"reduction": "sum", "num_devices": 3}
    total = graph.add("NcclReduce", "total", inputs, attrs=attrs, device="/d:1")
    spread = graph.add(
        "NcclBroadcast", "all", [total], attrs=T | {"shape": (2, 300)}, device="/d:1"
    )
    for k in (0, 2):
        graph.add("Neg", f"n{k}", [spread], attrs=T, device=f"/d:{k}")
    options = PassOptions(graph=graph, fetches=["n0:0", "n2:0"])
    run_grouping(Grouping.POST_PLACEMENT, options, {"NcclReplacePass": True})
    assert Counter(n.op for n in graph) == {
        "Placeholder": 3, "_NcclReduceSend": 2, "_NcclReduceRecv": 1, "_NcclBroadcastSend": 1,
        "_NcclBroadcastRecv": 2, "Const": 2, "Neg": 2,
    }  # fmt: skip
    assert (graph["total"].op, graph["total"].inputs) == ("_NcclReduceRecv", ((graph["x1"], 0),))
    sends = [n for n in graph if n.op == "_NcclReduceSend"]
    assert [(n.device, n.inputs[0][0].name) for n in sends] == [("/d:0", "x0"), ("/d:2", "x2")]
    assert (
        {n.attr("shared_name") for n in sends} == {"total"} == {graph["total"].attr("shared_name")}
    )
    for k in (0, 2):
        receive = graph[f"n{k}"].inputs[0][0]
        assert (receive.op, receive.device) == ("_NcclBroadcastRecv", f"/d:{k}")
        assert receive.inputs[0][0].attr("value").array.tolist() == [2, 300]
        assert graph["all"] in graph[f"n{k}"].controls
    assert set(sends) <= set(graph["all"].controls)


def _constant(graph: Graph, name: str, *shape: int) -> Node:
    value = np.random.default_rng(len(name)).normal(size=shape).astype(np.float32)
    return graph.add("Const", name, attrs={"dtype": FLOAT, "value": TensorAttr(array=value)})


def convolutions() -> Graph:
    """Two convolutions with bias and Relu, a pooling, and a Softmax that needs NHWC."""
    graph = Graph()
    last = graph.add("Placeholder", "x", attrs={"dtype": FLOAT, "shape": (1, 8, 8, 3)})
    for k, channels in enumerate((3, 4)):
        attrs = T | {"strides": [1, 2, 1, 1], "padding": "SAME"}
        last = graph.add("Conv2D", f"conv{k}", [last, _constant(graph, f"w{k}", 3, 3, channels, 4)],
                         attrs=attrs)  # fmt: skip
        last = graph.add("BiasAdd", f"sum{k}", [last, _constant(graph, f"b{k}", 4)], attrs=T)
        last = graph.add("Relu", f"relu{k}", [last], attrs=T)
    pool = T | {"ksize": [1, 1, 2, 1], "strides": [1, 1, 2, 1], "padding": "VALID"}
    last = graph.add("MaxPool", "pool", [last], attrs=pool)
    graph.add("Softmax", "out", [last], attrs=T)
    return graph


PAIR = {"LayoutRewritePass": True, "LayoutConversionPass": True}


def test_layouts_are_converted_at_the_borders_only() -> None:
    """Row H24. S3-layout-pair."""
    graph = convolutions()
    options = PassOptions(partitions={"/cpu:0": graph}, fetches=["out:0"], feeds=["x:0"])
    run_grouping(Grouping.POST_PARTITIONING, options, PAIR)
    borders = [n for n in graph if n.op == "Transpose"]
    assert [n.inputs[0][0].name for n in borders] == ["x", "pool"]
    assert {graph[n].attr("data_format") for n in ("conv0", "sum1", "pool")} == {"NCHW"}
    assert graph["conv0"].attr("strides") == [1, 1, 2, 1]
    before = graph.to_bytes()
    run_grouping(Grouping.POST_PARTITIONING, options, PAIR)
    assert graph.to_bytes() == before
    x = np.random.default_rng(0).normal(size=(1, 8, 8, 3)).astype(np.float32)
    want = Session(convolutions(), SessionConfig(optimizer="off")).run("out:0", {"x:0": x})
    config = SessionConfig(optimizer="off", passes=PAIR, executor="reference")
    found = Session(convolutions(), config).run("out:0", {"x:0": x})
    assert np.allclose(found, want, rtol=1e-5)


def test_a_fetched_node_keeps_its_layout() -> None:
    graph = convolutions()
    options = PassOptions(partitions={"/cpu:0": graph}, fetches=["out:0", "conv1:0"], feeds=["x:0"])
    run_grouping(Grouping.POST_PARTITIONING, options, PAIR)
    assert graph["conv1"].attr("data_format") == "NHWC"
    assert [n.inputs[0][0].name for n in graph if n.op == "Transpose"][:2] == ["x", "relu0"]
