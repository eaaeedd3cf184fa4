"""What a session keeps of a signature that can run."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from drystone_base.api.feeds import Feed

if TYPE_CHECKING:
    from drystone_base.api.remote import Remote
    from drystone_base.executor.functions import FunctionCaller
    from drystone_base.executor.native import NativePlan
    from drystone_base.executor.plan import Plan
    from drystone_base.placement.parts import Part

__all__ = ["Plans", "Prepared", "Split"]


class Prepared(NamedTuple):
    """A plan with what its caller must know: the feeds, and which fetches are tensors.

    One of ``plan``, for the reference executor, and ``native`` is there. ``caller`` runs functions
    for kernels in Python, of which a plan from a file has none.
    """

    feeds: list[Feed]
    has_value: list[bool]
    copies_feeds: bool
    caller: FunctionCaller | None = None
    plan: Plan | None = None
    native: NativePlan | None = None
    quick: Callable[..., Any] | None = None

    def may_mix(self) -> bool:
        """Whether kernels of plugins and kernels in Python may run in turn."""
        if self.native is not None:
            return self.native.has_kernels
        return self.plan is not None and self.plan.has_plugins

    def uses(self) -> int:
        """How many calls :attr:`quick` has had."""
        return 0 if self.native is None else self.native.uses()


class Split(NamedTuple):
    """A signature whose graph runs on several devices."""

    parts: list[Part]
    feeds: list[Feed]
    quick: None = None

    def uses(self) -> int:
        """None are counted."""
        return 0


Key: TypeAlias = tuple[tuple[str, ...], tuple[str, ...]]
"""Fetches and feeds."""


class Plans:
    """The plans of a session, by fetches and feeds: at most so many, those that were used last.

    ``quick``: by a fetch and feeds, what runs a plan without looking it up here.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._plans: dict[Key, Prepared | Split | Remote] = {}  # the one looked up last is the last
        self._seen: dict[Key, int] = {}
        self.quick: dict[tuple[str, ...], Callable[..., Any]] = {}

    def __len__(self) -> int:
        return len(self._plans)

    def get(self, key: Key) -> Prepared | Split | Remote | None:
        """The plan, which is the one used last now."""
        found = self._plans.pop(key, None)
        if found is not None:
            self._plans[key] = found
        return found

    def add(self, key: Key, plan: Prepared | Split | Remote) -> None:
        """Keep a plan; others that were not used for long are let go."""
        self._plans[key] = plan
        while len(self._plans) > self._most:
            self._let_go(self._oldest())

    def _oldest(self) -> Key:
        """The plan that was not used for the longest time.

        Calls by ``quick`` are counted by the plan alone: one that has had some since it was last
        looked at is not the oldest.
        """
        before = list(self._plans.items())[:-1]  # the last one is about to be used
        for key, plan in before:
            uses = 0 if plan.quick is None else plan.uses()
            if uses == self._seen.get(key, 0):
                return key
            self._seen[key] = uses
            self._plans[key] = self._plans.pop(key)
        return before[0][0]

    def _let_go(self, key: Key) -> None:
        del self._plans[key]
        self._seen.pop(key, None)
        fetches, feeds = key
        if len(fetches) == 1:
            self.quick.pop((*fetches, *feeds), None)
