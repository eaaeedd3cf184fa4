"""Compile one family of kernels of drystone-cpu alone, in seconds, as a plugin to test it by.

    python -m ci.scripts.one_family packages/cpu/kernels/plain/segments.cc [--out FOLDER] [-- FLAGS]

Prints the library, which DRYSTONE_CPU_PLUGIN hands to the tests of drystone-cpu. Families register
themselves, so that nothing else of the plugin is needed but the files of kernels/core whose headers
the family includes. A whole build of drystone-cpu takes many minutes; this is the quick loop.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from ci.scripts.project import ROOT

__all__ = ["compile_family", "main", "parts_of"]

ENTRY = """#include "core/family.h"
#include "drystone/platform_strings.h"
TF_PLATFORM_STRINGS()
extern "C" __attribute__((visibility("default"))) void TF_InitKernel(void) {
  drystone::cpu::Family::add_all();
}
"""
FLAGS = (
    "-std=c++20", "-O1", "-fPIC", "-fvisibility=hidden", "-Wall", "-Wextra",
    "-Wno-unknown-pragmas", "-ffp-contract=off",
)  # fmt: skip
_INCLUDED = re.compile(r'(?m)^#include "((?:core|fast|plain)/[\w/]+)\.h"')


def parts_of(source: Path, kernels: Path) -> list[Path]:
    """Files that a family needs of the others: those of the headers that it includes."""
    found = {"core/family"}
    todo = [source]
    while todo:
        for name in _INCLUDED.findall(todo.pop().read_text(encoding="utf-8")):
            if name not in found:
                found.add(name)
                todo += [p for p in (kernels / f"{name}.h", kernels / f"{name}.cc") if p.exists()]
    files = [kernels / f"{name}.cc" for name in sorted(found)]
    return [file for file in files if file.exists() and file != source]


def compile_family(source: Path, out: Path, root: Path = ROOT, flags: Sequence[str] = ()) -> Path:
    """The library; raises ``CalledProcessError`` where the compiler finds fault."""
    out.mkdir(parents=True, exist_ok=True)
    entry = out / "entry.cc"
    entry.write_text(ENTRY, encoding="utf-8")
    kernels = root / "packages" / "cpu" / "kernels"
    include = [f"-I{kernels}", f"-I{root / 'plugin-abi' / 'include'}"]
    compiler = os.environ.get("CXX", "g++").split()
    running, objects = [], []
    for file in (source.resolve(), entry, *parts_of(source, kernels)):
        objects.append(out / f"{file.parent.name}-{file.stem}.o")
        command = [*compiler, *FLAGS, *flags, *include, "-c", str(file), "-o", str(objects[-1])]
        running.append((command, subprocess.Popen(command)))
    for command, process in running:
        if process.wait():
            raise subprocess.CalledProcessError(process.returncode, command)
    library = out / "libdrystone_cpu.so"
    link = [*compiler, *flags, "-shared", *map(str, objects), "-o", str(library)]
    subprocess.run(link, check=True)
    return library


def main(arguments: Sequence[str] | None = None) -> int:
    """Compile the family that the command line names."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    cut = given.index("--") if "--" in given else len(given)
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("source", type=Path, help="a file of kernels/plain or kernels/fast")
    parser.add_argument("--out", type=Path, default=ROOT / ".drystone-env" / "one_family")
    options = parser.parse_args(given[:cut])
    print(compile_family(options.source, options.out, flags=given[cut + 1 :]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
