"""Sums over 2 to 4 processes beside what the simulator says, and what it says of 8 to 512."""

from __future__ import annotations

import multiprocessing
import os
import statistics
import threading
import time
from collections.abc import Callable
from functools import partial
from typing import Any, Final

import numpy as np

from bench.alone._report import Column, Report, span, text
from bench.alone.network import free_addresses
from bench.scaling import NETWORKS, Costs, Network, all_reduce, step

__all__ = ["measured_costs", "run"]

SIZES: Final = (8, 64 << 10, 256 << 10, 1 << 20, 4 << 20, 16 << 20, 64 << 20)
"""Bytes of float32."""
WORKERS: Final = (8, 16, 32, 64, 128, 256, 512)
GRADIENTS: Final = 100 << 20
COMPUTE: Final = 0.2
"""A step as of ResNet-50: 25 million parameters, and seconds of work for a batch on one worker."""
UNEVEN: Final = 0.05
_CORES: Final = len(os.sched_getaffinity(0))

Found = tuple[list[float], list[float], float]
"""By size: seconds, and seconds of the processor; and the overlap."""


def run(quick: bool) -> Report:
    """Measured and simulated seconds; the costs are those of two processes."""
    columns = [
        Column("what", "all_reduce over tcp", text),
        Column("measured", "measured", span),
        Column("simulated", "simulated", span),
        Column("off", "off by", lambda part: f"{part:+.0%}"),
    ]
    report = Report("scaling", "Sums over more workers, by simulation", columns)
    rounds = 3 if quick else 9
    turns = [
        {count: _measured(count, rounds) for count in (2, 3, 4)} for _ in range(1 if quick else 5)
    ]
    found = {count: _middle([turn[count] for turn in turns]) for count in (2, 3, 4)}
    costs = measured_costs(found[2])
    here = Network("one machine", cores=_CORES)
    for count, (wall, _, _) in found.items():
        for size, seconds in zip(SIZES, wall, strict=True):
            guess = float(all_reduce(count, size, costs, here).max())
            row = {"what": f"{count} processes, {_named(size)}", "workers": count, "bytes": size}
            row |= {"measured": seconds, "simulated": guess, "off": guess / seconds - 1}
            report.rows.append(row)
    for network in NETWORKS:
        for count in WORKERS:
            _predict(report, count, costs, network)
    report.notes.append(f"overlap of sums and work in one process: {costs.overlap:.0%}")
    report.notes.append(f"costs: {costs}")
    return report


def _predict(report: Report, count: int, costs: Costs, network: Network) -> None:
    """Add what the simulator says of so many workers: of a sum, and of a step with one."""
    guesses = {
        _named(SIZES[-1]): float(all_reduce(count, SIZES[-1], costs, network).max()),
        "a step": step(count, GRADIENTS, COMPUTE, UNEVEN, costs, network),
    }
    for what, seconds in guesses.items():
        row = {"what": f"{count} workers, {network.name}, {what}", "simulated": seconds}
        report.rows.append(row | {"workers": count, "network": network.name})


def measured_costs(found: Found) -> Costs:
    """What two processes say: a sum is one message to agree, and two shares of half its size."""
    wall, busy, overlap = found
    shares, taken, waited = [0.0], [busy[0] / 3], [max(0.0, wall[0] - busy[0]) / 3]
    for size, seconds, worked in zip(SIZES[1:], wall[1:], busy[1:], strict=True):
        work = max(0.0, worked - taken[0]) / 2
        shares.append(size / 2)
        taken.append(work)
        waited.append(max(0.0, seconds - taken[0] - waited[0] - 2 * work) / 2)
    return Costs(tuple(shares), tuple(taken), tuple(waited), overlap)


def _measured(count: int, rounds: int) -> Found:
    """Seconds, and of the processor, of sums over so many processes, by size; and the overlap."""
    addresses = free_addresses(count)
    spawn = multiprocessing.get_context("spawn")
    answers = spawn.SimpleQueue()
    others = [
        spawn.Process(target=_member, args=(addresses, k, rounds, answers)) for k in range(count)
    ]
    for other in others:
        other.start()
    found: list[Found] = [answers.get() for _ in others]
    for other in others:
        other.join()
    walls, busy = ([max(times) for times in zip(*(one[k] for one in found), strict=True)]
                   for k in (0, 1))  # fmt: skip
    return walls, busy, statistics.mean(one[2] for one in found)


def _middle(turns: list[Found]) -> Found:
    """The medians over turns: where the system puts processes counts for all of one turn."""
    walls, busy = (
        [statistics.median(times) for times in zip(*(turn[k] for turn in turns), strict=True)]
        for k in (0, 1)
    )
    return walls, busy, statistics.median(turn[2] for turn in turns)


def _member(addresses: list[str], task: int, rounds: int, answers: Any) -> None:
    from drystone_network import ClusterSpec, Group

    pairs = []
    with Group(ClusterSpec({"worker": addresses}), "worker", task) as group:
        for size in SIZES:
            value = np.ones(size // 4, np.float32)
            many = rounds * (1 if size > 1 << 20 else 10)
            pairs.append(_timed(group, many, partial(_sum, group, value)))
        overlap = _overlap(group, rounds) if len(addresses) == 2 else 0.0
        group.barrier()
    answers.put(([wall for wall, _ in pairs], [busy for _, busy in pairs], overlap))


def _sum(group: Any, value: Any) -> None:
    group.all_reduce(value, out=value)


def _timed(group: Any, rounds: int, call: Callable[[], Any]) -> tuple[float, float]:
    """The median seconds of a call that all make together, and those of this processor."""
    call()
    spent, worked = [], []
    for _ in range(rounds):
        group.barrier()
        start, busy = time.perf_counter(), time.process_time()
        call()
        worked.append(time.process_time() - busy)
        spent.append(time.perf_counter() - start)
    return statistics.median(spent), statistics.median(worked)


def _overlap(group: Any, rounds: int) -> float:
    """Which part of a sum's time work of the same process goes on in."""
    value, factor = np.ones(SIZES[-1] // 4, np.float32), np.ones((256, 256), np.float32)
    alone = _timed(group, rounds, partial(_sum, group, value))[0]
    start = time.perf_counter()
    factor @ factor
    times = max(1, int(alone / (time.perf_counter() - start)))

    def work() -> None:
        for _ in range(times):
            factor @ factor

    def both() -> None:
        thread = threading.Thread(target=work)
        thread.start()
        _sum(group, value)
        thread.join()

    worked, together = _timed(group, rounds, work)[0], _timed(group, rounds, both)[0]
    return min(1.0, max(0.0, (alone + worked - together) / alone))


def _named(size: int) -> str:
    for shift, unit in ((20, "MiB"), (10, "KiB")):
        if size >> shift:
            return f"{size >> shift} {unit}"
    return f"{size} bytes"
