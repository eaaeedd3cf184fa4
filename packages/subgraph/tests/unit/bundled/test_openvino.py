"""OpenVINO as a backend; what needs its package is left out where it is not installed."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import drystone_base as ds
from drystone_base.core.dtypes import as_dtype
from drystone_base.core.errors import BadRequest
from drystone_base.graph import Graph
from drystone_base.ops.attrs import TensorAttr
from drystone_subgraph import executables, find_backend
from drystone_subgraph.regions.unfused import unfuse

FLOAT = as_dtype("float32")
THERE = find_spec("openvino") is not None


def fused(ops: list[str], *arguments: Any, **more: Any) -> Graph:
    """``y``: a product of ``x`` and ``w``, and what follows, as one node."""
    graph = Graph()
    x = graph.add("Placeholder", "x", attrs={"dtype": FLOAT, "shape": (2, 3)})
    held = []
    for k, value in enumerate((np.arange(12).reshape(3, 4) - 5, *arguments)):
        tensor = TensorAttr(array=np.asarray(value, np.float32))
        held.append(graph.add("Const", f"c{k}", attrs={"dtype": FLOAT, "value": tensor}))
    attrs = {"T": FLOAT, "num_args": len(arguments), "fused_ops": ops, **more}
    graph.add("_FusedMatMul", "y", [x, *held], attrs=attrs)
    return graph


def run(graph: Graph, subgraphs: str = "off") -> tuple[Any, ds.Session]:
    session = ds.Session(graph, ds.SessionConfig(optimizer="off", subgraphs=subgraphs))
    x = np.linspace(-1, 1, 6, dtype=np.float32).reshape(2, 3)
    return session.run("y:0", {"x:0": x}), session


@pytest.mark.parametrize(
    ("ops", "arguments"),
    [(["BiasAdd"], 1), (["BiasAdd", "Relu"], 1), (["BiasAdd", "Add"], 2), (["BiasAdd", "Tanh"], 1)],
)
def test_fused_layers_taken_apart_compute_the_same(ops: list[str], arguments: int) -> None:
    given = [np.ones(4), np.full((2, 4), 0.5)][:arguments]
    graph = fused(ops, *given)
    expected, _ = run(graph)
    unfuse(graph, graph["y"])
    assert not any(node.op.startswith("_Fused") for node in graph)
    np.testing.assert_allclose(run(graph)[0], expected, rtol=1e-6)


@pytest.mark.skipif(THERE, reason="the package openvino is installed")
def test_without_the_package() -> None:
    with pytest.raises(BadRequest, match=r"pip install drystone-subgraph\[openvino\]") as caught:
        find_backend("openvino").properties()
    assert caught.value.code == "subgraph-package-missing"


@pytest.mark.skipif(not THERE, reason="the package openvino is not installed")
def test_a_region_is_compiled() -> None:
    graph = fused(["BiasAdd", "Relu"], np.ones(4))
    last = graph["y"]
    graph.rename(last, "layer")
    doubled = graph.add("AddV2", "doubled", [last, last], attrs={"T": FLOAT})
    graph.add("Exp", "y", [doubled], attrs={"T": FLOAT})
    expected, _ = run(graph)
    found, session = run(graph, "openvino")
    np.testing.assert_allclose(found, expected, rtol=1e-5)
    assert [(e.state, e.runs) for e in executables(session)] == [("ready", 1)]


@pytest.mark.skipif(not THERE, reason="the package openvino is not installed")
def test_what_is_compiled_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DRYSTONE_EXECUTABLE_CACHE", str(tmp_path))
    graph = fused(["BiasAdd", "Relu"], np.ones(4))
    layer = graph["y"]
    graph.rename(layer, "layer")
    doubled = graph.add("AddV2", "doubled", [layer, layer], attrs={"T": FLOAT})
    graph.add("Tanh", "y", [doubled], attrs={"T": FLOAT})
    first, made = run(graph, "openvino")
    again, held = run(graph, "openvino")
    assert [e.loaded for session in (made, held) for e in executables(session)] == [False, True]
    np.testing.assert_array_equal(again, first)
