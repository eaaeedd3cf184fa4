"""Run the conformance suites on our own libraries: `python -m ci.scripts.conformance [--sanitize]`.

They are the examples and the libraries of drystone-filesystem (`files`) and of drystone-network
(`net`). Each is compiled and given
to `pytest --plugin`. With --sanitize both the host library and the plugin are built with ASan and
UBSan, so that a plugin that frees twice, reads past an end or leaks what it was given is found out.
--json FILE writes all reports into one file.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ci.scripts import host_build
from ci.scripts.project import ROOT

__all__ = ["EXAMPLES", "FILES", "NET", "compile_example", "compile_folder", "main"]

EXAMPLES = (
    "optimizer_c", "optimizer_cpp", "passes_c", "passes_cpp", "kernels_c", "filesystem_c",
    "device_c", "subgraph_c", "network_c",
)  # fmt: skip
FILES = "files"
NET = "net"
_OF_PACKAGES = {FILES: "filesystem", NET: "network"}
"""Libraries in C++20 of packages, by name."""
NUMERIC = {"passes_cpp": "exact"}
"""What an example's passes promise of values; another one is there to change them."""
_FOLDER = ROOT / "plugin-abi" / "examples"
_SANITIZE = ("-fsanitize=address,undefined", "-fno-sanitize=enum", "-g")


def compile_example(name: str, folder: Path, flags: Sequence[str] = ()) -> Path:
    """The example's library in `folder`, with its manifest and what it lacks beside it."""
    package = _OF_PACKAGES.get(name)
    source = ROOT / "packages" / package / "native" if package else _FOLDER / name
    return compile_folder(source, folder, flags, "-std=c++20" if package else "-std=c++17")


def compile_folder(
    source: Path, folder: Path, flags: Sequence[str] = (), standard: str = "-std=c++17"
) -> Path:
    """The library of a plugin's sources in `folder`, as :func:`compile_example` makes it."""
    sources = sorted([*source.glob("*.c"), *source.glob("*.cc")])
    is_cpp = any(file.suffix == ".cc" for file in sources)
    manifest = next(source.glob("lib*.so.toml"))
    library = folder / manifest.name.removesuffix(".toml")
    command = [os.environ.get("CXX", "c++")] if is_cpp else [os.environ.get("CC", "cc")]
    command += [standard if is_cpp else "-std=c11", "-shared", "-fPIC", "-fvisibility=hidden"]
    include = f"-I{ROOT / 'plugin-abi' / 'include'}"
    script = f"-Wl,--version-script={ROOT / 'plugin-abi' / 'cmake' / 'plugin.map'}"
    paths = [*map(str, sources), "-o", str(library), script, "-lm", "-lpthread"]
    subprocess.run([*command, "-O1", "-D_GNU_SOURCE", include, *flags, *paths], check=True)
    (folder / manifest.name).write_bytes(manifest.read_bytes())
    for lacks in source.glob("*.lacks.toml"):
        (folder / lacks.name).write_bytes(lacks.read_bytes())
    return library


def _environment(sanitize: bool) -> dict[str, str]:
    settings = dict(os.environ)
    if not sanitize:
        return settings
    runtime = subprocess.run(
        [os.environ.get("CC", "cc"), "-print-file-name=libasan.so"],
        capture_output=True,
        text=True,
        check=True,
    )
    settings["DRYSTONE_HOST_LIBRARY"] = str(host_build.build(sanitize=True))
    settings["LD_PRELOAD"] = runtime.stdout.strip() + " libstdc++.so.6"
    # Python itself keeps memory until it ends: leaks are counted by the host's live objects.
    settings["ASAN_OPTIONS"] = "detect_leaks=0:abort_on_error=1"
    settings["UBSAN_OPTIONS"] = "print_stacktrace=1"
    return settings


def _run(name: str, folder: Path, sanitize: bool, settings: dict[str, str]) -> dict[str, Any]:
    library = compile_example(name, folder, _SANITIZE if sanitize else ())
    report = folder / f"{name}.json"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    command += ["--plugin", str(library), "--plugin-report", str(report)]
    command += ["--plugin-numeric", NUMERIC[name]] if name in NUMERIC else []
    command += [] if name != FILES else ["--plugin-root", f"posix=posix://{folder}/posix"]
    done = subprocess.run(command, cwd=folder, env=settings, capture_output=True, text=True)
    if done.returncode:
        print(done.stdout[-6000:] + done.stderr[-4000:])
    if not report.exists():
        return {"plugin": name, "conforms": False, "counts": {}, "reason": "the run ended early"}
    found: dict[str, Any] = json.loads(report.read_text(encoding="utf-8"))
    return found | {"plugin": name, "conforms": found["conforms"] and done.returncode == 0}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the examples asked for; 0 when each conforms."""
    every = (*EXAMPLES, *_OF_PACKAGES)
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sanitize", action="store_true", help="with ASan and UBSan")
    parser.add_argument("--json", metavar="FILE", help="write all reports")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(every)}")
    options = parser.parse_args(arguments)
    settings, reports = _environment(options.sanitize), []
    with tempfile.TemporaryDirectory() as folder:
        for name in options.names or every:
            report = _run(name, Path(folder), options.sanitize, settings)
            reports.append(report)
            state = "conforms" if report["conforms"] else "DOES NOT CONFORM"
            print(f"{name:<16} {state:<17} {report['counts']}", flush=True)
    if options.json:
        Path(options.json).write_text(json.dumps(reports, indent=2) + "\n", encoding="utf-8")
    return 0 if all(report["conforms"] for report in reports) else 1


if __name__ == "__main__":
    sys.exit(main())
