"""Random graphs with and without passes.

random_graphs.py [--count N] [--seconds S] [--first SEED] [--jobs N] [--options] [--log FILE]

Each seed makes a program (branches, loops, functions, state), arithmetic, a network of images,
layers of a transformer or steps of training, and a choice of passes: all of them, all that keep
every bit, or one alone. What they leave must be valid after each pass and give what the given graph
gives, bit for bit or nearly, and the passes must find nothing more in it. What differs is printed
with its seed; the status is 1 then.

With `--options` every setting of the optimizer is drawn, and devices in all spellings: what a
session then gives must be what the graph gives without passes. See ``random_options``.

A line of progress on standard error names the first seed that was not looked at: `--first` goes on
there, also after Ctrl-C. At the end, a table says how often each pass rewrote what.
"""

from __future__ import annotations

import argparse
import logging
import os
import shlex
import sys
import time
import warnings
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, TextIO

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
CHUNK, MOST_SHOWN = 50, 20
KINDS = ("arithmetic", "images", "program", "layers", "training")
_OLD_NAME, _TOGGLE = "auto_mixed_precision_mkl", "disable_model_pruning"
_PROGRESS_SECONDS = 10.0
_ELEMENTWISE = ("Abs", "Exp", "Identity", "Neg", "Relu", "Sign", "Sqrt", "Square", "Tanh")
# What passes need to find something to do in graphs of this kind.
_SETTINGS: dict[str, dict[str, Any]] = {
    "auto_parallel": {"auto_parallel_replicas": 2},
    "layout_optimizer": {"cpu_layout_conversion": "nchw_to_nhwc"},
    "memory_optimization": {
        "memory_mode": "heuristics", "device_memory": {"CPU": 16, "GPU": 16},
    },
    "scoped_allocator_optimization": {"scoped_allocator_ops": _ELEMENTWISE},
}  # fmt: skip
# Beyond these a rounding may become an infinity or a zero.
LARGE, SMALL = 1e12, 1e-12


class Found(NamedTuple):
    """What came of one seed: its kind and passes, and what differs ("" for nothing)."""

    seed: int
    kind: str
    passes: str
    problem: str


class Done(NamedTuple):
    """A range of seeds, and how many graphs each rewrite of each pass was done in."""

    found: list[Found]
    fired: Counter[tuple[str, str]]


class Tally:
    """What came of all seeds so far."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.begin, self.printed = time.monotonic(), 0.0
        self.next, self.last = options.first, options.first + options.count
        self.seconds, self.log = options.seconds, _log_of(options)
        self.kinds: Counter[str] = Counter()
        self.fired: Counter[tuple[str, str]] = Counter()
        self.shown = 0

    @property
    def elapsed(self) -> float:
        """Seconds since the beginning."""
        return time.monotonic() - self.begin

    @property
    def is_over(self) -> bool:
        """Whether enough was seen, or time is up."""
        return self.shown >= MOST_SHOWN or self.elapsed > self.seconds

    def take(self, done: Done) -> None:
        """Add a range; problems are printed."""
        self.fired.update(done.fired)
        for found in done.found:
            self.kinds[found.kind] += 1
            self.next = found.seed + 1
            if found.problem:
                self.say(f"seed {found.seed}: {found.kind}, {found.passes}: {found.problem}")
                self.shown += 1
        if self.elapsed - self.printed >= _PROGRESS_SECONDS:
            self.printed = self.elapsed
            print(self.progress(), file=sys.stderr, flush=True)
            self.note(self.progress())

    def say(self, text: str) -> None:
        """Print a line, and keep it in the log."""
        print(text, flush=True)
        self.note(text)

    def note(self, text: str) -> None:
        """Keep a line in the log, if there is one."""
        if self.log is not None:
            print(text, file=self.log, flush=True)

    def progress(self) -> str:
        """How far it is, how fast, and where to go on."""
        rate = self.kinds.total() / max(self.elapsed, 1e-9)
        left = (self.last - self.next) / rate if rate else float("inf")
        return (
            f"{self.kinds.total()} graphs, {rate:.0f}/s, {self.shown} differ, "
            f"{left / 60:.0f} min left; to go on from here: --first {self.next}"
        )

    def report(self) -> str:
        """The whole of it: in how many graphs each pass did what, and a line."""
        from drystone_optimizer.core.config import OWN, PASSES

        names = [name for name in (*PASSES, *OWN) if name not in (_OLD_NAME, _TOGGLE)]
        of_pass: Counter[str] = Counter()
        for (name, _), count in self.fired.items():
            of_pass[name] += count
        lines = []
        for name in (*(n for n in names if n not in of_pass), *sorted(of_pass)):
            what = sorted(((c, r) for (p, r), c in self.fired.items() if p == name), reverse=True)
            lines.append(f"{name}: {', '.join(f'{r} {c}' for c, r in what) or 'never'}")
        drawn = ", ".join(f"{count} of {kind}" for kind, count in sorted(self.kinds.items()))
        lines.append(
            f"{self.kinds.total()} graphs ({drawn}), seeds up to {self.next}; {self.shown} differ; "
            f"{self.elapsed:.0f} s"
        )
        return "\n".join(lines)


def main(arguments: list[str] | None = None) -> int:
    """Draw, optimize, run and compare."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="stop after that long")
    parser.add_argument("--options", action="store_true", help="draw every setting, and devices")
    parser.add_argument("--log", type=Path, help="keep what is printed, and the progress, here")
    options = parser.parse_args(arguments)
    tally = Tally(options)
    words = shlex.join(sys.argv[1:] if arguments is None else arguments)
    tally.say(f"random_graphs {words}: {options.count} seeds from {options.first} on")
    chunks = [range(k, min(k + CHUNK, tally.last)) for k in range(tally.next, tally.last, CHUNK)]
    try:
        for done in _all(chunks, options.jobs, options.options):
            tally.take(done)
            if tally.is_over:
                break
    except KeyboardInterrupt:
        print(tally.progress(), file=sys.stderr)
    tally.say(tally.report())
    return int(tally.shown > 0)


def _log_of(options: argparse.Namespace) -> TextIO | None:
    path = getattr(options, "log", None)
    if path is None:
        return None
    log: TextIO = path.open("a", encoding="utf-8")
    return log


def _all(chunks: list[range], jobs: int, options: bool) -> Iterator[Done]:
    """What came of each range, in order."""
    run = partial(_chunk, options=options)
    if jobs == 1:
        yield from map(run, chunks)
        return
    with ProcessPoolExecutor(jobs) as pool:
        try:
            yield from pool.map(run, chunks)
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def use_generators() -> None:
    """Let what draws graphs be imported from where the tests have it."""
    for folder in ("packages/base/tests", "packages/optimizer/tests"):
        if str(ROOT / folder) not in sys.path:
            sys.path.insert(0, str(ROOT / folder))


def _chunk(seeds: range, options: bool = False) -> Done:
    os.environ["DRYSTONE_VERIFY_PASSES"] = "1"
    use_generators()
    from drystone_base.plugins import ensure_loaded

    ensure_loaded()  # passes ask which kernels there are
    fired: Counter[tuple[str, str]] = Counter()
    _count_in_sessions(fired)
    if options:  # what is left out, and why, is nothing new here
        warnings.simplefilter("ignore")
        logging.disable(logging.WARNING)
    return Done([with_options(seed) if options else one(seed, fired) for seed in seeds], fired)


def _count_in_sessions(fired: Counter[tuple[str, str]]) -> None:
    """Note what passes do in the graphs that sessions optimize."""
    from drystone_optimizer import optimize_with_report
    from drystone_optimizer.session import stage

    def optimize(graph: Any, fetches: Any, feeds: Any, config: Any, **more: Any) -> Any:
        after, report = optimize_with_report(graph, fetches, feeds, config, available=(), **more)
        _note(report, fired)
        return after, report

    stage.optimize_with_report = optimize  # type: ignore[attr-defined, assignment]


def _note(report: Any, fired: Counter[tuple[str, str]]) -> None:
    fired.update({(step.name, rule) for step in report.steps for rule in step.rewrites})


def one(seed: int, fired: Counter[tuple[str, str]] | None = None) -> Found:
    """The outcome of one seed."""
    kind = KINDS[seed % len(KINDS)]
    passes, config = _config(seed // len(KINDS), kind)
    try:
        if kind in ("program", "training"):
            problem = _program(seed, kind, passes, config)
        else:
            problem = _graph(seed, kind, config, passes, Counter() if fired is None else fired)
    except Exception as error:
        problem = f"{type(error).__name__}: {error}"
    return Found(seed, kind, passes, problem)


def with_options(seed: int) -> Found:
    """The outcome of one seed with every setting drawn."""
    from ci.scripts.random_sessions import outcome_of

    return Found(seed, *outcome_of(seed, KINDS[seed % len(KINDS)]))


def _config(number: int, kind: str) -> tuple[str, Any]:
    """Of four draws one has all passes, one those that keep every bit, two a pass alone.

    Of all passes, replicas are a part where something is trained.
    """
    from drystone_optimizer import OptimizerConfig
    from drystone_optimizer.core.config import OWN, PASSES

    strict: Any = {"fail_on_optimizer_errors": True, "min_graph_nodes": -1}
    if number % 4 == 0:
        if kind == "training":
            strict |= {"auto_parallel": "on", **_SETTINGS["auto_parallel"]}
        return "all passes", OptimizerConfig(**strict)
    if number % 4 == 1:
        return "all passes, exact", OptimizerConfig(numeric="exact", **strict)
    names = [name for name in (*PASSES, *OWN) if name != _OLD_NAME]
    name = names[number // 4 % len(names)]
    toggles: dict[str, Any] = dict.fromkeys((*PASSES, *OWN), "off") | {
        "disable_model_pruning": "on"
    }
    toggles[name] = "off" if name == "disable_model_pruning" else "on"
    if name == "common_subgraph_elimination":
        toggles["arithmetic_optimization"] = "default"
    toggles |= _SETTINGS.get(name, {})
    numeric = "exact" if number % 4 == 2 else "reassociates"
    return f"{name}, {numeric}", OptimizerConfig(**toggles, numeric=numeric, **strict)


def _program(seed: int, kind: str, passes: str, config: Any) -> str:
    from random_programs import disagreement, draw
    from random_programs.agree import Failed
    from random_training import draw_training

    if kind == "program":
        program = draw(seed)
    else:
        program = draw_training(seed, plain=config.is_on("auto_parallel"))
    if config.numeric != "exact":  # last bits of floats may differ
        program.inexact.update(name for fetches, _ in program.runs for name in fetches)
    found = disagreement(program, config)
    if found and kind == "training" and passes.startswith("auto_mixed_precision"):
        return str(found) if isinstance(found.native, Failed) else ""  # steps add up roundings
    if found is None or (found.run and draws(program.graph, found.fetch)):
        return ""  # a draw that was not needed was not made in an earlier run
    return str(found)


def draws(graph: Any, fetch: str) -> bool:
    """Whether a value comes from a generator that counts its draws."""
    from drystone_base.graph import reachable

    return bool(fetch) and any(
        node.op.startswith(("Random", "TruncatedNormal", "Multinomial"))
        for node in reachable([graph.output(fetch)[0]])
    )


def _graph(seed: int, kind: str, config: Any, passes: str, fired: Counter[tuple[str, str]]) -> str:
    import random_arithmetic
    from random_images import draw_images
    from random_layers import draw_layers

    made: Any
    if kind == "arithmetic":
        made, fetches = random_arithmetic.draw(seed)
    elif kind == "layers":
        made, fetches = draw_layers(seed)
    else:
        made, fetches = draw_images(seed, last=bool(seed % 2))
    graph, feeds = made.m.graph, made.feeds
    _place(graph, passes, seed)
    fetches = [*fetches, *more_nodes(made.m, fetches, passes)]
    after, problem = _again(graph, fetches, feeds, config, fired)
    if problem or passes.startswith("auto_mixed_precision") or after is graph:
        return problem
    executor = "native" if kind == "layers" and seed % 2 else "reference"
    plain, found = _run(graph, fetches, feeds), _run(after, fetches, feeds, executor)
    for name, one, other in zip(fetches, plain, found, strict=True):
        if one.dtype != other.dtype or one.shape != other.shape:
            return f"{name} is {one.dtype}{one.shape}, then {other.dtype}{other.shape}"
        if not same(one, other, config.numeric == "exact" and kind == "arithmetic"):
            if config.numeric != "exact" and not is_tame(graph, feeds):
                continue  # another order of operations may overflow where this one does not
            return f"{name} is {one.tolist()}, then {other.tolist()}"
    return ""


def _place(graph: Any, passes: str, seed: int) -> None:
    """Ask for a GPU here and there, and for memory of the host, where a pass looks for that."""
    devices = passes.startswith("pin_to_host_optimization")
    swaps = passes.startswith("memory_optimization")
    on_gpu = passes.startswith("auto_mixed_precision,")
    for k, node in enumerate(graph):
        if on_gpu:
            graph.set_device(node, "/gpu:0")
        if devices:
            graph.set_device(node, ("", "/gpu:0", "/cpu:0")[(seed + k) % 3])
        if swaps and node.op in ("Mul", "AddV2") and k % 2:
            graph.set_attr(node, "_swap_to_host", [0])
            graph.set_device(node, "/gpu:0")
            graph.set_device(node.inputs[0][0], "/gpu:0")


def more_nodes(made: Any, fetches: list[str], passes: str) -> list[str]:
    """Nodes that only some passes have something to do with, and their values' names."""
    from drystone_base.core.dtypes import BOOL, FLOAT32, INT32

    data = made.graph.output(fetches[0])
    if passes.startswith("shape_optimization"):
        shape = made.op("Shape", "more/shape", data, T=FLOAT32, out_type=INT32)
        axis = made.const("more/axis", [0], INT32)
        made.op("Prod", "more/count", shape, axis, T=INT32, Tidx=INT32, keep_dims=False)
        other = made.op("Neg", "more/other", data, T=FLOAT32)
        sizes = [made.op("Size", f"more/size_{k}", value, T=FLOAT32, out_type=INT32)
                 for k, value in enumerate((data, other))]  # fmt: skip
        made.op("FloorDiv", "more/ratio", *sizes, T=INT32)
        return ["more/count:0", "more/ratio:0"]
    if passes.startswith("debug_stripper"):
        holds = made.const("more/true", True, BOOL)
        check = made.op("Assert", "more/check", holds, data, T=[FLOAT32], summarize=3)
        made.op("Identity", "more/after", data, controls=[check], T=FLOAT32)
        return ["more/after:0"]
    return []


def _again(
    graph: Any, fetches: list[str], feeds: Any, config: Any, fired: Counter[tuple[str, str]]
) -> tuple[Any, str]:
    """The graph as the passes leave it, and what they find in that."""
    from dataclasses import replace

    from drystone_optimizer import optimize_with_report

    more = replace(config, meta_optimizer_iterations=6)
    after, report = optimize_with_report(graph, fetches, list(feeds), more, available=())
    _note(report, fired)
    if after is graph:
        return graph, ""
    again, report = optimize_with_report(after, fetches, list(feeds), more, available=())
    if again is after:
        return after, ""
    return after, f"not at rest: {[(s.name, dict(s.rewrites)) for s in report.steps if s.rewrites]}"


def _run(graph: Any, fetches: list[str], feeds: Any, executor: Any = "reference") -> list[Any]:
    from drystone_base.api.session import Session, SessionConfig

    config = SessionConfig(executor=executor, optimizer="off")
    with np.errstate(all="ignore"):
        return [np.asarray(v) for v in Session(graph, config).run(fetches, feeds)]


def same(one: Any, other: Any, exact: bool) -> bool:
    """Whether two arrays are the same, bit for bit or nearly."""
    if not exact:
        return bool(np.allclose(one, other, rtol=1e-3, atol=1e-4, equal_nan=True))
    known = ~np.isnan(one)
    signs = np.array_equal(np.signbit(one)[known], np.signbit(other)[known])
    return signs and np.array_equal(one, other, equal_nan=True)


def is_tame(graph: Any, feeds: Any) -> bool:
    """Whether no value on the way is huge, tiny, infinite or no number, and none hangs on a bit."""
    names = [f"{node.name}:0" for node in graph if node.op not in ("Placeholder", "Const")]
    plain = _run(graph, names, feeds)
    nudged = {k: v * np.float32(1 + 1e-5) for k, v in feeds.items()}
    for one, other in zip(plain, _run(graph, names, nudged), strict=True):
        if one.dtype.kind != "f":
            continue
        sizes = np.abs(one[one != 0])
        inside = not sizes.size or SMALL < sizes.min() <= sizes.max() < LARGE
        if not (np.isfinite(one).all() and inside):
            return False
        if not np.allclose(one, other, rtol=1e-3, atol=1e-4):
            return False
    return True


if __name__ == "__main__":
    sys.exit(main())
