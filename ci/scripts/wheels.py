"""Sdists and wheels of the packages: python -m ci.scripts.wheels FOLDER [--quick] [--only KEY]

Each package is built into an sdist and, from that, into a wheel; FOLDER is emptied first. Builds
run beside each other, the longest first, once drystone-plugin-abi is there, which native ones need.
--quick is for work on a checkout: wheels of the tree without sdists, kernels for this machine's
level of instructions only, what computes nothing optimized less, the standard library's headers
compiled once, and what is light several files at a time; objects are kept in .drystone-env/build.
A release is built without it, and each wheel has its bill of materials. With --alone a package that
can be Python alone gets a wheel of that, too, in FOLDER/alone, where nothing takes it for the one
of this machine. Needs `uv`.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from ci.release import sbom
from ci.scripts.jobs import closure
from ci.scripts.project import ROOT, Package, packages

__all__ = [
    "ALONE",
    "OBJECTS",
    "build",
    "can_be_alone",
    "chosen",
    "command",
    "main",
    "newest",
    "wheel_of",
]

CONTRACT = "plugin-abi"
# What computes nothing is optimized for releases: -O2 takes at least a third longer to compile it.
_LIGHT = {"CMAKE_CXX_FLAGS_RELEASE": "-O1 -DNDEBUG"}
_HEADERS = {"DRYSTONE_PRECOMPILED_HEADERS": "ON"}
_FOLDERS = {"CMAKE_UNITY_BUILD": "ON"}
QUICK = {
    "base": _LIGHT | _HEADERS | _FOLDERS,
    "cpu": {"DRYSTONE_CPU_LEVELS": "native", "DRYSTONE_CPU_PLAIN": "-O1"} | _HEADERS,
    "filesystem": _LIGHT | _FOLDERS,
    "network": _LIGHT | _FOLDERS,
}
LONGEST = ("cpu", "base")
ALONE = {"DRYSTONE_PURE": "1"}
"""In the environment of a build: a wheel of Python alone, with the tag py3-none-any."""
OBJECTS = ROOT / ".drystone-env" / "build"
"""Where quick builds of native packages have their objects, by key."""


def chosen(
    without: Iterable[str] = (), apart: Iterable[str] = (), only: Iterable[str] = ()
) -> list[Package]:
    """Packages to build, lowest layer first; those with large downloads only where `apart`.

    With `only`: those that it names, and what they depend on.
    """
    every, left_out, named = packages(), set(without), set(apart)
    wanted = closure(every, only or every)
    return [
        every[key] for key in wanted
        if key not in left_out and (not every[key].apart or key in named)
    ]  # fmt: skip


def can_be_alone(package: Package) -> bool:
    """Whether a wheel of it can be without what is native."""
    return next(iter(ALONE)) in (package.path / "pyproject.toml").read_text(encoding="utf-8")


def command(package: Package, folder: Path, quick: bool) -> list[str]:
    """What builds one package."""
    defines = QUICK.get(package.key, {}) if quick else {}
    settings = [f"--config-setting=cmake.define.{name}={value}" for name, value in defines.items()]
    if defines:  # not among those of other builds, which have other settings
        settings.append(f"--config-setting=build-dir={OBJECTS / package.key}")
    if quick:
        settings.append("--wheel")
    # A rebuilt wheel keeps its version: uv must not take an older build from its cache.
    fresh = ("--refresh-package", "drystone-plugin-abi")
    return ["uv", "build", "-q", "--no-sources", *fresh, *settings, "-o", str(folder), package.dir]


def build(
    wanted: list[Package], folder: Path, quick: bool = False, alone: bool = False
) -> list[str]:
    """Build packages into the folder; the names of those that failed."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    cores = len(os.sched_getaffinity(0))
    settings = {**os.environ, "UV_FIND_LINKS": str(folder)}
    settings.setdefault("CMAKE_BUILD_PARALLEL_LEVEL", str(cores))

    def one(package: Package) -> bool:
        done = _run(command(package, folder, quick), settings)
        if done and alone and can_be_alone(package):
            words = [*command(package, folder / "alone", quick=False), "--wheel"]
            done = _run(words, settings | ALONE)
        for wheel in [] if quick else folder.rglob(f"{_stem(package)}-[0-9]*.whl"):
            sbom.add(wheel)
        return done

    first = [package for package in wanted if package.key == CONTRACT]
    rest = [package for package in wanted if package.key != CONTRACT]
    rest.sort(key=lambda package: LONGEST.index(package.key) if package.key in LONGEST else 9)
    failed = [package.key for package in first if not one(package)]
    with ThreadPoolExecutor(max(2, cores)) as pool:
        made = zip(rest, pool.map(one, rest), strict=True)
        return failed + [package.key for package, ok in made if not ok]


def _run(words: list[str], settings: dict[str, str]) -> bool:
    """Run a build and print what it printed; whether it went well."""
    done = subprocess.run(
        words, cwd=ROOT, env=settings, capture_output=True, text=True, check=False
    )
    sys.stdout.write(f"{' '.join(words)}\n{done.stdout}{done.stderr}")
    sys.stdout.flush()
    return done.returncode == 0


def newest(folder: Path) -> dict[str, Path]:
    """The wheel of the highest version of each distribution in a folder, by its wheel's name."""
    found: dict[str, tuple[list[int], Path]] = {}
    for wheel in folder.glob("*.whl"):
        name, version = wheel.name.split("-")[:2]
        number = [int(part) for part in version.split(".") if part.isdigit()]
        found[name] = max(found.get(name, (number, wheel)), (number, wheel))
    return {name: wheel for name, (_, wheel) in sorted(found.items())}


def wheel_of(package: Package, folder: Path) -> Path:
    """The package's wheel."""
    return next(folder.glob(f"{_stem(package)}-[0-9]*.whl"))


def _stem(package: Package) -> str:
    return package.distribution.replace("-", "_")


def main(arguments: list[str] | None = None) -> int:
    """Build what the arguments say; status 1: some did not."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--quick", action="store_true", help="for this machine only")
    parser.add_argument("--alone", action="store_true", help="wheels of Python alone, too")
    parser.add_argument("--without", action="append", default=[], metavar="KEY")
    parser.add_argument("--apart", action="append", default=[], metavar="KEY")
    parser.add_argument("--only", action="append", default=[], metavar="KEY")
    options = parser.parse_args(arguments)
    wanted = chosen(options.without, options.apart, options.only)
    failed = build(wanted, options.folder, options.quick, options.alone)
    if failed:
        print(f"not built: {', '.join(failed)}")
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
