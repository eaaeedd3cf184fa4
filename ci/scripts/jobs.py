"""The jobs of ci/matrix.toml, and how many the full product would be: `python -m ci.scripts.jobs`.

A package is tried on the axes that it may break on, not on all: one that is pure Python on every
Python of one system, a plugin on every processor with one Python. Native code is compiled once per
system and compiler, never for a Python. --json prints the jobs as data.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ci.scripts.project import ROOT, Package, load_toml, packages

__all__ = ["Job", "Matrix", "closure", "grouped", "main", "tests_of"]

TESTS = ("tests/unit", "tests/golden", "tests/fuzz")
WHEELS = ".drystone-env/wheels"


@dataclass(frozen=True)
class Job:
    """A session on a machine; `what` is "build" or "test", an axis that does not count is empty."""

    what: str
    packages: tuple[str, ...]
    session: str
    arguments: tuple[str, ...]
    os: str
    compiler: str
    python: str = ""
    processor: str = ""

    @property
    def name(self) -> str:
        """What tells it from the others of its kind."""
        axes = (self.os, self.compiler, self.python, self.processor)
        return ", ".join((*self.packages[:1], *filter(None, axes)))


class Matrix:
    """ci/matrix.toml beside ci/packages.toml."""

    def __init__(self, root: Path = ROOT) -> None:
        self.root = root
        self.table: dict[str, Any] = load_toml(root / "ci" / "matrix.toml")
        self.packages = packages(root)
        self.pythons: list[str] = self.table["python"]["tested"]
        self.systems: list[str] = self.table["os"]["tested"]
        self.compilers: list[str] = self.table["compilers"]["tested"]

    def problems(self) -> list[str]:
        """Packages without a place in the matrix, and names that mean nothing."""
        known = set(self.table["packages"])
        found = [
            f"ci/matrix.toml has no line for {key}: write `{key} = {{ kind = ... }}`"
            for key in self.packages
            if key not in known
        ]
        found += [f"ci/matrix.toml names {key}, ci/packages.toml does not" for key in
                  sorted(known - set(self.packages))]  # fmt: skip
        for key, entry in self.table["packages"].items():
            if entry["kind"] not in self.table["kinds"]:
                found.append(f"{key}: there is no kind {entry['kind']!r}")
            if ("processor" in self.axes(key)) != bool(entry.get("processors")):
                found.append(f"{key}: processors are named by plugins, and only by them")
            unknown = set(entry.get("processors", ())) - set(self.table["processors"])
            found += [f"{key}: there is no processor {name!r}" for name in sorted(unknown)]
        found += [
            f"{key} is built apart: name the session that does it (session = ...), and for no other"
            for key in sorted(known & set(self.packages))
            if self.packages[key].apart != ("session" in self.table["packages"][key])
        ]
        return found

    def axes(self, key: str) -> list[str]:
        """The axes that multiply a package's jobs."""
        axes: list[str] = self.table["kinds"].get(self.table["packages"][key]["kind"], [])
        return axes

    def builds(self) -> list[Job]:
        """Wheels of each system: all by the first compiler, those of hosts by the others too."""
        first, *others = self.compilers
        every = tuple(key for key, package in self.packages.items() if not package.apart)
        hosts = tuple(key for key in every if "compiler" in self.axes(key))
        jobs = []
        for system in self.systems:
            jobs.append(Job("build", every, "build", (), system, first))
            jobs += [Job("build", hosts, "build", hosts, system, one) for one in others]
        return jobs

    def tests(self) -> list[Job]:
        """Every job of tests, one package each."""
        return [job for key in self.packages for job in self._tests(key)]

    def _tests(self, key: str) -> list[Job]:
        axes, entry = self.axes(key), self.table["packages"][key]
        if "processor" in axes:
            named = {name: self.table["processors"][name] for name in entry["processors"]}
            return [
                Job("test", (key,), entry.get("session", one["session"]), (), one["on"], "", "",
                    name)
                for name, one in named.items()
            ]  # fmt: skip
        if "session" in entry:
            return [Job("test", (key,), entry["session"], (), self.systems[0], "")]
        systems = self.systems if "os" in axes else self.systems[:1]
        compilers = self.compilers if "compiler" in axes else self.compilers[:1]
        words = (key, "--wheels", WHEELS)
        return [
            Job("test", (key,), f"package-{python}", words, system, compiler, python)
            for system in systems
            for compiler in compilers
            for python in self.pythons
        ]

    def own_sessions(self, keys: Iterable[str], touched: Iterable[str]) -> set[str]:
        """Sessions of packages that have their own, or their processors'.

        What only compiles is for packages that are touched, or stand on one that is.
        """
        found: set[str] = set()
        for key in keys:
            entry = self.table["packages"][key]
            named = [self.table["processors"][name] for name in entry.get("processors", ())]
            runs = [one for one in named if one.get("runs", True) or key in touched]
            found |= {entry["session"]} if "session" in entry else {one["session"] for one in runs}
        return found

    def native_builds(self, key: str) -> int:
        """How often a package's native code is compiled."""
        package, axes = self.packages[key], self.axes(key)
        if not package.native:
            return 0
        if "processor" in axes:
            return len(self.table["packages"][key]["processors"])
        return len(self.systems) * (len(self.compilers) if "compiler" in axes else 1)

    def product(self) -> int:
        """Cells of the full product: what each package would be tried on."""
        every = (self.systems, self.compilers, self.pythons, self.table["processors"])
        return math.prod(map(len, every))

    def rows(self) -> list[tuple[str, str, int, int, int]]:
        """For each package: its axes, test jobs, native builds, and what the product would be."""
        return [
            (key, ", ".join(self.axes(key)), len(self._tests(key)), self.native_builds(key),
             self.product())
            for key in self.packages
        ]  # fmt: skip

    def sums(self) -> tuple[int, int, int]:
        """Test jobs, native builds and the product of all packages."""
        rows = self.rows()
        return sum(r[2] for r in rows), sum(r[3] for r in rows), sum(r[4] for r in rows)


def grouped(jobs: Iterable[Job]) -> list[Job]:
    """Jobs that differ by their package alone, as one: a machine takes a minute to get ready."""
    groups: dict[tuple[str, ...], list[Job]] = {}
    for job in jobs:
        groups.setdefault((job.session, job.os, job.compiler, job.processor), []).append(job)
    found = []
    for same in groups.values():
        keys = tuple(job.packages[0] for job in same)
        words = (*keys, *same[0].arguments[1:]) if same[0].arguments else ()
        found.append(Job(**{**asdict(same[0]), "packages": keys, "arguments": words}))
    return found


def closure(every: dict[str, Package], keys: Iterable[str]) -> list[str]:
    """Packages and all that they depend on, lowest layer first."""
    found: set[str] = set()

    def add(key: str) -> None:
        if key not in found:
            found.add(key)
            for other in every[key].depends_on:
                add(other)

    for key in keys:
        add(key)
    return [key for key in every if key in found]


def tests_of(matrix: Matrix, key: str) -> list[str]:
    """Files and folders of a package's tests that need nothing but wheels."""
    named: list[str] | None = matrix.table["packages"][key].get("tests")
    if named is not None:
        return named
    folder = matrix.packages[key].dir
    found = [f"{folder}/{part}" for part in TESTS if (matrix.root / folder / part).is_dir()]
    whole = matrix.root / folder / "tests"
    return found or ([f"{folder}/tests"] if any(whole.rglob("test_*.py")) else [])


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table, or the jobs."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--json", action="store_true", help="the jobs as data")
    given = parser.parse_args(arguments)
    matrix = Matrix()
    if given.json:
        print(json.dumps([asdict(job) for job in (*matrix.builds(), *matrix.tests())], indent=1))
        return 0
    for key, axes, tests, builds, product in matrix.rows():
        print(f"{key:<14} {axes:<24} {tests:>3} of {product} tests, {builds:>2} native builds")
    tests, builds, product = matrix.sums()
    print(f"{tests} test jobs instead of {product}, {builds} native builds")
    return 0


if __name__ == "__main__":
    sys.exit(main())
