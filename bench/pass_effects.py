"""What each pass does for recorded models: nodes, time and memory of a run with and without it.

``python -m bench.pass_effects MODELS [--write PAGE]``: PAGE is
docs/reference/measurements/optimizer.md. MODELS is a folder of recorded models with an index.json.
Runs are on one thread, with drystone-cpu if it is installed; times are CPU time, the least of runs
taken in turn, and memory is the most that values of a run take at once.
"""

from __future__ import annotations

import argparse
import math
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import drystone_base as ds
from bench.grappler import Case, count_nodes, recorded
from bench.machine import processor
from drystone_base.graph import Graph
from drystone_optimizer import OptimizerConfig, optimize_with_report

__all__ = ["Effect", "main", "measure"]

BEGIN, END = "<!-- effects: begin -->", "<!-- effects: end -->"
PLAIN = ds.SessionConfig(optimizer="off", intra_op_threads=1)
SWITCHES = {"model_pruning": ("disable_model_pruning", "on")}
SECONDS = 1.0


@dataclass
class Effect:
    """A graph beside another of the same model: nodes of both, seconds and bytes of a run."""

    model: str
    nodes: tuple[int, int]
    seconds: tuple[float, float]
    peak: tuple[int, int]


def session(case: Case, graph: Graph) -> ds.Session:
    """A session of a graph that passes made of the case's, with the model's variables."""
    made = ds.Session(graph, PLAIN)
    if case.state is not None:
        made.resources = case.state.resources
    return made


def beside(case: Case, without: Graph, graph: Graph) -> Effect:
    """Both graphs, run in turn."""
    sessions = [session(case, one) for one in (without, graph)]
    peaks = []
    for one in sessions:
        with one.record() as record:
            one.run(case.fetches, case.feeds)
        peaks.append(record.peak or 0)
    calls = [partial(one.run, case.fetches, case.feeds) for one in sessions]
    best = [math.inf, math.inf]
    ends = time.monotonic() + SECONDS
    while time.monotonic() < ends:
        for k, call in enumerate(calls):
            begin = time.process_time()
            call()
            best[k] = min(best[k], time.process_time() - begin)
    nodes = count_nodes(without, case.fetches), count_nodes(graph, case.fetches)
    return Effect(case.name, nodes, (best[0], best[1]), (peaks[0], peaks[1]))


def measure(case: Case) -> tuple[Effect, dict[str, Effect], Counter[str], Counter[str]]:
    """All passes beside none, and beside all but one for each that does something.

    With the rewrites and the microseconds of each pass.
    """
    spent: Counter[str] = Counter()
    rewrites: Counter[str] = Counter()
    optimize = partial(optimize_with_report, case.graph, case.fetches, list(case.feeds),
                       available=())  # fmt: skip
    optimize()  # what is imported at first does not count
    graph, report = optimize()
    for step in report.steps:
        spent[step.name] += round(step.seconds * 1e6)
        rewrites[step.name] += sum(step.rewrites.values())
    whole = beside(case, case.graph, graph)
    effects = {}
    for name in (name for name, count in rewrites.items() if count):
        toggle, value = SWITCHES.get(name, (name, "off"))
        config: Any = {toggle: value}
        without, _ = optimize(config=OptimizerConfig(**config))
        effects[name] = beside(case, without, graph)
    return whole, effects, rewrites, spent


def mean(ratios: Sequence[float]) -> str:
    """The geometric mean, written with two places."""
    return f"{math.exp(sum(map(math.log, ratios)) / len(ratios)):.2f}" if ratios else "—"


def row(label: str, effects: Sequence[Effect]) -> str:
    """Nodes without and with, then how many times the time and memory of a run without takes."""
    without, left = (sum(e.nodes[k] for e in effects) for k in (0, 1))
    times = [e.seconds[0] / e.seconds[1] for e in effects]
    peaks = [e.peak[0] / e.peak[1] for e in effects if all(e.peak)]
    return f"| {label} | {without} | {left} | {mean(times)} | {mean(peaks)} |"


def tables(found: Sequence[tuple[Effect, dict[str, Effect], Counter[str], Counter[str]]]) -> str:
    """Both tables as Markdown."""
    lines = [
        f"On {processor()}, one thread. Time and memory: so often those of a run with all passes.",
        "",
        "| model | nodes | left | time without | memory without |",
        "|---|---:|---:|---:|---:|",
        *(row(whole.model, [whole]) for whole, *_ in found),
        row("all", [whole for whole, *_ in found]),
        "",
        "All passes but one, on the models where it does something; its share of all passes' time:",
        "",
        "| without | models | rewrites | share | nodes without | left | time | memory |",
        "|---|---:|---:|---:|---:|---:|---:|---:|",
    ]
    rewrites = sum((r for _, _, r, _ in found), Counter[str]())
    spent = sum((s for *_, s in found), Counter[str]())
    for name in rewrites:
        chosen = [effects[name] for _, effects, _, _ in found if name in effects]
        label = f"`{name}` | {len(chosen)} | {rewrites[name]} | {spent[name] / spent.total():.0%}"
        lines.append(row(label, chosen))
    return "\n".join(lines)


def main() -> None:
    """Measure, print, and write the page's tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("models", type=Path)
    parser.add_argument("--only", nargs="*", help="names of models")
    parser.add_argument("--write", type=Path, help="a page with the marks of the tables")
    options = parser.parse_args()
    found = []
    for case in recorded(options.models):
        if not options.only or case.name in options.only:
            found.append(measure(case))
            print(row(case.name, [found[-1][0]]), flush=True)
    text = tables(found)
    print(text)
    if options.write:
        page = options.write.read_text(encoding="utf-8")
        head, tail = page.partition(BEGIN)[0], page.partition(END)[2]
        options.write.write_text(f"{head}{BEGIN}\n{text}\n{END}{tail}", encoding="utf-8")


if __name__ == "__main__":
    main()
