"""The meta-optimizer: the built-in passes in turn, until none of them changes anything.

They work on a copy, or a graph that can be built again. A pass that fails is left out and the rest
starts over from the graph as it was, so that nothing half done stays. One in the middle of which
the time is over is the end: what came before it is done again. Bodies of functions are optimized
after the graph itself.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from drystone_base.core.errors import GraphError
from drystone_base.core.gc_pause import paused_gc
from drystone_base.core.printable import warn
from drystone_base.core.time_limits import OutOfTime, is_over, unlimited
from drystone_base.graph import (
    Bodies,
    Body,
    Function,
    Graph,
    reachable,
)
from drystone_base.graph.validate import Signatures, validate
from drystone_optimizer.core import colocation
from drystone_optimizer.core.config import NUMERIC, OptimizerConfig, Toggle
from drystone_optimizer.core.context import Context, InvalidRewrite
from drystone_optimizer.core.contradictions import fed_shapes
from drystone_optimizer.core.devices import body_types
from drystone_optimizer.core.failure import OptimizerWarning
from drystone_optimizer.core.fuel import FuelSpent
from drystone_optimizer.core.loop_arguments import loop_arguments
from drystone_optimizer.core.merge import logger
from drystone_optimizer.core.node_budget import NodeBudget
from drystone_optimizer.core.preserve import asked_for, makers_of_resources, preserved_nodes
from drystone_optimizer.core.report import TOO_LATE, Outcome, Report, Step
from drystone_optimizer.core.rules import Numeric
from drystone_optimizer.core.verify import verify
from drystone_optimizer.core.watch import CHANGED_RESULT, Watch
from drystone_optimizer.passes import model_pruning
from drystone_optimizer.passes._registry import PASSES, SHORT_ON_CPUS, BuiltIn
from drystone_optimizer.pipeline.functions import body_ends, optimize_bodies, with_body

if TYPE_CHECKING:
    from drystone_base.inference.inference import Shapes
    from drystone_optimizer.pipeline.plugin_runs import PluginRuns

__all__ = ["run_passes"]

_PRUNING: Final = "disable_model_pruning"
_SMALL: Final = 4


def run_passes(
    graph: Graph,
    fetches: Sequence[str],
    feeds: Sequence[str],
    config: OptimizerConfig,
    report: Report,
    watch: Watch | None = None,
    plugins: PluginRuns | None = None,
    rebuild: Callable[[], Graph] | None = None,
) -> Graph:
    """The graph as the built-in passes leave it; ``graph`` itself where none changed it.

    ``plugins`` has the optimizers that run before or after one of them. ``report.merged`` says
    which are on; what ran is added to ``report.steps``. ``rebuild`` makes the graph again where it
    is nobody else's and holds only what is needed: no copy is made then.
    """
    passes = _in_order(report)
    chosen = _named(config) or [one for one in passes if _is_on(one, report)]
    beside = plugins if plugins is not None and (plugins.at_passes or plugins.named) else None
    if not chosen and beside is None:
        return graph
    run = _Run(config, report, passes, chosen, watch or Watch(), beside, NodeBudget.around(graph))
    wanted = asked_for(graph, fetches, feeds, config)
    with paused_gc():
        after = run.on(_Item(graph, wanted, tuple(fetches), tuple(feeds), rebuild=rebuild))
        if config.optimize_functions and len(after.functions):
            run.main, run.feeds = after, tuple(feeds)
            if beside is not None:
                beside.body_types = body_types(after)
            after = optimize_bodies(after, run.on_body, run.bodies)
    return after


def _named(config: OptimizerConfig) -> list[BuiltIn]:
    """The passes that the config lists, in that order."""
    by_name = {one.name: one for one in PASSES}
    return [by_name[name] for name in config.optimizers if name in by_name]


def _in_order(report: Report) -> Sequence[BuiltIn]:
    """All passes; where layers are fused to ops of our own, 16 bits on CPUs come after that.

    So layers are recognized by their constants in 32 bits, and these are rounded once. What is
    quantized to 8 bits comes first.
    """
    if not report.passes["layer_fusion"]:
        return PASSES
    short = [one._replace(last=True, once=False) for one in PASSES if one.name in SHORT_ON_CPUS]
    found: list[BuiltIn] = []
    for one in PASSES:
        if one.name not in SHORT_ON_CPUS:
            found += [one, *short] if one.name == "quantized_layers" else [one]
    return found


def _is_on(one: BuiltIn, report: Report) -> bool:
    values = report.passes
    on = values[one.toggle] is not (one.toggle == _PRUNING)
    return on and (not one.needs or values[one.needs])


class _Item(NamedTuple):
    """A graph to optimize: the main one, or the body of a function."""

    graph: Graph
    roots: frozenset[str]
    fetches: tuple[str, ...]
    feeds: tuple[str, ...]
    where: str = ""
    stays: frozenset[str] = frozenset()
    whole: Callable[[Graph], Graph] = lambda graph: graph
    """The main graph with such a graph in its place: what can be run."""
    arguments: Callable[[], Mapping[str, tuple[int, ...]]] | None = None
    rebuild: Callable[[], Graph] | None = None
    """Makes the graph again, which may be edited in its place."""


class _PassFailed(Exception):
    def __init__(self, one: BuiltIn, error: Exception) -> None:
        super().__init__(str(error))
        self.one, self.error = one, error


class _Run:
    """The passes of one call, with its config and report."""

    def __init__(
        self,
        config: OptimizerConfig,
        report: Report,
        passes: Sequence[BuiltIn],
        chosen: Sequence[BuiltIn],
        watch: Watch,
        plugins: PluginRuns | None,
        node_budget: NodeBudget,
    ) -> None:
        self.config, self.report, self.chosen = config, report, chosen
        self.passes, self.watch, self.plugins = passes, watch, plugins
        self.at: tuple[BuiltIn, int] | None = None
        self.stop: tuple[BuiltIn, int] | None = None
        self.is_late = False
        self.holds, self.is_strict, self.left_out = True, config.verify_passes, set[str]()
        self.main, self.feeds = Graph(), tuple[str, ...]()
        self._of_main: Shapes | None = None
        self.signatures, self.bodies, self.node_budget = Signatures(), Bodies(), node_budget
        self.written: dict[Function, bytes] = {}
        self.ceiling = Numeric(NUMERIC.index(config.numeric))
        self.failed: set[str] = set()

    def on_body(self, function: Function, body: Body) -> Graph:
        """The body of a function, optimized."""
        ends = body_ends(body)
        results = tuple(node.name for node in body.results)
        args = tuple(node.name for node in body.args)

        def whole(graph: Graph) -> Graph:
            return self.main if graph is body.graph else with_body(self.main, graph, body, function)

        def arguments() -> Mapping[str, tuple[int, ...]]:
            return loop_arguments(self.main, self._main_shapes(), function, body, self.written)

        return self.on(
            _Item(body.graph, ends, results, args, function.name, ends, whole, arguments)
        )

    def _main_shapes(self) -> Shapes:
        """Shapes in the main graph, which is not edited any more."""
        if self._of_main is None:
            from drystone_base.inference.inference import Shapes

            fed = fed_shapes(self.main, self.feeds)
            self._of_main = Shapes(self.main, fed, self.signatures, self.bodies)
        return self._of_main

    def on(self, item: _Item) -> Graph:
        """The item's graph, optimized; itself where nothing changed."""
        if self.watch.is_over or self._is_too_late(item):
            return item.graph
        least = self.config.min_graph_nodes
        if len(item.graph) < (_SMALL if least == 0 else least):
            self._skip(item, f"the graph has {len(item.graph)} nodes")
            return self._named_ones(item.graph, item, 1)
        self.holds, self.is_strict = True, self.config.verify_passes
        while True:
            steps, runs = len(self.report.steps), len(self.report.runs)
            self.at = None
            try:
                return self._attempt(item)
            except _PassFailed as failure:
                if self.config.fail_on_optimizer_errors:
                    raise failure.error from None
                del self.report.steps[steps:], self.report.runs[runs:]
                item = item if item.rebuild is None else item._replace(graph=item.rebuild())
                self._leave_out(item, failure)
            except InvalidRewrite as invalid:
                if invalid.rule and self.config.fail_on_optimizer_errors:
                    raise invalid.error from None
                del self.report.steps[steps:], self.report.runs[runs:]
                item = item if item.rebuild is None else item._replace(graph=item.rebuild())
                self._look_closely(item, invalid)
            except OutOfTime:
                del self.report.steps[steps:], self.report.runs[runs:]
                item = item if item.rebuild is None else item._replace(graph=item.rebuild())
                return self._up_to_here(item)

    def _look_closely(self, item: _Item, invalid: InvalidRewrite) -> None:
        """Hold each rewrite against op definitions next time; the one that does not hold goes.

        None is held where the graph was invalid when it was given: that is told when it runs.
        """
        try:
            validate(item.graph)
        except GraphError:
            self.holds = self.is_strict = False
            return
        if not invalid.rule:
            self.is_strict = True
            return
        self.is_strict = self.config.verify_passes
        self.left_out.add(invalid.rule)
        where = f"function {item.where!r}" if item.where else "the graph"
        warn(
            f"rule {invalid.rule!r} made a node of {where} that its op does not allow; the graph "
            f"is left unchanged, and the rule is left out: {invalid.error.render()}",
            OptimizerWarning,
            stacklevel=2,
        )

    def _up_to_here(self, item: _Item) -> Graph:
        """The item's graph as it was when the pass began in which the time was over.

        What came before is done again, which took less than the time that there was.
        """
        if self.at is None:
            return item.graph
        self.stop = self.at
        with unlimited():
            return self._attempt(item)

    def _is_too_late(self, item: _Item) -> bool:
        """Whether the time was over before anything was done to the graph, which is noted then."""
        if is_over():
            self._too_late(self.chosen[0].name if self.chosen else "", item, 1, item.graph)
        return self.is_late

    def _skip(self, item: _Item, reason: str) -> None:
        size = len(item.graph)
        for one in self.chosen:
            self.report.steps.append(
                Step(one.name, item.where, 0, "skipped", 0.0, size, size, reason=reason)
            )

    def _leave_out(self, item: _Item, failure: _PassFailed) -> None:
        size, error = len(item.graph), failure.error
        reason = f"{type(error).__name__}: {error}"
        self.failed.add(failure.one.name)
        where = f"function {item.where!r}" if item.where else "the graph"
        differs = getattr(error, "code", "") == CHANGED_RESULT
        outcome: Outcome = "rejected" if differs else "failed"
        logger().warning(
            "pass %s %s on %s and is left out: %s",
            failure.one.name, "was rejected" if differs else "failed", where, reason,
        )  # fmt: skip
        self.report.steps.append(
            Step(failure.one.name, item.where, 0, outcome, 0.0, size, size, reason=reason)
        )

    def _attempt(self, item: _Item) -> Graph:
        twin = self._twin(item)
        stays = item.stays or item.roots | makers_of_resources(twin, self.config)
        ctx = self._context(twin, item, stays)
        ctx.reached = self._prunes()
        changed = len(twin) != len(item.graph)
        if self.watch.checks is not None:
            self.watch.checks.begin(item.whole(item.graph))
        for iteration in range(1, self.config.meta_optimizer_iterations + 1):
            seen = (ctx, ctx.rewrites, len(ctx.journal))
            ctx, stopped = self._turn(ctx, item, iteration, last=False)
            if stopped is not None:
                return stopped
            if seen == (ctx, ctx.rewrites, len(ctx.journal)):
                break
            changed = True
        seen = (ctx, ctx.rewrites, len(ctx.journal))
        ctx, stopped = self._turn(ctx, item, iteration, last=True)
        if stopped is not None:
            return stopped
        changed = changed or seen != (ctx, ctx.rewrites, len(ctx.journal))
        if self.holds and not self.is_strict:
            ctx.hold()
        return self._finished(ctx, item, changed=changed)

    def _twin(self, item: _Item) -> Graph:
        """The graph to edit: a copy, unless nobody else has it and nothing is held against it."""
        if item.rebuild is not None and not self.config.verify_passes and self.watch.checks is None:
            return item.graph
        return item.graph.copy(only=self._reached(item))

    def _beside(
        self, when: str, one: BuiltIn, ctx: Context, item: _Item, iteration: int
    ) -> Context:
        """The context after the plugins that run before or after a pass, once."""
        if self.plugins is None or (iteration > 1 and not one.last):
            return ctx
        graph, phase = ctx.graph, f"{when} {one.name}"
        ends = (item.fetches, item.feeds, ctx.preserve, item.where, item.whole)
        self.plugins.iteration = iteration
        after = self.plugins.at_pass(phase, graph, *ends)
        return ctx if after is graph else self._anew(after, ctx, item)

    def _finished(self, ctx: Context, item: _Item, *, changed: bool) -> Graph:
        """The graph, once what the passes left unneeded is gone."""
        ctx.fuel = None
        if changed and self._prunes():
            model_pruning.drop_unneeded(ctx)
        ctx.graph.journal = None
        if changed:
            colocation.settle(ctx.graph)
        return ctx.graph if changed else item.graph

    def _turn(
        self, ctx: Context, item: _Item, iteration: int, *, last: bool
    ) -> tuple[Context, Graph | None]:
        """Run each pass once; the graph to end with where the time was over, or the fuel."""
        for one in self.chosen if self.plugins is None else self._all():
            if one.last is not last:
                continue
            ctx = self._beside("before", one, ctx, item, iteration)
            if is_over() or self.stop == (one, iteration):
                self._too_late(one.name, item, iteration, ctx.graph)
                return ctx, self._finished(ctx, item, changed=True)
            self.at = (one, iteration)
            try:
                if self._runs(one, iteration):
                    self._one(one, ctx, item, iteration)
            except FuelSpent:
                return ctx, self._finished(ctx, item, changed=True)
            ctx = self._beside("after", one, ctx, item, iteration)
        if not last:
            after = self._named_ones(ctx.graph, item, iteration)
            ctx = ctx if after is ctx.graph else self._anew(after, ctx, item)
        return ctx, None

    def _named_ones(self, graph: Graph, item: _Item, iteration: int) -> Graph:
        """The main graph after the optimizers that the config names, once in each iteration."""
        if self.plugins is None or item.where or not self.plugins.named:
            return graph
        return self.plugins.custom(graph, item.fetches, item.feeds, iteration)

    def _anew(self, after: Graph, ctx: Context, item: _Item) -> Context:
        """A context for the graph that something else made of this one's."""
        ctx.graph.journal = None
        stays = item.stays or preserved_nodes(after, item.fetches, item.feeds, self.config)
        return self._context(after, item, stays)

    def _all(self) -> Sequence[BuiltIn]:
        """Every pass in the order of those that run."""
        if not self.config.optimizers:
            return self.passes
        return [*self.chosen, *(one for one in self.passes if one not in self.chosen)]

    def _runs(self, one: BuiltIn, iteration: int) -> bool:
        """Whether a pass is on and due."""
        due = iteration == 1 or not one.once
        return due and one.name not in self.failed and not self.watch.is_over and one in self.chosen

    def _prunes(self) -> bool:
        return any(one.toggle == _PRUNING for one in self.chosen)

    def _reached(self, item: _Item) -> AbstractSet[Any] | None:
        """The nodes to work on: those that the roots reach, unless nothing may be pruned."""
        if not self._prunes():
            return None
        return reachable([item.graph[name] for name in item.roots]).keys()

    def _context(self, twin: Graph, item: _Item, stays: frozenset[str]) -> Context:
        made = Context(
            twin,
            stays,
            item.roots,
            fed_shapes(twin, () if item.where else item.feeds),
            ceiling=self.ceiling,
            where=item.where,
            config=self.config,
            fuel=self.watch.fuel,
            node_budget=self.node_budget,
            signatures=self.signatures,
            bodies=self.bodies,
            arguments=item.arguments,
        )
        made.is_strict, made.left_out = self.is_strict, self.left_out
        return made

    def _one(self, one: BuiltIn, ctx: Context, item: _Item, iteration: int) -> None:
        begin, size, edits = time.perf_counter(), len(ctx.graph), len(ctx.journal)
        if ctx.fuel is not None:
            ctx.fuel.enter("pass", one.name, item.where, iteration)
        over: FuelSpent | None = None
        changed = False
        try:
            ctx.begin_pass(self.config.toggle(one.toggle) is Toggle.AGGRESSIVE)
            if ctx.looked_at.get(one.name) != ctx.now():  # else nothing changed since it ended
                try:
                    one.run(ctx)
                    if self.is_strict:
                        ctx.hold(edits)
                except FuelSpent as spent:
                    over = spent
                ctx.looked_at[one.name] = ctx.now()
                changed = bool(ctx.counts) or len(ctx.journal) > edits or len(ctx.graph) != size
                self._hold(one, ctx, item, changed=changed)
        except OutOfTime:
            raise
        except InvalidRewrite as invalid:
            if invalid.rule:
                raise
            raise _PassFailed(one, invalid.error) from invalid
        except Exception as error:
            raise _PassFailed(one, error) from error
        self.report.steps.append(
            Step(
                one.name,
                item.where,
                iteration,
                "changed" if changed else "unchanged",
                time.perf_counter() - begin,
                size,
                len(ctx.graph),
                NUMERIC[ctx.numeric],
                dict(ctx.counts),
                _told(ctx.declined),
            )
        )
        if over is not None:
            raise over

    def _hold(self, one: BuiltIn, ctx: Context, item: _Item, *, changed: bool) -> None:
        """Raise unless what a pass left may go on."""
        if changed and self.config.verify_passes:
            # Of the other preserved nodes those may go that nothing needs any more.
            verify(item.graph, ctx.graph, item.fetches, ctx.roots)
        if changed and self.watch.checks is not None:
            self.watch.checks.check(one.name, ctx.numeric, item.whole(ctx.graph))

    def _too_late(self, name: str, item: _Item, iteration: int, graph: Graph) -> None:
        """Note that the time was over when a pass was due, or in the middle of it; warn once."""
        size = len(graph)
        self.report.steps.append(
            Step(name, item.where, iteration, "skipped", 0.0, size, size, reason=TOO_LATE)
        )
        if not self.is_late and all(run.reason != TOO_LATE for run in self.report.runs):
            where = f"function {item.where!r}" if item.where else "the graph"
            warn(
                f"the time for optimizing was over at pass {name} on {where}, which stays as the "
                "passes before left it; SessionConfig(deadline=...) and "
                "OptimizerConfig(meta_optimizer_timeout_ms=...) say how long they may take",
                OptimizerWarning,
                stacklevel=2,
            )
        self.is_late = True


def _told(declined: Mapping[str, int]) -> str:
    return "; ".join(f"{why} ({n})" if n > 1 else why for why, n in declined.items())
