"""What of the network takes too long, or too much memory, for every run: 2 GiB, random kills.

The 2 GiB are sent by each transport of drystone-network, by that of the example in C, and by that
in C++ with which projects begin, which is written along docs/how-to/plugin_authors/network.md. All
must pass the rest of the suite, too. ASan and TSan look at threads that drive one engine.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

from ci.nightly.suite import Case, Figures, LeftOut, Place, Wrong
from ci.scripts.conformance import NET, compile_example, compile_folder
from ci.scripts.project import ROOT
from drystone_abi.new import render

__all__ = ["TITLE", "cases"]

TITLE = "Network"
GIBIBYTES = 6
MINUTES = 30
_SUITE = ("--pyargs", "drystone_conformance.suites.test_network")


def cases(_: Place) -> list[Case]:
    """The libraries' suites with their largest message, sanitizers, then the soak."""
    libraries: dict[str, Callable[[Path], Path]] = {
        "transports": partial(compile_example, NET),
        "example": partial(compile_example, "network_c"),
        "template": _template,
    }
    suites = [Case(name, partial(_suite, name, make), 1200) for name, make in libraries.items()]
    sanitized = Case("sanitizers", _sanitized, 900)
    return [*suites, sanitized, Case("soak", _soak, MINUTES * 60 + 300)]


def _template(folder: Path) -> Path:
    """The library of a new project."""
    render("acme-wire", "cpp-network", folder / "project")
    return compile_folder(folder / "project", folder)


def _suite(name: str, make: Callable[[Path], Path], place: Place) -> Figures:
    free = _free_gibibytes()
    if free < GIBIBYTES:
        raise LeftOut(f"{free} GiB of memory are free, {GIBIBYTES} are needed")
    folder = place.work / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    library = make(folder)
    settings = {"DRYSTONE_DEVELOPER_MODE": "1", "DRYSTONE_CONFORMANCE_LARGE": "1"}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *_SUITE]
    said = _run([*command, "--plugin", str(library)], folder, settings)
    found = re.search(r"(\d+) passed.* in ([\d.]+)s", said)
    if found is None:
        raise Wrong(said[-2000:])
    return {"passed": found[1], "seconds": float(found[2])}


def _free_gibibytes() -> int:
    """What programs may have, files that the system keeps in memory among it."""
    facts = Path("/proc/meminfo").read_text(encoding="utf-8")
    found = re.search(r"MemAvailable:\s*(\d+) kB", facts)
    return int(found[1]) >> 20 if found else 0


def _sanitized(place: Place) -> Figures:
    said = _run([sys.executable, "-m", "ci.scripts.sanitize_network"], ROOT, {})
    (place.work / "sanitizers.log").write_text(said, encoding="utf-8")
    rounds = [int(count) for count in re.findall(r"(\d+) values went round", said)]
    return {"runs": str(len(rounds)), "values": str(sum(rounds))}


def _soak(place: Place) -> Figures:
    command = [sys.executable, "-m", "ci.scripts.distributed.soak", "--minutes", str(MINUTES)]
    said = _run(command, ROOT, {})
    (place.work / "soak.log").write_text(said, encoding="utf-8")
    found = re.search(r"(\d+) kills; told after ([\d.]+) s, at most ([\d.]+) s", said)
    if found is None:
        raise Wrong(said[-2000:])
    return {"kills": found[1], "told after": float(found[2]), "at most": float(found[3])}


def _run(command: list[str], folder: Path, settings: dict[str, str]) -> str:
    """What a program printed; raises `Wrong` where it failed."""
    done = subprocess.run(
        command, cwd=folder, env=os.environ | settings, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise Wrong((done.stdout + done.stderr)[-2000:])
    return done.stdout
