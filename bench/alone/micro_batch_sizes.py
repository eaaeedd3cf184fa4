"""How long a batch takes in micro-batches of each size.

``python -m bench.alone.micro_batch_sizes GRAPH.pb IN.npz FETCH``: arrays are fed to the tensors
of their names. A size is `SessionConfig.micro_batch_bytes`. Processor time, the least of several
calls that take turns; ``DRYSTONE_NUM_THREADS`` counts.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from bench.alone._measure import fed

__all__ = ["main"]

Array = np.ndarray[Any, Any]
Call = Callable[..., Any]


def main(arguments: list[str] | None = None) -> int:
    """Print a line for each size."""
    parser = argparse.ArgumentParser(prog="bench.alone.micro_batch_sizes", description=__doc__)
    parser.add_argument("graph", type=Path)
    parser.add_argument("arrays", type=Path)
    parser.add_argument("fetch")
    parser.add_argument("--sizes", type=int, nargs="+", default=[2, 4, 8, 16, 32], metavar="MIB")
    parser.add_argument("--calls", type=int, default=10)
    options = parser.parse_args(arguments)
    with np.load(options.arrays, allow_pickle=False) as data:
        arrays = {name: data[key] for name, key in fed(options.arrays).items()}
    calls = {size: _prepared(options.graph, options.fetch, arrays, size) for size in options.sizes}
    least = dict.fromkeys(calls, float("inf"))
    for _ in range(options.calls):
        for size, call in calls.items():
            start = time.process_time()
            call(*arrays.values())
            least[size] = min(least[size], time.process_time() - start)
    for size, seconds in least.items():
        print(f"{size:4} MiB {seconds * 1e3:9.1f} ms")
    return 0


def _prepared(graph: Path, fetch: str, arrays: Mapping[str, Array], size: int) -> Call:
    """A call that has been made once."""
    import drystone as ds

    model = ds.load(graph, config=ds.SessionConfig(micro_batch_bytes=size << 20))
    call: Call = model.session.make_callable(fetch, list(arrays))
    call(*arrays.values())
    return call


if __name__ == "__main__":
    raise SystemExit(main())
