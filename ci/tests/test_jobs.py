"""The matrix, divided: jobs, what a change runs, workflows."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from packaging.tags import compatible_tags, cpython_tags, parse_tag

from ci.checks import generated
from ci.scripts import changed, jobs, workflows
from ci.scripts.jobs import Matrix
from ci.scripts.project import ROOT, load_toml


@pytest.fixture(scope="module")
def matrix() -> Matrix:
    return Matrix()


def test_every_package_has_a_place(matrix: Matrix) -> None:
    assert matrix.problems() == []
    assert {row[0] for row in matrix.rows()} == set(matrix.packages)


def test_a_package_without_a_place_is_told_what_to_write(matrix: Matrix) -> None:
    other = Matrix()
    del other.table["packages"]["subgraph"]
    other.table["packages"]["cpu"]["processors"] = ["z80"]
    assert other.problems() == [
        "ci/matrix.toml has no line for subgraph: write `subgraph = { kind = ... }`",
        "cpu: there is no processor 'z80'",
    ]
    del other.table["packages"]["tvm"]["session"]
    assert other.problems()[-1].startswith("tvm is built apart: name the session that does it")
    other.table["packages"]["optimizer"]["kind"] = "purest"
    assert "optimizer: there is no kind 'purest'" in other.problems()


def test_another_python_rebuilds_nothing_native(matrix: Matrix) -> None:
    """S2-python-rebuilds."""
    other = Matrix()
    other.pythons.append("3.14")
    assert other.builds() == matrix.builds()
    for key in matrix.packages:
        assert other.native_builds(key) == matrix.native_builds(key)
    more = {job for job in other.tests() if job not in matrix.tests()}
    assert {job.python for job in more} == {"3.14"}
    assert all("--wheels" in job.arguments for job in more)


def test_native_wheels_admit_every_python_of_the_matrix(matrix: Matrix) -> None:
    """S2-python-rebuilds."""
    for package in matrix.packages.values():
        tool = load_toml(package.path / "pyproject.toml").get("tool", {}).get("scikit-build")
        assert (tool is not None) == package.native, package.key
        if tool is None:
            continue
        tag = tool["wheel"]["py-api"]
        (built,) = parse_tag(f"{tag}-{'abi3' if tag.startswith('cp') else 'none'}-any")
        for python in matrix.pythons:
            version = tuple(map(int, python.split(".")))
            tags = {*cpython_tags(version, platforms=["any"]), *compatible_tags(version)}
            assert built in tags, f"{package.key}: a wheel {built} is none for Python {python}"


def test_jobs_are_fewer_than_the_product(matrix: Matrix) -> None:
    """S2-matrix."""
    assert len(matrix.tests()) == sum(row[2] for row in matrix.rows())
    assert len(matrix.tests()) * 4 < matrix.product() * len(matrix.packages)
    base = [job for job in matrix.tests() if job.packages == ("base",)]
    assert len(base) == len(matrix.systems) * len(matrix.compilers) * len(matrix.pythons)
    cpu = [job for job in matrix.tests() if job.packages == ("cpu",)]
    assert [(job.python, job.processor) for job in cpu] == [("", "x86-64"), ("", "aarch64")]
    assert sorted(set(jobs.tests_of(matrix, "base"))) == [
        "packages/base/tests/fuzz", "packages/base/tests/golden", "packages/base/tests/unit",
    ]  # fmt: skip


def test_grouping_loses_no_job(matrix: Matrix) -> None:
    whole = matrix.tests()
    for group in jobs.grouped(whole):
        assert not group.arguments or group.arguments[-2] == "--wheels"
    parts = [key for group in jobs.grouped(whole) for key in group.packages]
    assert sorted(parts) == sorted(job.packages[0] for job in whole)


def test_tests_import_what_the_matrix_says(matrix: Matrix) -> None:
    """Else `changed` would leave tests out, and a job would lack a package. S2-matrix."""
    names = {package.import_name: key for key, package in matrix.packages.items()}
    pattern = re.compile(rf"(?m)^\s*(?:from|import) ({'|'.join(names)})\b")
    for key in matrix.packages:
        beside = matrix.table["packages"][key].get("with", [])
        there = set(jobs.closure(matrix.packages, [key, *beside]))
        for place in jobs.tests_of(matrix, key):
            path = ROOT / place
            for file in path.rglob("*.py") if path.is_dir() else [path]:
                found = {names[name] for name in pattern.findall(file.read_text("utf-8"))}
                assert found <= there, f"{file} imports {found - there}: add it to `with` of {key}"


@pytest.mark.parametrize(
    ("file", "touched", "some", "none"),
    [
        ("packages/fs-s3/src/x.py", ["fs-s3"], ["package-3.12 fs-s3"], ["levels", "docs"]),
        ("packages/base/src/x.py", ["base"], ["levels", "optimizer", "metapackage"], ["arm64"]),
        ("packages/cpu/kernels/x.cc", ["cpu"], ["levels", "arm64"], ["package-3.12", "gpu"]),
        ("packages/optimizer/x.py", ["optimizer"], ["metapackage", "levels"], ["subgraph", "gpu"]),
        ("packages/tvm/src/x.py", ["tvm"], ["tvm"], ["levels", "ray"]),
        ("packages/ray/src/x.py", ["ray"], ["ray"], ["package-3.12", "tvm"]),
        ("packages/gpu/backend/x.cc", ["gpu"], ["gpu"], ["levels", "package-3.12"]),
        ("packages/network/src/x.py", ["network"], ["package-3.12 network", "ray"], ["tvm"]),
        ("packages/subgraph/x.py", ["subgraph"], ["pjrt", "tvm"], ["levels", "ray"]),
        ("plugin-abi/conformance/src/x.py", ["conformance"], ["conformance"], ["subgraph"]),
        ("docs/index.md", [], ["docs"], ["package-3.12", "tools"]),
        ("ci/scripts/jobs.py", [], ["tools"], ["package-3.12", "docs"]),
    ],
)
def test_what_a_change_runs(
    matrix: Matrix, file: str, touched: list[str], some: list[str], none: list[str]
) -> None:
    found = changed.plan(matrix, [file], "3.12")
    text = "\n".join(" ".join(words) for words in found.sessions)
    assert list(found.touched) == touched
    assert ("lint",) in found.sessions
    assert all(re.search(rf"(?m)(^| ){re.escape(word)}( |$)", text) for word in some), text
    assert not any(re.search(rf"(?m)(^| ){re.escape(word)}( |$)", text) for word in none), text


def test_what_no_pattern_fits_runs_everything(matrix: Matrix) -> None:
    found = changed.plan(matrix, ["conftest.py"], "3.11")
    assert found.packages == tuple(matrix.packages)
    assert {"levels", "arm64", "gpu"} <= {name for name, *_ in found.sessions}
    assert changed.plan(matrix, [], "3.11").sessions == ()
    built = changed.plan(matrix, ["packages/fs-s3/x.py"], "3.11", "dist").sessions
    assert ("package-3.11", "fs-s3", "--wheels", "dist") in built


def test_changes_are_those_of_commits_and_of_files_that_are_not_added(tmp_path: Path) -> None:
    def git(*words: str) -> None:
        who = ("-c", "user.name=t", "-c", "user.email=t@t")
        subprocess.run(["git", *who, "-C", str(tmp_path), *words], check=True, capture_output=True)

    git("init", "-q", "-b", "main")
    for name in ("a", "b", "c"):
        (tmp_path / name).write_text(name, encoding="utf-8")
    git("add", "-A")
    git("commit", "-q", "-m", "first")
    git("checkout", "-q", "-b", "work")
    (tmp_path / "a").write_text("changed", encoding="utf-8")
    git("commit", "-q", "-am", "a")
    (tmp_path / "b").unlink()
    (tmp_path / "new one").write_text("", encoding="utf-8")
    assert changed.changed_files(tmp_path, "main") == ["a", "b", "new one"]
    with pytest.raises(ValueError, match="nowhere and HEAD share no commit here; name another"):
        changed.changed_files(tmp_path, "nowhere")


def test_commands() -> None:
    def out(module: str, *words: str) -> str:
        command = [sys.executable, "-m", f"ci.scripts.{module}", *words]
        return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout

    assert re.search(r"\d+ test jobs instead of \d+, \d+ native builds", out("jobs"))
    assert json.loads(out("jobs", "--json"))[0]["what"] == "build"
    assert set(json.loads(out("changed", "--base", "HEAD", "--json"))) == {
        "files", "touched", "packages", "sessions",
    }  # fmt: skip


def test_what_is_apart_is_tested_by_its_own_session(matrix: Matrix) -> None:
    """Built wheels of all that are tested on them are there: a job builds nothing."""
    (built, *_) = matrix.builds()
    for job in matrix.tests():
        apart = matrix.packages[job.packages[0]].apart
        assert apart == (job.session == job.packages[0].replace("-", "_"))
        assert apart or "--wheels" not in job.arguments or job.packages[0] in built.packages
    release = workflows.files()[workflows.FOLDER / "release.yml"]
    every = matrix.packages
    for keys in (
        [key for key, one in every.items() if one.apart],
        [key for key, one in every.items() if one.native and not one.apart],
    ):
        assert f"fromJSON('{json.dumps(keys)}')" in release
    assert {"build", "portable", "release"} <= set(workflows.sessions(release))


def test_workflows_do_what_sessions_do() -> None:
    """Steps get a machine ready, or run one session."""
    for file, text in workflows.files().items():
        runs = re.findall(r"run: (.*)", text)
        assert runs
        assert all(run.startswith("python3 ci/bootstrap.py ") for run in runs), file
        assert set(re.findall(r"uses: (\w+)/", text)) == {"actions"}
        assert workflows.sessions(text)


def test_a_stale_file_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert generated.find() == []
    monkeypatch.setattr(workflows, "FOLDER", Path("elsewhere"))
    assert "elsewhere/nightly.yml is outdated: run python -m ci.scripts.workflows" in (
        generated.find()
    )


def test_a_workflow_of_nobody_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = workflows.files()
    monkeypatch.setattr(workflows, "files", lambda _root: wanted)
    for file, text in wanted.items():
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_text(text, encoding="utf-8")
    assert workflows.outdated(tmp_path) == []
    stray = tmp_path / workflows.FOLDER / "mine.yaml"
    stray.write_text("", encoding="utf-8")
    assert workflows.outdated(tmp_path) == [workflows.FOLDER / "mine.yaml"]


def test_a_session_that_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    known = workflows.sessions
    monkeypatch.setattr(workflows, "sessions", lambda text: [*known(text), "dance-3.11"])
    assert ".github/workflows/release.yml names the session dance, noxfile.py has none" in (
        " ".join(generated.find())
    )
