"""Run clang-tidy over the C++ of this repository: `python -m ci.scripts.clang_tidy [FILES]`.

Without FILES: the host's sources, the extension for Python, drystone-cpu's kernels, the library of
drystone-filesystem, every header of the C++ SDK through one file that includes them all, and the
examples in C and C++. Kernels by oneDNN are left out where its headers (the package
onednn-devel-cpu-gomp) are not beside this Python. The checks are those of ci/config/clang-tidy.
Ends with 1 when there are findings, and with 2 when clang-tidy is not installed.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from importlib import metadata, util
from pathlib import Path

from ci.scripts.project import ROOT

__all__ = ["command", "default_files", "findings", "main"]

CONFIG = ROOT / "ci" / "config" / "clang-tidy"
HOST = ROOT / "packages" / "base" / "host"
ABI = ROOT / "plugin-abi"
SDK = ABI / "include" / "drystone" / "sdk"
BINDING = ROOT / "packages" / "base" / "binding"
KERNELS = ROOT / "packages" / "cpu" / "kernels"
FLAGS = (
    f"-I{HOST / 'include'}",
    f"-I{ABI / 'include'}",
    f"-I{BINDING.parent}",
    '-DDRYSTONE_HOST_VERSION="tidy"',
)
INSTALL = (
    "clang-tidy is not installed: `python -m pip install clang-tidy` puts it beside this Python, "
    "or name another one with --clang-tidy PATH"
)
EXAMPLES = """\
examples:
  python -m ci.scripts.clang_tidy
  python -m ci.scripts.clang_tidy packages/base/host/src/core/status.cc
  python -m ci.scripts.clang_tidy --clang-tidy /usr/bin/clang-tidy-18
"""
_FINDING = re.compile(r"^\S.*:\d+:\d+: (?:warning|error): ")


def default_files(root: Path = ROOT) -> list[Path]:
    """Sources of the host, the extension, the kernels and the examples, in order."""
    host = (root / "packages" / "base" / "host" / "src").rglob("*.cc")
    binding = (root / "packages" / "base" / "binding").glob("*.cc")
    kernels = (root / "packages" / "cpu" / "kernels").rglob("*.cc")
    known = [file for file in kernels if file.parent.name != "dnnl" or _onednn()]
    files = (root / "packages" / "filesystem" / "native").glob("*.cc")
    examples = root / "plugin-abi" / "examples"
    shown = [*examples.rglob("*.c"), *examples.rglob("*.cc")]
    return [*sorted(host), *sorted(binding), *sorted(known), *sorted(files), *sorted(shown)]


@cache
def _onednn() -> Path | None:
    """The folder of oneDNN's headers, beside this Python; None where they are not."""
    try:
        files = metadata.files("onednn-devel-cpu-gomp") or []
    except metadata.PackageNotFoundError:
        return None
    headers = [file.locate() for file in files if file.name == "dnnl.hpp"]
    return min((Path(str(h)).resolve().parent for h in headers), key=lambda p: len(p.parts))


@cache
def _of_others() -> tuple[str, ...]:
    """Where headers that are not ours are: Python's, NumPy's and oneDNN's, as far as there."""
    found = [Path(sysconfig.get_path("include"))]
    numpy = util.find_spec("numpy")
    if numpy is not None and numpy.origin is not None:
        found.append(Path(numpy.origin).parent / "_core" / "include")
    onednn = _onednn()
    last = f"-idirafter{_of_compiler()}"  # omp.h alone: Clang has its own of the others
    return (*(f"-isystem{folder}" for folder in [*found, *([onednn] if onednn else [])]), last)


def _of_compiler() -> str:
    """The folder of GCC's own headers; "include" where there is no GCC."""
    call = ["c++", "-print-file-name=include"]
    if shutil.which("c++") is None:
        return "include"
    return subprocess.run(call, capture_output=True, text=True, check=False).stdout.strip()


def command(tool: str, file: Path) -> list[str]:
    """The call for one file; headers of this repository that it includes are checked with it."""
    standard = "-std=c11" if file.suffix == ".c" else "-std=c++20"
    places = "packages/base/host|packages/base/binding|packages/cpu/kernels|plugin-abi"
    ours = f"{re.escape(str(ROOT))}/({places})/.*"
    options = ["--quiet", f"--config-file={CONFIG}", f"--header-filter={ours}"]
    own = KERNELS if file.is_relative_to(KERNELS) else HOST / "src"  # both have a folder "core"
    flags = (f"-I{own}", *FLAGS, *_of_others(), f"-I{file.parent}")
    return [tool, *options, str(file), "--", standard, *flags]


def findings(tool: str, file: Path) -> list[str]:
    """What clang-tidy says about a file, one text for each finding with the lines it shows."""
    done = subprocess.run(command(tool, file), capture_output=True, text=True, cwd=ROOT)
    out: list[str] = []
    for line in done.stdout.splitlines():
        if _FINDING.match(line):
            out.append(line)
        elif out:
            out[-1] += "\n" + line
    if done.returncode and not out:
        out.append(f"{file}: clang-tidy failed: {done.stderr.strip()}")
    return out


def _checked(tool: str, files: Sequence[Path]) -> list[str]:
    """Findings of all files, each once although several files include the header it is in."""
    seen: dict[str, None] = {}
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        found = pool.map(lambda file: findings(tool, file), files)
        for number, (file, texts) in enumerate(zip(files, found, strict=True), 1):
            shown = file.relative_to(ROOT) if file.is_relative_to(ROOT) else file.name
            print(f"[{number}/{len(files)}] {shown}", file=sys.stderr, flush=True)
            for finding in texts:
                if finding not in seen:
                    seen[finding] = None
                    print(finding, flush=True)
    return list(seen)


def _tool(given: str | None) -> str | None:
    """The clang-tidy to use: the one named, beside this Python, or on the path."""
    beside = shutil.which("clang-tidy", path=str(Path(sys.executable).parent))
    return shutil.which(given) if given else beside or shutil.which("clang-tidy")


def main(arguments: Sequence[str] | None = None) -> int:
    """Check the files and say how many findings there are."""
    parser = argparse.ArgumentParser(
        prog="python -m ci.scripts.clang_tidy",
        description=__doc__,
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("files", nargs="*", type=Path, metavar="FILES", help="sources to check")
    parser.add_argument("--clang-tidy", metavar="PATH", help="the program to run")
    given = parser.parse_args(arguments)
    tool = _tool(given.clang_tidy)
    if tool is None:
        print(INSTALL, file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as folder:
        files = [file.resolve() for file in given.files]
        if not files:
            sdk = Path(folder) / "all_of_the_sdk.cc"
            names = sorted(header.name for header in SDK.glob("*.hpp"))
            sdk.write_text("".join(f'#include "drystone/sdk/{name}"\n' for name in names))
            files = [*default_files(), sdk]
        found = _checked(tool, files)
    print(f"{len(files)} files, {len(found)} findings")
    return 1 if found else 0


if __name__ == "__main__":
    raise SystemExit(main())
