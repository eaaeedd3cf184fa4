"""All there is on one graph: the built-in passes, with the optimizers of plugins around them."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from drystone_base.core.arguments import checked
from drystone_base.core.errors import BadRequest, near_matches
from drystone_base.core.time_limits import ends, stage_ends, until
from drystone_base.graph import Graph
from drystone_base.plugins import ensure_loaded
from drystone_optimizer.core.config import OptimizerConfig, Toggle
from drystone_optimizer.core.devices import all_device_types, device_types, is_missing
from drystone_optimizer.core.merge import RequestedToggles, merge, warn_of_changes
from drystone_optimizer.core.node_budget import NodeBudget
from drystone_optimizer.core.report import Report
from drystone_optimizer.core.watch import Watch
from drystone_optimizer.pipeline.meta import run_passes
from drystone_optimizer.pipeline.plugin_runs import PluginRuns
from drystone_optimizer.plugins.ordering import END, START
from drystone_optimizer.plugins.presence import may_have_plugins

if TYPE_CHECKING:
    from drystone_optimizer.plugins.sources import Optimizer

__all__ = ["optimize", "optimize_with_report"]


@checked
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


@checked
def optimize_with_report(
    graph: Graph,
    fetches: Sequence[str],
    feeds: Sequence[str] = (),
    config: OptimizerConfig | None = None,
    available: Sequence[Optimizer] | None = None,
    watch: Watch | None = None,
    *,
    runs_plugins: bool = True,
    rebuild: Callable[[], Graph] | None = None,
) -> tuple[Graph, Report]:
    """As :func:`optimize`, with what ran; ``available`` limits the optimizers to choose from.

    ``watch`` limits rewrites and checks results. Without ``runs_plugins`` optimizers of plugins
    only say which passes run. ``rebuild`` makes the graph again, of what the fetches need alone:
    then no other code uses it, and passes edit it in its place.
    """
    ensure_loaded()  # optimizers, and kernels that passes ask for: the same before any session
    config = config or OptimizerConfig()
    begin = time.perf_counter()
    report = Report()
    if config.disable_meta_optimizer:
        report.merged = merge(config, [])
        return graph, report
    chosen: Sequence[Optimizer] = ()
    known = _known(config, available)
    named = _named(config, known)
    if config.use_plugin_optimizers is not Toggle.OFF:
        chosen = _matching(graph, known, config)
    report.merged = merge(config, [RequestedToggles(o.name, o.configs) for o in chosen])
    warn_of_changes(report.merged)
    watch = watch or Watch()
    types = device_types(graph) if chosen else frozenset()
    with until(_limit(config, graph)):
        runs = PluginRuns(
            chosen if runs_plugins else (), config, report, types, watch, named=named,
            deadline=ends(), ends=(fetches, feeds),
        )  # fmt: skip
        given, graph = graph, runs.around(START, graph, fetches, feeds)
        rebuild = rebuild if graph is given else None
        graph = run_passes(graph, fetches, feeds, config, report, watch, runs, rebuild)
        graph = runs.around(END, graph, fetches, feeds)
    report.seconds = time.perf_counter() - begin
    return graph, report


def _limit(config: OptimizerConfig, graph: Graph) -> float | None:
    """When the time for optimizing is over."""
    chosen = config.meta_optimizer_timeout_ms
    seconds = math.inf if chosen < 0 else chosen / 1000 if chosen else None
    return stage_ends(NodeBudget.size(graph), seconds)


def _known(config: OptimizerConfig, available: Sequence[Optimizer] | None) -> Sequence[Optimizer]:
    """The optimizers to choose from; none are looked for where none can be asked for."""
    if available is not None:
        return available
    off = config.use_plugin_optimizers is Toggle.OFF
    return () if off and not config.custom_optimizers else _installed()


def _named(config: OptimizerConfig, known: Sequence[Optimizer]) -> dict[str, Optimizer]:
    """The optimizers that the config names; raises ``BadRequest`` for one that is not there."""
    by_name = {one.name: one for one in known}
    for name, _ in config.custom_optimizers:
        if name not in by_name:
            near = near_matches(name, by_name)
            raise BadRequest(
                f"there is no optimizer {name!r}",
                check="custom_optimizers must name registered optimizers or built-in passes",
                found=name,
                needed=", ".join(by_name) or "an optimizer; none is registered",
                remedy=f"did you mean {', '.join(near)}?" if near else "install its package",
                code="unknown-optimizer-option",
            )
    return {name: by_name[name] for name, _ in config.custom_optimizers}


def _installed() -> Sequence[Optimizer]:
    """The optimizers of plugins; nothing is imported where there can be none."""
    if not may_have_plugins():
        return ()
    from drystone_optimizer.plugins.sources import optimizers

    return optimizers()


def _matching(graph: Graph, known: Sequence[Optimizer], config: OptimizerConfig) -> list[Optimizer]:
    """The optimizers for device types that the graph, or a function of it, asks for.

    Not those of a type whose devices are not there.
    """
    if not known:
        return []
    types = all_device_types(graph)
    found = [one for one in known if one.device in types and not one.custom]
    gone = {kind for kind in {one.device for one in found} if is_missing(kind, config.devices)}
    return [one for one in found if one.device not in gone]
