"""The executor and drystone-cpu under sanitizers: sanitize.py [--only address] [--zoo]

The host library and the plugin are built with ASan and UBSan, then with TSan: plain and fast
kernels of one level, and those by oneDNN, whose library comes from a wheel and has no sanitizer:
its teams are of the host's threads (kernels/omp), which have one. plans_stress.cc of the host's
tests runs plans of recorded models, layers and random programs from many threads: as they are,
optimized, and in 16 bits, each as a region of a graph, too; parallel_run_test.cc runs kernels of
one plan at once. Programs of the host's unit tests, which look for bad memory alone there, are
built with both. posix:// and ram:// of drystone-filesystem are hammered: by threads, and with paths
of any bytes. Under ASan the golden tests of drystone-cpu, the backend cpu, the random programs and
the whole zoo of bad plugins run in Python; with --zoo that alone, on the host alone. Needs an
installed drystone-cpu, which the plans are made with, and its build requirement of oneDNN. Status
1: a finding.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from ci.scripts.project import ROOT
from ci.scripts.sanitize_plans import write_plans
from ci.scripts.sanitize_zoo import run_zoo

SANITIZERS = {"address": "address,undefined", "thread": "thread"}
SUITES = (
    "packages/cpu/tests/golden",
    "packages/base/tests/unit/executor/test_executors_agree.py",
    "packages/subgraph/tests/golden/test_cpu_backend.py",
)
# Recorded models run as plans, as they are and as regions: in Python they would take an hour.
# Where memory comes from and what is held: a host under sanitizers keeps no blocks, ASan all freed.
LEFT_OUT = (
    "packages/subgraph/tests/golden/test_cpu_backend.py::test_recorded_models",
    "packages/cpu/tests/golden/test_places.py::test_the_place_follows_from_the_size",
    "packages/cpu/tests/golden/test_stored_weights.py::test_a_convolution_holds_multiplied_weights_once",
)
# What a sanitizer writes as it ends the process must not be held back: no capture of files.
PYTEST = (
    "-q", "--capture=sys", "-p", "no:cacheprovider", "--timeout=3600",
    "-o", "faulthandler_timeout=3600",
    *(word for test in LEFT_OUT for word in ("--deselect", test)),
)  # fmt: skip
PROGRAMS = ("plans_stress", "parallel_run_test", "operators_test")
LEVEL = "v3"
WORK = ROOT / ".drystone-env"
INCLUDE = (ROOT / "packages/base/host/include", ROOT / "plugin-abi/include")


def call(*command: object, env: dict[str, str] | None = None) -> int:
    """Run a command; its status."""
    words = [str(word) for word in command]
    print("+", " ".join(words[:8]), "..." if len(words) > 8 else "", flush=True)
    return subprocess.run(
        words, env={**os.environ, **(env or {})}, check=False, cwd=ROOT
    ).returncode


def must(*command: object) -> None:
    """Run a command that a build cannot do without."""
    if call(*command):
        raise SystemExit(f"{command[0]} failed")


def build_host(name: str) -> Path:
    """The host library, in the folder `host` of the one that is returned."""
    where = WORK / f"sanitize-{name}"
    options = [_flag(name), _python(), "-DDRYSTONE_BINDING=OFF", "-DCMAKE_UNITY_BUILD=ON"]
    quick = ["-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_CXX_FLAGS_DEBUG=-O1 -g1"]
    must("cmake", "-S", "packages/base", "-B", where / "host", *options, *quick)
    must("cmake", "--build", where / "host", "--parallel", "2")
    return where


def _flag(name: str) -> str:
    return f"-DDRYSTONE_SANITIZE={SANITIZERS[name]}"


def _python() -> str:
    return f"-DPython_EXECUTABLE={sys.executable}"


def build(name: str) -> Path:
    """The host library, the plugin and the programs, in the folder that is returned."""
    where = build_host(name)
    kernels = [_flag(name), f"-DDRYSTONE_CPU_LEVELS={LEVEL}", "-DDRYSTONE_CPU_ONEDNN=ON"]
    must("cmake", "-S", "packages/cpu", "-B", where / "cpu", *kernels, _python())
    must("cmake", "--build", where / "cpu", "--parallel", "2")
    must("cmake", "--install", where / "cpu", "--prefix", where / "plugin")
    library = where / "host"
    for program in PROGRAMS:
        must(
            os.environ.get("CXX", "c++"), "-std=c++20", "-g", "-O1", "-Wall", "-Wextra",
            f"-fsanitize={SANITIZERS[name]}", *(f"-I{folder}" for folder in INCLUDE),
            f"packages/base/host/tests/{program}.cc", "-o", where / program,
            f"-L{library}", "-ldrystone_host", f"-Wl,-rpath,{library}", "-lpthread",
        )  # fmt: skip
    return where


def programs() -> list[Path]:
    """The host's unit tests that build programs of its sources."""
    files = sorted((ROOT / "packages/base/tests/unit/host").glob("test_*.py"))
    return [file for file in files if "host_programs" in file.read_text(encoding="utf-8")]


def hammer_files(name: str, where: Path) -> int:
    """The tables of drystone-filesystem's library, without a host; the status."""
    source = ROOT / "packages/filesystem"
    program = where / "hammer"
    must(
        os.environ.get("CXX", "c++"), "-std=c++20", "-g", "-O1", "-Wall", "-Wextra",
        f"-fsanitize={SANITIZERS[name]}", "-fno-sanitize=enum", f"-I{INCLUDE[1]}",
        f"-I{source / 'native'}", *sorted((source / "native").glob("*.cc")),
        source / "tests/native/hammer.cc", "-o", program, "-lpthread",
    )  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        return call(program, folder, 20)


def settings(name: str, where: Path) -> dict[str, str]:
    """What a process needs that runs Python with the sanitized libraries."""
    runtime = subprocess.run(
        [os.environ.get("CC", "cc"), f"-print-file-name=lib{name[0]}san.so"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return {
        "DRYSTONE_HOST_LIBRARY": str(where / "host" / "libdrystone_host.so"),
        "DRYSTONE_CPU_PLUGIN": str(where / "plugin/drystone-plugins/libdrystone_cpu.so"),
        "LD_PRELOAD": f"{runtime.stdout.strip()} libstdc++.so.6",
        "ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1",  # Python keeps memory
        "DRYSTONE_PLUGIN_PROBE_SECONDS": "0",  # a trial has less address space than ASan needs
    }


def main(arguments: list[str] | None = None) -> int:
    """Build, run, and say what was found."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seconds", type=int, default=60, help="of the plans, per sanitizer")
    parser.add_argument("--threads", type=int, default=6)
    parser.add_argument("--programs", type=int, default=100, help="random programs")
    parser.add_argument("--only", choices=tuple(SANITIZERS))
    parser.add_argument("--zoo", action="store_true", help="the zoo of bad plugins alone")
    options = parser.parse_args(arguments)
    if options.zoo:
        return int(bool(run_zoo(settings("address", build_host("address")), PYTEST)))
    failed = []
    with tempfile.TemporaryDirectory() as folder:
        plans = write_plans(Path(folder), options.programs)
        for name in [options.only] if options.only else SANITIZERS:
            where = build(name)
            plugin = where / "plugin/drystone-plugins/libdrystone_cpu.so"
            level = {"DRYSTONE_CPU_LEVEL": LEVEL}
            stress = (where / "plans_stress", plugin, options.seconds, options.threads)
            if call(*stress, *plans, env=level):
                failed.append(f"plans under {name}")
            if call(where / "parallel_run_test"):
                failed.append(f"kernels at once under {name}")
            if hammer_files(name, where):
                failed.append(f"files under {name}")
            if call(where / "operators_test"):
                failed.append(f"operators of regions under {name}")
            host = (sys.executable, "-m", "pytest", *PYTEST, *programs())
            if call(*host, env={"HOST_SANITIZERS": name}):
                failed.append(f"programs of the host's tests under {name}")
            if name == "address":
                pytest = (sys.executable, "-m", "pytest", *PYTEST, *SUITES)
                given = settings(name, where)
                if call(*pytest, env=given | level):
                    failed.append(f"suites under {name}")
                failed += run_zoo(given, PYTEST)
    print(f"{len(plans)} plans; failed: {', '.join(failed) or 'nothing'}")
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
