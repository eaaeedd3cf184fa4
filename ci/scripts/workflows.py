"""Write .github/workflows/ from ci/matrix.toml; `--check` only compares.

Run from the repository root: `python -m ci.scripts.workflows`. A step of a workflow either gets a
machine ready or runs one session of noxfile.py by ci/bootstrap.py, as anybody can at home. The form
is held against GitHub's schema by `nox -s lint`.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
from collections.abc import Iterable, Mapping
from functools import partial
from pathlib import Path

from ci.scripts.generated import settle
from ci.scripts.jobs import WHEELS, Job, Matrix, grouped
from ci.scripts.project import ROOT

__all__ = ["FOLDER", "files", "main", "outdated", "sessions"]

FOLDER = Path(".github/workflows")
RESULTS = ".drystone-env/nightly"
HEAD = "# Generated from ci/matrix.toml by ci.scripts.workflows; do not edit by hand.\n"
_RUN = re.compile(r"python3 ci/bootstrap\.py (\S+)")
CHECKOUT = """      - uses: actions/checkout@v4
        with:
          fetch-depth: 0
"""
PYTHON = """      - uses: actions/setup-python@v5
        with:
          python-version: {python}
"""
MATRIX = """    runs-on: ${{{{ matrix.runner }}}}
    strategy:
      fail-fast: false
      matrix:
        include:
{rows}"""
BUILD = """  build:
    name: build ${{ matrix.name }}
{matrix}    env:
      CC: ${{ matrix.cc }}
      CXX: ${{ matrix.cxx }}
    steps:
{ready}      - run: python3 ci/bootstrap.py build ${{ matrix.packages }}
      - uses: actions/upload-artifact@v4
        with:
          name: wheels-${{ matrix.os }}-${{ matrix.compiler }}
          path: {wheels}/*.whl
          if-no-files-found: error
          include-hidden-files: true
"""
TESTS = """  test:
    name: test ${{ matrix.name }}
    needs: build
{matrix}    steps:
{ready}      - uses: actions/download-artifact@v4
        with:
          name: wheels-${{ matrix.os }}-${{ matrix.compiler }}
          path: {wheels}
      - run: python3 ci/bootstrap.py ${{ matrix.session }} ${{ matrix.arguments }}
"""
PLUGINS = """  plugin:
    name: plugin ${{ matrix.name }}
    if: github.event_name == 'push'
{matrix}    steps:
{ready}      - run: python3 ci/bootstrap.py ${{ matrix.session }}
"""
BESIDE = """  beside:
    name: ${{ matrix.session }}
{matrix}    steps:
{ready}      - run: python3 ci/bootstrap.py ${{ matrix.session }}
"""
PULL_REQUEST = """name: pull request
on:
  pull_request:
  push:
    branches: [main]
permissions:
  contents: read
concurrency:
  group: ${{ github.workflow }}-${{ github.ref }}
  cancel-in-progress: true
jobs:
"""
NIGHTLY = """name: nightly
on:
  schedule:
    - cron: '0 {hour} * * *'
  workflow_dispatch:
permissions:
  contents: read
jobs:
{build}  night:
    name: ${{ matrix.session }}
    needs: build
    timeout-minutes: {minutes}
{matrix}    steps:
{ready}      - uses: actions/cache/restore@v4
        with:
          path: {results}
          key: results-${{ matrix.session }}-${{ github.run_id }}
          restore-keys: results-${{ matrix.session }}-
      - uses: actions/download-artifact@v4
        with:
          name: wheels-{system}-{compiler}
          path: {wheels}
      - run: python3 ci/bootstrap.py ${{ matrix.session }} ${{ matrix.arguments }}
      - uses: actions/cache/save@v4
        if: always()
        with:
          path: {results}
          key: results-${{ matrix.session }}-${{ github.run_id }}-${{ github.run_attempt }}
      - uses: actions/upload-artifact@v4
        if: always()
        with:
          name: results-${{ matrix.session }}
          path: {results}
          include-hidden-files: true
  page:
    needs: night
    if: always()
    runs-on: {runner}
    steps:
{ready}      - uses: actions/download-artifact@v4
        with:
          pattern: results-*
          path: {results}
          merge-multiple: true
      - run: python3 ci/bootstrap.py nightly_page
      - uses: actions/upload-artifact@v4
        with:
          name: last-runs
          path: {results}/index.html
          include-hidden-files: true
"""
RELEASE = """name: release
run-name: ${{ inputs.package }} ${{ inputs.version }}
on:
  workflow_dispatch:
    inputs:
      package:
        description: A package of ci/packages.toml
        type: choice
        required: true
        options:
{packages}      version:
        description: Its new version
        type: string
        required: true
permissions:
  contents: read
jobs:
  gates:
    runs-on: {runner}
    env:
      PACKAGE: ${{ inputs.package }}
      VERSION: ${{ inputs.version }}
    steps:
{ready}      - run: python3 ci/bootstrap.py release "$PACKAGE" "$VERSION" --check
"""
ONE = """  {job}:
    needs: gates
    if: contains(fromJSON('{keys}'), inputs.package)
    runs-on: {runner}
    env:
      PACKAGE: ${{ inputs.package }}
    steps:
{ready}      - run: python3 ci/bootstrap.py {session} "$PACKAGE"
      - uses: actions/upload-artifact@v4
        with:
          name: wheels-{job}
          path: {made}/*.whl
          if-no-files-found: error
          include-hidden-files: true
"""


def sessions(text: str) -> list[str]:
    """The sessions that a workflow runs; those that its matrix has are rows `session: NAME`."""
    said = [name for name in _RUN.findall(text) if not name.startswith("$")]
    rows = re.findall(r"(?m)^ +-? ?session: \"?([\w.-]+)\"?$", text)
    return sorted({*said, *rows})


def files(root: Path = ROOT) -> dict[Path, str]:
    """Each workflow and its text."""
    matrix = Matrix(root)
    return {
        FOLDER / f"{name}.yml": HEAD + text
        for name, text in {
            "pull-request": _pull_request(matrix),
            "nightly": _nightly(matrix),
            "release": _release(matrix),
        }.items()
    }


def _pull_request(matrix: Matrix) -> str:
    tests = grouped(matrix.tests())
    first = matrix.systems[0]
    on_wheels = [_row(matrix, job) | {"arguments": " ".join(job.arguments)} for job in tests
                 if job.python]  # fmt: skip
    plugins = [_row(matrix, job) for job in tests if not job.python]
    beside = [{"session": name, "runner": matrix.table["runners"][first]}
              for name in matrix.table["pull_request"]["beside"]]  # fmt: skip
    builds = [_row(matrix, job) | _compiler(job) for job in matrix.builds()]
    parts = [
        (BUILD, builds, False), (TESTS, on_wheels, True), (PLUGINS, plugins, False),
        (BESIDE, beside, False),
    ]  # fmt: skip
    return PULL_REQUEST + "".join(_job(matrix, *part) for part in parts)


def _nightly(matrix: Matrix) -> str:
    table, runner = matrix.table["nightly"], matrix.table["runners"][matrix.systems[0]]
    rows = []
    for words in (*table["on_wheels"], *table["sessions"]):
        name, *further = words.split()
        further += [WHEELS] if words in table["on_wheels"] else []
        rows.append({"session": name, "runner": runner, "arguments": " ".join(further)})
    first = [job for job in matrix.builds() if job.compiler == matrix.compilers[0]]
    build = _job(matrix, BUILD, [_row(matrix, job) | _compiler(job) for job in first], False)
    return _fill(
        _job(matrix, NIGHTLY, rows, False),
        build=build,
        system=matrix.systems[0],
        compiler=matrix.compilers[0],
        hour=str(table["hour"]), minutes=str(table["minutes"]), runner=runner,
    )  # fmt: skip


def _release(matrix: Matrix) -> str:
    packages = "".join(f"          - {key}\n" for key in matrix.packages)
    runner = matrix.table["runners"][matrix.systems[0]]
    text = _fill(_job(matrix, RELEASE, [], False), packages=packages, runner=runner)
    builds = _job(
        matrix,
        BUILD.replace("  build:\n", "  build:\n    needs: gates\n"),
        [_row(matrix, job) | _compiler(job) for job in matrix.builds()],
        False,
    )
    tests = [_row(matrix, job) | {"arguments": " ".join(job.arguments)}
             for job in grouped(matrix.tests()) if job.python]  # fmt: skip
    return text + builds + _job(matrix, TESTS, tests, True) + _alone(matrix)


def _alone(matrix: Matrix) -> str:
    """Jobs of a release that build its package alone: what is apart, and for any distribution."""
    apart = [key for key, package in matrix.packages.items() if package.apart]
    portable = [key for key, one in matrix.packages.items() if one.native and not one.apart]
    runner = matrix.table["runners"][matrix.systems[0]]
    return "".join(
        _job(matrix, _fill(ONE, job=job, session=session, keys=json.dumps(keys), runner=runner,
                           made=made), [], False)
        for job, session, keys, made in (
            ("apart", "build", apart, WHEELS),
            ("portable", "portable", portable, f"{WHEELS}/portable"),
        )
    )  # fmt: skip


def _row(matrix: Matrix, job: Job) -> dict[str, object]:
    """A job's line of a workflow's matrix."""
    row: dict[str, object] = {
        "name": job.name if len(job.packages) == 1 else job.name.replace(job.packages[0], "all", 1),
        "runner": matrix.table["runners"][job.os],
        "session": job.session,
    }
    known = {"os": job.os, "compiler": job.compiler, "python": job.python}
    return row | {name: value for name, value in known.items() if value}


def _compiler(job: Job) -> dict[str, object]:
    commands = {"gcc": ("gcc", "g++"), "clang": ("clang", "clang++")}
    cc, cxx = commands[job.compiler]
    return {"cc": cc, "cxx": cxx, "packages": " ".join(job.arguments)}


def _job(matrix: Matrix, text: str, rows: Iterable[Mapping[str, object]], pythons: bool) -> str:
    """A job's text with its rows; on its row's Python, or the oldest."""
    python = "${{ matrix.python }}" if pythons else json.dumps(matrix.pythons[0])
    ready = CHECKOUT + PYTHON.format(python=python)
    lines = "".join(_lines(row) for row in rows)
    return _fill(
        text, matrix=MATRIX.format(rows=lines), ready=ready, wheels=WHEELS, results=RESULTS
    )


def _lines(row: Mapping[str, object]) -> str:
    """A row as YAML, whose scalars and flow lists are those of JSON; plain names stay plain."""
    texts = [
        f"{key}: {value if re.fullmatch(r'[a-z][a-z0-9_-]*', str(value)) else json.dumps(value)}"
        for key, value in row.items()
    ]
    return "          - " + "\n            ".join(texts) + "\n"


def _fill(text: str, **values: str) -> str:
    """Put values for `{name}`; GitHub's own braces, which are double, stay."""
    for name, value in values.items():
        text = re.sub(rf"(?<!{{){{{name}}}(?!}})", partial(_given, value), text)
    return text


def _given(value: str, _: re.Match[str]) -> str:
    return value


def outdated(root: Path = ROOT) -> list[Path]:
    """Workflows that are missing, differ, or that nothing generates."""
    wanted = files(root)
    there = set((root / FOLDER).glob("*.y*ml"))
    extra = [file.relative_to(root) for file in there if file.relative_to(root) not in wanted]
    return extra + [
        file
        for file, text in wanted.items()
        if not (root / file).exists() or (root / file).read_text(encoding="utf-8") != text
    ]


def main(arguments: list[str] | None = None) -> int:
    """Write the workflows, or with `--check` exit 1 when one is outdated."""
    arguments = sys.argv[1:] if arguments is None else arguments
    return settle(
        str(FOLDER),
        "workflows",
        outdated=bool(outdated()),
        check="--check" in arguments,
        write=_write,
    )


def _write() -> None:
    shutil.rmtree(ROOT / FOLDER, ignore_errors=True)
    (ROOT / FOLDER).mkdir(parents=True)
    for file, text in files().items():
        (ROOT / file).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
