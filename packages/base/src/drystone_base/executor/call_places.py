"""Where functions and loops take arguments and give results: where their bodies have them.

What goes round in a loop stays where the body makes it. Branches must agree; where they do not, and
where a function calls itself, values are the host's.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from drystone_base.core.errors import DrystoneError
from drystone_base.executor.copies import HOST, Places, natural_places
from drystone_base.executor.plan import Instruction, Plan
from drystone_base.ops.attrs import FunctionRef

__all__ = ["CallPlaces"]

_LOOPS: Final = frozenset({"While", "StatelessWhile"})
_BRANCHES: Final = frozenset({"If", "StatelessIf", "Case", "StatelessCase"})


class CallPlaces:
    """The places of what instructions run.

    ``lower`` gives the plan of a function's body, ``called`` the functions that an instruction
    runs.
    """

    def __init__(
        self, lower: Callable[[FunctionRef], Plan],
        called: Callable[[Instruction], Sequence[FunctionRef]], forwards: frozenset[str],
    ) -> None:  # fmt: skip
        self.lower, self.called, self.forwards = lower, called, forwards
        self.known: dict[int, Places] = {}
        self.plans: list[Plan] = []  # so that no other plan gets the number of one in ``known``

    def of(self, instruction: Instruction) -> Places | None:
        """Where an instruction takes its inputs and gives its outputs; None for no call.

        Raises what lowering a function raises.
        """
        if instruction.loop is not None:
            return self.around(self.natural(instruction.loop.body))
        called = self.called(instruction)
        if not called:
            return None
        try:
            plans = [self.lower(function) for function in called]
        except DrystoneError:  # which its kernel says when it runs
            return None
        if instruction.op in _LOOPS:
            return self.around(self.natural(plans[1]))
        found = [self.natural(plan) for plan in plans]
        feeds = _common([places.feeds for places in found])
        fetches = _common([places.fetches for places in found])
        return Places((HOST, *feeds) if instruction.op in _BRANCHES else feeds, fetches)

    def around(self, body: Places) -> Places:
        """The places of a loop: its variables, and what is the same in all rounds."""
        variables = body.fetches
        return Places(variables + body.feeds[len(variables) :], variables)

    def inside(self, instruction: Instruction, count: int) -> list[Places | None]:
        """The places of the ``count`` plans that an instruction runs."""
        at = self.of(instruction)
        if at is None:
            return [None] * count
        if instruction.loop is not None or instruction.op in _LOOPS:
            return [Places(at.feeds, (HOST,)), at]
        feeds = at.feeds[1:] if instruction.op in _BRANCHES else at.feeds
        return [Places(feeds, at.fetches)] * count

    def natural(self, plan: Plan) -> Places:
        """Where a plan has its feeds and fetches with the fewest copies."""
        key = id(plan)
        if key not in self.known:
            self.plans.append(plan)
            self.known[key] = Places((HOST,) * len(plan.feeds), (HOST,) * len(plan.fetches))
            self.known[key] = natural_places(plan, self.forwards, self.of)
        return self.known[key]


def _common(rows: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    """The places that all rows have; the host where they differ."""
    return tuple(row[0] if len({*row}) == 1 else HOST for row in zip(*rows, strict=True))
