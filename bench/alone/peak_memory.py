"""Where a model's memory goes on the way to its first answers, in this process alone.

``python -m bench.alone.peak_memory MODEL IN.npz FETCH [--drystone-cpu LIBRARY]``: after each stage
what the process holds (anonymous memory, and pages of files), the most that it ever held, and how
long the stage took. Arrays are fed to the tensors of their names. ``DRYSTONE_NUM_THREADS`` counts.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from bench.alone._measure import fed

__all__ = ["main"]


def main(arguments: list[str] | None = None) -> int:
    """Print a line for each stage."""
    parser = argparse.ArgumentParser(prog="bench.alone.peak_memory", description=__doc__)
    parser.add_argument("model", type=Path)
    parser.add_argument("arrays", type=Path)
    parser.add_argument("fetch")
    parser.add_argument("--drystone-cpu", help="the library of kernels, where none is installed")
    parser.add_argument("--answers", type=int, default=3)
    options = parser.parse_args(arguments)
    with np.load(options.arrays, allow_pickle=False) as data:
        arrays = {name: data[key] for name, key in fed(options.arrays).items()}
    print(f"{'':12}{'anonymous':>10}{'files':>10}{'peak':>10}{'seconds':>10}")
    with _stage("import"):
        import drystone as ds

        _ = ds.Session
        if options.drystone_cpu:
            from drystone_base import plugins

            plugins.load_library(options.drystone_cpu)
    with _stage("load"):
        model = ds.load(options.model)
    with _stage("plan"):
        call = model.session.make_callable(options.fetch, list(arrays))
    for number in range(options.answers):
        with _stage(f"answer {number + 1}"):
            call(*arrays.values())
    return 0


@contextmanager
def _stage(name: str) -> Iterator[None]:
    start = time.perf_counter()
    yield
    seconds = time.perf_counter() - start
    held = {"RssAnon": 0, "RssFile": 0, "VmHWM": 0}
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        key, _, value = line.partition(":")
        if key in held:
            held[key] = int(value.split()[0]) * 1024
    sizes = "".join(f"{size / 1e6:7.0f} MB" for size in held.values())
    print(f"{name:12}{sizes}{seconds:10.3f}", flush=True)


if __name__ == "__main__":
    raise SystemExit(main())
