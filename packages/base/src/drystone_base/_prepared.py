"""What a session keeps of a signature that can run."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from drystone_base._feeds import Feed
from drystone_base.late_tuples import NamedTuple

if TYPE_CHECKING:
    from drystone_base.executor.functions import FunctionCaller
    from drystone_base.executor.native import NativePlan
    from drystone_base.executor.plan import Plan
    from drystone_base.placement.parts import Part

__all__ = ["Prepared", "Split"]


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


class Split(NamedTuple):
    """A signature whose graph runs on several devices."""

    parts: list[Part]
    feeds: list[Feed]
    quick: None = None
