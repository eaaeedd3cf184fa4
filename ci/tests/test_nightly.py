"""The suites of the night: the runner and its page, and that a planted break of each is caught."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
import time
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bench.cases.recorded import recorded
from ci.nightly import __main__ as program
from ci.nightly import convergence, models, notebooks, page, performance, pip, results
from ci.nightly.suite import SUITES, Place, Wrong, suite
from ci.scripts.project import ROOT

NAME = "ci.tests.nightly_suite"


def run(folder: Path, *words: str) -> int:
    return program.main([NAME, "--results", str(folder / "results"), *words])


def last(folder: Path) -> results.Run:
    return results.load(folder / "results", NAME)[-1]


def test_each_kind_of_end(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(tmp_path) == 1
    found = {name: one["state"] for name, one in last(tmp_path)["cases"].items()}
    assert found == {
        "good": "ok", "wrong": "failed", "raises": "failed", "ends": "failed", "hangs": "failed",
        "left": "left out", "counts": "ok",
    }  # fmt: skip
    said = {name: one.get("message", "") for name, one in last(tmp_path)["cases"].items()}
    assert said["raises"] == "KeyError: 'nothing of that name'"
    assert said["ends"] == "its process ended with 7: these are its last words"
    assert said["hangs"].startswith("not done after 1 s")
    assert last(tmp_path)["complete"]
    printed = capsys.readouterr().out
    assert "2 ok, 4 failed, 1 left out" in printed
    assert "1/7  good" in printed
    assert "steps 3, ms 1.25" in printed
    text = (tmp_path / "results" / "index.html").read_text(encoding="utf-8")
    assert "4 failed" in text
    assert "2, where &lt;3&gt; is expected" in text
    assert 'title="steps 3; ms 1.25">steps 3' in text


def test_what_is_left_is_done_later(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(tmp_path, "--only", "counts", "--only", "good", "--minutes", "0") == 1
    assert "0 minutes are over; --resume goes on" in capsys.readouterr().out
    assert not last(tmp_path)["complete"]
    assert run(tmp_path, "--only", "counts", "--only", "good", "--resume") == 0
    assert run(tmp_path, "--only", "counts", "--only", "good", "--resume") == 0
    runs = results.load(tmp_path / "results", NAME)
    assert [one["complete"] for one in runs] == [True, True]  # what is complete is not resumed
    assert [one["cases"]["counts"]["figures"]["runs"] for one in runs] == ["1", "2"]


def test_resuming_runs_no_case_twice_and_no_other_commit() -> None:
    runs: list[results.Run] = []
    first = results.open_run(runs, {}, resume=False)
    assert results.open_run(runs, {}, resume=True) is first
    first["commit"] = "another"
    assert results.open_run(runs, {}, resume=True) is not first
    assert len(runs) == 2


def test_ctrl_c_keeps_what_is_there(tmp_path: Path) -> None:
    words = [NAME, "--results", str(tmp_path / "results"), "--only", "good", "--only", "hangs"]
    command = [sys.executable, "-c", _UNHURRIED, *words]
    child = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    end = time.monotonic() + 60
    while not (tmp_path / "results" / "nightly_suite.json").exists():
        assert time.monotonic() < end
        time.sleep(0.05)
    child.send_signal(signal.SIGINT)
    printed, _ = child.communicate(timeout=30)
    assert child.returncode == 130, printed
    assert "--resume goes on with the rest" in printed
    assert last(tmp_path)["cases"]["good"]["state"] == "ok"
    assert not last(tmp_path)["complete"]


_UNHURRIED = """
import dataclasses, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
from ci.nightly import __main__ as program
from ci.tests import nightly_suite as suite
cases = suite.cases
suite.cases = lambda place: [dataclasses.replace(case, limit=50) for case in cases(place)]
sys.exit(program.main(sys.argv[1:]))
"""


def test_wrong_usage(capsys: pytest.CaptureFixture[str]) -> None:
    for words, text in (
        (["nights"], "there is no suite 'nights': there are pip, notebooks"),
        (["models", "--only", "alexnet"], "there is no case 'alexnet' in models: "),
    ):
        with pytest.raises(SystemExit) as ended:
            program.main(words)
        assert ended.value.code == 2
        assert text in capsys.readouterr().err


def test_every_suite_has_cases(tmp_path: Path) -> None:
    for name in SUITES:
        names = [case.name for case in suite(name).cases(Place(tmp_path))]
        assert len(names) >= 3
        assert len(set(names)) == len(names)
    assert len(suite("convergence").cases(Place(tmp_path))) == 6


def test_runs_of_old_go(tmp_path: Path) -> None:
    runs = [{"started": str(k), "cases": {}} for k in range(results.KEPT + 5)]
    results.save(tmp_path, "x", runs)
    assert next(one["started"] for one in results.load(tmp_path, "x")) == "5"
    assert "Nothing has run yet" in page.render(tmp_path / "none")


# ---- a planted break of each kind ------------------------------------------------------------


def test_a_model_that_answers_otherwise_is_caught(tmp_path: Path) -> None:
    """S2-nightly-models."""
    nowhere = tmp_path / "none"
    held = {one.name: one for one in recorded(nowhere)}
    case = held["gen-controlflow-v1"]
    assert float(models.run_model(case)["error"]) <= case.tolerance
    with np.load(case.answers) as data:
        broken = {key: data[key] for key in data.files}
    for key in case.outputs.values():
        broken[key] = broken[key] + 1
    np.savez(tmp_path / "broken.npz", **broken)
    with pytest.raises(Wrong, match=r"off by \S+, where 0.0001 is allowed"):
        models.run_model(replace(case, answers=str(tmp_path / "broken.npz")))


def test_a_training_step_that_learns_nothing_is_caught() -> None:
    """S2-nightly-convergence: steps and time, each with a bound."""
    name, bounds = "train-embedding-sparse-ref", {"target": 0.3, "seconds": 30.0}
    quick = lambda: convergence.recorded(name)  # noqa: E731
    found = convergence.converge(quick, steps=180, **bounds)
    assert int(found["steps"]) > 50
    with pytest.raises(Wrong, match=r"after 60 steps, where 0\.3 was reached"):
        convergence.converge(quick, steps=60, **bounds)
    with pytest.raises(Wrong, match="after 400 steps"):
        convergence.converge(lambda: lambda: 0.7, steps=400, **bounds)
    with pytest.raises(Wrong, match="the loss of step 1 is nan"):
        convergence.converge(lambda: lambda: float("nan"), steps=400, **bounds)
    slow = {"target": 0.3, "seconds": -1.0}
    with pytest.raises(Wrong, match=r"after -1 s, at step 1; 0\.3 was to be reached"):
        convergence.converge(lambda: lambda: 0.7, steps=400, **slow)


def test_a_slower_case_is_caught_if_it_stays_slower() -> None:
    """S2-nightly-performance: steps per second, and for image models images per second."""
    figures = iter([0.8, 0.84, 0.86])
    found = performance.compared(lambda: (next(figures), 0.01), 1.0, "x.json", "images")
    assert found["of stored"] == 0.86
    assert found["images a second"] == 100
    with pytest.raises(Wrong, match=r"^16% below the stored ratio: 0.84, where x.json has 1$"):
        performance.compared(lambda: (0.84, 0.01), 1.0, "x.json", "steps")
    new = performance.compared(lambda: (0.84, 0.5), None, "", "steps")
    assert new == {"ratio": 0.84, "stored": "nothing yet", "steps a second": 2}


def test_a_cell_that_prints_otherwise_is_caught() -> None:
    """S2-nightly-notebooks."""
    stored = json.loads((ROOT / "docs/notebooks/run-a-model.ipynb").read_text("utf-8"))
    assert notebooks.differences(stored, stored) == []
    found: dict[str, Any] = json.loads(json.dumps(stored))
    for cell in found["cells"]:
        for output in cell.get("outputs", ()):
            if "text" in output:
                output["text"] = ["something else\n"]
    wrong = notebooks.differences(stored, found)
    compared = [c for c in stored["cells"] if any("text" in o for o in c.get("outputs", ()))
                and notebooks.VARIES not in c["metadata"].get("tags", ())]  # fmt: skip
    assert len(wrong) == len(compared) >= 3
    assert "prints 'something else\\n'" in wrong[0]


def test_notebooks_are_stored_with_what_they_give() -> None:
    for file in sorted(notebooks.FOLDER.glob("*.ipynb")):
        cells = json.loads(file.read_text(encoding="utf-8"))["cells"]
        code = [cell for cell in cells if cell["cell_type"] == "code"]
        assert [cell["execution_count"] for cell in code] == list(range(1, len(code) + 1))
        kinds = [output["output_type"] for cell in code for output in cell["outputs"]]
        assert "error" not in kinds
        assert any("image/png" in o.get("data", {}) for cell in code for o in cell["outputs"])


def test_a_wheel_that_leaves_something_behind_is_caught(tmp_path: Path) -> None:
    """S2-nightly-pip."""
    (tmp_path / "numpy").mkdir()
    assert pip.left_behind(tmp_path) == []
    (tmp_path / "drystone_base" / "cache").mkdir(parents=True)
    with pytest.raises(Wrong, match="left after uninstalling: drystone_base, /"):
        pip.gone(tmp_path, [tmp_path / "numpy"])


@pytest.mark.skipif(shutil.which("uv") is None, reason="uv is not installed")
def test_a_command_that_does_not_start_is_caught(tmp_path: Path) -> None:
    """A wheel whose console script leads nowhere. S2-nightly-pip."""
    wheel = tmp_path / "wheels" / "stray-1.0-py3-none-any.whl"
    wheel.parent.mkdir()
    with zipfile.ZipFile(wheel, "w") as archive:
        info = "stray-1.0.dist-info/"
        archive.writestr("stray.py", "")
        archive.writestr(info + "METADATA", "Metadata-Version: 2.1\nName: stray\nVersion: 1.0\n")
        archive.writestr(info + "WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        archive.writestr(info + "entry_points.txt", "[console_scripts]\nstray = stray:main\n")
        archive.writestr(info + "RECORD", "")
    assert pip.console_scripts(wheel) == ["stray"]
    (case,) = (c for c in pip.cases(Place(tmp_path, wheel.parent)) if c.name == "script stray")
    with pytest.raises(Wrong, match=r"`stray --help` gave 1: .*cannot import name 'main'"):
        case.run(Place(tmp_path, wheel.parent))
    with pytest.raises(Wrong, match="no wheels in None: run `nox -s build`, or give --wheels"):
        Place(tmp_path).candidates()
