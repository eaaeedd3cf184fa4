"""Filesystems and the environment from C++, under sanitizers, and at the end of a process."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import host_programs
from compiling import PLUGINS

_EXAMPLE = Path(__file__).parents[5] / "plugin-abi" / "examples" / "filesystem_c"
_SOURCES = [_EXAMPLE / name for name in ("ramdemo.c", "files.c", "store.c")]


def test_filesystems_under_sanitizers(compile_library: Callable[..., Path], tmp_path: Path) -> None:
    seen = ["-include", str(PLUGINS / "mutexes_of_pthreads.h"), "-fvisibility=default"]
    ramdemo = compile_library(*_SOURCES, flags=[*host_programs.CHECKS, *seen])
    full = compile_library("filesystem_full.c", flags=[*host_programs.CHECKS, '-DSCHEME="full"'])
    arguments = (str(tmp_path), str(ramdemo), str(full))
    assert host_programs.run("filesystem_test.cc", *arguments).endswith("0 failures\n")


_AT_EXIT = """
import ctypes, os, sys
from drystone_base.host import filesystem as fs
fs.register_plugin(sys.argv[1])
if sys.argv[2] == "fork":  # children that were only forked leave the plugin alone
    if os.fork() == 0:
        ctypes.CDLL(None).exit(7)
    os.wait()
    if os.fork() == 0:
        sys.exit(7)
    os.wait()
    os._exit(0)
if sys.argv[2] == "c":
    ctypes.CDLL(None).exit(0)  # C's own way out, without the interpreter's
"""


def _at_exit(library: Path, way: str) -> str:
    command = [sys.executable, "-c", _AT_EXIT, str(library), way]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, env=os.environ)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_cleanup_runs_at_exit(compile_library: Callable[..., Path]) -> None:
    hook = 'ON_CLEANUP=write(1, "cleaned up\\n", 11);'
    flags = ['-DSCHEME="exit"', f"-D{hook}", "-include", "unistd.h", "-Wno-unused-result"]
    library = compile_library("filesystem_full.c", flags=flags)
    assert _at_exit(library, "python") == "cleaned up\n"
    assert _at_exit(library, "c") == "cleaned up\n"
    assert _at_exit(library, "fork") == ""
