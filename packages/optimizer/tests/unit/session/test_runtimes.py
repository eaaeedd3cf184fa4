"""For whom `drystone optimize` writes; colocation with nodes that are gone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result
from pass_checks import Maker, assert_same_values, define, node

from drystone_base.cli._app import app
from drystone_base.core.dtypes import FLOAT32, INT32
from drystone_base.core.errors import BadRequest
from drystone_base.graph import Graph
from drystone_base.loaders import read_graph, write_graph
from drystone_base.ops.attrs import FunctionRef
from drystone_optimizer import OptimizerConfig, graph_optimizer, optimize
from drystone_optimizer.core.colocation import settled
from drystone_optimizer.session.runtimes import check_portable, for_runtime

F = {"T": FLOAT32}
IMAGE = {"x:0": np.random.default_rng(0).normal(size=(1, 6, 6, 3)).astype(np.float32)}


def run(*words: object) -> Result:
    return CliRunner().invoke(app, ["optimize", *map(str, words)], prog_name="drystone")


def network(form: str = "NHWC") -> Maker:
    """A layer of which everything can be fused, and element-wise ops after it."""
    m = Maker()
    w = m.const("w", np.ones((3, 3, 3, 4), np.float32))
    shape = (1, 6, 6, 3) if form == "NHWC" else (1, 3, 6, 6)
    m.op("Conv2D", "c", m.x(shape=shape), w, strides=[1] * 4, padding="SAME", data_format=form, **F)
    m.op("BiasAdd", "b", "c", m.const("v", np.ones(4, np.float32)), data_format=form, **F)
    m.op("Relu", "r", "b", **F)
    m.op("Sigmoid", "s", "r", **F)
    m.op("Mul", "t", "r", "s", **F)
    m.op("Tanh", "u", "t", **F)
    m.op("AddV2", "y", "u", "t", **F)
    return m


def written(tmp_path: Path, m: Maker, *words: object) -> Graph:
    write_graph(m.graph, tmp_path / "model.pb")
    done = run(tmp_path / "model.pb", tmp_path / "out.pb", "--fetch", "y:0", *words)
    assert done.exit_code == 0, done.output
    return read_graph(tmp_path / "out.pb")


def inner(graph: Graph) -> list[str]:
    return [one.op for one in graph if one.op.startswith(("_", "Drystone>"))]


def test_a_file_is_for_tensorflow_unless_said_otherwise(tmp_path: Path) -> None:
    m = network()
    plain = written(tmp_path, m)
    assert not inner(plain)
    assert not inner(written(tmp_path, m, "--for", "tensorflow"))
    fused = written(tmp_path, m, "--for", "drystone")
    assert inner(fused)
    for graph in (plain, fused):
        assert_same_values(m.graph, graph, ["y:0"], IMAGE, exact=False)


def test_tensorflow_changes_formats_itself(tmp_path: Path) -> None:
    plain = written(tmp_path, network("NCHW"))
    assert plain["c"].attrs["data_format"] == "NCHW"


@pytest.mark.parametrize("name", ["remapping", "remap", "layer_fusion", "elementwise_fusion"])
def test_passes_that_tensorflow_has_no_ops_for_are_refused(tmp_path: Path, name: str) -> None:
    m = network()
    write_graph(m.graph, tmp_path / "model.pb")
    done = run(tmp_path / "model.pb", tmp_path / "out.pb", "--fetch", "y:0", "--passes", name)
    assert done.exit_code == 2
    assert "[not-for-tensorflow]" in done.output
    assert "makes nodes that TensorFlow has not, or only makes itself" in done.output
    assert "add --for drystone" in done.output
    assert not (tmp_path / "out.pb").exists()
    written(tmp_path, m, "--passes", name, "--for", "drystone")


def test_what_a_plugin_puts_in_is_seen(tmp_path: Path) -> None:
    m = network()
    write_graph(m.graph, tmp_path / "model.pb")

    @graph_optimizer(name="fuses", takes="graph")
    def fuses(graph: Graph, *_more: Any) -> Graph:
        made = graph.copy()
        made.set_op(made["u"], "_UnaryOpsComposition")
        made.set_attr(made["u"], "op_names", ["Tanh"])
        return made

    done = run(tmp_path / "model.pb", tmp_path / "out.pb", "--fetch", "y:0")
    assert done.exit_code == 2, done.output
    assert "the optimized graph would not run in TensorFlow [not-for-tensorflow]" in done.output
    assert "found: op _UnaryOpsComposition" in done.output
    assert not (tmp_path / "out.pb").exists()


def test_what_the_model_held_from_the_first_is_its_own_affair() -> None:
    before = network().graph
    before.set_op(before["u"], "_Tangent")
    check_portable(before, before.copy())
    after = before.copy()
    after.set_attr(after["r"], "alpha", 0.2)
    with pytest.raises(BadRequest) as caught:
        check_portable(before, after)
    assert "found: attribute alpha of Relu" in str(caught.value)


def test_bodies_of_functions_are_looked_at() -> None:
    before, after = network(), network()
    args = [("a", FLOAT32)], [("b", FLOAT32, "n:y:0")]
    define(before, "f", *args, node("Neg", "n", "a", T=FLOAT32))
    define(after, "f", *args, node("Drystone>GeluExact", "n", "a", T=FLOAT32))
    with pytest.raises(BadRequest) as caught:
        check_portable(before.graph, after.graph)
    assert "found: op Drystone>GeluExact" in str(caught.value)


def test_every_pass_that_only_we_know_is_off() -> None:
    config = for_runtime(OptimizerConfig(), "tensorflow")
    off = ("remapping", "layer_fusion", "quantized_layers", "elementwise_fusion")
    assert not any(config.is_on(name) for name in off)
    assert for_runtime(config, "drystone") is config


# ---- colocation --------------------------------------------------------------------------------


def classes(graph: Graph) -> dict[str, list[str]]:
    return {one.name: list(one.attrs["_class"]) for one in graph if one.states("_class")}


def test_colocation_with_nodes_that_are_gone_goes(tmp_path: Path) -> None:
    m = Maker()
    m.op("Reshape", "a", m.x(shape=(2,)), m.const("two", [2]), T=FLOAT32, Tshape=INT32)
    for name, held in (("b", ["loc:@a"]), ("c", ["loc:@a", "loc:@x"]), ("d", ["kind", "loc:@a"])):
        m.op("Square", name, "a", _class=held, **F)
    m.op("AddN", "y", "b", "c", "d", N=3, **F)
    plain = written(tmp_path, m, "--passes", "model_pruning,constant_folding")
    assert "a" not in plain
    # What was to be in one place still is: where the first of them goes.
    assert classes(plain) == {"c": ["loc:@b", "loc:@x"], "d": ["kind", "loc:@b"]}
    assert settled(plain) is plain
    session = optimize(m.graph, ["y:0"], ["x:0"], OptimizerConfig(min_graph_nodes=-1))
    assert all(text[5:] in session for held in classes(session).values()
               for text in held if text.startswith("loc:@"))  # fmt: skip


@pytest.mark.parametrize("runtime", ["tensorflow", "drystone"])
def test_a_file_that_named_missing_nodes_from_the_first(tmp_path: Path, runtime: str) -> None:
    m = Maker()
    m.op("Neg", "y", m.x(), _class=["loc:@nobody"], **F)
    assert not classes(written(tmp_path, m, "--for", runtime))


def test_colocation_in_a_function(tmp_path: Path) -> None:
    m = Maker()
    body = (
        node("Neg", "p", "a", T=FLOAT32, _class=["loc:@nobody"]),
        node("Square", "q", "p:y:0", T=FLOAT32, _class=["loc:@nobody"]),
        node("Abs", "r", "q:y:0", T=FLOAT32, _class=["loc:@p", "loc:@a"]),
    )
    define(m, "f", [("a", FLOAT32)], [("b", FLOAT32, "r:y:0")], *body, _noinline=True)
    call = {"Tin": [FLOAT32], "Tout": [FLOAT32], "f": FunctionRef("f", {})}
    m.op("PartitionedCall", "y", m.x(), **call)
    made = settled(m.graph).functions["f"].proto
    held = {
        n.name: [text.decode() for text in n.attr["_class"].list.s]
        for n in made.node_def
        if "_class" in n.attr
    }
    assert held == {"q": ["loc:@p"], "r": ["loc:@p", "loc:@a"]}
    graph = written(tmp_path, m)
    for one in graph.functions["f"].proto.node_def:
        assert b"loc:@nobody" not in one.attr["_class"].list.s


def test_an_inlined_body_keeps_its_own_colocation() -> None:
    m = Maker()
    body = (
        node("Neg", "p", "a", T=FLOAT32),
        node("Square", "x", "p:y:0", T=FLOAT32, _class=["loc:@p", "kind"]),
        node("Abs", "r", "x:y:0", T=FLOAT32, _class=["loc:@a"]),
    )
    define(m, "f", [("a", FLOAT32)], [("b", FLOAT32, "r:y:0")], *body)
    call = {"Tin": [FLOAT32], "Tout": [FLOAT32], "f": FunctionRef("f", {})}
    m.op("PartitionedCall", "y", m.x(), **call)
    config = OptimizerConfig.of_passes(["function_optimization"], min_graph_nodes=-1)
    after = optimize(m.graph, ["y:0"], ["x:0"], config)
    found = classes(after)
    assert found["y/x"] == ["loc:@y/p", "kind"], "not the placeholder of that name"
    assert "y/r" not in found
