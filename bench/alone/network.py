"""Transports beside plain sockets, a step over two tasks, and sums over two processes."""

from __future__ import annotations

import multiprocessing
import os
import socket
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np

import drystone_abi
from bench.alone._report import Column, Report, span, text
from bench.environments import REQUIREMENTS, install
from bench.peers import HOME

__all__ = ["free_addresses", "run"]

PACKAGE = Path(__file__).resolve().parents[2] / "packages" / "network"
MEBIBYTES = 64
TURNS = 3
SECONDS = 120
WORKER = Path(__file__).resolve().parents[1] / "worker"
MORE = 32
"""Times that a value goes back and forth in the longer of two steps."""


def run(quick: bool) -> Report:
    """Seconds of round trips, and how fast 64 MiB go, by what carries them."""
    columns = [
        Column("what", "between two processes", text),
        Column("round_trip_s", "round trip of 8 bytes", span),
        Column("processor_s", "processor of one", span),
        Column("gib_per_s", "64 MiB", lambda rate: f"{rate:.2f} GiB/s"),
        Column("of_socket", "of a plain socket's", lambda part: f"{part:.0%}"),
    ]
    report = Report("network", "Messages, and sums over two processes", columns)
    turns = 1 if quick else TURNS
    try:
        _transports(report, 1_000 if quick else 10_000, turns)
    except (OSError, subprocess.CalledProcessError) as error:
        report.notes.append(f"transports not measured: no C++ compiler made the program: {error}")
    _all_reduce(report, 20 if quick else 100, turns)
    for transport in ("tcp", "unix", "shm"):
        found = [_steps(transport, 30 if quick else 100) for _ in range(turns)]
        once, pairs = zip(*found, strict=True)
        for what, seconds in (
            ("a step over two tasks", min(once)),
            ("each further pair of edges", statistics.median(pairs)),  # as differences may be low
        ):
            report.rows.append({"what": f"{what}, {transport}", "round_trip_s": seconds})
    report.notes.append(
        f"each is the best of {turns} turns, pairs of edges and shares their middle; "
        "figures of a turn are medians"
    )
    return report


def _all_reduce(report: Report, rounds: int, turns: int) -> None:
    """Add sums by each transport, and by peers, in turn: the machine may be busy for a while."""
    measured: dict[str, Callable[[int], tuple[float, float]]] = {
        transport: partial(_sums, transport) for transport in ("tcp", "unix", "shm")
    }
    for peer in PEERS:
        reason = install(peer, HOME, REQUIREMENTS / f"peer_{peer}.txt")
        if reason:
            report.notes.append(f"all_reduce of {peer} not measured: {reason}")
        else:
            measured[PEERS[peer][0]] = PEERS[peer][1]
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in measured}
    for _ in range(turns):
        for name, measure in measured.items():
            found[name].append(measure(rounds))
    for name, pairs in found.items():
        small, large = (min(pair[k] for pair in pairs) for k in (0, 1))
        row: dict[str, Any] = {"what": f"all_reduce, {name}", "round_trip_s": small}
        report.rows.append(row | {"gib_per_s": MEBIBYTES / 1024 / large})


def _by_gloo(rounds: int) -> tuple[float, float]:
    port = free_addresses()[0].rpartition(":")[2]
    command = [str(HOME / "torch" / "bin" / "python"), str(WORKER / "all_reduce_gloo.py")]
    begun = [
        subprocess.Popen(
            [*command, str(k), "2", port, str(rounds), str(MEBIBYTES)],
            stdout=subprocess.PIPE, text=True,
        )
        for k in range(2)
    ]  # fmt: skip
    said = [one.communicate(timeout=SECONDS)[0] for one in begun]
    return _pair(said[0])


def _by_mpi(rounds: int) -> tuple[float, float]:
    folder = HOME / "mpi" / "bin"
    command = [str(folder / "mpiexec"), "--allow-run-as-root", "--oversubscribe", "-n", "2"]
    program = [str(folder / "python"), str(WORKER / "all_reduce_mpi.py")]
    done = subprocess.run(
        [*command, *program, str(rounds), str(MEBIBYTES)],
        check=True, capture_output=True, text=True, timeout=SECONDS,
    )  # fmt: skip
    return _pair(done.stdout)


def _pair(text: str) -> tuple[float, float]:
    small, large = map(float, text.split())
    return small, large


PEERS: Final = {
    "torch": ("gloo (torch.distributed)", _by_gloo),
    "mpi": ("Open MPI (mpi4py)", _by_mpi),
}
"""By environment: the name in the table, and what measures it."""


def _transports(report: Report, rounds: int, turns: int) -> None:
    """Add messages by each transport, and by plain sockets in the same turns."""
    found: dict[str, list[tuple[float, float, float]]] = {}
    for name, *figures in _messages(rounds, turns):
        micros, processor, rate = map(float, figures)
        found.setdefault(name, []).append((micros * 1e-6, processor * 1e-6, rate))
    for name, those in found.items():
        trip, processor = (min(one[k] for one in those) for k in (0, 1))
        beside = found.get(f"{name}-socket")
        shares = [] if beside is None else [a[2] / b[2] for a, b in zip(those, beside, strict=True)]
        row = {"what": name, "round_trip_s": trip, "processor_s": processor}
        row |= {"gib_per_s": max(one[2] for one in those)}
        report.rows.append(row | {"of_socket": statistics.median(shares) if shares else None})


def _messages(rounds: int, turns: int) -> list[list[str]]:
    with tempfile.TemporaryDirectory(prefix="drystone-bench-") as folder:
        program, native = Path(folder) / "transports", PACKAGE / "native"
        sources = [str(f) for f in sorted(native.glob("*.cc")) if f.name != "plugin.cc"]
        include = [f"-I{drystone_abi.get_include()}", f"-I{native}"]
        command = [os.environ.get("CXX", "c++"), "-std=c++20", "-O2", *include, *sources]
        command += [str(PACKAGE / "bench" / "transports.cc"), "-o", str(program), "-lpthread"]
        subprocess.run(command, check=True, capture_output=True, text=True)
        lines: list[str] = []
        for _ in range(turns):
            done = subprocess.run(
                [str(program), str(rounds)], check=True, capture_output=True, text=True
            )
            lines += done.stdout.splitlines()
    return [line.split() for line in lines]


def free_addresses(count: int = 2) -> list[str]:
    """Addresses that nobody listened at a moment ago."""
    sockets = [socket.socket() for _ in range(count)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    addresses = [f"127.0.0.1:{one.getsockname()[1]}" for one in sockets]
    for one in sockets:
        one.close()
    return addresses


def _steps(transport: str, rounds: int) -> tuple[float, float]:
    """Seconds of a step whose value goes to another task and back, and of each further time."""
    import drystone as ds

    addresses = free_addresses()
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
    addresses = free_addresses()
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
        for size, count in ((2, rounds), (MEBIBYTES << 18, 7)):
            value, spent = np.ones(size, np.float32), []
            for _ in range(count):
                group.barrier()
                start = time.perf_counter()
                group.all_reduce(value, out=value)  # in place, as gloo does
                spent.append(time.perf_counter() - start)
            best.append(statistics.median(spent) if size == 2 else min(spent))
        group.barrier()
    if task == 0:
        answers.put(tuple(best))
