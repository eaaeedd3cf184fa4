"""How near each node of a model comes to the machine's limits: ``python -m bench.roofline MODEL``.

A node takes at least as long as its multiplications and additions take at the machine's peak,
and as its inputs and outputs take to go through memory once. Both peaks are measured first: a
product of matrices of 1024, and a copy of 256 MiB. Of each node: the least time of several runs,
GFLOP/s, GB/s, and how many times the limit it takes. Below one: what it reads was in a cache.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from rich.console import Console
from rich.table import Table

import drystone_base as ds
from bench.cases.graphs import placeholder
from bench.machine import processor
from drystone_base import plugins
from drystone_base.cli._inputs import Asked, Request
from drystone_base.core.dtypes import FLOAT32
from drystone_base.graph import Graph, Node, Output
from drystone_base.graph.validate import Signatures
from drystone_base.inference.inference import Shapes
from drystone_optimizer import optimize

__all__ = ["Peaks", "Row", "main", "measure", "peaks"]

SIDE: Final = 1024
COPIED: Final = 256 << 20
PRODUCTS: Final = {"MatMul": "transpose_a", "_FusedMatMul": "transpose_a"} | dict.fromkeys(
    ("BatchMatMul", "BatchMatMulV2", "BatchMatMulV3"), "adj_x"
)
"""Ops of matrix products, and the attribute that flips the first matrix."""


@dataclass(frozen=True)
class Peaks:
    """Floating-point operations, and bytes read and written, of a second at best."""

    flops: float
    bytes: float


@dataclass
class Row:
    """A node: its operations, bytes of its inputs and outputs, and seconds."""

    name: str
    op: str
    flops: int
    bytes: int
    seconds: float = math.inf

    def limit(self, of: Peaks) -> float:
        """The seconds that it takes at least."""
        return max(self.flops / of.flops, self.bytes / of.bytes)


def peaks(threads: int) -> Peaks:
    """Of this machine, as the installed kernels and NumPy reach them."""
    graph = Graph()
    inputs = [placeholder(graph, name, FLOAT32, (SIDE, SIDE)) for name in "ab"]
    graph.add("MatMul", "y", inputs, attrs={"T": FLOAT32})
    config = ds.SessionConfig(intra_op_threads=threads)
    call = ds.Session(graph, config).make_callable(["y:0"], ["a:0", "b:0"])
    matrix = np.ones((SIDE, SIDE), np.float32)
    there, here = np.ones(COPIED, np.uint8), np.ones(COPIED, np.uint8)
    product = least(lambda: call(matrix, matrix), 10)
    return Peaks(2 * SIDE**3 / product, 2 * COPIED / least(lambda: np.copyto(there, here), 5))


def least(call: Callable[[], Any], times: int) -> float:
    """Seconds of the quickest of several calls."""
    found = math.inf
    for _ in range(times):
        begin = time.perf_counter()
        call()
        found = min(found, time.perf_counter() - begin)
    return found


def measure(model: ds.Model, wanted: Request, threads: int, repeat: int) -> list[Row]:
    """The nodes that a run of the optimized graph reaches, in the order in which they end."""
    fetches, feeds = list(wanted.fetches.values()), list(wanted.feeds)
    graph = optimize(model.graph, fetches, feeds)
    session = ds.Session(graph, ds.SessionConfig(optimizer="off", intra_op_threads=threads))
    session.resources = model.session.resources
    session.run(fetches, wanted.feeds)
    fed = {graph.output(name): np.shape(value) for name, value in wanted.feeds.items()}
    sizes = _Sizes(graph, fed)
    rows: dict[str, Row] = {}
    for _ in range(repeat):
        with session.record() as record:
            session.run(fetches, wanted.feeds)
        for ran in record.nodes:
            if ran.function or ran.node not in graph:
                continue  # what runs inside of a node counts there
            node = graph[ran.node]
            if ran.node not in rows:
                rows[ran.node] = Row(ran.node, ran.op, sizes.flops(node), sizes.bytes(node))
            row = rows[ran.node]
            row.seconds = min(row.seconds, ran.seconds)
    return list(rows.values())


class _Sizes:
    """What nodes of a graph have to do, by the shapes of what is fed."""

    def __init__(self, graph: Graph, fed: dict[Output, tuple[int, ...]]) -> None:
        self.signatures = Signatures()
        self.shapes = Shapes(graph, fed, self.signatures)

    def flops(self, node: Node) -> int:
        """Of a convolution or product, with two for each pair of factors; 0 of other ops."""
        inner = self._inner(node)
        return 2 * inner * self._count((node, 0))

    def bytes(self, node: Node) -> int:
        """Of inputs and outputs; nothing where sizes are not known."""
        found = self.signatures.of(node)
        outputs = [(node, k) for k in range(len(found.outputs or ()) if found else 0)]
        return sum(self._count(output) * self._width(output) for output in [*node.inputs, *outputs])

    def _inner(self, node: Node) -> int:
        shapes = [self.shapes.shape(output) for output in node.inputs]
        if node.op in PRODUCTS:
            first = shapes[0]
            return first[-2 if node.attr(PRODUCTS[node.op], False) else -1] if first else 0
        layer = str(node.attr("layer", node.op))
        if "Conv" not in layer or "Backprop" in layer or len(shapes) < 2 or not shapes[1]:
            return 0
        return math.prod(shapes[1][:-2] if "Depthwise" in layer else shapes[1][:-1])

    def _count(self, output: Output) -> int:
        shape = self.shapes.shape(output)
        return math.prod(shape) if shape is not None and min(shape, default=0) >= 0 else 0

    def _width(self, output: Output) -> int:
        found = self.signatures.of(output[0])
        outputs = found.outputs if found else None
        known = outputs is not None and output[1] < len(outputs)
        return outputs[output[1]].base.np.itemsize if known and outputs else 0


def show(console: Console, rows: Sequence[Row], of: Peaks, most: int) -> None:
    """The nodes that take longest, and all together."""
    table = Table("node", "op", "ms", "GFLOP/s", "GB/s", "limit", "x limit")
    for row in sorted(rows, key=lambda row: -row.seconds)[:most]:
        table.add_row(row.name, row.op, *_cells(row), _limit(row, of), _times(row, row.limit(of)))
    seconds, lowest = sum(row.seconds for row in rows), sum(row.limit(of) for row in rows)
    total = Row("all", f"{len(rows)} nodes", sum(r.flops for r in rows), sum(r.bytes for r in rows))
    total.seconds = seconds
    table.add_section()
    table.add_row(
        total.name, total.op, *_cells(total), f"{lowest * 1e3:.3f} ms", _times(total, lowest)
    )
    console.print(table)


def _limit(row: Row, of: Peaks) -> str:
    return "compute" if row.flops / of.flops >= row.bytes / of.bytes else "memory"


def _times(row: Row, lowest: float) -> str:
    return f"{row.seconds / lowest:.2f}" if lowest else ""


def _cells(row: Row) -> list[str]:
    took = max(row.seconds, 1e-9)
    flops = f"{row.flops / took / 1e9:.1f}" if row.flops else ""
    return [f"{took * 1e3:.3f}", flops, f"{row.bytes / took / 1e9:.1f}"]


def main(arguments: list[str] | None = None) -> int:
    """Measure the machine, then the model, and print the table."""
    parser = argparse.ArgumentParser(prog="bench.roofline", description=__doc__.split("\n", 1)[0])
    parser.add_argument("model", type=Path)
    parser.add_argument("--inputs", type=Path, metavar="IN.NPZ", help="arrays by tensor name")
    parser.add_argument("--fetch", action="append", default=[], metavar="TENSOR")
    parser.add_argument("--shape", action="append", default=[], metavar="NAME=SIZES")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--repeat", type=int, default=20)
    parser.add_argument("--rows", type=int, default=40, help="the nodes that take longest")
    options = parser.parse_args(arguments)
    plugins.ensure_loaded()
    asked = Asked(inputs=options.inputs, fetches=tuple(options.fetch), shapes=tuple(options.shape))
    model = asked.load(options.model)
    wanted = asked.request(model.loaded)
    of = peaks(options.threads)
    console = Console(width=None if Console().is_terminal else 160)
    console.print(f"{processor()}, {options.threads} thread(s): {of.flops / 1e9:.1f} GFLOP/s, "
                  f"{of.bytes / 1e9:.1f} GB/s", highlight=False)  # fmt: skip
    show(console, measure(model, wanted, options.threads, options.repeat), of, options.rows)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
