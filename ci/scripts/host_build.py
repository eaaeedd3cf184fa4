"""Build the host library into the source tree: `python -m ci.scripts.host_build [--sanitize]`.

Wheels build it by themselves; this is for work on a checkout, where `libdrystone_host.so` then lies
beside the Python files. With --sanitize it is built with ASan and UBSan elsewhere, and the path is
printed, for DRYSTONE_HOST_LIBRARY. Needs cmake, ninja or make, and a C++ compiler.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
from pathlib import Path

from ci.scripts.project import ROOT

__all__ = ["build", "main"]

SOURCE = ROOT / "packages" / "base"
FILE = "libdrystone_host.so"


def build(sanitize: bool) -> Path:
    """Configure and build; returns the library's path."""
    where = ROOT / ".drystone-env" / ("host-asan" if sanitize else "host")
    generator = ["-G", "Ninja"] if shutil.which("ninja") else []
    options = [f"-DDRYSTONE_SANITIZE={'ON' if sanitize else 'OFF'}"]
    if sanitize:
        options.append("-DCMAKE_BUILD_TYPE=RelWithDebInfo")
    subprocess.run(["cmake", "-S", str(SOURCE), "-B", str(where), *generator, *options], check=True)
    subprocess.run(["cmake", "--build", str(where), "--parallel", "2"], check=True)
    if sanitize:
        return where / FILE
    target = SOURCE / "src" / "drystone_base" / "host" / FILE
    draft = target.with_suffix(".new")
    shutil.copy2(where / FILE, draft)
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
