"""Networks by drystone-cpu and by XLA through the PJRT C API, in turn: seconds, and ratios.

Both use all cores. The first runs, which compile, are not counted; `ready` says how many of the
regions were compiled, and `difference` how far the answers are apart. On a machine with other work
the ratio in processor time of the process is the one that holds.
"""

from __future__ import annotations

import time
from functools import partial
from typing import Any

import numpy as np

import drystone_base as ds
from bench.alone._measure import interleaved
from bench.alone._report import Column, Report, number, ratio, span, text
from ci.scripts.gpu.networks import NETWORKS, Network, inputs
from drystone_base.core.errors import DrystoneError
from drystone_subgraph import executables

__all__ = ["run"]


def run(quick: bool) -> Report:
    """A row for each network, at one and at eight examples."""
    columns = [
        Column("network", "network", text),
        Column("examples", "examples", number),
        Column("cpu_s", "drystone-cpu", span),
        Column("pjrt_s", "pjrt", span),
        Column("ratio", "faster", ratio),
        Column("processor_ratio", "less processor time", ratio),
        Column("ready", "regions", text),
        Column("difference", "difference", lambda value: f"{value:.1g}"),
    ]
    report = Report("pjrt", "Networks by drystone-cpu, and by XLA through PJRT", columns)
    for name in NETWORKS:
        for examples in (1,) if quick else (1, 8):
            row: dict[str, Any] = {"network": name, "examples": examples}
            try:
                row |= _measured(name, examples, 2 if quick else 10)
            except DrystoneError as error:
                row["error"] = f"{error.what}: {error.found}"
            report.rows.append(row)
    return report


def _measured(name: str, examples: int, seconds: float) -> dict[str, Any]:
    """The times of one network, by their columns."""
    network = Network("float32")
    source, output = NETWORKS[name](network, examples)
    fetch, feeds = f"{source.name}:{output}", inputs(name, examples)
    wishes = {"cpu": "off", "pjrt": "pjrt"}
    sessions = {
        backend: ds.Session(network.graph, ds.SessionConfig(subgraphs=wish))
        for backend, wish in wishes.items()
    }
    answers = [np.asarray(one.run(fetch, feeds), np.float64) for one in sessions.values()]
    spent: dict[str, list[float]] = {backend: [] for backend in sessions}

    def once(backend: str) -> None:
        begin = time.process_time()
        sessions[backend].run(fetch, feeds)
        spent[backend].append(time.process_time() - begin)

    times = interleaved({k: partial(once, k) for k in sessions}, seconds=seconds, most=200)
    states = [one.state for one in executables(sessions["pjrt"])]
    return {
        "cpu_s": times["cpu"].median,
        "pjrt_s": times["pjrt"].median,
        "ratio": times["cpu"].median / times["pjrt"].median,
        "processor_ratio": min(spent["cpu"]) / min(spent["pjrt"]),
        "ready": f"{states.count('ready')} of {len(states)}",
        "difference": float(np.max(np.abs(answers[0] - answers[1]))),
    }
