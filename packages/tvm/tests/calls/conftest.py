"""The plugin, the installed one or one that is compiled here, and a library of C functions."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from drystone_tvm.installed import MODULE

import drystone_base as ds
from drystone_base import modules
from drystone_base.ops import defs

PACKAGE = Path(__file__).resolve().parents[2]
ABI = PACKAGE.parents[1] / "plugin-abi"
SOURCE = Path(__file__).with_name("functions.c")
sys.path.insert(0, str(PACKAGE / "tests"))  # random_regions


@pytest.fixture(scope="session", autouse=True)
def plugin(tmp_path_factory: pytest.TempPathFactory) -> None:
    """TvmRuntime is an op of this process."""
    load_plugin(tmp_path_factory.mktemp("plugin"))


def load_plugin(folder: Path) -> None:
    """Load the installed plugin, else one that is compiled into the folder."""
    if modules.find(MODULE.name) is None:  # the package is not installed
        modules.register(MODULE)
    ds.plugins.ensure_loaded()
    if defs.find("TvmRuntime") is None:
        ds.plugins.load_library(_compiled(folder))


def _compiler(variable: str, usual: str) -> list[str]:
    return shlex.split(os.environ.get(variable, "")) or [usual]


def _compiled(folder: Path) -> Path:
    made = folder / "libdrystone_tvm.so"
    if made.exists():  # by a process before
        return made
    sources = sorted((PACKAGE / "runtime").glob("*.cc"))
    flags = ("-std=c++20", "-O1", "-fPIC", "-shared", "-fvisibility=hidden", "-Wall", "-Wextra")
    exports = f"-Wl,--version-script={ABI / 'cmake' / 'plugin.map'}"
    _run(*_compiler("CXX", "c++"), *flags, "-I", ABI / "include", "-o", made, *sources, exports)
    # Another name, so that this one loads where the installed one is disabled.
    manifest = (PACKAGE / "libdrystone_tvm.so.toml").read_text(encoding="utf-8")
    manifest = manifest.replace('= "tvm"', '= "tvm-of-tests"').replace("drystone-tvm", "tests")
    (folder / "libdrystone_tvm.so.toml").write_text(manifest, encoding="utf-8")
    return made


def _run(*command: object) -> None:
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-4000:]


Compile = Callable[..., Path]


@pytest.fixture(scope="session")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Compile:
    """Compile the C functions with further flags."""

    def compile_functions(*flags: str, name: str = "functions.so") -> Path:
        made = tmp_path_factory.mktemp("library") / name
        _run(
            *_compiler("CC", "cc"),
            "-O1",
            "-fPIC",
            "-shared",
            "-Wall",
            "-Wextra",
            *flags,
            "-o",
            made,
            SOURCE,
        )
        return made

    return compile_functions


@pytest.fixture(scope="session")
def library(compiled: Compile) -> Path:
    """The C functions."""
    return compiled()
