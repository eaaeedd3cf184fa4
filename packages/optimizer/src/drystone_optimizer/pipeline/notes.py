"""What is told of the passes of one call: steps of its report, and warnings."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

from drystone_base.core.printable import warn
from drystone_base.graph import Graph
from drystone_optimizer.core.config import NUMERIC
from drystone_optimizer.core.context import Context, InvalidRewrite
from drystone_optimizer.core.failure import OptimizerWarning
from drystone_optimizer.core.merge import logger
from drystone_optimizer.core.report import TOO_LATE, Outcome, Report, Step
from drystone_optimizer.core.watch import CHANGED_RESULT
from drystone_optimizer.passes._registry import BuiltIn
from drystone_optimizer.pipeline.item import Item

__all__ = ["Notes"]


class Notes:
    """Adds to a report. ``is_late``: the time was over at some pass."""

    def __init__(self, report: Report) -> None:
        self.report = report
        self.is_late = False

    def mark(self) -> tuple[int, int]:
        """How much there is now."""
        return len(self.report.steps), len(self.report.runs)

    def back_to(self, mark: tuple[int, int]) -> None:
        """Forget what was added since."""
        steps, runs = mark
        del self.report.steps[steps:], self.report.runs[runs:]

    def ran(
        self, one: BuiltIn, item: Item, iteration: int, ctx: Context, begin: float, size: int,
        *, changed: bool,
    ) -> None:  # fmt: skip
        """A pass ran, from ``begin`` on, on a graph of so many nodes."""
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

    def leave_rule_out(self, item: Item, invalid: InvalidRewrite) -> None:
        """Warn of a rule that made what no op allows."""
        warn(
            f"rule {invalid.rule!r} made a node of {item.called()} that its op does not allow; the "
            f"graph is left unchanged, and the rule is left out: {invalid.error.render()}",
            OptimizerWarning,
            stacklevel=2,
        )

    def skip(self, passes: Sequence[BuiltIn], item: Item, reason: str) -> None:
        """None of the passes runs."""
        size = len(item.graph)
        for one in passes:
            self.report.steps.append(
                Step(one.name, item.where, 0, "skipped", 0.0, size, size, reason=reason)
            )

    def fail(self, item: Item, one: BuiltIn, error: Exception) -> None:
        """A pass failed, and is left out from now on."""
        size = len(item.graph)
        reason = f"{type(error).__name__}: {error}"
        differs = getattr(error, "code", "") == CHANGED_RESULT
        outcome: Outcome = "rejected" if differs else "failed"
        logger().warning(
            "pass %s %s on %s and is left out: %s",
            one.name, "was rejected" if differs else "failed", item.called(), reason,
        )  # fmt: skip
        self.report.steps.append(
            Step(one.name, item.where, 0, outcome, 0.0, size, size, reason=reason)
        )

    def too_late(self, name: str, item: Item, iteration: int, graph: Graph) -> None:
        """Note that the time was over when a pass was due, or in the middle of it; warn once."""
        size = len(graph)
        self.report.steps.append(
            Step(name, item.where, iteration, "skipped", 0.0, size, size, reason=TOO_LATE)
        )
        if not self.is_late and all(run.reason != TOO_LATE for run in self.report.runs):
            warn(
                f"the time for optimizing was over at pass {name} on {item.called()}, which stays "
                "as the passes before left it; SessionConfig(deadline=...) and "
                "OptimizerConfig(meta_optimizer_timeout_ms=...) say how long they may take",
                OptimizerWarning,
                stacklevel=2,
            )
        self.is_late = True


def _told(declined: Mapping[str, int]) -> str:
    return "; ".join(f"{why} ({n})" if n > 1 else why for why, n in declined.items())
