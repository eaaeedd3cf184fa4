"""What the built-in passes leave of graphs, and what they cost.

``python -m bench.alone.optimizer_passes [MODELS] [--chains 10000]``. MODELS is a folder of recorded
models with an index.json, as the tests read it. Times are CPU time, the least of three runs; the
first run of a process, which imports, is not counted.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

import drystone_base as ds
from drystone_base.core.dtypes import FLOAT32
from drystone_base.graph import Graph
from drystone_base.ops.attrs import TensorAttr
from drystone_optimizer import OptimizerConfig, Report, optimize_with_report

REPEATS = 3


def measured(graph: Graph, fetches: list[str], feeds: list[str]) -> tuple[Graph, Report, float]:
    """The optimized graph, what ran, and the seconds of CPU time that it took."""
    best = float("inf")
    for _ in range(REPEATS):
        twin = Graph.from_bytes(graph.to_bytes())
        begin = time.process_time()
        after, report = optimize_with_report(twin, fetches, feeds, OptimizerConfig(), available=())
        best = min(best, time.process_time() - begin)
    return after, report, best


def chain(count: int, kind: str) -> Graph:
    """A chain of ``count`` nodes: unary ones, sums with constants, or identities."""
    graph = Graph()
    last = graph.add("Placeholder", "x", attrs={"dtype": FLOAT32, "shape": (-1, 3)})
    for k in range(count):
        if kind == "sums":
            value = TensorAttr(array=np.full(3, k % 7, np.float32))
            held = graph.add("Const", f"c{k}", attrs={"dtype": FLOAT32, "value": value})
            last = graph.add("AddV2", f"n{k}", [last, held], attrs={"T": FLOAT32})
        else:
            op = "Identity" if kind == "identities" else ("Tanh", "Exp", "Sigmoid")[k % 3]
            last = graph.add(op, f"n{k}", [last], attrs={"T": FLOAT32})
    return graph


def row(name: str, graph: Graph, after: Graph, seconds: float) -> str:
    """One line of the table."""
    per = seconds / len(graph) * 1e6
    return f"{name:32}{len(graph):8}{len(after):8}{seconds * 1e3:10.1f}{per:8.1f}"


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("models", nargs="?", type=Path)
    parser.add_argument("--chains", type=int, nargs="*", default=[10_000, 100_000])
    options = parser.parse_args()
    measured(chain(10, "sums"), ["n9:0"], ["x:0"])
    print(f"{'graph':32}{'nodes':>8}{'left':>8}{'ms':>10}{'µs/node':>8}")
    spent: dict[str, float] = {}
    done: Counter[str] = Counter()  # rewrites
    for name, graph, fetches, feeds in _models(options.models):
        after, report, seconds = measured(graph, fetches, feeds)
        print(row(name, graph, after, seconds), flush=True)
        for step in report.steps:
            spent[step.name] = spent.get(step.name, 0.0) + step.seconds
            done[step.name] += sum(step.rewrites.values())
    for count in options.chains:
        for kind in ("unary", "sums", "identities"):
            graph = chain(count, kind)
            after, _, seconds = measured(graph, [f"n{count - 1}:0"], ["x:0"])
            print(row(f"{kind} chain", graph, after, seconds), flush=True)
    for name, seconds in sorted(spent.items(), key=lambda item: -item[1]):
        print(f"{name:32}{done[name]:8} rewrites{seconds * 1e3:10.1f} ms on all models")


def _models(folder: Path | None) -> list[tuple[str, Graph, list[str], list[str]]]:
    if folder is None:
        return []
    found: list[Any] = []
    for entry in json.loads((folder / "index.json").read_text())["models"]:
        refs = [r for r in entry["refs"] if r["kind"] != "train"]
        if not refs or entry["format"] == "onnx":
            continue
        graph = ds.load(folder / entry["name"] / entry["file"]).graph
        found.append((entry["name"], graph, list(refs[0]["outputs"]), list(refs[0]["inputs"])))
    return found


if __name__ == "__main__":
    main()
