"""Compile small plugins and programs for tests, each once for all workers of a run."""

from __future__ import annotations

import atexit
import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

__all__ = [
    "INCLUDE", "PLUGINS", "SANITIZE", "compile_library", "compile_program", "compiler",
    "made_once", "scratch",
]  # fmt: skip

INCLUDE = Path(__file__).resolve().parents[1] / "include"
PLUGINS = Path(__file__).resolve().parent / "plugins"
# Enums cross a C boundary as ints: any number may arrive, and the host must answer it.
SANITIZE = (
    "-fsanitize=address,undefined",
    "-fno-sanitize=enum",
    "-fno-sanitize-recover=undefined",
    "-g",
)
_WARNINGS = ("-Wall", "-Wextra", "-Werror")
_STANDARDS = {".c": "-std=c11", ".cc": "-std=c++20"}


@cache
def scratch() -> Path:
    """A folder of all processes of a test run; else one that goes with this process."""
    if shared := os.environ.get("COMPILED_FOR_TESTS"):
        return Path(shared)
    folder, owner = Path(tempfile.mkdtemp(prefix="drystone-compiled-")), os.getpid()

    def remove() -> None:
        if os.getpid() == owner:  # not in one that it forks
            shutil.rmtree(folder, ignore_errors=True)

    atexit.register(remove)
    return folder


def made_once(name: str, make: Callable[[Path], object]) -> Path:
    """What ``make(path)`` makes there, by one process alone, as ``name`` in that folder."""
    made, draft = scratch() / name, scratch() / f"new-{name}"
    with (scratch() / f"lock-{name}").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not made.exists():
            make(draft)
            draft.rename(made)
    return made


@cache
def compiler(language: str) -> tuple[str, ...]:
    """Command of a C (``.c``) or C++ (``.cc``) compiler: $CC or $CXX, the system's, or Zig's."""
    variable, names = ("CC", ("cc", "gcc", "clang"))
    if language == ".cc":
        variable, names = ("CXX", ("c++", "g++", "clang++"))
    chosen = os.environ.get(variable, "").split()
    if chosen:
        return tuple(chosen)
    for name in names:
        if shutil.which(name):
            return (name,)
    return (sys.executable, "-m", "ziglang", "cc" if language == ".c" else "c++")


def _compile(sources: Sequence[Path], flags: Sequence[str], suffix: str) -> Path:
    texts = [source.read_bytes() for source in sources]
    key = hashlib.sha256(repr((sources, texts, flags, suffix)).encode()).hexdigest()[:16]
    language = sources[0].suffix
    last = _trailing(flags)
    first = [flag for flag in flags if flag not in last]
    command = [*compiler(language), _STANDARDS[language], *_WARNINGS, f"-I{INCLUDE}", *first]

    def make(out: Path) -> None:
        words = [*command, *map(str, sources), "-o", str(out), *last]
        done = subprocess.run(words, capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}")

    return made_once(f"{sources[0].stem}-{key}{suffix}", make)


def _trailing(flags: Sequence[str]) -> list[str]:
    """Libraries and archives come after the sources that need them."""
    return [f for f in flags if f.startswith(("-l", "-Wl,")) or f.endswith((".a", ".so"))]


def compile_library(*sources: Path | str, flags: Sequence[str] = ()) -> Path:
    """A shared library of C or C++ sources (names are looked up in tests/plugins)."""
    files = [PLUGINS / source for source in sources]
    return _compile(files, ("-shared", "-fPIC", "-fvisibility=hidden", *flags), ".so")


def compile_program(*sources: Path | str, flags: Sequence[str] = ()) -> Path:
    """An executable."""
    return _compile([PLUGINS / source for source in sources], tuple(flags), "")
