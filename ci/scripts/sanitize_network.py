"""drystone-network's libraries under sanitizers: sanitize_network.py [--only thread] [--seconds 20]

`packages/network/tests/native/links_stress.cc` has two tasks exchange values of many runs over tcp,
unix and shm, with ASan and UBSan, then with TSan: threads that wait for values drive the engine in
turn (decision 0100), runs end in the middle, and strangers connect. The host library that they
stand on is the installed one, without a sanitizer. Status 1: a finding.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from pathlib import Path

from ci.scripts.sanitize import INCLUDE, SANITIZERS, call, must
from drystone_base.host._lib import path as host_path

NETWORK = Path("packages/network")
TRANSPORTS = ("tcp", "unix", "shm")


def build(name: str, folder: Path, host: Path) -> Path:
    """The program, of the libraries' sources and a library of the host."""
    program = folder / f"links_stress_{name}"
    sources = [*NETWORK.glob("native/*.cc"), *NETWORK.glob("native/links/*.cc")]
    must(
        os.environ.get("CXX", "c++"), "-std=c++20", "-g", "-O1", "-Wall", "-Wextra",
        f"-fsanitize={SANITIZERS[name]}", f"-I{INCLUDE[1]}", f"-I{NETWORK / 'native'}",
        *sorted(sources), NETWORK / "tests/native/links_stress.cc", "-o", program,
        f"-L{host.parent}", f"-l:{host.name}", f"-Wl,-rpath,{host.parent}", "-lpthread",
    )  # fmt: skip
    return program


def main(arguments: list[str] | None = None) -> int:
    """Build, run, and say what was found."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seconds", type=int, default=20, help="of each transport and sanitizer")
    parser.add_argument("--only", choices=tuple(SANITIZERS))
    options = parser.parse_args(arguments)
    failed: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        for name in [options.only] if options.only else SANITIZERS:
            program = build(name, Path(folder), host_path())
            failed += [
                f"{transport} under {name}"
                for transport in TRANSPORTS
                if call(program, transport, options.seconds)
            ]
    print(f"failed: {', '.join(failed) or 'nothing'}")
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
