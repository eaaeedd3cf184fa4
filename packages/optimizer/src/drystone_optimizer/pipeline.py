"""All there is on one graph: the built-in passes, with the optimizers of plugins around them."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from drystone_base.graph import Graph
from drystone_optimizer.config import OptimizerConfig, Toggle
from drystone_optimizer.devices import all_device_types, device_types
from drystone_optimizer.merge import Wishes, merge, warn_of_changes
from drystone_optimizer.meta import run_passes
from drystone_optimizer.module import may_have_plugins
from drystone_optimizer.ordering import END, START
from drystone_optimizer.plugin_runs import PluginRuns
from drystone_optimizer.report import Report
from drystone_optimizer.watch import Watch

if TYPE_CHECKING:
    from drystone_optimizer.sources import Optimizer

__all__ = ["optimize", "optimize_with_report"]


def optimize(
    graph: Graph,
    fetches: Sequence[str],
    feeds: Sequence[str] = (),
    config: OptimizerConfig | None = None,
) -> Graph:
    """The graph as passes and plugins leave it; ``graph`` itself where none changed it.

    ``fetches`` and ``feeds`` are tensor names. An optimizer that fails, or whose answer does not
    hold, costs one ``OptimizerWarning``. Raises ``GraphError`` (``bad-device``) and ``BadRequest``
    (``unknown-kept-node``) for what the caller got wrong.
    """
    return optimize_with_report(graph, fetches, feeds, config)[0]


def optimize_with_report(
    graph: Graph,
    fetches: Sequence[str],
    feeds: Sequence[str] = (),
    config: OptimizerConfig | None = None,
    available: Sequence[Optimizer] | None = None,
    watch: Watch | None = None,
) -> tuple[Graph, Report]:
    """As :func:`optimize`, with what ran; ``available`` limits the optimizers to choose from.

    ``watch`` limits rewrites and checks results.
    """
    config = config or OptimizerConfig()
    begin = time.perf_counter()
    report = Report()
    if config.disable_meta_optimizer:
        report.merged = merge(config, [])
        return graph, report
    chosen: Sequence[Optimizer] = ()
    if config.use_plugin_optimizers is not Toggle.OFF:
        chosen = _matching(graph, _installed() if available is None else available)
    report.merged = merge(config, [Wishes(o.name, o.configs) for o in chosen])
    warn_of_changes(report.merged)
    watch = watch or Watch()
    types = device_types(graph) if chosen else frozenset()
    runs = PluginRuns(chosen, config, report, types, watch)
    graph = runs.around(START, graph, fetches, feeds)
    graph = run_passes(graph, fetches, feeds, config, report, watch, runs)
    graph = runs.around(END, graph, fetches, feeds)
    report.seconds = time.perf_counter() - begin
    return graph, report


def _installed() -> Sequence[Optimizer]:
    """The optimizers of plugins; nothing is imported where there can be none."""
    if not may_have_plugins():
        return ()
    from drystone_optimizer.sources import optimizers

    return optimizers()


def _matching(graph: Graph, known: Sequence[Optimizer]) -> list[Optimizer]:
    """The optimizers for device types that the graph, or a function of it, uses."""
    if not known:
        return []
    types = all_device_types(graph)
    return [optimizer for optimizer in known if optimizer.device in types]
