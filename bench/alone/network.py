"""Transports beside plain sockets, a step over two tasks, and sums over two processes."""

from __future__ import annotations

import multiprocessing
import os
import socket
import statistics
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

import drystone_abi
from bench.alone._report import Column, Report, span, text

__all__ = ["run"]

PACKAGE = Path(__file__).resolve().parents[2] / "packages" / "network"
MEBIBYTES = 64


def run(quick: bool) -> Report:
    """Seconds of round trips, and how fast 64 MiB go, by what carries them."""
    columns = [
        Column("what", "between two processes", text),
        Column("round_trip_s", "round trip of 8 bytes", span),
        Column("gib_per_s", "64 MiB", lambda rate: f"{rate:.2f} GiB/s"),
    ]
    report = Report("network", "Messages, and sums over two processes", columns)
    try:
        lines = _transports(1_000 if quick else 10_000)
    except (OSError, subprocess.CalledProcessError) as error:
        report.notes.append(f"transports not measured: no C++ compiler made the program: {error}")
        lines = []
    for name, micros, rate in (line.split() for line in lines):
        row = {"what": name, "round_trip_s": float(micros) * 1e-6, "gib_per_s": float(rate)}
        report.rows.append(row)
    for transport in ("tcp", "unix", "shm"):
        small, large = _sums(transport, 20 if quick else 100)
        speed = MEBIBYTES / 1024 / large
        what = f"all_reduce, {transport}"
        report.rows.append({"what": what, "round_trip_s": small, "gib_per_s": speed})
    return report


def _transports(rounds: int) -> list[str]:
    with tempfile.TemporaryDirectory(prefix="drystone-bench-") as folder:
        program, native = Path(folder) / "transports", PACKAGE / "native"
        sources = [str(f) for f in sorted(native.glob("*.cc")) if f.name != "plugin.cc"]
        include = [f"-I{drystone_abi.get_include()}", f"-I{native}"]
        command = [os.environ.get("CXX", "c++"), "-std=c++20", "-O2", *include, *sources]
        command += [str(PACKAGE / "bench" / "transports.cc"), "-o", str(program), "-lpthread"]
        subprocess.run(command, check=True, capture_output=True, text=True)
        done = subprocess.run(
            [str(program), str(rounds)], check=True, capture_output=True, text=True
        )
    return done.stdout.splitlines()


def _sums(transport: str, rounds: int) -> tuple[float, float]:
    """Seconds of an all_reduce of 8 bytes, and of 64 MiB of float32, over two processes."""
    sockets = [socket.socket() for _ in range(2)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    addresses = [f"127.0.0.1:{one.getsockname()[1]}" for one in sockets]
    for one in sockets:
        one.close()
    spawn = multiprocessing.get_context("spawn")
    answers = spawn.SimpleQueue()
    others = [
        spawn.Process(target=_member, args=(addresses, k, transport, rounds, answers))
        for k in range(2)
    ]
    for other in others:
        other.start()
    found: tuple[float, float] = answers.get()
    for other in others:
        other.join()
    return found


def _member(addresses: list[str], task: int, transport: str, rounds: int, answers: Any) -> None:
    from drystone_network import ClusterSpec, Group

    with Group(ClusterSpec({"worker": addresses}), "worker", task, transport=transport) as group:
        best = []
        for size, count in ((2, rounds), (MEBIBYTES << 18, 5)):
            value, spent = np.ones(size, np.float32), []
            for _ in range(count):
                group.barrier()
                start = time.perf_counter()
                group.all_reduce(value)
                spent.append(time.perf_counter() - start)
            best.append(statistics.median(spent) if size == 2 else min(spent))
        group.barrier()
    if task == 0:
        answers.put(tuple(best))
