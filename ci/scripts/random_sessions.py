"""A session with any settings beside one without passes, for ``random_graphs --options``."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from ci.scripts.random_graphs import draws, is_tame, more_nodes, same
from ci.scripts.random_options import (
    ask_for_devices,
    draw_config,
    is_settled,
    lossy,
    said,
)
from drystone_base.api.session import Session, SessionConfig
from drystone_base.core.errors import GraphError
from drystone_base.graph import Graph
from drystone_optimizer import OptimizerConfig, optimize_with_report

__all__ = ["outcome_of"]

_COUNTS: tuple[dict[str, int], ...] = ({}, {}, {"CPU": 1}, {"CPU": 1, "GPU": 1}, {"CPU": 2})


def outcome_of(seed: int, kind: str) -> tuple[str, str, str]:
    """The kind, the settings, and what differs ("" for nothing)."""
    rng = np.random.default_rng((seed, 20_261_126))
    told = "nothing drawn yet"
    try:
        if kind in ("program", "training"):
            program = _program(seed, kind)
            _mark(rng, program.graph)
            ask_for_devices(rng, program.graph)
            config = draw_config(rng, program.graph)
            told = said(config)
            return kind, told, _of_program(program, config)
        made, fetches = _graph(seed, kind, rng)
        fetches = _with_more(made, fetches, rng)
        _mark(rng, made.m.graph)
        ask_for_devices(rng, made.m.graph)
        config = draw_config(rng, made.m.graph)
        told = said(config)
        return kind, told, _of_graph(made.m.graph, fetches, made.feeds, config, rng)
    except Exception as error:
        return kind, told, f"{type(error).__name__}: {error}"


# ---- programs: several runs of one session, with state ------------------------------------------


def _program(seed: int, kind: str) -> Any:
    from random_programs import draw
    from random_training import draw_training

    return draw(seed) if kind == "program" else draw_training(seed, plain=True)


def _of_program(program: Any, config: OptimizerConfig) -> str:
    from random_programs import disagreement
    from random_programs.agree import Failed

    if config.numeric != "exact":
        program.inexact.update(name for fetches, _ in program.runs for name in fetches)
    found = disagreement(program, config)
    if found is None or (found.run and draws(program.graph, found.fetch)):
        return ""  # a draw that was not needed was not made in an earlier run
    if lossy(config) and not isinstance(found.native, Failed):
        return ""
    return str(found)


# ---- graphs: one run ----------------------------------------------------------------------------


def _graph(seed: int, kind: str, rng: np.random.Generator) -> tuple[Any, list[str]]:
    import random_arithmetic
    from random_images import draw_images
    from random_layers import draw_layers

    if kind == "arithmetic":
        return random_arithmetic.draw(seed)
    if kind == "layers":
        return draw_layers(seed)
    return draw_images(seed, last=bool(rng.integers(2)))


def _with_more(made: Any, fetches: list[str], rng: np.random.Generator) -> list[str]:
    """Nodes that only some passes have something to do with, and all there is to fetch."""
    found = list(fetches)
    for name in ("shape_optimization", "debug_stripper"):
        if rng.random() < 0.3:
            found += more_nodes(made.m, fetches, name)
    return found


def _mark(rng: np.random.Generator, graph: Graph) -> None:
    """Attributes that only say where a node, or what it reads, is to be, or that it is to stay."""
    if rng.random() < 0.5:
        return
    names = [node.name for node in graph]
    for node in graph:
        way = rng.random()
        if way < 0.05:
            place = names[int(rng.integers(len(names)))] if way < 0.03 else "nobody"
            graph.set_attr(node, "_class", [f"loc:@{place}"])
        elif way < 0.08 and node.inputs:
            graph.set_attr(node, "_swap_to_host", [int(rng.integers(len(node.inputs)))])
        elif way < 0.1:
            graph.set_attr(node, "_grappler_do_not_remove", True)


def _of_graph(
    graph: Graph, fetches: list[str], feeds: Any, config: OptimizerConfig, rng: Any
) -> str:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        executor: Any = "native" if rng.random() < 0.5 else "reference"
        count = _COUNTS[int(rng.integers(len(_COUNTS)))]
        plain = SessionConfig(executor="reference", optimizer="off", device_count=count)
        chosen = SessionConfig(executor=executor, optimizer=config, device_count=count)
        try:
            wanted = Session(graph, plain).run(fetches, feeds)
        except GraphError as error:  # devices of other machines in one place
            if error.code == "cannot-colocate":
                return ""
            raise
        found = Session(graph, chosen).run(fetches, feeds)
    exact = config.numeric == "exact" and executor == "reference"
    for name, one, other in zip(fetches, map(np.asarray, wanted), map(np.asarray, found),
                                strict=True):  # fmt: skip
        if one.dtype != other.dtype or one.shape != other.shape:
            return f"{name} is {one.dtype}{one.shape}, then {other.dtype}{other.shape}"
        if lossy(config) or same(one, other, exact):
            continue
        if not exact and not is_tame(graph, feeds):
            continue  # another order of operations may overflow where this one does not
        return f"{name} is {one.tolist()}, then {other.tolist()} ({executor}, {count})"
    return _once_more(graph, fetches, feeds, config) if is_settled(config) else ""


def _once_more(graph: Graph, fetches: list[str], feeds: Any, config: OptimizerConfig) -> str:
    """What passes find in what they left."""
    from dataclasses import replace

    more = replace(config, meta_optimizer_iterations=6)
    after, _ = optimize_with_report(graph, fetches, list(feeds), more, available=())
    if after is graph:
        return ""
    again, report = optimize_with_report(after, fetches, list(feeds), more, available=())
    if again is after:
        return ""
    return f"not at rest: {[(s.name, dict(s.rewrites)) for s in report.steps if s.rewrites]}"
