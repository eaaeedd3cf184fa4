"""Plans: they change no result, the better one is found, kept and used where it beats our own."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import drystone_base as ds
from drystone_base.tracing import operations as ops

pytest.importorskip("tvm", reason="apache-tvm is not installed: `nox -s tvm` installs it")
subgraph = pytest.importorskip("drystone_subgraph", reason="regions are cut by drystone-subgraph")
F32 = np.float32
WEIGHTS = np.random.default_rng(0).normal(size=(24, 32)).astype(F32)
X = np.random.default_rng(1).normal(size=(6, 24)).astype(F32)


def layer(x: Any) -> Any:
    return ops.relu(ops.matmul(x, WEIGHTS) + 0.5)


@pytest.fixture(autouse=True)
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is kept elsewhere."""
    monkeypatch.setenv("DRYSTONE_EXECUTABLE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("DRYSTONE_TVM_TUNED", str(tmp_path / "tunings"))


@pytest.fixture
def model(tmp_path: Path) -> Path:
    ds.save(ds.function(layer).trace(ds.Spec([None, 24])), tmp_path / "model")
    return tmp_path / "model"


def tune(model: Path, *words: str) -> Any:
    from drystone_tvm.tuning.command import tvm

    return CliRunner().invoke(tvm, ["tune", str(model), "--size", "6", *words])


def own_takes(seconds: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """As if drystone's own kernels took so long."""
    from drystone_tvm.backend import backend, measured
    from drystone_tvm.tuning import tuner

    real = measured.measure

    def slow(*args: Any) -> measured.Times:
        return real(*args)._replace(own=seconds)

    monkeypatch.setattr(tuner, "measure", slow)
    monkeypatch.setattr(backend, "measure", slow)


def test_every_plan_computes_the_same_bits(tmp_path: Path) -> None:
    from drystone_tvm.compiling.building import build
    from drystone_tvm.compiling.emission import Argument
    from drystone_tvm.compiling.plans import DEFAULT
    from drystone_tvm.module import load
    from drystone_tvm.tuning.search import neighbours

    graph = ds.Graph()
    b = ds.Builder(graph)
    x = b("Placeholder", dtype="float32", shape=(6, 24), name="x")
    w = b("Placeholder", dtype="float32", shape=(24, 32), name="w")
    product = b("Relu", b("MatMul", x, w))
    mean = b("Mean", product, b.const([0]), keep_dims=False)
    given = [Argument(x, "x", "float32", (6, 24)), Argument(w, "w", "float32", (24, 32))]
    results = [("product", product), ("mean", mean)]
    found = []
    plans = [DEFAULT, *islice(neighbours(DEFAULT, random.Random(4)), 12)]
    for k, plan in enumerate(plans):
        path = tmp_path / f"{k}.so"
        build(graph, given, results, path, target="native", plan=plan)
        found.append(load(path)["main"](X, WEIGHTS))
    session = ds.Session(graph)
    expected = session.run(["Relu:0", "Mean:0"], {"x:0": X, "w:0": WEIGHTS})
    for one in found:
        for got, first, right in zip(one, found[0], expected, strict=True):
            np.testing.assert_array_equal(got, first)
            np.testing.assert_allclose(got, right, rtol=1e-5, atol=1e-5)


def test_what_beats_our_own_kernels_is_kept_and_used(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from drystone_tvm.compiling import tuned

    own_takes(1.0, monkeypatch)
    assert tuned.stamp() == ""
    done = tune(model, "--budget", "4s", "--json")
    assert done.exit_code == 0, done.output
    report = json.loads(done.stdout)
    (one,) = report["tuned"]
    assert report["database"] == str(tmp_path / "tunings")
    assert one["kept"]
    assert one["plans"] >= 2
    assert 0 < one["tuned_s"] < one["own_s"] == 1.0
    (entry,) = (tmp_path / "tunings").iterdir()
    (kept,) = [facts for _, facts in tuned.database().entries()]  # type: ignore[union-attr]
    assert kept["plan"] == one["plan"]
    assert tuned.stamp()
    taken = []
    real = tuned.plan_of

    def asked(key: str) -> Any:
        taken.append(real(key))
        return taken[-1]

    monkeypatch.setattr("drystone_tvm.compiling.building.plan_of", asked)
    session = ds.load(model, config=ds.SessionConfig(subgraphs="tvm"))
    np.testing.assert_allclose(next(iter(session(X).values())), layer_of(X), rtol=1e-5, atol=1e-5)
    assert [plan._asdict() for plan in taken if plan] == [one["plan"]]
    entry.write_bytes(b"no tuning")
    assert real(entry.stem) is None


def layer_of(x: Any) -> Any:
    return np.maximum(x @ WEIGHTS + F32(0.5), 0)


def test_what_is_slower_is_shown_and_not_kept(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own_takes(1e-9, monkeypatch)
    done = tune(model, "--budget", "1s")
    assert done.exit_code == 0, done.output
    assert "0 of 1 regions are faster by TVM; 1 were tried" in done.stdout
    assert "drystone" in done.stdout
    assert not (tmp_path / "tunings").exists()


def test_a_plan_that_computes_something_else_is_never_the_best(
    model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from drystone_tvm.tuning import tuner

    own_takes(1.0, monkeypatch)
    monkeypatch.setattr(tuner, "_agree", lambda *_: False)
    report = json.loads(tune(model, "--budget", "1s", "--json").stdout)
    assert not report["tuned"][0]["kept"]


def test_ctrl_c_keeps_what_was_found(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from drystone_tvm.compiling.building import schedule_text
    from drystone_tvm.tuning import tuner

    own_takes(1.0, monkeypatch)
    real = schedule_text
    calls = []

    def interrupted(*args: Any) -> str:
        calls.append(args)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return real(*args)

    monkeypatch.setattr(tuner, "schedule_text", interrupted)
    report = json.loads(tune(model, "--budget", "1h", "--json").stdout)
    assert report["tuned"][0]["kept"]


def test_ctrl_c_between_plans_tells_what_was_found(
    model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from drystone_tvm.tuning import tuner

    def interrupted(*_: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr(tuner, "_settled", interrupted)
    done = tune(model, "--budget", "1s", "--json")
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["tuned"] == []


@pytest.mark.parametrize("words", [("--signature", "nine"), ("--size", "0"), ("--nine",)])
def test_odd_arguments_are_refused(model: Path, words: tuple[str, ...]) -> None:
    command = [sys.executable, "-m", "drystone_base", "tvm", "tune", str(model), *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert words[-1] in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("budget", ["soon", "0", "-1s", "1d", "", "9" * 400 + "h"])
def test_a_budget_is_a_duration(model: Path, budget: str) -> None:
    done = tune(model, f"--budget={budget}")
    assert done.exit_code == 2
    assert "is no duration: 90, 90s, 2m and 1h are some" in done.output
