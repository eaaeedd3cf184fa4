"""Backends are offered plain ops; what is joined for the host executor is joined after that."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from interpreter import Compiling

import drystone_base as ds
from drystone_base.core.dtypes import as_dtype
from drystone_base.graph import Graph, Node
from drystone_base.loaders import write_graph
from drystone_base.modules import stage
from drystone_base.ops.attrs import TensorAttr
from drystone_subgraph import executables
from drystone_subgraph.session.command import partition as command

FLOAT = as_dtype("float32")
RNG = np.random.default_rng(3)
WEIGHTS = [RNG.normal(size=(4, 4)).astype(np.float32) for _ in range(2)]
BIASES = [RNG.normal(size=4).astype(np.float32) for _ in range(2)]
X = RNG.normal(size=(3, 4)).astype(np.float32)
LAYER = {"MatMul", "BiasAdd", "Relu"}

pytestmark = pytest.mark.skipif(not stage("fuse"), reason="no module that fuses is installed")


def layers() -> Graph:
    """Two layers of a product, a bias and an activation each: a with Relu, b with Elu."""
    graph = Graph()
    last: Node = graph.add("Placeholder", "x", attrs={"dtype": FLOAT, "shape": (-1, 4)})
    for k, (name, activation) in enumerate((("a", "Relu"), ("b", "Elu"))):
        held = [
            graph.add(
                "Const", f"{name}/{part}", attrs={"dtype": FLOAT, "value": TensorAttr(array=v)}
            )
            for part, v in (("w", WEIGHTS[k]), ("c", BIASES[k]))
        ]
        product = graph.add("MatMul", f"{name}/product", [last, held[0]], attrs={"T": FLOAT})
        total = graph.add("BiasAdd", f"{name}/sum", [product, held[1]], attrs={"T": FLOAT})
        last = graph.add(activation, name, [total], attrs={"T": FLOAT})
    return graph


def expected() -> np.ndarray[Any, Any]:
    """What b is for X."""
    a = np.maximum(X @ WEIGHTS[0] + BIASES[0], 0)
    b = a @ WEIGHTS[1] + BIASES[1]
    return np.asarray(np.where(b > 0, b, np.expm1(b)))


def ops_of(session: ds.Session) -> list[str]:
    """The ops of all blocks of the plan."""
    blocks = session.describe(["b:0"], ["x:0"])["blocks"]
    return [row["op"] for block in blocks for row in block["instructions"]]


def run(backend: str) -> tuple[ds.Session, list[str]]:
    """A session whose answer is right, and the ops that the host runs."""
    session = ds.Session(layers(), ds.SessionConfig(subgraphs=backend))
    np.testing.assert_allclose(session.run("b:0", {"x:0": X}), expected(), rtol=1e-5, atol=1e-6)
    return session, ops_of(session)


def test_a_backend_takes_plain_ops_and_the_rest_is_fused() -> None:
    backend = Compiling(LAYER)
    session, _ = run(backend.name)
    taken = [node.op for request in backend.requests for node in request.body.graph]
    assert {"MatMul", "BiasAdd", "Relu"} <= set(taken)
    assert not any("Fused" in op for op in taken)
    assert len(executables(session)) == len(backend.requests)


def test_what_no_backend_takes_is_fused() -> None:
    backend = Compiling({"Cosh"})
    session, ops = run(backend.name)
    assert not executables(session)
    assert ops == run("off")[1]
    assert "_FusedMatMul" in ops


def test_without_an_executable_the_host_runs_the_region_fused() -> None:
    def fail(_: Any) -> Any:
        raise ValueError("not today")

    backend = Compiling(LAYER | {"Elu"}, fail)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        _, ops = run(backend.name)
    assert "_FusedMatMul" in ops


def test_without_optimizers_nothing_is_fused() -> None:
    backend = Compiling({"Cosh"})
    config = ds.SessionConfig(subgraphs=backend.name, optimizer="off")
    session = ds.Session(layers(), config)
    session.run("b:0", {"x:0": X})
    assert ops_of(session).count("MatMul") == 2


@pytest.mark.parametrize("optimizer", ["default", "off"])
def test_a_dry_run_tells_what_a_session_does(tmp_path: Path, optimizer: Any) -> None:
    """The product of a constant is folded first, where anything optimizes."""
    graph = layers()
    held = [graph["a/w"], graph["b/w"]]
    folded = graph.add("MatMul", "folded", held, attrs={"T": FLOAT})
    graph.add("MatMul", "more", [graph["b"], folded], attrs={"T": FLOAT})
    write_graph(graph, tmp_path / "model.pb")
    backend = Compiling({"MatMul"})
    arguments = [tmp_path / "model.pb", "--backend", backend.name, "--fetch", "more:0"]
    rest = ["--feed", "x:0", "--minimum-size", "1", "--optimizer", optimizer, "--json"]
    done = CliRunner().invoke(command, [*map(str, arguments), *rest])
    assert done.exit_code == 0, done.output
    taken = [one for one in json.loads(done.output)["segments"] if one["node"]]
    config = ds.SessionConfig(subgraphs=backend.name, optimizer=optimizer)
    session = ds.load(tmp_path / "model.pb", config=config).session
    session.run("more:0", {"x:0": X})
    found = sorted(one.operator for one in executables(session))
    assert found == sorted(one["node"] for one in taken)
    products = sum(len(one["nodes"]) for one in taken)
    assert products == (3 if optimizer == "default" else 4), "the fourth is of constants"
