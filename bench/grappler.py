"""The passes beside TensorFlow's Grappler: nodes left, time, and how fast the graphs run here.

``python -m bench.grappler [MODELS] [--chains 10000 100000] [--kinds towers] [--write PAGE]``, in an
environment that has both (``nox -s tf_parity`` makes one). MODELS is a folder of recorded models
with an index.json. Both optimize the same GraphDef for the same fetches; Grappler's result is run
by drystone, whose own optimizer is off for that. Times are CPU time, the least of some runs, of a
large graph of one. ``--write`` leaves the page's rows of what was not measured as they are.
"""

from __future__ import annotations

import argparse
import json
import math
import resource
import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

import drystone_base as ds
from bench.alone.optimizer_passes import chain
from bench.grappler_graphs import dense_layers, towers
from bench.grappler_process import grappler
from bench.machine import processor
from drystone_base.core.errors import DrystoneError
from drystone_base.graph import Graph, reachable
from drystone_base.graph.calls import reachable_functions
from drystone_optimizer import OptimizerConfig, optimize

__all__ = ["Case", "Row", "count_nodes", "main", "measure", "recorded", "synthetic"]

BEGIN, END = "<!-- grappler: begin -->", "<!-- grappler: end -->"
KINDS = ("unary", "sums", "identities", "dense layers", "towers")
STACK = 1 << 30
ROUNDS = 8
"""Runs of each graph at least, however long they take."""
LARGE = 50_000
"""From so many nodes on each optimizer goes over a graph once only."""
OURS, PLAIN = OptimizerConfig(), ds.SessionConfig(optimizer="off")


@dataclass
class Case:
    """A graph with what is fetched and fed, and the session that holds its variables."""

    name: str
    graph: Graph
    fetches: list[str]
    feeds: dict[str, Any]
    state: ds.Session | None = None

    def session(self, graph: Graph) -> ds.Session:
        """A session of a graph that an optimizer made of this one."""
        made = ds.Session(graph, PLAIN)
        if self.state is not None:
            made.resources = self.state.resources
        return made


@dataclass
class Row:
    """One case: nodes before, and of both optimizers nodes left and seconds, also of one run.

    ``wrong``: the fetches for which the two graphs give something else.
    """

    name: str
    nodes: int
    left: tuple[int, int]
    seconds: tuple[float, float]
    run: tuple[float, float] | None
    wrong: list[str]


def ours(
    graph: bytes, fetches: Sequence[str], feeds: Sequence[str], repeats: int
) -> tuple[Graph, float]:
    """The graph that our passes make of the same bytes, and the least seconds."""
    best, after = math.inf, Graph()
    for _ in range(repeats):
        twin = Graph.from_bytes(graph)
        begin = time.process_time()
        after = optimize(twin, fetches, feeds, OURS)
        best = min(best, time.process_time() - begin)
    return after, best


def count_nodes(graph: Graph, fetches: Sequence[str]) -> int:
    """Nodes that a run of the fetches reaches, with those of the functions that it reaches."""
    needed = graph.copy(only=reachable([graph.output(name)[0] for name in fetches]).keys())
    return len(needed) + sum(f.node_count for f in reachable_functions(needed))


def differing(case: Case, graphs: Sequence[Graph]) -> list[str]:
    """Fetches that the graphs do not give alike."""
    one, other = (case.session(graph).run(case.fetches, case.feeds) for graph in graphs)
    pairs = zip(case.fetches, one, other, strict=True)
    return [name for name, a, b in pairs if not _close(np.asarray(a), np.asarray(b))]


def _close(a: np.ndarray[Any, Any], b: np.ndarray[Any, Any]) -> bool:
    if a.dtype != b.dtype or a.shape != b.shape:
        return False
    if a.dtype.kind not in "fc":
        return bool(np.array_equal(a, b))
    return bool(np.allclose(a, b, rtol=1e-3, atol=1e-4, equal_nan=True))


def timed(graphs: Sequence[Graph], case: Case) -> list[float]:
    """Least CPU seconds of one run of each graph, the graphs in turn."""
    sessions = [case.session(graph) for graph in graphs]
    calls = [partial(session.run, case.fetches, case.feeds) for session in sessions]
    for call in calls:
        call()
    best = [math.inf] * len(calls)
    ends = time.monotonic() + 2.0
    rounds = 0
    while rounds < ROUNDS or time.monotonic() < ends:
        rounds += 1
        for k, call in enumerate(calls):
            begin = time.process_time()
            call()
            best[k] = min(best[k], time.process_time() - begin)
    return best


def measure(case: Case, pool: ProcessPoolExecutor, runs: bool = True) -> Row:
    """Both optimizers on one case; Grappler runs in ``pool``."""
    data, feeds = case.graph.to_bytes(), list(case.feeds)
    once = len(case.graph) >= LARGE
    work = pool.submit(grappler, data, case.fetches, feeds, 1 if once else 2)
    theirs, their_seconds = work.result()
    mine, my_seconds = ours(data, case.fetches, feeds, 1 if once else 4)
    other = Graph.from_bytes(theirs)
    wrong: list[str] = []
    left = count_nodes(mine, case.fetches), count_nodes(other, case.fetches)
    run: tuple[float, float] | None = None
    if runs:
        try:
            wrong = differing(case, [mine, other])
            first, second = timed([mine, other], case)
            run = first, second
        except DrystoneError as error:
            print(f"{case.name}: Grappler's graph is not run: {error}", flush=True)
    return Row(case.name, count_nodes(case.graph, case.fetches), left,
               (my_seconds, their_seconds), run, wrong)  # fmt: skip


def recorded(folder: Path) -> Iterator[Case]:
    """The recorded models that are TensorFlow's, at their first recorded input."""
    for entry in json.loads((folder / "index.json").read_text())["models"]:
        refs = [ref for ref in entry["refs"] if ref["kind"] != "train"]
        if not refs or entry["format"] == "onnx":
            continue
        model = ds.load(folder / entry["name"] / entry["file"])
        held = np.load(folder / entry["name"] / refs[0]["file"])
        feeds = {name: held[key] for name, key in refs[0]["inputs"].items()}
        fetches = list(refs[0]["outputs"])
        yield Case(entry["name"], model.graph, fetches, feeds, model.session)


def synthetic(count: int, kinds: Sequence[str] = KINDS) -> Iterator[Case]:
    """Chains, dense layers and towers of about ``count`` nodes."""
    x = np.linspace(-1, 1, 6, dtype=np.float32).reshape(2, 3)
    for kind in kinds:
        name = f"{kind}, {count}"
        if kind == "dense layers":
            yield Case(name, *dense_layers(count // 4))
        elif kind == "towers":
            yield Case(name, *towers(count // 10))
        else:
            yield Case(name, chain(count, kind), [f"n{count - 1}:0"], {"x:0": x})


def ratio(values: Sequence[float]) -> float:
    """Geometric mean of ratios."""
    return math.exp(sum(map(math.log, values)) / len(values))


def line(row: Row) -> str:
    """A row as Markdown."""
    (a, b), (s, t) = row.left, row.seconds
    per = 1e6 / row.nodes
    run = f"{row.run[1] / row.run[0]:.2f}" if row.run else "—"
    return (
        f"| {row.name} | {row.nodes} | {a} | {b} | {b / a:.2f} | {s * per:.0f} | {t * per:.0f} "
        f"| {t / s:.2f} | {run} |"
    )


def table(lines: Iterable[str]) -> str:
    """Lines of cases as Markdown, with the geometric means of models and of each size."""
    columns = "graph | nodes | left: ours | Grappler | ratio | µs a node: ours | Grappler | ratio"
    groups: dict[str, list[str]] = {}
    for text in lines:
        size = _name(text).rpartition(", ")[2] if "," in text else ""
        groups.setdefault(size, []).append(text)
    sizes = sorted(groups, key=lambda size: int(size or 0))
    return "\n".join(
        [
            f"Both on the same graphs, on {processor()}; a ratio above 1 says that ours is ahead.",
            "",
            f"| {columns} | run: ratio |",
            "|---|---:|---:|---:|---:|---:|---:|---:|---:|",
            *(text for size in sizes for text in sorted(groups[size], key=_place)),
            *(_means(size, groups[size]) for size in sizes),
        ]
    )


def _name(text: str) -> str:
    return text.split(" | ")[0].removeprefix("| ")


def _place(text: str) -> tuple[int, str]:
    """Where a line stands among those of its size: kinds in their order, models by name."""
    kind = _name(text).partition(",")[0]
    return (KINDS.index(kind), "") if kind in KINDS else (-1, kind)


def _means(size: str, lines: Sequence[str]) -> str:
    """The geometric means of the ratios that the lines show."""
    shown = [[cell.strip() for cell in text.split("|")] for text in lines]
    left, spent, run = (
        ratio([max(float(cell), 0.005) for cell in found]) if found else 0  # 0.00 is rounded
        for found in ([cells[k] for cells in shown if cells[k] != "—"] for k in (5, 8, 9))
    )
    label = f"geometric mean of graphs of {size}" if size else "geometric mean of models"
    return f"| {label} | | | | {left:.2f} | | | {spent:.2f} | {f'{run:.2f}' if run else '—'} |"


def write(path: Path, lines: Sequence[str]) -> None:
    """Put lines into the page's table; those of other cases stay."""
    page = path.read_text(encoding="utf-8")
    (head, rest), names = page.split(BEGIN), set(map(_name, lines))
    old, tail = rest.split(END)
    rows = [text for text in old.splitlines() if text.count("|") == 10 and " | | | | " not in text]
    kept = [text for text in rows[1:] if not text.startswith("|--") and _name(text) not in names]
    path.write_text(f"{head}{BEGIN}\n{table([*kept, *lines])}\n{END}{tail}", encoding="utf-8")


def problems(rows: Sequence[Row]) -> list[str]:
    """Values that differ, and more nodes left in the geometric mean.

    Not counted is the chain of unary ops: it becomes one node only where a plugin has a kernel for
    that, such as drystone-cpu.
    """
    found = [f"{row.name}: other values of {', '.join(row.wrong)}" for row in rows if row.wrong]
    pairs = [row.left for row in rows if not row.name.startswith("unary")]
    left = ratio([theirs / mine for mine, theirs in pairs]) if pairs else 1
    return found if left >= 1 else [*found, f"more nodes left than by Grappler: {left:.3f}"]


def main() -> int:
    """Measure, print, and write the page's table; 1 where values differ or more nodes are left."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("models", nargs="?", type=Path)
    parser.add_argument("--chains", type=int, nargs="*", default=[10_000])
    parser.add_argument("--kinds", choices=KINDS, nargs="*", default=KINDS)
    parser.add_argument("--only", nargs="*", help="names of models")
    parser.add_argument("--no-runs", action="store_true", help="do not run the graphs")
    parser.add_argument("--write", type=Path, help="a page with the marks of the table")
    options = parser.parse_args()
    # Grappler goes along chains by recursion; with the usual 8 MB it crashes on 100,000 identities.
    resource.setrlimit(resource.RLIMIT_STACK, (STACK, resource.getrlimit(resource.RLIMIT_STACK)[1]))
    rows = []
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        for case in _cases(options):  # one at a time in memory
            rows.append(measure(case, pool, not options.no_runs))
            print(line(rows[-1]), flush=True)
    lines = [line(row) for row in rows]
    print(table(lines).partition("| geometric")[2])
    if options.write:
        write(options.write, lines)
    wrong = problems(rows)
    print(*wrong, sep="\n")
    return int(bool(wrong))


def _cases(options: argparse.Namespace) -> Iterator[Case]:
    for case in recorded(options.models) if options.models else ():
        if not options.only or case.name in options.only:
            yield case
    for count in options.chains:
        yield from synthetic(count, options.kinds)


if __name__ == "__main__":
    raise SystemExit(main())
