"""Build drystone-cpu for 64-bit Arm with the cross compiler of the package ziglang.

Run from the repository root: `python -m ci.scripts.arm64 [FOLDER]`. Built are the plugin and its
library for the one level of instructions there (NEON), without oneDNN, as CMakeLists.txt does it on
such a processor; nothing is run. Ends with 1 when something does not compile. Needs cmake.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from ci.scripts.project import ROOT

__all__ = ["build", "machine_of", "main"]

TARGET: Final = "aarch64-linux-gnu"
LIBRARIES: Final = ("libdrystone_cpu.so", "libdrystone_cpu_base.so")
_AARCH64: Final = 183  # EM_AARCH64 of ELF headers


def build(where: Path) -> None:
    """Configure and build into a folder."""
    compilers = {"C": _compiler(where, "cc"), "CXX": _compiler(where, "c++")}
    options = [f"-DCMAKE_{name}_COMPILER={file}" for name, file in compilers.items()]
    options += ["-DCMAKE_SYSTEM_NAME=Linux", "-DCMAKE_SYSTEM_PROCESSOR=aarch64"]
    options += ["-DDRYSTONE_CPU_ONEDNN=OFF", f"-DPython_EXECUTABLE={sys.executable}"]
    options += ["-G", "Ninja"] if shutil.which("ninja") else []
    source = ROOT / "packages" / "cpu"
    subprocess.run(["cmake", "-S", str(source), "-B", str(where), *options], check=True)
    workers = str(os.cpu_count() or 1)
    subprocess.run(["cmake", "--build", str(where), "--parallel", workers], check=True)


def _compiler(where: Path, name: str) -> Path:
    """A program that is the cross compiler: CMake wants one file."""
    where.mkdir(parents=True, exist_ok=True)
    file = where / f"arm64-{name.replace('+', 'x')}"
    call = f'exec "{sys.executable}" -m ziglang {name} -target {TARGET} "$@"'
    file.write_text(f"#!/bin/sh\n{call}\n", encoding="utf-8")
    file.chmod(0o755)
    return file


def machine_of(library: Path) -> int:
    """The processor that an ELF file is for, by its header's number."""
    return int.from_bytes(library.read_bytes()[18:20], "little")


def main(arguments: Sequence[str] | None = None) -> int:
    """Build, and say what came out."""
    parser = argparse.ArgumentParser(prog="python -m ci.scripts.arm64", description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, help="where to build, kept afterwards")
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as temporary:
        where = given.folder or Path(temporary)
        try:
            build(where)
        except subprocess.CalledProcessError:
            return 1
        for name in LIBRARIES:
            machine = machine_of(where / name)
            print(f"{name}: {'64-bit Arm' if machine == _AARCH64 else f'machine {machine}'}")
            if machine != _AARCH64:
                return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
