"""The benchmark measures what it says, quickly and in small; drystone alone, without peers."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import venv
from importlib.metadata import distribution
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

import bench.__main__ as program
from bench import environments, peers, rounds, size
from bench.case import GROUPS, Case
from bench.cases import networks
from bench.peers import RUNTIMES, Peer
from ci.scripts.project import ROOT


def run(module: str, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    if find_spec("drystone") is None:  # in a checkout that is not installed
        paths.append(str(ROOT / "metapackage" / "src"))
    settings = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "COLUMNS": "160"}
    return subprocess.run(
        [sys.executable, "-m", module, *map(str, arguments)],
        capture_output=True,
        text=True,
        env=settings,
        check=False,
    )


def test_a_case_is_measured_printed_and_written(tmp_path: Path) -> None:
    file = tmp_path / "found.json"
    done = run("bench", "--only", "one-add", "--peers", "none", "--rounds", "2", "--json", file)
    assert done.returncode == 0, done.stderr + done.stdout
    found = json.loads(file.read_text(encoding="utf-8"))
    assert found["complete"] is True
    assert found["machine"]["cores"] >= 1
    assert str(tmp_path) not in found["command"]
    (row,) = found["cases"]
    entry = row["found"]["drystone"]
    assert row["clock"] in ("wall", "cpu")
    assert len(entry["slots"]["wall"]) == len(entry["slots"]["cpu"]) == 2
    assert 0 < entry["least_s"] <= entry["slots"]["wall"][0] < entry["answer_s"]
    assert entry["difference"] <= row["tolerance"]
    assert entry["rss"] > 10_000_000
    assert "one-add" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "names"),
    [(["--only", "speed"], ["speed", "one-add"]), (["--peers", "mxnet"], ["mxnet", "openvino"])],
)
def test_an_unknown_case_or_peer_is_refused_with_the_known_ones(
    arguments: list[str], names: list[str]
) -> None:
    done = run("bench", *arguments)
    assert done.returncode == 2
    assert all(name in done.stderr for name in names)


@pytest.mark.nightly
def test_another_drystone_is_one_more_peer(tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    chosen = ["--only", "calls", "--rounds", "1", "--json", str(out)]
    done = run("bench", "--peers", "none", "--before", sys.executable, *chosen)
    assert done.returncode == 0, done.stderr
    found = json.loads(out.read_text(encoding="utf-8"))
    assert list(found["peers"]) == ["drystone", "before"]
    assert all("slots" in row["found"]["before"] for row in found["cases"])


def test_a_peer_that_is_not_installed_is_absent_with_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(peers, "HOME", tmp_path)
    assert "bench.environments" in peers.find(RUNTIMES[1]).absent
    (tmp_path / "torch").mkdir()
    (tmp_path / "torch" / "absent.txt").write_text("cannot be installed: no wheel\n")
    assert peers.find(RUNTIMES[4]).data() == {"absent": "cannot be installed: no wheel"}


def test_an_environment_is_kept_and_a_failure_leaves_its_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = tmp_path / "peer_x.txt"
    wanted.write_text("x>=1\n")
    answers = [subprocess.CompletedProcess([], 1, "", "ERROR: no x\nERROR: at all\n"),
               subprocess.CompletedProcess([], 0, "", "")]  # fmt: skip
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: answers.pop(0))
    monkeypatch.setattr(venv, "create", lambda folder, **_: folder.mkdir())
    assert environments.install("x", tmp_path, wanted) == "cannot be installed: no x"
    assert (tmp_path / "x" / "absent.txt").read_text() == "cannot be installed: no x\n"
    assert environments.install("x", tmp_path, wanted) == ""  # tried again, and installed
    assert environments.install("x", tmp_path, wanted) == ""  # kept
    assert not (tmp_path / "x" / "absent.txt").exists()


def test_large_networks_are_made_by_tensorflow_or_left_out_with_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cases = list(networks.networks(tmp_path))
    absent = Peer(RUNTIMES[1], absent="not installed")
    assert "bert-base" in networks.make(cases, absent)
    said = subprocess.CompletedProcess([], 1, "", "Traceback\nMemoryError: too large\n")
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: said)
    assert networks.make(cases, Peer(RUNTIMES[1], sys.executable)) == "MemoryError: too large"
    for case in cases:
        Path(case.forms["graphdef"]).touch()
    assert networks.make(cases, absent) == ""  # all are there


def test_large_networks_are_measured_in_every_way_that_they_are_run(tmp_path: Path) -> None:
    found = {
        (case.group, case.precision, case.arrays.rpartition("-")[2], case.threads)
        for case in networks.networks(tmp_path)
    }
    assert found == {
        ("networks", "float32", "b1.npz", 0),
        ("networks-threads", "float32", "b1.npz", 2),
        ("networks-batch", "float32", "b16.npz", 0),
        ("networks-batch-threads", "float32", "b16.npz", 2),
        ("networks-bfloat16", "bfloat16", "b1.npz", 0),
        ("networks-bfloat16-threads", "bfloat16", "b1.npz", 2),
        ("networks-bfloat16-batch", "bfloat16", "b16.npz", 0),
        ("networks-bfloat16-batch-threads", "bfloat16", "b16.npz", 2),
    }
    assert {group for group, *_ in found} <= set(GROUPS)


class Fake:
    """A worker without a process."""

    order: list[str] = []
    stop_at = 1000

    def __init__(self, peer: Peer, *_: object) -> None:
        if peer.name == "torch":
            raise rounds.WorkerFailed("takes torch", no_form=True)
        self.name, self.facts = peer.name, {"difference": 0.0}

    def slot(self) -> dict[str, float]:
        if len(self.order) >= self.stop_at:
            raise KeyboardInterrupt
        self.order.append(self.name[0])
        seconds = 1.0 if self.name == "drystone" else 3.0
        return {"wall_s": seconds, "least_s": seconds, "cpu_s": 1.0, "calls": 1, "rss": 5,
                "others": 0.0}  # fmt: skip

    def close(self) -> None:
        self.order.append("end")


CASE = Case("c", "calls", "c", {}, "", {}, {})


def faked(monkeypatch: pytest.MonkeyPatch, stop_at: int = 1000) -> list[str]:
    monkeypatch.setattr(rounds, "Worker", Fake)
    monkeypatch.setattr(Fake, "order", [])
    monkeypatch.setattr(Fake, "stop_at", stop_at)
    return Fake.order


def test_workers_take_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    order = faked(monkeypatch)
    found: dict[str, Any] = {}
    chosen = [Peer(RUNTIMES[k]) for k in (0, 1, 4)]
    rounds.measure(CASE, chosen, rounds.Settings(rounds=3), found)
    assert order == ["d", "t", "t", "d", "d", "t", "end", "end"], "each goes first in turn"
    assert found["torch"] == {"none": "takes torch"}
    assert found["tensorflow"]["slots"]["wall"] == [3.0] * 3


def test_what_was_measured_survives_an_interrupt(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    order = faked(monkeypatch, stop_at=3)
    monkeypatch.setattr(program, "all_cases", lambda *_: [CASE])
    monkeypatch.setattr(program, "find", lambda runtime, _: Peer(runtime))
    file = tmp_path / "found.json"
    arguments = ["--only", "c", "--peers", "tensorflow", "--json", str(file)]
    assert program.main(arguments) == 130
    found = json.loads(file.read_text(encoding="utf-8"))
    assert found["complete"] is False
    walls = {name: got["slots"]["wall"] for name, got in found["cases"][0]["found"].items()}
    assert walls == {"drystone": [1.0], "tensorflow": [3.0, 3.0]}
    assert order[-2:] == ["end", "end"]
    assert "interrupted" in capsys.readouterr().out


def test_a_wrong_answer_of_ours_is_a_failure() -> None:
    row = {"name": "c", "tolerance": 1e-4}
    bad: list[dict[str, Any]] = [
        {"slots": {}, "difference": 0.1}, {"slots": {}, "difference": None}, {"error": "no"}
    ]  # fmt: skip
    for entry in bad:
        assert program.failures({"cases": [{**row, "found": {"drystone": entry}}]}) == ["c"]
    good = {"slots": {}, "difference": 1e-6}
    assert program.failures({"cases": [{**row, "found": {"drystone": good}}]}) == []


def test_sizes_count_a_distribution_and_what_it_needs() -> None:
    found = size.closure(["pytest", "no-such-distribution"])
    assert {"pytest", "pluggy"} <= set(found)
    assert "no-such-distribution" not in found
    bytes_, files = size.installed_size(distribution("pluggy"))
    assert bytes_ > 20_000
    assert files > 5


def test_large_graphs_are_measured_and_round_trip(tmp_path: Path) -> None:
    file = tmp_path / "bench.json"
    done = run("bench.alone", "--quick", "--only", "graphs", "--json", file)
    assert done.returncode == 0, done.stderr + done.stdout
    rows = json.loads(file.read_text(encoding="utf-8"))["graphs"]["rows"]
    assert [row["kind"] for row in rows] == ["chain", "wide", "layered"]
    for row in rows:
        assert f"│ {row['kind']}" in done.stdout
        assert row["nodes"] == 10_000
        assert row["same_bytes"] is True
        assert row["rss_peak"] >= row["rss_load"] > row["bytes"]
        for stage in ("load", "write", "order", "fan_out", "validate", "infer"):
            assert 0 < row[stage]["us_per_node"] < 10_000
