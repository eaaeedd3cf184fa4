"""What a plugin optimizer costs per node: the round trip of a graph through the C interface.

Needs a C compiler.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from bench.alone._measure import interleaved
from bench.alone._report import Column, Report, mb, number, span, text
from bench.alone.synthetic import KINDS, graph_bytes
from drystone_base.graph import Graph
from drystone_base.host import optimizer
from drystone_base.host.library import open_library
from drystone_base.plugins.isolation import OptimizerPlugin, optimizer_plugins, stop_workers
from drystone_optimizer import OptimizerConfig, optimize_with_report
from drystone_optimizer.plugins.sources import Optimizer, optimizers

__all__ = ["SIZES", "run"]

SIZES: Final = (1_000, 10_000, 100_000)
_PLUGINS: Final = {
    "BENCH_SAME": "copy_graph(graph, optimized)",
    "BENCH_MORE": 'append_node(graph, "bench_more", "NoOp", optimized)',
    "BENCH_ASK": "ask(item, status); copy_graph(graph, optimized)",
}
_ASK: Final = (
    "static inline void ask(const TF_GrapplerItem* item, TF_Status* status) { "
    "TF_GraphProperties* p = TF_NewGraphProperties(item); "
    "TF_InferStatically(p, 1, 0, 0, 0, status); TF_DeleteGraphProperties(p); }"
)
STAGES: Final = {
    "write": "Graph to bytes",
    "same_host": "identity, C interface",
    "same": "identity, whole",
    "more": "changed, whole",
    "ask": "C interface, infers",
    "isolated": "identity, isolated",
}


def run(quick: bool) -> Report:
    """Seconds of each stage for each kind and size of graph, and per node."""
    _register()
    rows = [
        {"kind": kind, "nodes": size, **_measure(kind, size)}
        for size in (SIZES[:-1] if quick else SIZES)
        for kind in KINDS
    ]
    stop_workers()
    columns = [
        Column("kind", "graph", text), Column("nodes", "nodes", number),
        Column("bytes", "bytes", mb),
        *[Column(stage, heading, _stage) for stage, heading in STAGES.items()],
    ]  # fmt: skip
    notes = [
        "second line: per node; whole: with writing, and for a changed graph reading and checks",
        "least of several rounds",
    ]
    return Report("optimizer", "Round trip through a plugin optimizer", columns, rows, notes)


def _stage(value: Mapping[str, float]) -> str:
    return f"{span(value['seconds'])}\n{value['us_per_node']:.2f} µs"


def _register() -> None:
    """Compile and register the optimizers that are measured."""
    top = Path(__file__).resolve().parents[2]
    sys.path.append(str(top / "plugin-abi" / "tests"))
    compiling = import_module("compiling")
    for device, body in _PLUGINS.items():
        flags = ["-O2", f'-DDEVICE="{device}"', f"-DOPTIMIZE={body}", f"-DBEFORE_OPTIMIZE={_ASK}"]
        library = open_library(compiling.compile_library("optimizer_variants.c", flags=flags))
        library.initialise("TF_InitGraph")


def _measure(kind: str, nodes: int) -> dict[str, Any]:
    data = graph_bytes(kind, nodes)
    graph = Graph.from_bytes(data)
    fetch = [node.name for node in graph][-1]
    (isolated,) = [p for p in optimizer_plugins() if p.device == "BENCH_SAME"]
    stages: dict[str, Callable[[], Any]] = {
        "write": graph.to_bytes,
        "same_host": partial(optimizer.run, "BENCH_SAME", data, [fetch]),
        "same": partial(_whole, graph, fetch, "BENCH_SAME"),
        "more": partial(_whole, graph, fetch, "BENCH_MORE"),
        "ask": partial(optimizer.run, "BENCH_ASK", data, [fetch]),
        "isolated": partial(_isolated, isolated, data, fetch),
    }
    stages["isolated"]()  # starting the process is not what is measured
    taken = interleaved(stages, seconds=1.0, most=7)
    found: dict[str, Any] = {"bytes": len(data)}
    for stage, timing in taken.items():
        found[stage] = {"seconds": timing.least, "us_per_node": timing.least / nodes * 1e6}
    return found


def _whole(graph: Graph, fetch: str, device: str) -> None:
    chosen = [_as_cpu(o) for o in optimizers(load=False) if o.device == device]
    _, report = optimize_with_report(graph, [fetch], (), OptimizerConfig(), chosen)
    (run,) = report.runs
    wanted = "unchanged" if device == "BENCH_SAME" else "changed"
    if run.outcome != wanted:
        raise RuntimeError(f"{device} is {run.outcome}, not {wanted}: {run.reason}")


def _as_cpu(found: Optimizer) -> Optimizer:
    """The optimizer as if it were for nodes without a device."""
    return Optimizer(found.name, found.version, found.path, "CPU", found.run)


def _isolated(plugin: OptimizerPlugin, data: bytes, fetch: str) -> None:
    plugin.run(data, [fetch], isolation="process")
