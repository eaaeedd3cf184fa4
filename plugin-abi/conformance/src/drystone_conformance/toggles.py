"""What it costs, and brings, that a plugin's optimizer turns built-in passes off.

RFC 318 asks plugins for a benchmark that turning passes off does not slow down other graphs. Each
network runs in turn with all built-in passes; with each pass off alone that the optimizer turns
off; with all of these off; and with the optimizer in their place. The networks are made here;
``--model`` adds recorded ones. Times are the least processor time of a run on one thread.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from drystone_base import Session, SessionConfig, load
from drystone_base.graph import Graph
from drystone_base.plugins import load_library
from drystone_conformance.graphs import dense
from drystone_conformance.progress import doing
from drystone_conformance.timed_graphs import TIMED
from drystone_optimizer import Optimizer, OptimizerConfig, optimize_with_report, optimizers

__all__ = ["Row", "configs_of", "main", "measure"]

ALL_PASSES, ALL_OFF, WITH_IT = "all passes", "all these off", "with its optimizer"
EXAMPLES = """examples:
  python -m drystone_conformance toggles build/libmine.so
  python -m drystone_conformance toggles build/libmine.so --model saved_model/ inputs.npz --json costs.json
  python -m drystone_conformance toggles --off remapping layout_optimizer
"""  # noqa: E501 - a command that is to be pasted is one line
Run = Callable[[], Any]


@dataclass(frozen=True)
class Row:
    """A network with some passes off: seconds of a run, and times those with all passes."""

    graph: str
    passes: str
    seconds: float
    ratio: float


def configs_of(one: Optimizer | None, off: Sequence[str]) -> dict[str, OptimizerConfig]:
    """What to measure, by name: a config for each pass that is turned off, and for all of them.

    ``one`` is a plugin's optimizer; without one the passes of ``off`` are turned off.
    """
    without = {"use_plugin_optimizers": False}
    found = {ALL_PASSES: OptimizerConfig.from_options(without)}
    wishes = dict(one.configs) if one else dict.fromkeys(off, "off")
    turned = [name for name, word in wishes.items() if word == "off"]
    for label, names in [*((name, [name]) for name in turned), (ALL_OFF, turned)]:
        if label != ALL_OFF or len(turned) > 1:
            wished = dict.fromkeys(names, "off")
            found[label] = OptimizerConfig.from_options(_decided(one, wished) | without)
    if one:
        found[WITH_IT] = OptimizerConfig()
    return found


def _decided(one: Optimizer | None, wished: Mapping[str, str]) -> dict[str, Any]:
    """Every toggle, once that is wished: what does the work of a pass goes off with it."""
    if one is None:
        return dict(wished)
    case = dense()
    ends = (case.graph, case.fetches, list(case.feeds), OptimizerConfig())
    wishing = [replace(one, configs=dict(wished))]
    return dict(optimize_with_report(*ends, wishing, runs_plugins=False)[1].passes)


def measure(
    configs: Mapping[str, OptimizerConfig],
    networks: Mapping[str, Callable[[OptimizerConfig], Run]],
    seconds: float,
) -> list[Row]:
    """Each network with each config, in turn for so many seconds."""
    rows = []
    for name, make in networks.items():
        with doing(f"optimizing graph {name}"):
            runs = {label: make(config) for label, config in configs.items()}
        with doing(f"running graph {name}"):
            best = _timed(runs, seconds)
        rows += [Row(name, label, took, took / best[ALL_PASSES]) for label, took in best.items()]
    return rows


def _timed(runs: Mapping[str, Run], seconds: float) -> dict[str, float]:
    """Least processor seconds of one run of each, the runs in turn."""
    for run in runs.values():
        run()
    best = dict.fromkeys(runs, math.inf)
    ends = time.monotonic() + seconds
    while math.inf in best.values() or time.monotonic() < ends:
        for label, run in runs.items():
            begin = time.process_time()
            run()
            best[label] = min(best[label], max(time.process_time() - begin, 1e-9))
    return best


def _settings(config: OptimizerConfig) -> SessionConfig:
    return SessionConfig(optimizer=config, intra_op_threads=1, inter_op_threads=1)


def _made(name: str) -> Callable[[OptimizerConfig], Run]:
    """One of the networks that are made here."""

    def make(config: OptimizerConfig) -> Run:
        case = TIMED[name]()
        session = Session(case.graph, _settings(config))
        return lambda: session.run(case.fetches, case.feeds)

    return make


def _recorded(path: str, inputs: str) -> Callable[[OptimizerConfig], Run]:
    """A model from a file, with its inputs by name of input or of tensor."""

    def make(config: OptimizerConfig) -> Run:
        model = load(path, config=_settings(config))
        assert isinstance(model.graph, Graph)
        tensors = {name: spec.tensor for name, spec in model.inputs.items()}
        with np.load(inputs, allow_pickle=False) as data:
            feeds = {tensors.get(name, name): data[name] for name in data.files}
        fetches = [spec.tensor for spec in model.outputs.values()]
        return lambda: model.run(fetches, feeds)

    return make


def _table(rows: Sequence[Row]) -> str:
    lines = [f"{'graph':<20}{'passes':<28}{'µs':>10}{'times':>8}"]
    lines += [f"{r.graph:<20}{r.passes:<28}{r.seconds * 1e6:>10.1f}{r.ratio:>8.2f}" for r in rows]
    return "\n".join(lines)


def _mean(rows: Sequence[Row], passes: str) -> float:
    """Geometric mean of the ratios."""
    ratios = [math.log(row.ratio) for row in rows if row.passes == passes]
    return math.exp(sum(ratios) / len(ratios)) if ratios else 1.0


def _optimizer(library: str) -> Optimizer:
    with doing("loading the library"):
        plugin = load_library(library, policy="allow_unverified")
    found = [one for one in optimizers() if one.path == plugin.path]
    if not found:
        raise SystemExit(f"toggles: {library} registers no graph optimizer")
    return found[0]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "python -m drystone_conformance toggles",
        description=__doc__,
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("library", nargs="?", help="a plugin with a graph optimizer")
    add("--off", nargs="+", default=[], metavar="PASS", help="instead: what these passes are worth")
    add("--model", nargs=2, action="append", default=[], metavar=("PATH", "NPZ"),
        help="a model and a file of its inputs; may be repeated")  # fmt: skip
    add("--seconds", type=float, default=1.0, help="for each network (default 1)")
    add("--worse", type=float, default=1.1, help="times as long as is too much (default 1.1)")
    add("--json", metavar="FILE", help="write the rows; - for standard output")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table; 1 where a network takes too long on average, 2 for a wrong call."""
    parser = _parser()
    options = parser.parse_args(arguments)
    if bool(options.library) == bool(options.off):
        parser.error("name either a library or passes after --off")
    one = _optimizer(options.library) if options.library else None
    configs = configs_of(one, options.off)
    networks = {name: _made(name) for name in TIMED}
    networks |= {Path(path).name or path: _recorded(path, npz) for path, npz in options.model}
    rows = measure(configs, networks, options.seconds)
    last = WITH_IT if one else ALL_OFF if ALL_OFF in configs else list(configs)[-1]
    mean = _mean(rows, last)
    facts = {"rows": [asdict(row) for row in rows], "mean": mean, "worse": options.worse}
    if options.json and options.json != "-":
        Path(options.json).write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(facts, indent=1) if options.json == "-" else _table(rows))
    if options.json != "-":
        if len(configs) == 1 + bool(one):
            print("it turns no pass off")
        print(f"{last}: {mean:.2f} times as long on average; {options.worse:g} is too much")
    return int(mean > options.worse)
