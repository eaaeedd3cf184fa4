"""Levels of instructions: which library is opened, and that none holds what its level has not."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from importlib import resources
from pathlib import Path

import pytest

HERE = Path(__file__).parent
RUN = """
import native_ops, numpy as np
(found,) = native_ops.run_native("Exp", np.linspace(-3, 3, 1000, dtype=np.float32))
np.testing.assert_allclose(found, np.exp(np.linspace(-3, 3, 1000)), rtol=1e-5)
maps = open("/proc/self/maps").read()
print(*{word for word in maps.split() if "libdrystone_cpu_v" in word})
"""
# What level v2 has not: registers of 256 and 512 bits, masks, and the newer form of instructions.
NEWER = {
    "v2": re.compile(r"%[yz]mm|%k[0-7]\b|\sv[a-z0-9]+\s.*%xmm"),
    "v3": re.compile(r"%zmm|%k[0-7]\b|%[xy]mm(1[6-9]|2[0-9]|3[01])\b"),
}


def folder() -> Path:
    """Where the libraries of levels are."""
    built = os.environ.get("DRYSTONE_CPU_PLUGIN")
    if built:
        return Path(built).parent.parent / "drystone_cpu"
    return Path(str(resources.files("drystone_cpu")))


def levels() -> list[str]:
    """The levels that were built."""
    return sorted(file.stem[-2:] for file in folder().glob("libdrystone_cpu_v?.so"))


def opened(limit: str | None) -> str:
    """The level that a process opens."""
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(HERE), *sys.path])}
    env.pop("DRYSTONE_CPU_LEVEL", None)
    if limit is not None:
        env["DRYSTONE_CPU_LEVEL"] = limit
    done = subprocess.run(
        [sys.executable, "-c", RUN], env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    (library,) = done.stdout.split()
    return Path(library).stem[-2:]


@pytest.mark.skipif(levels() != ["v2", "v3", "v4"], reason="not all levels were built")
def test_a_lower_level_can_be_asked_for() -> None:
    newest = opened(None)
    assert newest in levels()
    for limit in ("v2", "v3", "v4"):
        assert opened(limit) == min(limit, newest)


@pytest.mark.skipif(shutil.which("objdump") is None, reason="objdump is not installed")
@pytest.mark.parametrize("level", NEWER)
def test_no_library_holds_instructions_of_a_newer_level(level: str) -> None:
    if level not in levels():
        pytest.skip(f"level {level} was not built")
    files = [folder() / f"libdrystone_cpu_{level}.so"]
    if level == "v2":
        files += [folder().parent / "drystone-plugins" / "libdrystone_cpu.so"]
        files += [file for file in [folder() / "libdrystone_cpu_dnnl.so"] if file.exists()]
    for file in files:
        command = ["objdump", "-d", "--no-show-raw-insn", str(file)]
        text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        found = [line for line in checked(text) if NEWER[level].search(line)]
        assert not found, f"{file.name}: {found[:5]}"
        assert text.count("\n") > 1000


def checked(text: str) -> list[str]:
    """Disassembled lines but those of functions that are called only where a processor has them."""
    sections = text.split("Disassembly of section ")
    kept = [part for part in sections if not part.startswith("drystone_newer:")]
    return [line for part in kept for line in part.splitlines()]
