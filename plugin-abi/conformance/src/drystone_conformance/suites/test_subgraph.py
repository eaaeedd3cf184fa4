"""Subgraph backends: with them graphs give what they give without, whatever becomes of regions."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import drystone_base as ds
from drystone_abi.protos import FunctionDef, GraphDef
from drystone_base.graph import topological_order
from drystone_base.host import tensors
from drystone_base.modules import stage
from drystone_base.ops.attrs import FunctionRef, TensorAttr
from drystone_conformance.graphs import GRAPHS, Case
from drystone_conformance.plugin import needs

pytestmark = pytest.mark.module("subgraph")

FLOAT = ds.as_dtype("float32")
Array = np.ndarray[Any, Any]


def session_with(graph: ds.Graph, backend: str, **more: Any) -> ds.Session:
    settings: dict[str, Any] = {"subgraphs": backend, "optimizer": "off"}
    return ds.Session(graph, ds.SessionConfig(**settings | more))


def same(found: Any, expected: Any) -> None:
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


def arithmetic(shape: tuple[int, ...] | None) -> ds.Graph:
    """Chains, a diamond, values that are read twice, and a product, of ``x`` and ``k``."""
    graph, types = ds.Graph(), {"T": FLOAT}
    x, k = (graph.add("Placeholder", name, attrs={"dtype": FLOAT, "shape": shape}) for name in "xk")
    added = graph.add("AddV2", "added", [x, k], attrs=types)
    less = graph.add("Sub", "less", [added, x], attrs=types)
    square = graph.add("Mul", "square", [added, added], attrs=types)
    both = graph.add("AddV2", "both", [graph.add("Neg", "neg", [less], attrs=types), square],
                     attrs=types)  # fmt: skip
    tanh = graph.add("Tanh", "tanh", [graph.add("Relu", "relu", [both], attrs=types)], attrs=types)
    graph.add("Mul", "y", [tanh, square], attrs=types)
    return graph


def weighted() -> ds.Graph:
    """``y = (x + v) * x``, of a variable ``v`` that ``set`` makes ``x``."""
    graph, types = ds.Graph(), {"T": FLOAT}
    attrs: dict[str, Any] = {"dtype": FLOAT, "shape": (3,)}
    x = graph.add("Placeholder", "x", attrs=attrs)
    handle = graph.add("VarHandleOp", "v", attrs={**attrs, "shared_name": "v"})
    graph.add("AssignVariableOp", "set", [handle, x], attrs={"dtype": FLOAT})
    read = graph.add("ReadVariableOp", "read", [handle], attrs={"dtype": FLOAT})
    graph.add("Mul", "y", [graph.add("AddV2", "sum", [x, read], attrs=types), x], attrs=types)
    return graph


def regions(graph: ds.Graph, backend: str) -> list[str]:
    """The operators that a partitioned graph has, by name."""
    (partition,) = stage("partition")
    found = partition(graph, ["y:0"], ["x:0", "k:0"], backend)
    topological_order(found)
    return [node.name for node in found if node.states("_subgraph_backend")]


FEEDS = {
    "plain": lambda shape: np.linspace(-2, 2, int(np.prod(shape)), dtype=np.float32),
    "large": lambda shape: np.full(int(np.prod(shape)), 1e20, np.float32),
    "zeros": lambda shape: np.zeros(int(np.prod(shape)), np.float32),
}


@pytest.mark.parametrize("kind", FEEDS)
@pytest.mark.parametrize("shape", [(), (1,), (7,), (2, 3), (4, 1, 5)], ids=str)
def test_values(subgraph_backend: str, shape: tuple[int, ...], kind: str) -> None:
    graph = arithmetic(None)
    make: Callable[[Any], Array] = FEEDS[kind]
    feeds = {"x:0": make(shape).reshape(shape), "k:0": make(shape).reshape(shape) + 1}
    fetches = ["y:0", "both:0", "less:0"]
    found = session_with(graph, subgraph_backend).run(fetches, feeds)
    for a, b in zip(found, session_with(graph, "off").run(fetches, feeds), strict=True):
        assert a.shape == b.shape
        same(a, b)


@needs("subgraph.empty")
def test_no_elements(subgraph_backend: str) -> None:
    feeds = {name: np.zeros((0, 3), np.float32) for name in ("x:0", "k:0")}
    assert session_with(arithmetic(None), subgraph_backend).run("y:0", feeds).shape == (0, 3)


def test_inputs_that_are_broadcast(subgraph_backend: str) -> None:
    graph = arithmetic(None)
    x, k = np.arange(6, dtype=np.float32).reshape(2, 3), np.arange(3, dtype=np.float32)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that a backend declines a shape is its right
        found = session_with(graph, subgraph_backend).run("y:0", {"x:0": x, "k:0": k})
    same(found, session_with(graph, "off").run("y:0", {"x:0": x, "k:0": k}))


def layers() -> ds.Graph:
    """A product with what follows it: what an engine takes that leaves small arithmetic alone."""
    graph, types = ds.Graph(), {"T": FLOAT}
    x, k = (graph.add("Placeholder", n, attrs={"dtype": FLOAT, "shape": (3, 3)}) for n in "xk")
    value = TensorAttr(array=np.linspace(-1, 1, 9, dtype=np.float32).reshape(3, 3))
    weight = graph.add("Const", "w", attrs={"dtype": FLOAT, "value": value})
    product = graph.add("MatMul", "product", [x, weight], attrs=types)
    active = graph.add("Relu", "active", [graph.add("AddV2", "sum", [product, k], attrs=types)],
                       attrs=types)  # fmt: skip
    graph.add("Tanh", "y", [active], attrs=types)
    return graph


def calling() -> ds.Graph:
    """Arithmetic around a call of a function, which calls another one."""
    graph, types = arithmetic(None), {"T": FLOAT}
    graph.functions.add(function("inner", "Neg", types))
    signature: dict[str, Any] = {"Tin": [FLOAT], "Tout": [FLOAT]}
    graph.functions.add(function("outer", "PartitionedCall", signature | {"f": ref("inner")}))
    made = graph.add("PartitionedCall", "call", [graph["y"]], attrs=signature | {"f": ref("outer")})
    graph.add("AddV2", "end", [made, graph["both"]], attrs=types)
    return graph


def ref(name: str) -> FunctionRef:
    return FunctionRef(name, {})


def function(name: str, op: str, attrs: dict[str, Any]) -> FunctionDef:
    """A function of one value, which is what one op gives."""
    proto = FunctionDef()
    proto.signature.name = name
    proto.signature.input_arg.add(name="a", type=1)
    proto.signature.output_arg.add(name="r", type=1)
    node = ds.Graph().add(op, "node", attrs=attrs).to_proto(proto.node_def.add(), ["a"])
    proto.ret["r"] = f"{node.name}:{'y' if op == 'Neg' else 'output'}:0"
    return proto


def test_functions_that_are_called(subgraph_backend: str) -> None:
    x = np.linspace(-2, 2, 5, dtype=np.float32)
    feeds = {"x:0": x, "k:0": x + 1}
    found = session_with(calling(), subgraph_backend).run("end:0", feeds)
    same(found, session_with(calling(), "off").run("end:0", feeds))


def test_a_partitioned_graph_is_a_graph(subgraph_backend: str) -> None:
    """It can be written and read, with whatever attributes its operators were given."""
    (partition,) = stage("partition")
    x = np.linspace(-2, 2, 5, dtype=np.float32)
    for graph in (arithmetic((5,)), calling()):
        fetch = "end:0" if "end" in graph else "y:0"
        made = partition(graph, [fetch], ["x:0", "k:0"], subgraph_backend)
        read = ds.Graph.from_proto(GraphDef.FromString(made.to_proto().SerializeToString()))
        feeds = {"x:0": x, "k:0": x + 1}
        found = session_with(read, "off").run(fetch, feeds)
        same(found, session_with(graph, "off").run(fetch, feeds))


@needs("subgraph.samples")
def test_it_takes_something(subgraph_backend: str) -> None:
    assert [graph for graph in (arithmetic((3,)), layers()) if regions(graph, subgraph_backend)]


def test_layers(subgraph_backend: str) -> None:
    feeds = {name: np.linspace(-2, 2, 9, dtype=np.float32).reshape(3, 3) for name in ("x:0", "k:0")}
    found = session_with(layers(), subgraph_backend).run("y:0", feeds)
    same(found, session_with(layers(), "off").run("y:0", feeds))


def test_what_was_compiled_is_kept(
    subgraph_backend: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DRYSTONE_EXECUTABLE_CACHE", str(tmp_path))
    feeds = {name: np.full((3, 3), 0.5, np.float32) for name in ("x:0", "k:0")}
    for graph in (arithmetic((3, 3)), layers()):
        expected = session_with(graph, subgraph_backend).run("y:0", feeds)
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            same(session_with(graph, subgraph_backend).run("y:0", feeds), expected)
        assert [str(warning.message) for warning in told] == []
    if not any(file.is_file() for file in tmp_path.rglob("*")):
        pytest.skip("the backend writes no executables")


def test_the_same_regions_every_time(subgraph_backend: str) -> None:
    assert len({tuple(regions(arithmetic((3,)), subgraph_backend)) for _ in range(3)}) == 1


@pytest.mark.parametrize("case", GRAPHS.values(), ids=GRAPHS)
def test_graphs_of_the_optimizers_suite(subgraph_backend: str, case: Any) -> None:
    made: Case = case() if callable(case) else case
    try:
        expected = session_with(made.graph, "off").run(made.fetches, made.feeds)
    except ds.DrystoneError:
        pytest.skip("the graph does not run")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = session_with(made.graph, subgraph_backend).run(made.fetches, made.feeds)
    for a, b in zip(found, expected, strict=True):
        same(a, b)


def test_a_variable_that_changes(subgraph_backend: str) -> None:
    session = session_with(weighted(), subgraph_backend)
    x = np.arange(3, dtype=np.float32)
    for step in range(4):
        value = np.full(3, step, np.float32)
        session.run("set", {"x:0": value})
        for _ in range(2):
            same(session.run("y:0", {"x:0": x}), (x + value) * x)


def test_many_threads(subgraph_backend: str) -> None:
    session = session_with(arithmetic(None), subgraph_backend)
    plain = session_with(arithmetic(None), "off")
    wrong: list[Exception] = []

    def work(seed: int) -> None:
        rng = np.random.default_rng(seed)
        try:
            for _ in range(20):
                feeds = {name: rng.random(4 + seed % 2).astype(np.float32) for name in ("x", "k")}
                same(session.run("y:0", feeds), plain.run("y:0", feeds))
        except Exception as error:
            wrong.append(error)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_nothing_is_kept(subgraph_backend: str) -> None:
    session = session_with(arithmetic(None), subgraph_backend)
    feeds = {name: np.ones(1000, np.float32) for name in ("x:0", "k:0")}
    session.run("y:0", feeds)
    before = tensors.held()
    for _ in range(50):
        session.run("y:0", feeds)
    assert tensors.held() <= before + 8


def test_a_constant(subgraph_backend: str) -> None:
    graph, types = ds.Graph(), {"T": FLOAT}
    x = graph.add("Placeholder", "x", attrs={"dtype": FLOAT, "shape": (3,)})
    value = TensorAttr(array=np.array([1, 2, 3], np.float32))
    k = graph.add("Const", "k", attrs={"dtype": FLOAT, "value": value})
    graph.add("Mul", "y", [graph.add("AddV2", "s", [x, k], attrs=types), k], attrs=types)
    x_value = np.arange(3, dtype=np.float32)
    found = session_with(graph, subgraph_backend).run("y:0", {"x:0": x_value})
    same(found, (x_value + value.array) * value.array)
