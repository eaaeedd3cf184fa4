"""All that rewrites the graph of a session, as one run that can be stopped after any rewrite."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

from drystone_base.graph import Graph
from drystone_base.passes import Grouping, PassOptions, PassRegistry, registered
from drystone_optimizer.core.config import OWN, PASSES, OptimizerConfig, Toggle
from drystone_optimizer.core.fuel import Fuel, Rewrite
from drystone_optimizer.core.watch import Watch
from drystone_optimizer.pipeline.pipeline import optimize_with_report

if TYPE_CHECKING:
    from drystone_base.passes import Pass
    from drystone_optimizer.plugins.sources import Optimizer

__all__ = ["Rewriting", "Unit"]

Unit: TypeAlias = Callable[[Graph, Sequence[str], Sequence[str]], Graph]
"""One pass alone: from a graph, what is fetched and what is fed to the graph that it leaves."""
_DEVICE = "/job:localhost/replica:0/task:0/device:CPU:0"


@dataclass(frozen=True)
class Rewriting:
    """Built-in passes, the optimizers of plugins, then registered passes, in a session's order.

    ``optimizers``: those of plugins (None: the installed ones). ``passes``: the registered ones
    that run; they are run on one device.
    """

    config: OptimizerConfig
    optimizers: Sequence[Optimizer] | None = None
    passes: Sequence[Pass] = ()

    @classmethod
    def of_session(
        cls, config: OptimizerConfig, optimizers: Sequence[Optimizer] | None, more: Iterable[str]
    ) -> Rewriting:
        """What a session runs by default, and the registered passes that ``more`` names."""
        wanted = set(more)
        passes = [p for p in registered() if p.is_default or p.name in wanted]
        strict = replace(config, fail_on_optimizer_errors=True, verify_passes=True)
        return cls(strict, optimizers, passes)

    def run(self, graph: Graph, fetches: Sequence[str], feeds: Sequence[str], fuel: Fuel) -> Graph:
        """The graph after the rewrites that there is fuel for; raises what a pass raises."""
        after, _ = optimize_with_report(
            graph, fetches, feeds, self.config, self.optimizers, Watch(fuel)
        )
        for one in self.passes:
            if fuel.is_spent:
                break
            fuel.enter("registered", one.name, "")
            ops = frozenset(node.op for node in after)
            if one.may_apply(ops):
                before = after.to_bytes()
                after = _registered(one, after, fetches, feeds)
                if after.to_bytes() != before:
                    fuel.note(str(one.grouping))
        return after

    def unit(self, rewrite: Rewrite) -> Unit:
        """The pass of a rewrite alone."""
        if rewrite.kind == "registered":
            (found,) = [one for one in self.passes if one.name == rewrite.name]
            return lambda graph, fetches, feeds: _registered(found, graph, fetches, feeds)
        if rewrite.kind == "plugin":
            config = _alone(self.config, ())
            from drystone_optimizer.plugins.sources import optimizers

            known = optimizers() if self.optimizers is None else self.optimizers
            chosen = [one for one in known if one.name == rewrite.name]
            return _optimizing(config, chosen)
        return _optimizing(_alone(self.config, (rewrite.name,)), ())


def _alone(config: OptimizerConfig, names: Sequence[str]) -> OptimizerConfig:
    """The config with just these passes on."""
    one = OptimizerConfig.of_passes(names)
    toggles = {
        name: Toggle.AGGRESSIVE
        if name in names and config.toggle(name) is Toggle.AGGRESSIVE
        else one.toggle(name)
        for name in (*PASSES, *OWN)
    }
    if "common_subgraph_elimination" in names:
        toggles["arithmetic_optimization"] = Toggle.DEFAULT
    return replace(config, **toggles, min_graph_nodes=-1, keep=(), init=(), queue_runners=())  # type: ignore[arg-type]


def _optimizing(config: OptimizerConfig, available: Sequence[Optimizer]) -> Unit:
    def run(graph: Graph, fetches: Sequence[str], feeds: Sequence[str]) -> Graph:
        return optimize_with_report(graph, fetches, feeds, config, available)[0]

    return run


def _registered(one: Pass, graph: Graph, fetches: Sequence[str], feeds: Sequence[str]) -> Graph:
    twin = graph.copy()
    options = PassOptions(fetches=tuple(fetches), feeds=tuple(feeds), devices=(_DEVICE,))
    if one.grouping is Grouping.POST_PARTITIONING:
        options.partitions, options.devices = {_DEVICE: twin}, None
    else:
        options.graph = twin
    registry = PassRegistry()
    registry.register(one)
    registry.run(one.grouping, options, {one.name: True}, check=True)
    return next(options.graphs())
