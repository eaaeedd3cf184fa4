"""Compile what is native for 64-bit Arm with the cross compiler of the package ziglang.

Run from the repository root: `python -m ci.scripts.arm64 [FILES]`. Compiled, and not linked, is
what wheels for such a processor hold, or FILES: every source of the host library, of drystone-cpu's
kernels but those by oneDNN, and of drystone-filesystem. Not the extension, which needs that
Python's headers. Nothing is run. Ends with 1 when something does not compile, and with 2 without
the compiler.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib import util
from pathlib import Path
from typing import Final

from ci.scripts.project import ROOT

__all__ = ["command", "main", "sources"]

KERNELS: Final = ROOT / "packages" / "cpu" / "kernels"
HOST: Final = ROOT / "packages" / "base" / "host"
FILES: Final = ROOT / "packages" / "filesystem" / "native"
FLAGS: Final = (
    "-std=c++20",
    "-O0",
    "-Wall",
    "-Wextra",
    "-Wno-unknown-pragmas",  # GCC's
    "-Wno-bitwise-instead-of-logical",  # what vectorizes
    "-Wno-bitwise-conditional-parentheses",
    f"-I{KERNELS}",
    f"-I{HOST / 'src'}",
    f"-I{HOST / 'include'}",
    f"-I{ROOT / 'plugin-abi' / 'include'}",
    '-DDRYSTONE_HOST_VERSION="arm64"',
)
INSTALL: Final = "no compiler for Arm: `python -m pip install ziglang` puts one beside this Python"


def sources() -> list[Path]:
    """What is compiled on a processor that has no oneDNN, by package."""
    folders = (HOST / "src", KERNELS, FILES)
    found = [file for folder in folders for file in sorted(folder.rglob("*.cc"))]
    return [file for file in found if file.parent.name != "dnnl"]


def command(file: Path, out: Path) -> list[str]:
    """The call for one file, which is compiled to another."""
    compiler = [sys.executable, "-m", "ziglang", "c++", "-target", "aarch64-linux-gnu"]
    return [*compiler, *FLAGS, "-c", str(file), "-o", str(out)]


def _complaints(file: Path) -> tuple[bool, str]:
    with tempfile.TemporaryDirectory() as folder:
        call = command(file, Path(folder) / f"{file.stem}.o")
        done = subprocess.run(call, capture_output=True, text=True, check=False, cwd=folder)
    return done.returncode == 0, done.stderr


def main(arguments: Sequence[str] | None = None) -> int:
    """Compile every file, and say how many there are."""
    parser = argparse.ArgumentParser(prog="python -m ci.scripts.arm64", description=__doc__)
    parser.add_argument("files", nargs="*", type=Path, metavar="FILES", help="sources to compile")
    files = [file.resolve() for file in parser.parse_args(arguments).files] or sources()
    if util.find_spec("ziglang") is None:
        print(INSTALL, file=sys.stderr)
        return 2
    failed = 0
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for file, (is_fine, text) in zip(files, pool.map(_complaints, files), strict=True):
            print(f"{file.relative_to(ROOT)}: {'compiled' if is_fine else 'failed'}", flush=True)
            if text:
                print(text, end="", flush=True)
            failed += not is_fine
    print(f"{len(files)} files, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
