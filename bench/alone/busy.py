"""What a second thread gains on a quiet machine, and costs beside busy processes.

``python -m bench.alone.busy``: networks of few and of many operations, with one thread and with
two, first alone, then beside as many processes that never rest as the machine has cores. Medians of
calls that take turns, in milliseconds, and what two threads take of the time of one: beside busy
processes no more than 1.1 is wanted. Where others use the machine already, alone is not quiet.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

__all__ = ["main"]

Call = Callable[[], Any]
_SPIN = "while True: pass"


def main(arguments: list[str] | None = None) -> int:
    """Print a line for each network and state of the machine; not 0 where two are too slow."""
    parser = argparse.ArgumentParser(prog="bench.alone.busy", description=__doc__)
    parser.add_argument("--rounds", type=int, default=300)
    parser.add_argument("--busy", type=int, default=len(os.sched_getaffinity(0)), metavar="N")
    parser.add_argument("--most", type=float, default=1.1, help="of one thread's time, when busy")
    options = parser.parse_args(arguments)
    worst = 0.0
    for name, width, layers in (("small", 32, 8), ("medium", 64, 12), ("large", 128, 16)):
        calls = {threads: _network(width, layers, threads) for threads in (1, 2)}
        for count in (0, options.busy):
            with _busy(count):
                one, two = _medians(calls, options.rounds)
            ratio = two / one
            worst = max(worst, ratio if count else 0.0)
            beside = f"beside {count}" if count else "alone"
            print(f"{name:7} {beside:10} {one * 1e3:7.2f} {two * 1e3:7.2f} ms {ratio:6.2f}")
    return 0 if worst <= options.most else 1


def _network(width: int, layers: int, threads: int) -> Call:
    """A chain of convolutions on random numbers, called until it has settled."""
    import drystone as ds
    from drystone_base.ops.attrs import TensorAttr

    random = np.random.default_rng(0)
    graph = ds.Graph()
    kind = ds.as_dtype("float32")
    x = graph.add("Placeholder", "x", attrs={"dtype": kind, "shape": None})
    last = x
    for k in range(layers):
        side = 3 if k % 2 == 0 else 1
        weights = random.normal(size=(side, side, width, width)) / np.sqrt(width * side * side)
        value = TensorAttr(array=weights.astype(np.float32))
        w = graph.add("Const", f"w{k}", attrs={"dtype": kind, "value": value})
        attrs = {"T": kind, "strides": [1, 1, 1, 1], "padding": "SAME"}
        last = graph.add("Conv2D", f"c{k}", [last, w], attrs=attrs)
        last = graph.add("Relu", f"r{k}", [last], attrs={"T": kind})
    session = ds.Session(graph, ds.SessionConfig(intra_op_threads=threads))
    call = session.make_callable(f"{last.name}:0", ["x:0"])
    image = random.normal(size=(1, 28, 28, width)).astype(np.float32)
    for _ in range(30):
        call(image)
    return lambda: call(image)


def _medians(calls: dict[int, Call], rounds: int) -> tuple[float, float]:
    taken: dict[int, list[float]] = {threads: [] for threads in calls}
    for _ in range(rounds):
        for threads, call in calls.items():
            start = time.perf_counter()
            call()
            taken[threads].append(time.perf_counter() - start)
    return statistics.median(taken[1]), statistics.median(taken[2])


@contextmanager
def _busy(count: int) -> Iterator[None]:
    """So many processes that never rest."""
    processes = [subprocess.Popen([sys.executable, "-c", _SPIN]) for _ in range(count)]
    try:
        time.sleep(0.3 if processes else 0)
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()


if __name__ == "__main__":
    raise SystemExit(main())
