"""One plugin's optimizer after another on a graph, each where it declared that it runs.

The answer of a plugin is checked; the graph runs without it where it does not hold.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from drystone_base.core.errors import DrystoneError
from drystone_base.core.made_by import note
from drystone_base.core.printable import warn
from drystone_base.core.time_limits import OutOfTime
from drystone_base.graph import Graph
from drystone_base.ops.attrs import FunctionRef
from drystone_optimizer.core.config import NUMERIC, OptimizerConfig
from drystone_optimizer.core.contradictions import calls_of, hold
from drystone_optimizer.core.defaults import with_defaults
from drystone_optimizer.core.failure import OptimizerWarning
from drystone_optimizer.core.preserve import preserved_nodes
from drystone_optimizer.core.report import TOO_LATE, Outcome, Report, Run
from drystone_optimizer.core.rules import Numeric
from drystone_optimizer.core.verify import verify
from drystone_optimizer.core.watch import CHANGED_RESULT, Watch
from drystone_optimizer.pipeline.functions import Place, plugin_on_bodies, with_new
from drystone_optimizer.plugins.ordering import END, START, of_phase

if TYPE_CHECKING:
    from drystone_base.inference.calls import Calls, Given
    from drystone_optimizer.plugins.sources import Optimizer

__all__ = ["PluginRuns"]

_MAIN: Final = Place()


class PluginRuns:
    """What the runs of one call share: who runs, the config, the report, who was warned about."""

    def __init__(
        self,
        chosen: Sequence[Optimizer],
        config: OptimizerConfig,
        report: Report,
        main_types: frozenset[str],
        watch: Watch,
        *,
        named: Mapping[str, Optimizer],
        deadline: float | None,
        ends: tuple[Sequence[str], Sequence[str]],
    ) -> None:
        self.chosen, self.config, self.report, self.watch = chosen, config, report, watch
        self.main_types = main_types
        """The device types of the graph as it was given, without those of functions."""
        self.named = named
        """The optimizers that the config names, which run at the end of each iteration."""
        self.deadline = deadline
        """When the time for the passes is over, as ``time.monotonic`` tells it."""
        self.ends = ends
        """What is fetched and fed of the graph as it was given."""
        self.warned: set[str] = set()
        self.body_types: Mapping[str, frozenset[str]] = {}
        """The device types of functions, while built-in passes are at their bodies."""
        self.parameters: Mapping[str, Any] = {}
        """Those of the custom optimizer that runs."""
        self.iteration = 1
        """Which of the built-in passes' iterations it is."""
        self.tried = 0.0
        """Seconds that graphs of plugins took on made-up inputs."""
        self._calls: tuple[Graph, Calls] | None = None
        """A graph whose functions are optimized, and what it gives them."""

    @property
    def at_passes(self) -> bool:
        """Whether one of them runs before or after a built-in pass."""
        return any(one.phase not in (START, END) for one in self.chosen)

    def around(
        self, phase: str, graph: Graph, fetches: Sequence[str], feeds: Sequence[str]
    ) -> Graph:
        """The graph, and the bodies that it reaches, after the optimizers of a phase."""
        chosen = of_phase(self.chosen, phase)
        if not chosen:
            return graph
        data = graph.to_bytes()
        for optimizer in chosen:
            if self.watch.is_over:
                break
            if optimizer.device in self.main_types:
                preserve = preserved_nodes(graph, fetches, feeds, self.config)
                graph, data = self.one(optimizer, graph, data, fetches, feeds, preserve)
            if self.config.optimize_functions and len(graph.functions) and not self.watch.is_over:
                changed = plugin_on_bodies(graph, optimizer, self)
                if changed is not graph:
                    graph, data = changed, changed.to_bytes()
        return graph

    def custom(
        self, graph: Graph, fetches: Sequence[str], feeds: Sequence[str], iteration: int
    ) -> Graph:
        """The graph after the optimizers that the config names, with their parameters, in order."""
        self.iteration = iteration
        for name, parameters in self.config.custom_optimizers:
            if self.watch.is_over:
                break
            preserve = preserved_nodes(graph, fetches, feeds, self.config)
            self.parameters = parameters
            graph, _ = self.one(self.named[name], graph, graph.to_bytes(), fetches, feeds, preserve)
            self.parameters = {}
        return graph

    def at_pass(
        self,
        phase: str,
        graph: Graph,
        fetches: Sequence[str],
        feeds: Sequence[str],
        preserve: frozenset[str],
        place: Place,
    ) -> Graph:
        """The graph, or the one body, that a built-in pass is about to see or has seen."""
        for optimizer in of_phase(self.chosen, phase):
            where = place.where
            types = self.body_types.get(where, frozenset()) if where else self.main_types
            if self.watch.is_over or optimizer.device not in types:
                continue
            data = graph.to_bytes()
            graph, _ = self.one(optimizer, graph, data, fetches, feeds, preserve, place)
        return graph

    def one(
        self,
        optimizer: Optimizer,
        graph: Graph,
        data: bytes,
        fetches: Sequence[str],
        feeds: Sequence[str],
        preserve: frozenset[str],
        place: Place = _MAIN,
    ) -> tuple[Graph, bytes]:
        """Graph and bytes after one optimizer; the same ones where it changed nothing or failed."""
        where, whole = place.where, place.whole
        begin, fuel = time.perf_counter(), self.watch.fuel
        after, reason = graph, ""
        outcome: Outcome = "unchanged"
        if self._is_late():
            self._note(optimizer, where, "skipped", begin, graph, graph, TOO_LATE)
            return graph, data
        if fuel is not None:
            fuel.enter("plugin", optimizer.name, where)
        try:
            from drystone_optimizer.plugins.sources import Work

            given = with_defaults(data)
            now = self.iteration, self.deadline, where
            work = Work(given, fetches, feeds, preserve, self.config, self.parameters, *now)
            found = optimizer.run(work)
            if self._is_late():
                outcome, reason = "skipped", self._too_late(optimizer, where)
            elif found is not None:
                after = Graph.from_bytes(found)
                if where:
                    after.functions = with_new(graph, after.functions, place)
                verify(graph, after, fetches, preserve)
                hold(graph, after, fetches, feeds, preserve, self._given(place), where)
                self._check(optimizer, whole(graph), whole(after))
                if self._verifies(optimizer):
                    reason = self._try_both(optimizer, whole(graph), whole(after))
                data, outcome = found, "changed"
                note(optimizer.name, _made(graph, after), where)
                if fuel is not None:
                    fuel.note("optimize")
        except OutOfTime:
            after, outcome, reason = graph, "skipped", self._too_late(optimizer, where)
        except Exception as error:  # whatever a plugin did, the graph goes on
            after, code = graph, getattr(error, "code", "")
            if self._is_late() and code in ("isolated-plugin-deadline", "plugin-stuck"):
                outcome, reason = "skipped", self._too_late(optimizer, where)
            elif self.config.fail_on_optimizer_errors:
                raise
            else:
                reason = self._failed(optimizer, error, where)
                outcome = "rejected" if code == CHANGED_RESULT else "failed"
        self._note(optimizer, where, outcome, begin, graph, after, reason)
        return after, data

    def _given(self, place: Place) -> Sequence[Given] | None:
        """What is known of the arguments of the body that is optimized; None for nothing."""
        main = place.main
        if main is None:
            return None
        if self._calls is None or self._calls[0] is not main:
            self._calls = main, calls_of(main, self.ends[1])
        return self._calls[1].given(FunctionRef(place.where))

    def _note(
        self,
        optimizer: Optimizer,
        where: str,
        outcome: Outcome,
        begin: float,
        graph: Graph,
        after: Graph,
        reason: str,
    ) -> None:
        """Report a run of an optimizer."""
        self.report.runs.append(
            Run(
                optimizer.name,
                optimizer.version,
                optimizer.path,
                optimizer.device,
                where,
                outcome,
                time.perf_counter() - begin,
                len(graph),
                len(after),
                reason,
            )
        )

    def _is_late(self) -> bool:
        """Whether the time for optimizing is over."""
        return self.deadline is not None and time.monotonic() > self.deadline

    def _too_late(self, optimizer: Optimizer, where: str) -> str:
        """Warn that an optimizer went on when the time was over, and give the reason."""
        limit = self.config.meta_optimizer_timeout_ms
        over = f"{limit} ms for optimizing were over" if limit > 0 else "its time was over"
        self._warn(optimizer, where, f"it was not done when {over} (meta_optimizer_timeout_ms)")
        return TOO_LATE

    def _check(self, optimizer: Optimizer, before: Graph, after: Graph) -> None:
        """Hold the result against the one before, where that was asked for."""
        checks = self.watch.checks
        if checks is not None:
            checks.begin(before)
            highest = Numeric(NUMERIC.index(self.config.numeric))
            checks.check(f"plugin {optimizer.name}", highest, after)

    def _verifies(self, optimizer: Optimizer) -> bool:
        """Whether the plugin's graph is run before it replaces the one before."""
        if self.watch.checks is not None or self.config.verify == "off":
            return False
        return self.config.verify == "all" or optimizer.is_unsigned()

    def _try_both(self, optimizer: Optimizer, before: Graph, after: Graph) -> str:
        """Run them on made-up inputs, while there is time for that; why they were not run."""
        from drystone_optimizer.checking.trials import SECONDS, try_both, without_time

        begin, name = time.process_time(), f"plugin {optimizer.name}"
        if self.tried >= 2 * SECONDS:
            without_time(name, f"trials before took {self.tried:.1f} s")
        try:
            return try_both(name, before, after, *self.ends)
        finally:
            self.tried += time.process_time() - begin

    def _failed(self, optimizer: Optimizer, error: Exception, where: str) -> str:
        """Warn, once for each optimizer, and give the reason."""
        text = (
            error.render()
            if isinstance(error, DrystoneError)
            else f"{type(error).__name__}: {error}"
        )
        self._warn(optimizer, where, text)
        return text

    def _warn(self, optimizer: Optimizer, where: str, text: str) -> None:
        if optimizer.name in self.warned:
            return
        self.warned.add(optimizer.name)
        graph = f"function {where!r}" if where else "the graph"
        version = optimizer.version or "of unknown version"
        warn(
            f"plugin {optimizer.name} {version} ({optimizer.path}) did not optimize {graph}, "
            f"which is left unchanged: {text}",
            OptimizerWarning,
            stacklevel=2,
        )


def _made(before: Graph, after: Graph) -> Iterator[str]:
    """Names of the nodes that are new, or compute something else."""
    for node in after:
        former = before.get(node.name)
        if former is None or former.op != node.op:
            yield node.name
