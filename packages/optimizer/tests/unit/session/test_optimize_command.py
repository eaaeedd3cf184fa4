"""The commands ``drystone optimize`` and ``drystone bisect``."""

from __future__ import annotations

import json
import re
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from click.testing import CliRunner, Result
from pass_checks import Maker
from wrong_passes import install

from drystone_base.cli._app import app
from drystone_base.core.dtypes import FLOAT32, INT32
from drystone_base.graph import Graph
from drystone_base.loaders import read_graph, write_graph
from drystone_optimizer.core.rules import Rule


@pytest.fixture
def model(tmp_path: Path) -> Path:
    m = Maker()
    m.op("Mul", "i", m.x(), m.const("c", 1.0), T=FLOAT32)
    m.op("Neg", "n", "i", T=FLOAT32)
    m.op("Neg", "y", "n", T=FLOAT32)
    m.op("Square", "z", "x", T=FLOAT32)
    path = tmp_path / "model.pb"
    write_graph(m.graph, path)
    return path


def run(*words: object) -> Result:
    return CliRunner().invoke(app, ["optimize", *map(str, words)], prog_name="drystone")


def written(model: Path, *words: object) -> Graph:
    out = model.parent / "out.pb"
    done = run(model, out, *words)
    assert done.exit_code == 0, done.output
    return read_graph(out)


def test_signature_of_the_file_is_kept(model: Path) -> None:
    assert [n.name for n in written(model)] == ["x", "y", "z"]


def test_tensors_that_are_named(model: Path) -> None:
    assert [n.name for n in written(model, "--fetch", "z:0", "--feed", "x:0")] == ["x", "z"]


def test_passes_that_are_named(model: Path) -> None:
    made = written(model, "--passes", "model_pruning,constant_folding", "--fetch", "y:0")
    assert [n.name for n in made] == ["x", "n", "y"]


def test_passes_that_are_named_as_tensorflow_does(model: Path) -> None:
    made = written(model, "--passes", "pruning, constfold", "--fetch", "y:0")
    assert [n.name for n in made] == ["x", "n", "y"]


def test_report(model: Path) -> None:
    done = run(model, model.parent / "o.pbtxt", "--report")
    assert "constant_folding" in done.output
    assert "identity-element (1)" in done.output
    assert "3 nodes, of 6, in" in done.output


def test_json(model: Path) -> None:
    found = json.loads(run(model, model.parent / "o.pb", "--json").stdout)
    assert found["nodes"] == {"before": 6, "after": 3}
    assert {s["name"] for s in found["steps"]} >= {"model_pruning", "constant_folding"}


@pytest.mark.parametrize(("words", "text"), [
    (["--passes", "constant_foldin"], "did you mean constant_folding"),
    (["--passes", "common_subgraph_elimination"], "add arithmetic_optimization"),
    (["--signature", "nope"], "no signature 'nope'"),
])  # fmt: skip
def test_what_is_asked_wrongly(model: Path, words: list[str], text: str) -> None:
    done = run(model, model.parent / "o.pb", *words)
    assert done.exit_code == 2
    assert text in done.output


def test_diff_by_node(model: Path) -> None:
    done = run(model, model.parent / "o.pb", "--diff")
    assert "3 nodes removed" in done.output
    assert "fan-in n -> x" in done.output or "op Neg -> Identity" in done.output
    found = json.loads(run(model, model.parent / "o.pb", "--diff", "--json").stdout)
    assert {row["node"] for row in found["diff"]["removed"]} == {"c", "i", "n"}
    assert "diff" not in json.loads(run(model, model.parent / "o.pb", "--json").stdout)


def test_verified(model: Path) -> None:
    done = run(model, model.parent / "o.pb", "--verify", "--samples", "2", "--shape", "x=2,3")
    assert done.exit_code == 0, done.output
    assert "verified with 2 samples" in done.output


def test_verify_rejects_and_says_so(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    negated = Rule("wrong", ("Square",), lambda *_: True, lambda c, n, _: c.graph.set_op(n, "Neg"))
    install(monkeypatch, negated)
    done = run(model, model.parent / "o.pb", "--verify", "--for", "drystone")
    assert done.exit_code == 1
    assert "remapping changed the result" in done.output
    assert "rejected, because results changed: remapping" in done.output
    assert read_graph(model.parent / "o.pb")["z"].op == "Square"
    found = json.loads(
        run(model, model.parent / "o.pb", "--verify", "--json", "--for", "drystone").stdout
    )
    assert found["rejected"] == ["remapping"]


def test_inputs_of_a_file(model: Path) -> None:
    inputs = model.parent / "in.npz"
    np.savez(inputs, x=np.ones((2, 3), np.float32))
    done = run(model, model.parent / "o.pb", "--verify", "--inputs", inputs)
    assert "verified with 1 sample after" in done.output
    np.savez(inputs)
    done = run(model, model.parent / "o.pb", "--verify", "--inputs", inputs)
    assert done.exit_code == 2
    assert "missing: x" in done.output


def test_random_nodes_are_compared_but_keep_their_seeds(tmp_path: Path) -> None:
    m = Maker()
    shape = m.const("shape", [2], dtype=INT32)
    attrs = {"dtype": FLOAT32, "T": INT32}
    m.op("RandomUniform", "r", shape, **attrs)
    m.op("Mul", "y", "r", m.x(shape=(2,)), T=FLOAT32)
    path = tmp_path / "random.pb"
    write_graph(m.graph, path)
    done = run(path, tmp_path / "o.pb", "--verify")
    assert done.exit_code == 0, done.output
    assert "seed" not in read_graph(tmp_path / "o.pb")["r"].attrs


def test_page_holds_both_pictures_and_nothing_from_outside(model: Path) -> None:
    page = model.parent / "page.html"
    done = run(model, model.parent / "o.pb", "--html", page)
    assert done.exit_code == 0, done.output
    text = page.read_text("utf-8")
    assert text.count("<svg") == 2
    assert "<script" not in text
    assert not re.search(r"(src|href)=", text)
    assert "6 nodes became 3" in text
    assert "identity-element (1)" in text
    assert 'stroke-width="3.5"' in text
    ElementTree.fromstring(re.findall(r"<svg.*?</svg>", text, re.S)[0])


def test_names_do_nothing_in_the_page(tmp_path: Path) -> None:
    graph = Graph()
    attrs = {"dtype": FLOAT32, "shape": (2,)}
    x = graph.add("Placeholder", "x<script>\x1b[31m\u202e", attrs=attrs)
    graph.add("Neg", "y<!--\u202e", [graph.add("Neg", "\x07n", [x], attrs={"T": FLOAT32})],
              attrs={"T": FLOAT32})  # fmt: skip
    write_graph(graph, tmp_path / "m.pb")
    done = run(tmp_path / "m.pb", tmp_path / "o.pb", "--html", tmp_path / "page.html")
    assert done.exit_code == 0, done.output
    text = (tmp_path / "page.html").read_text("utf-8")
    assert all(c.isprintable() or c == "\n" for c in text)
    assert "<script" not in text
    assert "x&lt;script&gt;\\x1b[31m\\u202e" in text


# ---- bisect ------------------------------------------------------------------------------------


def bisect(*words: object) -> Result:
    return CliRunner().invoke(app, ["bisect", *map(str, words)], prog_name="drystone")


def test_bisect_without_a_culprit(model: Path) -> None:
    done = bisect(model)
    assert done.exit_code == 0, done.output
    assert "no rewrite changes a result on 3 samples" in done.output
    assert "no rewrite changes a result on 1 sample\n" in bisect(model, "--samples", "1").output
    assert json.loads(bisect(model, "--json").stdout)["found"] is None


def test_bisect_names_pass_rule_and_nodes(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    negated = Rule("wrong", ("Square",), lambda *_: True, lambda c, n, _: c.graph.set_op(n, "Neg"))
    install(monkeypatch, negated)
    small = model.parent / "small.pbtxt"
    done = bisect(model, "--minimal", small)
    assert done.exit_code == 1, done.output
    assert "pass  remapping, iteration 1, in the graph" in done.output
    assert "rule  wrong, rewrite " in done.output
    assert "z = Square(x)" in done.output
    assert {node.op for node in read_graph(small)} == {"Placeholder", "Square"}
    assert set(np.load(small.with_suffix(".npz"))) == {"x:0"}
    found = json.loads(bisect(model, "--json").stdout)["found"]
    assert (found["name"], found["rule"], found["crash"]) == ("remapping", "wrong", False)
    assert found["minimal"]["nodes"][-1] == "z = Square(x)"


def test_ctrl_c_ends_with_130(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("drystone_optimizer.session.bisect_command.bisect", interrupted)
    done = bisect(model)
    assert done.exit_code == 130


@pytest.mark.parametrize("command", ["optimize", "bisect"])
def test_help_has_examples(command: str) -> None:
    done = CliRunner().invoke(app, [command, "--help"], prog_name="drystone")
    assert f"  drystone {command} model.pb" in done.output


@pytest.mark.parametrize("words", [(), ("--verify",), ("--json",)])
def test_the_model_is_not_replaced(model: Path, words: tuple[str, ...]) -> None:
    before = model.read_bytes()
    done = run(model, model, *words)
    assert done.exit_code == 2
    assert "would replace what is read; give another name" in done.output
    assert run(model, model.parent / "o.pb", "--html", model).exit_code == 2
    assert CliRunner().invoke(app, ["bisect", str(model), "--minimal", str(model)]).exit_code == 2
    assert model.read_bytes() == before
    assert not (model.parent / "o.pb").exists()


def test_a_folder_that_is_not_there_is_told_before_the_work(model: Path) -> None:
    out, gone = model.parent / "o.pb", model.parent / "no"
    for words in ([model, gone / "o.pb"], [model, out, "--html", gone / "o.html"]):
        done = run(*words)
        assert done.exit_code == 2
        assert "there is no folder" in done.output
    assert not (model.parent / "o.pb").exists()


@pytest.mark.parametrize("role", ["fetch", "feed"])
def test_a_tensor_that_is_not_there(model: Path, role: str) -> None:
    done = run(model, model.parent / "o.pb", "--fetch", "y:0", f"--{role}", "yy:0")
    assert done.exit_code == 2
    assert f"{role} 'yy:0' is not in the graph [unknown-{role}]" in done.output
    assert "did you mean" in done.output
    assert not (model.parent / "o.pb").exists()


def test_inputs_that_are_not_there(model: Path) -> None:
    done = run(model, model.parent / "o.pb", "--verify", "--inputs", model.parent / "in.npz")
    assert done.exit_code == 2
    assert "in.npz does not exist [file-not-found]" in done.output


def test_a_registered_pass_that_is_not_there(model: Path) -> None:
    words = ["bisect", str(model), "--registered", "LowerFunctionalOpPass"]
    done = CliRunner().invoke(app, words, prog_name="drystone")
    assert done.exit_code == 2
    assert "there is no registered pass 'LowerFunctionalOpPass'" in done.output
    assert "did you mean LowerFunctionalOpsPass" in done.output


def test_arrays_for_nobody(model: Path) -> None:
    inputs = model.parent / "in.npz"
    np.savez(inputs, x=np.zeros((1, 3), np.float32), in0=np.zeros(1))
    done = run(model, model.parent / "o.pb", "--verify", "--inputs", inputs)
    assert done.exit_code == 2
    assert "array 'in0' of the file of inputs is for no input [unknown-feed]" in done.output
    assert "needed: x\n" in done.output
