"""The meta-optimizer: the built-in passes in turn, until none of them changes anything.

They work on a copy, or a graph that can be built again. A pass that fails is left out and the rest
starts over from the graph as it was, so that nothing half done stays. One in the middle of which
the time is over is the end: what came before it is done again. Bodies of functions are optimized
after the graph itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

from drystone_base.core.errors import GraphError
from drystone_base.core.gc_pause import paused_gc
from drystone_base.core.time_limits import OutOfTime, is_over, unlimited
from drystone_base.graph import Bodies, Graph
from drystone_base.graph.validate import Signatures, validate
from drystone_optimizer.core import colocation
from drystone_optimizer.core.config import NUMERIC, OptimizerConfig
from drystone_optimizer.core.context import Context, InvalidRewrite
from drystone_optimizer.core.contradictions import fed_shapes
from drystone_optimizer.core.devices import body_types
from drystone_optimizer.core.fuel import FuelSpent
from drystone_optimizer.core.node_budget import NodeBudget
from drystone_optimizer.core.preserve import asked_for, makers_of_resources, preserved_nodes
from drystone_optimizer.core.report import Report
from drystone_optimizer.core.rules import Numeric
from drystone_optimizer.core.watch import Watch
from drystone_optimizer.passes import model_pruning
from drystone_optimizer.passes._registry import BuiltIn
from drystone_optimizer.pipeline.functions import optimize_bodies
from drystone_optimizer.pipeline.item import BodyItems, Item
from drystone_optimizer.pipeline.notes import Notes
from drystone_optimizer.pipeline.schedule import Schedule
from drystone_optimizer.pipeline.single_pass import PassFailed, SinglePass

if TYPE_CHECKING:
    from drystone_optimizer.pipeline.plugin_runs import PluginRuns

__all__ = ["run_passes"]

_SMALL: Final = 4
_FIRST: Final = frozenset({"NCHW", "NCDHW", "NCHW_VECT_C"})


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
    is the caller's own and holds only what is needed: no copy is made then.
    """
    schedule = Schedule(config, report)
    beside = plugins if plugins is not None and (plugins.at_passes or plugins.named) else None
    if not schedule.chosen and beside is None:
        return graph
    run = _Run(config, report, schedule, watch or Watch(), beside, NodeBudget.around(graph))
    wanted = asked_for(graph, fetches, feeds, config)
    with paused_gc():
        after = run.on(Item(graph, wanted, tuple(fetches), tuple(feeds), rebuild=rebuild))
        if config.optimize_functions and len(after.functions):
            if beside is not None:
                beside.body_types = body_types(after)
            items = BodyItems(after, tuple(feeds), run.signatures, run.bodies)
            after = optimize_bodies(after, lambda f, b: run.on(items.of(f, b)), run.bodies)
    return after


class _Run:
    """Goes over graphs until no pass changes anything; starts over without what failed."""

    def __init__(
        self,
        config: OptimizerConfig,
        report: Report,
        schedule: Schedule,
        watch: Watch,
        plugins: PluginRuns | None,
        node_budget: NodeBudget,
    ) -> None:
        self.config, self.schedule, self.watch, self.plugins = config, schedule, watch, plugins
        self.notes = Notes(report)
        self.single = SinglePass(config, watch, self.notes)
        self.at: tuple[BuiltIn, int] | None = None
        self.stop: tuple[BuiltIn, int] | None = None
        self.holds, self.is_strict, self.left_out = True, config.verify_passes, set[str]()
        self.signatures, self.bodies, self.node_budget = Signatures(), Bodies(), node_budget
        self.ceiling = Numeric(NUMERIC.index(config.numeric))

    def on(self, item: Item) -> Graph:
        """The item's graph, optimized; itself where nothing changed."""
        if self.watch.is_over or self._is_too_late(item):
            return item.graph
        if len(item.graph) < (self.config.min_graph_nodes or _least(item.graph)):
            reason = f"the graph has {len(item.graph)} nodes"
            self.notes.skip(self.schedule.chosen, item, reason)
            return self._named_ones(item.graph, item, 1)
        self.holds, self.is_strict = True, self.config.verify_passes
        while True:
            mark = self.notes.mark()
            self.at = None
            try:
                return self._attempt(item)
            except PassFailed as failure:
                if self.config.fail_on_optimizer_errors:
                    raise failure.error from None
                self.notes.back_to(mark)
                item = item.again()
                self.schedule.failed.add(failure.one.name)
                self.notes.fail(item, failure.one, failure.error)
            except InvalidRewrite as invalid:
                if invalid.rule and self.config.fail_on_optimizer_errors:
                    raise invalid.error from None
                self.notes.back_to(mark)
                item = item.again()
                self._look_closely(item, invalid)
            except OutOfTime:
                self.notes.back_to(mark)
                item = item.again()
                return self._up_to_here(item)

    def _look_closely(self, item: Item, invalid: InvalidRewrite) -> None:
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
        self.notes.leave_rule_out(item, invalid)

    def _up_to_here(self, item: Item) -> Graph:
        """The item's graph as it was when the pass began in which the time was over.

        What came before is done again, which took less than the time that there was.
        """
        if self.at is None:
            return item.graph
        self.stop = self.at
        with unlimited():
            return self._attempt(item)

    def _is_too_late(self, item: Item) -> bool:
        """Whether the time was over before anything was done to the graph, which is noted then."""
        if is_over():
            chosen = self.schedule.chosen
            self.notes.too_late(chosen[0].name if chosen else "", item, 1, item.graph)
        return self.notes.is_late

    def _attempt(self, item: Item) -> Graph:
        twin = self._twin(item)
        stays = item.stays or item.roots | makers_of_resources(twin, self.config)
        ctx = self._context(twin, item, stays)
        ctx.reached = self.schedule.prunes()
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

    def _twin(self, item: Item) -> Graph:
        """The graph to edit: a copy, unless no other code has it and nothing is held against it."""
        if item.rebuild is not None and not self.config.verify_passes and self.watch.checks is None:
            return item.graph
        return item.graph.copy(only=self.schedule.reached(item))

    def _beside(self, when: str, one: BuiltIn, ctx: Context, item: Item, iteration: int) -> Context:
        """The context after the plugins that run before or after a pass, once."""
        if self.plugins is None or (iteration > 1 and not one.last):
            return ctx
        graph, phase = ctx.graph, f"{when} {one.name}"
        ends = (item.fetches, item.feeds, ctx.preserve, item.place)
        self.plugins.iteration = iteration
        after = self.plugins.at_pass(phase, graph, *ends)
        return ctx if after is graph else self._anew(after, ctx, item)

    def _finished(self, ctx: Context, item: Item, *, changed: bool) -> Graph:
        """The graph, once what the passes left unneeded is gone."""
        ctx.fuel = None
        if changed and self.schedule.prunes():
            model_pruning.drop_unneeded(ctx)
        ctx.graph.journal = None
        if changed:
            colocation.settle(ctx.graph)
        return ctx.graph if changed else item.graph

    def _turn(
        self, ctx: Context, item: Item, iteration: int, *, last: bool
    ) -> tuple[Context, Graph | None]:
        """Run each pass once; the graph to end with where the time was over, or the fuel."""
        for one in self.schedule.chosen if self.plugins is None else self.schedule.all():
            if one.last is not last:
                continue
            ctx = self._beside("before", one, ctx, item, iteration)
            if is_over() or self.stop == (one, iteration):
                self.notes.too_late(one.name, item, iteration, ctx.graph)
                return ctx, self._finished(ctx, item, changed=True)
            self.at = (one, iteration)
            try:
                if self.schedule.is_due(one, iteration) and not self.watch.is_over:
                    self.single.run(one, ctx, item, iteration)
            except FuelSpent:
                return ctx, self._finished(ctx, item, changed=True)
            ctx = self._beside("after", one, ctx, item, iteration)
        if not last:
            after = self._named_ones(ctx.graph, item, iteration)
            ctx = ctx if after is ctx.graph else self._anew(after, ctx, item)
        return ctx, None

    def _named_ones(self, graph: Graph, item: Item, iteration: int) -> Graph:
        """The main graph after the optimizers that the config names, once in each iteration."""
        if self.plugins is None or item.where or not self.plugins.named:
            return graph
        return self.plugins.custom(graph, item.fetches, item.feeds, iteration)

    def _anew(self, after: Graph, ctx: Context, item: Item) -> Context:
        """A context for the graph that something else made of this one's."""
        ctx.graph.journal = None
        stays = item.stays or preserved_nodes(after, item.fetches, item.feeds, self.config)
        return self._context(after, item, stays)

    def _context(self, twin: Graph, item: Item, stays: frozenset[str]) -> Context:
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


def _least(graph: Graph) -> int:
    """The nodes that a graph must have where the config leaves that to us.

    Images with their channels first are worth converting however few they are.
    """
    few = len(graph) < _SMALL
    return 0 if few and any(node.attrs.get("data_format") in _FIRST for node in graph) else _SMALL
