"""The plugin without CUDA, compiled once: its kernels are loops of the processor."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[2]
INCLUDE = PACKAGE.parents[1] / "plugin-abi" / "include"
FLAGS = ("-std=c++20", "-O0", "-fPIC", "-fno-math-errno", "-ffp-contract=off", "-Wall", "-Wextra",
         "-Werror", "-fvisibility=hidden")  # fmt: skip


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The library, with its manifest beside it."""
    shared = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        shared = shared.parent
    folder = shared / "drystone-gpu"
    folder.mkdir(exist_ok=True)
    made = folder / "libdrystone_gpu.so"
    with (folder / "lock").open("w") as lock:  # workers wait for the one that compiles
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not made.exists():
            _build(folder, made)
    return made


def _build(folder: Path, made: Path) -> None:
    sources = [*(PACKAGE / "backend").glob("*.cc"), *(PACKAGE / "backend").glob("*.cu")]
    sources = [file for file in sources if file.name != "cuda.cc"]
    with ThreadPoolExecutor(2) as pool:
        objects = list(pool.map(lambda file: _compiled(folder, file), sources))
    _run("c++", "-shared", "-o", f"{made}.new", *objects, "-ldl", "-lpthread")
    shutil.copy(PACKAGE / "libdrystone_gpu.so.toml", folder)
    Path(f"{made}.new").replace(made)


def _compiled(folder: Path, source: Path) -> str:
    target = str(folder / f"{source.stem}{source.suffix[1:]}.o")
    paths = ("-I", str(INCLUDE), "-I", str(source.parent))
    _run("c++", *FLAGS, *paths, "-x", "c++", "-c", str(source), "-o", target)
    return target


def _run(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-4000:]


@pytest.fixture(scope="session")
def environment() -> dict[str, str]:
    """For processes of their own: what one plugin registers must not reach other tests."""
    own = {
        "DRYSTONE_EXECUTABLE_CACHE": "off",
        "DRYSTONE_PLAN_CACHE": "off",
        "DRYSTONE_DEVELOPER_MODE": "1",
    }
    path = os.pathsep.join([str(PACKAGE.parents[1]), *filter(None, sys.path)])
    return {**os.environ, **own, "PYTHONPATH": path}
