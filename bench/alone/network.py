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
MORE = 32
"""Times that a value goes back and forth in the longer of two steps."""


def run(quick: bool) -> Report:
    """Seconds of round trips, and how fast 64 MiB go, by what carries them."""
    columns = [
        Column("what", "between two processes", text),
        Column("round_trip_s", "round trip of 8 bytes", span),
        Column("gib_per_s", "64 MiB", lambda r: "" if r is None else f"{r:.2f} GiB/s"),
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
    for transport in ("tcp", "unix", "shm"):
        once, pair = _steps(transport, 30 if quick else 200)
        for what, seconds in (
            ("a step over two tasks", once),
            ("each further pair of edges", pair),
        ):
            row = {"what": f"{what}, {transport}", "round_trip_s": seconds, "gib_per_s": None}
            report.rows.append(row)
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


def _addresses() -> list[str]:
    """Two addresses that nobody listened at a moment ago."""
    sockets = [socket.socket() for _ in range(2)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    addresses = [f"127.0.0.1:{one.getsockname()[1]}" for one in sockets]
    for one in sockets:
        one.close()
    return addresses


def _steps(transport: str, rounds: int) -> tuple[float, float]:
    """Seconds of a step whose value goes to another task and back, and of each further time."""
    import drystone as ds

    addresses = _addresses()
    spawn = multiprocessing.get_context("spawn")
    ends = spawn.Event()
    tasks = [spawn.Process(target=_task, args=(addresses, k, transport, ends)) for k in range(2)]
    for task in tasks:
        task.start()
    config = ds.SessionConfig(target=f"grpc://{addresses[0]}", deadline=60.0, optimizer="off")
    spent: dict[int, list[float]] = {1: [], 1 + MORE: []}
    try:
        sessions = {count: ds.Session(_back_and_forth(count), config) for count in spent}
        value = {"x:0": np.ones((4, 4), np.float32)}
        for _ in range(rounds):
            for count, session in sessions.items():
                start = time.perf_counter()
                session.run("y:0", value)
                spent[count].append(time.perf_counter() - start)
        for session in sessions.values():
            session.close()
    finally:
        ends.set()
        for task in tasks:
            task.join()
    once, many = (statistics.median(times) for times in spent.values())
    return once, (many - once) / MORE


def _task(addresses: list[str], task: int, transport: str, ends: Any) -> None:
    from drystone_network import Server

    with Server({"worker": addresses}, "worker", task, transport=transport):
        ends.wait()


def _back_and_forth(times: int) -> Any:
    """A graph whose value goes from the first task to the second and back so many times."""
    import drystone as ds

    graph, kind = ds.Graph(), ds.as_dtype("float32")
    tasks = [f"/job:worker/task:{k}/device:CPU:0" for k in range(2)]
    value = graph.add("Placeholder", "x", device=tasks[0], attrs={"dtype": kind})
    for k in range(times):
        for device in (tasks[1], tasks[0]):
            name = "y" if k == times - 1 and device == tasks[0] else f"n{k}_{device[-14]}"
            value = graph.add("Identity", name, [value], device=device, attrs={"T": kind})
    return graph


def _sums(transport: str, rounds: int) -> tuple[float, float]:
    """Seconds of an all_reduce of 8 bytes, and of 64 MiB of float32, over two processes."""
    addresses = _addresses()
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
