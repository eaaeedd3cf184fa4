"""The suites for authors: a bad plugin is found out, named, and never takes the suite with it.

S0-golden, S2-blame.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import drystone_conformance
import pytest
from drystone_conformance import live
from drystone_conformance.children import Outcome, run_suites
from drystone_conformance.random_cases import random_case
from drystone_conformance.toggles import ALL_OFF, ALL_PASSES, WITH_IT, configs_of, main, measure

from drystone_base import Session, SessionConfig, validate
from drystone_optimizer import Optimizer, OptimizerConfig

pytestmark = pytest.mark.tests_in_gate(2)
KINDS = [
    "wrong_values", "crashes_on_layers", "exits_with_zero", "hangs_on_layers", "crashes_at_exit",
    "loses_nodes", "turns_off",
]  # fmt: skip
SUITES = Path(drystone_conformance.__file__).parent / "suites"
Suite = Callable[..., tuple[int, str, dict[str, Any]]]


@pytest.fixture
def bad(compile_library: Callable[..., Path]) -> Callable[[str], Path]:
    """Build one of the optimizers that misbehave when they are called."""
    return lambda kind: compile_library(
        "zoo_optimizer.c", flags=[f"-DBAD={KINDS.index(kind) + 1}", "-D_GNU_SOURCE"]
    )


@pytest.fixture
def conformance(bad: Callable[[str], Path], tmp_path: Path) -> Suite:
    """Run the command on one of them: its status, what it printed, the report."""

    def run(kind: str, chosen: str, *more: str) -> tuple[int, str, dict[str, Any]]:
        """Of one suite the tests that ``chosen`` names."""
        report, (suite, _, words) = tmp_path / "report.json", chosen.partition(": ")
        command = [sys.executable, "-W", "ignore", "-m", "drystone_conformance", str(bad(kind))]
        command += ["-q", "-p", "no:cacheprovider", "--plugin-report", str(report), *more]
        command += [str(SUITES / f"test_{suite}.py"), "-k", words]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)
        return done.returncode, done.stdout, json.loads(report.read_text("utf-8"))

    return run


def reason(report: dict[str, Any], test: str) -> str:
    """Why a test failed."""
    return next(str(row["reason"]) for row in report["results"] if row["test"].endswith(test))


def test_wrong_values_are_found_in_random_graphs(conformance: Suite) -> None:
    code, out, report = conformance(
        "wrong_values", "optimizer_values: test_random_graphs and CPU-1]"
    )
    assert code == 1
    assert "does not conform yet: 1 tests failed" in out
    text = reason(report, "values[CPU-1]")
    assert "which is more than the class reassociates allows; before.pbtxt, after.pbtxt" in text
    assert "graph of seed 1" in text


def test_a_crash_is_a_failed_test_and_the_next_one_runs(conformance: Suite) -> None:
    """The test, the signal and the graph are named; what comes afterwards is tested."""
    chosen = "optimizer: test_values_stay and (dense or identities) or test_an_empty_graph"
    code, out, report = conformance("crashes_on_layers", chosen)
    assert code == 1
    text = (
        "suite optimizer, test test_values_stay[CPU-dense]: the plugin died by SIGSEGV "
        "while optimizing graph dense"
    )
    assert text in out
    assert reason(report, "test_values_stay[CPU-dense]").startswith(text)
    outcomes = {row["test"].split("::")[1]: row["outcome"] for row in report["results"]}
    assert outcomes["test_values_stay[CPU-identities]"] == "passed"
    assert outcomes["test_an_empty_graph[CPU]"] == "passed"
    assert "1 tests failed, 1 of them ended the process" in out


@pytest.mark.nightly
def test_an_exit_with_status_0_is_no_success(conformance: Suite) -> None:
    code, _, report = conformance("exits_with_zero", "optimizer: test_values_stay and identities")
    assert code == 1
    assert "the plugin ended the process with status 0 while optimizing" in reason(
        report, "test_values_stay[CPU-identities]"
    )
    assert report["counts"]["passed"] == 0


def test_a_hang_is_ended(conformance: Suite) -> None:
    chosen, more = "optimizer: test_values_stay and dense", ("--plugin-seconds", "3")
    code, _, report = conformance("hangs_on_layers", chosen, *more)
    assert code == 1
    assert "the plugin did not come back within 3 s while optimizing graph dense" in reason(
        report, "test_values_stay[CPU-dense]"
    )


@pytest.mark.nightly
def test_a_crash_at_the_end_of_the_process(conformance: Suite) -> None:
    code, _, report = conformance("crashes_at_exit", "optimizer: test_an_empty_graph")
    assert code == 1
    texts = [row["reason"] for row in report["results"] if row.get("died")]
    assert texts
    assert all("after its last test: the plugin died by SIGSEGV" in text for text in texts)


def test_lost_nodes(conformance: Suite) -> None:
    code, _, report = conformance("loses_nodes", "optimizer: test_fetches_feeds and preserved")
    assert code == 1
    assert "product" in reason(report, "nodes_stay[CPU-preserved]")


@pytest.mark.nightly
def test_the_first_failure_can_be_the_last(conformance: Suite) -> None:
    _, _, report = conformance("exits_with_zero", "optimizer: test_values_stay", "-x")
    assert [row["outcome"] for row in report["results"]] == ["failed"]


def test_a_wrong_option_is_pytests_to_tell(bad: Callable[[str], Path], tmp_path: Path) -> None:
    command = [sys.executable, "-m", "pytest", "--plugin", str(bad("turns_off")), "--no-such"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 4
    assert "unrecognized arguments: --no-such" in done.stderr


def test_the_help_has_examples(capsys: pytest.CaptureFixture[str]) -> None:
    from drystone_conformance.__main__ import main as command

    for arguments in (["--help"], ["toggles", "--help"]):
        done = subprocess.run(
            [sys.executable, "-m", "drystone_conformance", *arguments],
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0
        assert "examples:\n  python -m drystone_conformance" in done.stdout
    with pytest.raises(SystemExit) as ended:
        command([])
    assert ended.value.code == 2
    assert "the following arguments are required: library" in capsys.readouterr().err


def test_random_cases_are_graphs_that_run() -> None:
    plain = SessionConfig(optimizer="off", executor="reference")
    ops: set[str] = set()
    for seed in range(40):
        case = random_case(seed)
        validate(case.graph)
        found = Session(case.graph, plain).run(case.fetches, case.feeds)
        again = Session(random_case(seed).graph, plain).run(case.fetches, case.feeds)
        assert [a.tobytes() for a in found] == [b.tobytes() for b in again]
        ops |= {node.op for node in case.graph}
    assert {"MatMul", "Conv2D", "DepthwiseConv2dNative", "FusedBatchNormV3", "BiasAdd"} <= ops


def test_what_turning_passes_off_costs_is_measured(
    bad: Callable[[str], Path], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Row B25. Each pass alone, all of them, and with the optimizer."""
    file = tmp_path / "costs.json"
    command = [sys.executable, "-W", "ignore", "-m", "drystone_conformance", "toggles"]
    command += [str(bad("turns_off")), "--seconds", "0", "--worse", "1e9", "--json", str(file)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    found = json.loads(file.read_text("utf-8"))
    kinds = {row["passes"] for row in found["rows"]}
    assert kinds == {ALL_PASSES, "remapping", "constant_folding", ALL_OFF, WITH_IT}
    assert "with its optimizer: " in done.stdout
    assert done.stdout.splitlines()[0].split() == ["graph", "passes", "µs", "times"]


def test_an_off_takes_our_own_passes_of_the_same_work_with_it() -> None:
    one = Optimizer("p", "1", "", "CPU", lambda _: None, configs={"remapping": "off"})
    configs = configs_of(one, [])
    assert not configs["remapping"].is_on("elementwise_fusion")
    assert configs[ALL_PASSES].is_on("elementwise_fusion")
    assert configs["remapping"].is_on("constant_folding")
    assert ALL_OFF not in configs, "one pass alone is all of them"


def test_too_much_of_it_fails(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from drystone_conformance import toggles

    rows = [toggles.Row("a", "remapping", 2e-6, 2.0), toggles.Row("b", "remapping", 2e-6, 1.0)]
    monkeypatch.setattr(toggles, "measure", lambda *_: rows)
    assert main(["--off", "remapping", "--worse", "1.5"]) == 0
    assert main(["--off", "remapping", "--worse", "1.4"]) == 1
    assert "1.41 times as long on average; 1.4 is too much" in capsys.readouterr().out


def test_a_ratio_is_to_all_passes() -> None:
    configs = {ALL_PASSES: OptimizerConfig(), "none": OptimizerConfig()}
    calls: list[object] = []

    def make(config: OptimizerConfig) -> Callable[[], Any]:
        return lambda: calls.append(config)

    rows = measure(configs, {"g": make}, 0.0)
    assert [row.passes for row in rows] == [ALL_PASSES, "none"]
    assert rows[0].ratio == 1
    assert len(calls) >= 4


def test_nothing_is_run_where_no_suite_is_offered(tmp_path: Path) -> None:
    """A file that is no library: its own suite fails, and nothing else is tried."""
    library = tmp_path / "libnone.so"
    library.write_text("no library", "utf-8")
    suites = sorted(SUITES.glob("test_*.py"))
    said: list[str] = []
    more = ["-q", "-p", "no:cacheprovider", "--plugin", str(library)]
    found: Outcome = run_suites(more, suites, 60.0, said.append)
    assert said == ["== library"]
    assert found.failed > 0
    assert found.deaths == 0


def test_what_a_thread_lets_go_later_is_not_left_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    """What worked for a call may end after it; what stays is still found."""
    kept: list[float] = []
    monkeypatch.setattr(live, "PATIENCE", 0.5)

    def going() -> dict[str, int]:
        return {"items": sum(time.monotonic() - made < 0.1 for made in kept)}

    monkeypatch.setattr(live, "live_objects", going)
    assert live.grown(lambda: kept.append(time.monotonic())) == {}
    monkeypatch.setattr(live, "live_objects", lambda: {"items": len(kept), "buffers": 3})
    assert live.grown(lambda: kept.append(0.0)) == {"items": 1.0}
