"""Large graphs: load, write, order, fan-out, validation and inference, each in its own process."""

from __future__ import annotations

import gc
import json
import sys
from typing import Any

from bench.alone._measure import fresh, timed
from bench.alone._report import Column, Report, mb, number, span, text, yes
from bench.alone.synthetic import KINDS, graph_bytes
from bench.memory import peak_rss

__all__ = ["SIZES", "STAGES", "measure", "run"]

SIZES = (10_000, 100_000, 1_000_000)
STAGES = ("load", "write", "order", "fan_out", "validate", "infer")


def run(quick: bool) -> Report:
    """Seconds of each stage for each kind and size of graph; also per node, and peak memory."""
    rows = []
    for size in SIZES[:1] if quick else SIZES:
        for kind in KINDS:
            found = fresh("bench.alone.graphs", kind, size)
            rows.append({"kind": kind, "nodes": size, **found})
    columns = [
        Column("kind", "graph", text), Column("nodes", "nodes", number),
        Column("bytes", "file", mb),
        *[Column(stage, stage.replace("_", "-"), _stage) for stage in STAGES],
        Column("same_bytes", "same", yes), Column("rss_load", "loaded", mb),
        Column("rss_peak", "peak", mb),
    ]  # fmt: skip
    notes = [
        "second line: per node; same: the bytes written are those read",
        "loaded, peak: memory, with Python, NumPy and the file's bytes",
    ]
    return Report("graphs", "Large graphs", columns, rows, notes)


def _stage(value: dict[str, float]) -> str:
    return f"{span(value['seconds'])}\n{value['us_per_node']:.1f} µs"


def measure(kind: str, nodes: int) -> dict[str, Any]:
    """Every stage for one graph, measured in this process."""
    from drystone_base.graph import Graph, topological_order, validate
    from drystone_base.inference.inference import infer

    data = graph_bytes(kind, nodes)
    Graph.from_bytes(graph_bytes(kind, 100))  # imports and caches are not what is measured
    gc.collect()
    found: dict[str, Any] = {"bytes": len(data)}
    seconds, graph = timed(lambda: Graph.from_bytes(data))
    assert len(graph) == nodes
    found["rss_load"] = peak_rss()
    taken = {"load": seconds}
    taken["write"], written = timed(graph.to_bytes)
    found["same_bytes"] = written == data
    del written
    taken["order"] = timed(lambda: topological_order(graph))[0]
    taken["fan_out"] = timed(lambda: [graph.consumers(node) for node in graph])[0]
    taken["validate"] = timed(lambda: validate(graph))[0]
    taken["infer"], inferred = timed(lambda: infer(graph))
    assert not inferred.errors
    for stage, value in taken.items():
        found[stage] = {"seconds": value, "us_per_node": value / nodes * 1e6}
    return {**found, "rss_peak": peak_rss()}


if __name__ == "__main__":
    print(json.dumps(measure(sys.argv[1], int(sys.argv[2]))))
