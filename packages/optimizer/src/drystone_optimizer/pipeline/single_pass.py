"""One built-in pass on one graph: run, held against what must stay, and noted."""

from __future__ import annotations

import time

from drystone_base.core.time_limits import OutOfTime
from drystone_optimizer.core.config import OptimizerConfig, Toggle
from drystone_optimizer.core.context import Context, InvalidRewrite
from drystone_optimizer.core.fuel import FuelSpent
from drystone_optimizer.core.verify import verify
from drystone_optimizer.core.watch import Watch
from drystone_optimizer.passes._registry import BuiltIn
from drystone_optimizer.pipeline.item import Item
from drystone_optimizer.pipeline.notes import Notes

__all__ = ["PassFailed", "SinglePass"]


class PassFailed(Exception):
    """A pass raised, or left what must not be."""

    def __init__(self, one: BuiltIn, error: Exception) -> None:
        super().__init__(str(error))
        self.one, self.error = one, error


class SinglePass:
    """Runs passes one at a time, with the config of a call."""

    def __init__(self, config: OptimizerConfig, watch: Watch, notes: Notes) -> None:
        self._config, self._watch, self._notes = config, watch, notes

    def run(self, one: BuiltIn, ctx: Context, item: Item, iteration: int) -> None:
        """Run it; raises ``PassFailed``, ``InvalidRewrite``, ``FuelSpent`` and ``OutOfTime``."""
        begin, size, edits = time.perf_counter(), len(ctx.graph), len(ctx.journal)
        if ctx.fuel is not None:
            ctx.fuel.enter("pass", one.name, item.where, iteration)
        over: FuelSpent | None = None
        changed = False
        try:
            ctx.begin_pass(self._config.toggle(one.toggle) is Toggle.AGGRESSIVE)
            if ctx.looked_at.get(one.name) != ctx.now():  # else nothing changed since it ended
                try:
                    one.run(ctx)
                    if ctx.is_strict:
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
            raise PassFailed(one, invalid.error) from invalid
        except Exception as error:
            raise PassFailed(one, error) from error
        self._notes.ran(one, item, iteration, ctx, begin, size, changed=changed)
        if over is not None:
            raise over

    def _hold(self, one: BuiltIn, ctx: Context, item: Item, *, changed: bool) -> None:
        """Raise unless what a pass left may go on."""
        if changed and self._config.verify_passes:
            # Of the other preserved nodes those may go that nothing needs any more.
            verify(item.graph, ctx.graph, item.fetches, ctx.roots)
        if changed and self._watch.checks is not None:
            self._watch.checks.check(one.name, ctx.numeric, item.whole(ctx.graph))
