"""One plugin in an empty environment: is it loaded, does it conform, do its own tests pass."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from packaging.markers import Marker

from ci.nightly.suite import LeftOut, Wrong
from ci.scripts.project import ROOT, load_toml

__all__ = ["REGISTER", "Entry", "Found", "marked", "read_register", "try_plugin", "verdict"]

REGISTER = ROOT / "community" / "plugins.toml"
WAYS = ("default", "developer", "allow_unverified")
NEEDED = ("name", "source", "version", "maintainer", "expects")
SECONDS = 400.0
UNREACHABLE = ("Failed to fetch", "error sending request")
ASK = """
import json, sys
from drystone_base.plugins import PluginError, load_library
path, way = sys.argv[1:]
policy = "default" if way == "developer" else way
try:
    found = load_library(path, policy=policy, developer_mode=way == "developer")
    said = (found.state if found.state == "loaded" else found.reason, found.text)
except PluginError as error:
    said = (error.code, str(error))
print("\\nASKED " + json.dumps(said))
"""
POINTS = """
import json, sys
from importlib.metadata import distribution
points = [p for p in distribution(sys.argv[1]).entry_points if p.group.startswith("drystone.")]
assert points, "the distribution has no entry points of drystone"
for point in points:
    point.load()
print("\\nASKED " + json.dumps(("loaded", "")))
"""


@dataclass(frozen=True)
class Entry:
    """One plugin of the register; the comment there says what each field is."""

    name: str
    source: str
    version: str
    maintainer: str
    expects: Mapping[str, str]
    library: str = ""
    conformance: Sequence[str] | None = None
    tests: Sequence[str] = ()
    only_on: str = ""
    expected_to_fail: str = ""


@dataclass
class Found:
    """What an environment showed of a plugin: for each way how it went, and counts of tests."""

    loads: dict[str, str] = field(default_factory=dict)
    conformance: str = ""
    tests: str = ""
    problems: list[str] = field(default_factory=list)


def read_register(file: Path = REGISTER) -> list[Entry]:
    """The entries; raises `Wrong` for one that means nothing."""
    found = []
    known = {one.name for one in fields(Entry)} - {"source"} | {"from"}
    for number, table in enumerate(load_toml(file).get("plugins", ()), 1):
        who = f"{file.name}: {table.get('name') or f'plugin {number}'}"
        given = {"source" if key == "from" else key: value for key, value in table.items()}
        if unknown := sorted(set(table) - known):
            raise Wrong(f"{who}: there is no field {unknown[0]!r}: {', '.join(sorted(known))}")
        if missing := [key for key in NEEDED if not given.get(key)]:
            raise Wrong(f"{who}: has no {missing[0].replace('source', 'from')!r}")
        if odd := sorted(set(given["expects"]) - set(WAYS)):
            raise Wrong(f"{who}: the host is not asked {odd[0]!r}, but {', '.join(WAYS)}")
        found.append(Entry(**given))
    names = [entry.name for entry in found]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise Wrong(f"{file.name}: {twice[0]} is there twice")
    return found


def try_plugin(entry: Entry, wheels: Sequence[Path], folder: Path) -> Found:
    """Install a plugin beside wheels, in an environment below `folder` that is made for it."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    there, found = _Trial(folder), Found()
    try:
        there.uv("install", *map(str, wheels), "pytest>=8")
        source = there.put(entry, wheels)
    except Wrong as error:
        found.problems.append(str(error))
        return found
    library = there.site() / entry.library if entry.library else None
    for way, wanted in entry.expects.items():
        said, text = there.ask(entry, library, way)
        found.loads[way] = said
        if said != wanted:
            why = f": {' '.join(text.split())[:300]}" if text else ""
            found.problems.append(f"asked {way}: {said}, where {wanted} is expected{why}")
    places = {"{source}": source, "{site}": there.site(), "{library}": library, "{checkout}": ROOT}
    if entry.conformance is not None and library is not None:
        suite = ("python", "-m", "pytest", "-q", "-p", "no:cacheprovider", "--plugin", str(library))
        words = [*suite, *(_filled(word, places) for word in entry.conformance)]
        found.conformance = there.tested("conformance", words, found)
    if entry.tests:
        found.tests = there.tested("tests", [_filled(word, places) for word in entry.tests], found)
    return found


def _filled(word: str, places: Mapping[str, Path | None]) -> str:
    for name, path in places.items():
        word = word.replace(name, str(path))
    return word


class _Trial:
    """The environment, and commands in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.root = folder / "env"
        self.python = self.root / "bin" / "python"
        self._run(["uv", "venv", "-q", "--python", sys.executable, str(self.root)])

    def uv(self, *words: str) -> None:
        """`uv pip` in it; raises `Wrong`, or `LeftOut` where no index can be reached."""
        done = self._run(["uv", "pip", *words, "-q", "--python", str(self.python)])
        if any(mark in done.stderr for mark in UNREACHABLE):
            raise LeftOut(f"the package index cannot be reached: {_last(done.stderr, 2)}")
        if done.returncode:
            raise Wrong(f"cannot be installed: {_last(done.stderr)}")

    def put(self, entry: Entry, wheels: Sequence[Path]) -> Path:
        """Install the plugin, out of a copy of its source or from the index; that copy's folder."""
        source = self.folder / "source"
        if entry.source == "index":
            self.uv("install", "--no-deps", f"{entry.name}=={entry.version}")
            return source
        away = shutil.ignore_patterns("build", "dist", "__pycache__", "*.egg-info")
        shutil.copytree(ROOT / entry.source, source, ignore=away)
        built = self.folder / "built"
        words = ["uv", "build", "-q", "--wheel", "--refresh-package", "drystone-plugin-abi"]
        for folder in sorted({str(wheel.parent) for wheel in wheels}):
            words += ["--find-links", folder]
        done = self._run([*words, "-o", str(built), str(source)])
        if done.returncode:
            raise Wrong(f"cannot be built: {_last(done.stderr)}")
        (wheel,) = built.glob("*.whl")
        if wheel.name.split("-")[1] != entry.version:
            raise Wrong(f"{wheel.name} was built, where version {entry.version} is registered")
        self.uv("install", "--no-deps", str(wheel))
        return source

    def site(self) -> Path:
        """Its site-packages."""
        (found,) = (self.root / "lib").glob("python*/site-packages")
        return found

    def ask(self, entry: Entry, library: Path | None, way: str) -> tuple[str, str]:
        """How the host takes the plugin, in a process of its own, and the text."""
        if library is None:
            built = next((self.folder / "built").glob("*.whl")).name.split("-")[0]
            words = [POINTS, built]
        elif not library.exists():
            return "missing", f"there is no {entry.library} in its wheel"
        else:
            words = [ASK, str(library), way]
        done = self._run([str(self.python), "-I", "-c", *words])
        lines = [line for line in done.stdout.splitlines() if line.startswith("ASKED ")]
        if not lines:
            return f"ended with {done.returncode}", _last(done.stderr)
        said, text = json.loads(lines[-1].removeprefix("ASKED "))
        return said, text

    def tested(self, what: str, words: list[str], found: Found) -> str:
        """The closing line of tests; a failure is a problem."""
        done = self._run(words)
        line = _last(done.stdout, 1) or _last(done.stderr, 1)
        if done.returncode:
            found.problems.append(f"{what}: {_failures(done) or _last(done.stderr) or line}")
        return line

    def _run(self, words: list[str]) -> subprocess.CompletedProcess[str]:
        left_out = ("PYTHONPATH", "VIRTUAL_ENV", "PYTHONHOME")
        settings = {name: value for name, value in os.environ.items() if name not in left_out}
        settings["PATH"] = f"{self.root / 'bin'}{os.pathsep}{settings['PATH']}"
        settings |= {"DRYSTONE_DEVELOPER_MODE": "1", "UV_LINK_MODE": "hardlink"}
        try:
            return subprocess.run(
                words, cwd=self.folder, env=settings, capture_output=True, text=True,
                timeout=SECONDS, check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return subprocess.CompletedProcess(words, 124, "", f"not done in {SECONDS:.0f} s")


def _failures(done: subprocess.CompletedProcess[str]) -> str:
    """The names of tests that failed, and what they say."""
    marks = ("FAILED", "ERROR", "WRONG", "FAIL ", "E   ")
    lines = [line.strip() for line in done.stdout.splitlines()]
    return " | ".join(line for line in lines if line.startswith(marks))[:600]


def _last(text: str, lines: int = 4) -> str:
    return " | ".join(line.strip() for line in text.strip().splitlines()[-lines:])[:600]


def marked(entry: Entry) -> bool:
    """Whether a plugin can be tried here."""
    return not entry.only_on or bool(Marker(entry.only_on).evaluate())


def verdict(found: Found) -> dict[str, Any]:
    """What is kept of a trial."""
    said = ", ".join(f"{way}: {state}" for way, state in found.loads.items())
    counts = {"conformance": found.conformance, "tests": found.tests}
    return {"host": said} | {key: text for key, text in counts.items() if text}
