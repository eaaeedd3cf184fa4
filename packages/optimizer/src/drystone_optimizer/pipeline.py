"""All there is on one graph: the built-in passes, then one plugin's optimizer after another.

The answer of a plugin is checked; the graph goes on without it where it does not hold.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from drystone_base.errors import DrystoneError
from drystone_base.graph import Graph
from drystone_optimizer.config import NUMERIC, OptimizerConfig, Toggle
from drystone_optimizer.defaults import with_defaults
from drystone_optimizer.devices import device_types
from drystone_optimizer.failure import OptimizerWarning
from drystone_optimizer.functions import plugin_on_bodies
from drystone_optimizer.merge import Wishes, merge, warn_of_changes
from drystone_optimizer.meta import run_passes
from drystone_optimizer.module import may_have_plugins
from drystone_optimizer.preserve import preserved_nodes
from drystone_optimizer.report import Report, Run
from drystone_optimizer.rules import Numeric
from drystone_optimizer.verify import verify
from drystone_optimizer.watch import CHANGED_RESULT, Watch

if TYPE_CHECKING:
    from drystone_optimizer.sources import Optimizer

__all__ = ["Pass", "optimize", "optimize_with_report"]


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
    graph = run_passes(graph, fetches, feeds, config, report, watch)
    if chosen and not watch.is_over:
        graph = _run_all(Pass(config, report, watch), graph, chosen, fetches, feeds)
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
    types = device_types(graph)
    return [optimizer for optimizer in known if optimizer.device in types]


def _run_all(
    run: Pass,
    graph: Graph,
    chosen: Sequence[Optimizer],
    fetches: Sequence[str],
    feeds: Sequence[str],
) -> Graph:
    data = graph.to_bytes()
    for optimizer in chosen:
        if run.watch.is_over:
            break
        preserve = preserved_nodes(graph, fetches, feeds, run.config)
        graph, data = run.one(optimizer, graph, data, fetches, feeds, preserve)
        if run.config.optimize_functions and len(graph.functions) and not run.watch.is_over:
            changed = plugin_on_bodies(graph, optimizer, run)
            if changed is not graph:
                graph, data = changed, changed.to_bytes()
    return graph


@dataclass
class Pass:
    """What the runs of one call share: the config, the report, and who was warned about."""

    config: OptimizerConfig
    report: Report
    watch: Watch = field(default_factory=Watch)
    warned: set[str] = field(default_factory=set)

    def one(
        self,
        optimizer: Optimizer,
        graph: Graph,
        data: bytes,
        fetches: Sequence[str],
        feeds: Sequence[str],
        preserve: frozenset[str],
        where: str = "",
        whole: Callable[[Graph], Graph] = lambda graph: graph,
    ) -> tuple[Graph, bytes]:
        """Graph and bytes after one optimizer; the same ones where it changed nothing or failed.

        ``whole`` puts a body into the graph that can be run.
        """
        begin, fuel = time.perf_counter(), self.watch.fuel
        after, reason, outcome = graph, "", "unchanged"
        if fuel is not None:
            fuel.enter("plugin", optimizer.name, where)
        try:
            from drystone_optimizer.sources import Work

            found = optimizer.run(Work(with_defaults(data), fetches, feeds, preserve, self.config))
            if found is not None:
                after = Graph.from_bytes(found)
                verify(graph, after, fetches, preserve)
                self._check(optimizer, whole(graph), whole(after))
                data, outcome = found, "changed"
                if fuel is not None:
                    fuel.note("optimize")
        except Exception as error:  # whatever a plugin did, the graph goes on
            if self.config.fail_on_optimizer_errors:
                raise
            after, reason = graph, self._failed(optimizer, error, where)
            outcome = "rejected" if getattr(error, "code", "") == CHANGED_RESULT else "failed"
        self.report.runs.append(
            Run(
                optimizer.name,
                optimizer.version,
                optimizer.path,
                optimizer.device,
                where,
                outcome,  # type: ignore[arg-type]
                time.perf_counter() - begin,
                len(graph),
                len(after),
                reason,
            )
        )
        return after, data

    def _check(self, optimizer: Optimizer, before: Graph, after: Graph) -> None:
        """Hold the result against the one before, where that was asked for."""
        checks = self.watch.checks
        if checks is not None:
            checks.begin(before)
            highest = Numeric(NUMERIC.index(self.config.numeric))
            checks.check(f"plugin {optimizer.name}", highest, after)

    def _failed(self, optimizer: Optimizer, error: Exception, where: str) -> str:
        """Warn, once for each optimizer, and give the reason."""
        text = (
            error.render()
            if isinstance(error, DrystoneError)
            else f"{type(error).__name__}: {error}"
        )
        if optimizer.name not in self.warned:
            self.warned.add(optimizer.name)
            graph = f"function {where!r}" if where else "the graph"
            version = optimizer.version or "of unknown version"
            warnings.warn(
                f"plugin {optimizer.name} {version} ({optimizer.path}) did not optimize {graph}, "
                f"which goes on as it was: {text}",
                OptimizerWarning,
                stacklevel=2,
            )
        return text
