"""Sessions with a subgraph backend beside sessions without, and what partitioning costs.

``python -m bench.alone.subgraphs [MODELS] [--backend openvino] [--chain 1000000]``. MODELS is a
folder of recorded models with an index.json, as the tests read it. One thread; times are CPU time
of the process, the least of many runs that take turns; the first, which compiles, is not counted.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import drystone_base as ds
from drystone_base.core.dtypes import as_dtype
from drystone_base.graph import Graph
from drystone_subgraph import (
    ContainOpProperty,
    PartitionConfig,
    SubgraphBackend,
    SubgraphProperty,
    executables,
    partition_with_report,
    register_backend,
)

ROUNDS = 30
CHAIN_ROUNDS = 3
LONG_CHAIN = 1_000_000
"""Nodes from which on one round is enough."""


class _Negs(SubgraphBackend):
    name = "negs"

    def properties(self) -> list[SubgraphProperty]:
        return [ContainOpProperty({"Neg"})]


def chain(count: int, run: int) -> None:
    """Print what partitioning a chain costs, of which every ``run``-th node stays outside.

    Then what it costs besides to write the regions' functions, as for a file or a session.
    """
    graph, attrs = Graph(), {"T": as_dtype("float32")}
    last = graph.add("Placeholder", "x", attrs={"dtype": attrs["T"], "shape": (2,)})
    for k in range(count):
        op = "Exp" if k % run == run - 1 else "Neg"
        last = graph.add(op, f"n{k}", [last], attrs=attrs)
    spent, written = float("inf"), float("inf")
    for _ in range(CHAIN_ROUNDS if count < LONG_CHAIN else 1):
        begin = time.process_time()
        after, report = partition_with_report(graph, [last.name], ["x"], PartitionConfig(("negs",)))
        middle = time.process_time()
        held = sum(function.node_count for function in after.functions)
        spent, written = min(spent, middle - begin), min(written, time.process_time() - middle)
        assert held == sum(len(segment.nodes) for segment in report.taken)
    print(f"{count} nodes into {len(report.taken)} regions: {spent:.1f} s, "
          f"{spent / count * 1e6:.1f} µs/node; their functions {written:.1f} s")  # fmt: skip


def _least(calls: list[Callable[[], Any]]) -> list[float]:
    best = [float("inf")] * len(calls)
    for _ in range(ROUNDS):
        for k, call in enumerate(calls):
            begin = time.process_time()
            call()
            best[k] = min(best[k], time.process_time() - begin)
    return best


def model(folder: Path, row: dict[str, Any], backend: str) -> str:
    """One line of the table."""
    ref = row["refs"][0]
    data = np.load(folder / row["name"] / ref["file"], allow_pickle=True)
    feeds = {tensor: data[key] for tensor, key in ref["inputs"].items()}
    fetches = list(ref["outputs"])
    plain = ds.SessionConfig(intra_op_threads=1, inter_op_threads=1, subgraphs="off")
    settings = PartitionConfig((backend,), threads=1)
    sessions = [
        ds.load(folder / row["name"] / row["file"], config=config)
        for config in (plain, replace(plain, subgraphs=settings))
    ]
    values = [session.run(fetches, feeds) for session in sessions]
    worst = max(
        float(np.max(np.abs(np.asarray(a, np.float64) - b), initial=0.0))
        for a, b in zip(*values, strict=True)
        if np.asarray(a).dtype.kind in "fiu"
    )
    found = executables(sessions[1].session)
    left, right = _least([lambda s=s: s.run(fetches, feeds) for s in sessions])  # type: ignore[misc]
    ready = sum(e.state == "ready" for e in found)
    return (f"{row['name']:26}{ready:4}/{len(found):<4}{left * 1e3:10.2f}{right * 1e3:10.2f}"
            f"{left / right:8.2f}{worst:12.2g}")  # fmt: skip


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("models", nargs="?", type=Path)
    parser.add_argument("--backend", default="openvino")
    parser.add_argument("--chain", type=int, nargs="*", default=[100_000])
    parser.add_argument("--only", nargs="*", default=[])
    options = parser.parse_args()
    register_backend(_Negs())
    for count in options.chain:
        for run in (10, 100):
            chain(count, run)
    if options.models is None:
        return
    print(f"{'model':26}{'ready':>9}{'host ms':>10}{'with ms':>10}{'faster':>8}{'difference':>12}")
    for row in json.loads((options.models / "index.json").read_text(encoding="utf-8"))["models"]:
        refs = [ref for ref in row["refs"] if ref["kind"] != "train"]
        if (
            not refs
            or row["format"] == "onnx"
            or row["name"] not in (options.only or [row["name"]])
        ):
            continue
        print(model(options.models, row | {"refs": refs}, options.backend), flush=True)


if __name__ == "__main__":
    main()
