"""Build the native parts of drystone-base into the tree: python -m ci.scripts.host_build.

Wheels build them by themselves; this is for work on a checkout, where `libdrystone_host.so` and the
extension `_native.abi3.so` then lie beside the Python files; an editable installation in the
running environment has a copy of the extension, which is renewed. With --sanitize the library is
built with ASan and UBSan elsewhere, and the path is printed, for DRYSTONE_HOST_LIBRARY. Needs
cmake, ninja or make, and a C++ compiler.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

from ci.scripts.project import ROOT

__all__ = ["build", "main"]

SOURCE = ROOT / "packages" / "base"
FILE = "libdrystone_host.so"
EXTENSION = "_native.abi3.so"


def build(sanitize: bool) -> Path:
    """Configure and build; returns the library's path."""
    where = ROOT / ".drystone-env" / ("host-asan" if sanitize else "host")
    generator = ["-G", "Ninja"] if shutil.which("ninja") else []
    options = [f"-DPython_EXECUTABLE={sys.executable}"]
    if sanitize:
        options += ["-DDRYSTONE_SANITIZE=address,undefined", "-DCMAKE_BUILD_TYPE=RelWithDebInfo"]
        options.append("-DDRYSTONE_BINDING=OFF")
    subprocess.run(["cmake", "-S", str(SOURCE), "-B", str(where), *generator, *options], check=True)
    subprocess.run(["cmake", "--build", str(where), "--parallel", "2"], check=True)
    if sanitize:
        return where / FILE
    package = SOURCE / "src" / "drystone_base"
    _replace(where / EXTENSION, package / EXTENSION)
    installed = Path(sysconfig.get_path("platlib"), "drystone_base", EXTENSION)
    if installed.exists() and not (installed.parent / "__init__.py").exists():
        _replace(where / EXTENSION, installed)
    return _replace(where / FILE, package / "host" / FILE)


def _replace(built: Path, target: Path) -> Path:
    draft = target.with_name(target.name + ".new")
    shutil.copy2(built, draft)
    draft.replace(target)  # a process that has the old one open keeps it
    return target


def main(arguments: list[str] | None = None) -> int:
    """Build and print where the library is."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sanitize", action="store_true", help="with ASan and UBSan")
    print(build(parser.parse_args(arguments).sanitize))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
