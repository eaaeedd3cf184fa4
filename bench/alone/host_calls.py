"""Nanoseconds of a call of a plugin's kernel inside the host library, and of its handles."""

from __future__ import annotations

import os
import subprocess
import tempfile
from pathlib import Path

import drystone_abi
from bench.alone._report import Column, Report, number, span, text
from drystone_base import host

__all__ = ["run"]

SOURCE = (
    Path(__file__).resolve().parents[2] / "packages" / "base" / "host" / "bench" / "kernel_call.cc"
)


def run(quick: bool) -> Report:
    """Seconds of one call by what the kernel does; all of it is the host's own work."""
    columns = [
        Column("what", "kernel, or handle made and deleted", text),
        Column("least_s", "least", span),
        Column("calls", "calls a round", number),
    ]  # fmt: skip
    report = Report("host_calls", "Call of a plugin's kernel in the host library", columns)
    calls = 100_000 if quick else 1_000_000
    try:
        lines = _measure(calls)
    except (OSError, subprocess.CalledProcessError) as error:
        report.notes.append(f"not measured: no C++ compiler made the program: {error}")
        return report
    report.rows = [
        {"what": " ".join(words[:-1]), "least_s": float(words[-1]) * 1e-9, "calls": calls}
        for words in (line.split() for line in lines)
    ]
    return report


def _measure(calls: int) -> list[str]:
    library = host.path().resolve()
    with tempfile.TemporaryDirectory(prefix="drystone-bench-") as folder:
        program = Path(folder) / "kernel_call"
        include = [f"-I{drystone_abi.get_include()}", f"-I{host.get_include()}"]
        command = [os.environ.get("CXX", "c++"), "-std=c++20", "-O2", *include, str(SOURCE)]
        link = [str(library), f"-Wl,-rpath,{library.parent}", "-o", str(program)]
        subprocess.run([*command, *link], check=True, capture_output=True, text=True)
        done = subprocess.run(
            [str(program), str(calls)], check=True, capture_output=True, text=True
        )
    return done.stdout.splitlines()
