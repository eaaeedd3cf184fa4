"""Random graphs with and without passes: random_graphs.py [--count 100000] [--first SEED]

Each seed makes a program (branches, loops, functions, state), arithmetic or a network of images,
and a choice of passes: all of them, all that keep every bit, or one alone. What they leave must be
valid after each pass and give what the given graph gives, bit for bit or nearly, and the passes
must find nothing more in it. What differs is printed with its seed; the status is 1 then.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
CHUNK, MOST_SHOWN = 200, 20
KINDS = ("arithmetic", "images", "program")
_OLD_NAME = "auto_mixed_precision_mkl"
# Beyond these a rounding may become an infinity or a zero.
LARGE, SMALL = 1e12, 1e-12


class Found(NamedTuple):
    """What came of one seed: its kind and passes, and what differs ("" for nothing)."""

    seed: int
    kind: str
    passes: str
    problem: str


def main(arguments: list[str] | None = None) -> int:
    """Draw, optimize, run and compare."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="stop after that long")
    options = parser.parse_args(arguments)
    begin, shown = time.monotonic(), 0
    kinds: Counter[str] = Counter()
    last = options.first + options.count
    chunks = [range(k, min(k + CHUNK, last)) for k in range(options.first, last, CHUNK)]
    with ProcessPoolExecutor(options.jobs) as pool:
        for results in pool.map(_chunk, chunks):
            for found in results:
                kinds[found.kind] += 1
                if found.problem:
                    print(f"seed {found.seed}: {found.kind}, {found.passes}: {found.problem}",
                          flush=True)  # fmt: skip
                    shown += 1
            if shown >= MOST_SHOWN or time.monotonic() - begin > options.seconds:
                pool.shutdown(wait=False, cancel_futures=True)
                break
    drawn = ", ".join(f"{count} of {kind}" for kind, count in sorted(kinds.items()))
    print(f"{kinds.total()} graphs ({drawn}); {shown} differ; {time.monotonic() - begin:.0f} s")
    return int(shown > 0)


def _chunk(seeds: range) -> list[Found]:
    os.environ["DRYSTONE_VERIFY_PASSES"] = "1"
    for folder in ("packages/base/tests", "packages/optimizer/tests"):
        if str(ROOT / folder) not in sys.path:
            sys.path.insert(0, str(ROOT / folder))
    return [one(seed) for seed in seeds]


def one(seed: int) -> Found:
    """The outcome of one seed."""
    kind = KINDS[seed % len(KINDS)]
    passes, config = _config(seed // len(KINDS))
    try:
        if kind == "program":
            problem = _program(seed, config)
        else:
            problem = _graph(seed, kind, config, passes)
    except Exception as error:
        problem = f"{type(error).__name__}: {error}"
    return Found(seed, kind, passes, problem)


def _config(number: int) -> tuple[str, Any]:
    """Of four draws one has all passes, one those that keep every bit, two a pass alone."""
    from drystone_optimizer import OptimizerConfig
    from drystone_optimizer.config import PASSES

    strict: Any = {"fail_on_optimizer_errors": True, "min_graph_nodes": -1}
    if number % 4 == 0:
        return "all passes", OptimizerConfig(**strict)
    if number % 4 == 1:
        return "all passes, exact", OptimizerConfig(numeric="exact", **strict)
    names = [name for name in PASSES if name != _OLD_NAME]
    name = names[number // 4 % len(names)]
    toggles: dict[str, Any] = dict.fromkeys(PASSES, "off") | {"disable_model_pruning": "on"}
    toggles[name] = "off" if name == "disable_model_pruning" else "on"
    if name == "common_subgraph_elimination":
        toggles["arithmetic_optimization"] = "default"
    numeric = "exact" if number % 4 == 2 else "reassociates"
    return f"{name}, {numeric}", OptimizerConfig(**toggles, numeric=numeric, **strict)


def _program(seed: int, config: Any) -> str:
    from random_programs import disagreement, draw

    found = disagreement(draw(seed), config)
    return "" if found is None else str(found)


def _graph(seed: int, kind: str, config: Any, passes: str) -> str:
    import random_arithmetic
    from random_images import draw_images

    made: Any
    if kind == "arithmetic":
        made, fetches = random_arithmetic.draw(seed)
    else:
        made, fetches = draw_images(seed, last=bool(seed % 2))
    graph, feeds = made.m.graph, made.feeds
    problem = _again(graph, fetches, feeds, config)
    if problem or passes.startswith("auto_mixed_precision"):
        return problem
    plain, found = _run(graph, fetches, feeds, "off"), _run(graph, fetches, feeds, config)
    for name, one, other in zip(fetches, plain, found, strict=True):
        if one.dtype != other.dtype or one.shape != other.shape:
            return f"{name} is {one.dtype}{one.shape}, then {other.dtype}{other.shape}"
        if not _same(one, other, config.numeric == "exact" and kind == "arithmetic"):
            if config.numeric != "exact" and not _is_tame(graph, feeds):
                continue  # another order of operations may overflow where this one does not
            return f"{name} is {one.tolist()}, then {other.tolist()}"
    return ""


def _again(graph: Any, fetches: list[str], feeds: Any, config: Any) -> str:
    """Whether the passes find something in what they left."""
    from dataclasses import replace

    from drystone_optimizer import optimize_with_report

    more = replace(config, meta_optimizer_iterations=6)
    after, _ = optimize_with_report(graph, fetches, list(feeds), more, available=())
    again, report = optimize_with_report(after, fetches, list(feeds), more, available=())
    if again is after:
        return ""
    return f"not at rest: {[(s.name, dict(s.rewrites)) for s in report.steps if s.rewrites]}"


def _run(graph: Any, fetches: list[str], feeds: Any, optimizer: Any) -> list[Any]:
    from drystone_base.session import Session, SessionConfig

    config = SessionConfig(executor="reference", optimizer=optimizer)
    with np.errstate(all="ignore"):
        return [np.asarray(v) for v in Session(graph, config).run(fetches, feeds)]


def _same(one: Any, other: Any, exact: bool) -> bool:
    if not exact:
        return bool(np.allclose(one, other, rtol=1e-3, atol=1e-4, equal_nan=True))
    known = ~np.isnan(one)
    signs = np.array_equal(np.signbit(one)[known], np.signbit(other)[known])
    return signs and np.array_equal(one, other, equal_nan=True)


def _is_tame(graph: Any, feeds: Any) -> bool:
    """Whether no value on the way is huge, tiny, infinite or no number, and none hangs on a bit."""
    names = [f"{node.name}:0" for node in graph if node.op not in ("Placeholder", "Const")]
    plain = _run(graph, names, feeds, "off")
    nudged = {k: v * np.float32(1 + 1e-5) for k, v in feeds.items()}
    for one, other in zip(plain, _run(graph, names, nudged, "off"), strict=True):
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
