"""``drystone`` itself, and its commands ``inspect``, ``diff``, ``bench`` and ``doctor``."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result
from tiny_models import affine, echo, unsupported, write

from drystone_base import __version__
from drystone_base.cli import _health_runs
from drystone_base.cli._app import EXIT_CODES, app
from drystone_base.cli._values import write_npz


def drystone(*arguments: str) -> Result:
    return CliRunner().invoke(app, list(arguments), catch_exceptions=False)


def test_version_and_help() -> None:
    assert __version__ in drystone("--version").output
    text = drystone("--help").output
    assert all(f"{code}  {meaning}" in text for code, meaning in EXIT_CODES.items())


@pytest.mark.parametrize("name", sorted(app.commands))
def test_every_command_has_help_with_examples(name: str) -> None:
    text = drystone(name, "-h").output
    assert "Examples:" in text
    assert f"  drystone {name}" in text
    assert "--json" in text


def test_nothing_heavy_is_imported_for_help() -> None:
    program = (
        "import sys; from drystone_base.cli import main\n"
        "sys.argv = ['drystone', '--version']\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "print([m for m in ('numpy', 'rich', 'google.protobuf') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1] == "[]"


def test_inspect_facts(tmp_path: Path) -> None:
    facts = json.loads(drystone("inspect", write(affine(), tmp_path / "m.pb"), "--json").output)
    assert facts["kind"] == "graphdef"
    assert facts["nodes"] == 6
    assert facts["ops"] == {"Const": 2, "Placeholder": 1, "Mul": 1, "AddV2": 1, "Relu": 1}
    signature = facts["signatures"]["default"]
    assert signature["inputs"]["x"] == {"tensor": "x:0", "dtype": "float32", "shape": [-1, 3]}
    assert facts["unsupported"] == {}
    assert facts["constants"] == {"nodes": 2, "bytes": 8}


def test_inspect_says_what_is_not_supported_and_who_reaches_it(tmp_path: Path) -> None:
    model = write(unsupported(), tmp_path / "m.pb")
    facts = json.loads(drystone("inspect", model, "--json").output)
    assert facts["unsupported"] == {
        "TPUReplicatedInput": {"count": 1, "reached_by": {"default": "known"}}
    }
    text = drystone("inspect", model).output
    assert "no kernel: TPUReplicatedInput, reached by default (node known)" in text
    assert "every op has a kernel" in drystone("inspect", write(affine(), tmp_path / "a.pb")).output


def test_drawing_needs_a_known_suffix(tmp_path: Path) -> None:
    done = drystone("inspect", write(affine(), tmp_path / "m.pb"), "--graph", "x.png")
    assert done.exit_code == 2
    assert "must end in .svg or .html" in done.output


def test_same_models_do_not_differ(tmp_path: Path) -> None:
    model = write(affine(), tmp_path / "a.pb")
    done = drystone("diff", model, write(affine(), tmp_path / "b.pb"))
    assert done.exit_code == 0, done.output
    assert "the graphs are the same, node by node" in done.output
    assert "no difference that counts" in done.output


def test_another_constant_is_found_and_makes_outputs_differ(tmp_path: Path) -> None:
    models = write(affine(2.0), tmp_path / "a.pb"), write(affine(2.5), tmp_path / "b.pb")
    done = drystone("diff", *models, "--json")
    report = json.loads(done.output)
    assert done.exit_code == 1
    assert report["graph"]["changed"] == [{"node": "layer/scale", "what": "value 2.0 -> 2.5"}]
    assert report["outputs"][0]["difference"] > 0.1
    assert drystone("diff", *models, "--tolerance", "1000").exit_code == 0
    assert drystone("diff", *models, "--tolerance", "1000", "--no-run").exit_code == 1


def test_nodes_added_removed_and_rewired(tmp_path: Path) -> None:
    graph = affine()
    graph.add("Relu", "layer/again", [graph["layer/sum"]], attrs=dict(graph["y"].attrs))
    graph.set_input(graph["y"], 0, (graph["layer/again"], 0))
    models = write(affine(), tmp_path / "a.pb"), write(graph, tmp_path / "b.pb")
    report = json.loads(drystone("diff", *models, "--json").output)["graph"]
    assert report["added"] == [{"node": "layer/again", "what": "Relu"}]
    assert report["changed"] == [{"node": "y", "what": "fan-in layer/sum -> layer/again"}]
    back = json.loads(drystone("diff", *models[::-1], "--json").output)["graph"]
    assert back["removed"] == [{"node": "layer/again", "what": "Relu"}]
    text = drystone("diff", *models, "--limit", "0").output
    assert "1 nodes added, 1 not shown" in text


def test_another_op_is_not_followed_by_all_its_attributes(tmp_path: Path) -> None:
    graph = affine()
    graph.set_op(graph["y"], "LeakyRelu")
    models = write(affine(), tmp_path / "a.pb"), write(graph, tmp_path / "b.pb")
    report = json.loads(drystone("diff", *models, "--json").output)["graph"]
    assert report["changed"] == [{"node": "y", "what": "op Relu -> LeakyRelu"}]


def test_diff_of_array_files(tmp_path: Path) -> None:
    first = {"a": np.arange(4.0), "s": np.array([b"x"]), "n": np.array([np.nan, 1.0])}
    write_npz(tmp_path / "1.npz", first)
    write_npz(tmp_path / "2.npz", first)
    write_npz(tmp_path / "3.npz", {"a": np.array([0, 1, 2, 3.5]), "s": np.array([b"y"])})
    paths = [str(tmp_path / f"{k}.npz") for k in (1, 2, 3)]
    assert drystone("diff", *paths[:2]).exit_code == 0
    done = drystone("diff", paths[0], paths[2], "--json")
    assert done.exit_code == 1
    rows = {row["name"]: row for row in json.loads(done.output)["outputs"]}
    assert rows["a"]["absolute"] == 0.5
    assert rows["a"]["difference"] == pytest.approx(0.5 / (3 + np.std(np.arange(4))))
    assert rows["s"]["difference"] == "inf"
    assert rows["n"]["what"] == "only in the first"


def test_bench_reports_times_and_profile(tmp_path: Path) -> None:
    model = write(affine(), tmp_path / "m.pb")
    report = json.loads(drystone("bench", model, "--repeat", "5", "--profile", "--json").output)
    seconds = report["seconds"]
    assert 0 < seconds["best"] <= seconds["p10"] <= seconds["median"] <= seconds["p90"]
    calls = {row["op"]: row["calls"] for row in report["profile"]}
    assert calls["Relu"] == calls["Mul"] == 1
    assert sum(row["share"] for row in report["profile"]) == pytest.approx(1, abs=1e-6)
    assert "one run by op" in drystone("bench", model, "--repeat", "1", "--profile").output


def test_doctor_is_well() -> None:
    report = json.loads(drystone("doctor", "--json").output)
    assert set(report) == {
        "packages", "libraries", "machine", "ops", "plugins", "plans", "checks",
    }  # fmt: skip
    assert report["ops"]["kernels"] > 100
    checks = {check["name"]: check for check in report["checks"]}
    for executor in ("native", "reference"):
        run = checks[f"a small graph runs on the {executor} executor"]
        assert run["ok"]
        assert 0 < run["seconds"] < 60
    assert "1 + 2 + ... + 10 = 55" in drystone("doctor").output


def test_doctor_tells_of_a_broken_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_health_runs, "_loop_total", lambda _: 54)
    done = drystone("doctor")
    assert done.exit_code == 1
    assert "WRONG" in done.output


def test_strings_have_no_numbers(tmp_path: Path) -> None:
    assert drystone("run", write(echo(), tmp_path / "m.pb")).exit_code == 0
