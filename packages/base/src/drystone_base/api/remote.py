"""Sessions whose graph runs on the tasks of a cluster: what a package for networks provides."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from drystone_base.core.errors import BadRequest

if TYPE_CHECKING:
    from drystone_base.api.config import SessionConfig
    from drystone_base.api.feeds import Feed
    from drystone_base.kernels import Array
    from drystone_base.placement.partitions import Partitions
    from drystone_base.state.cancellation import Cancellation

__all__ = ["Remote", "Target", "open_target", "refuse_remote"]


class Target(Protocol):
    """The tasks that ``SessionConfig.target`` leads to; ``devices`` are those of all of them."""

    devices: list[str]

    def load(
        self, parts: Partitions, fetches: Sequence[str], feeds: Sequence[Feed]
    ) -> Callable[[Sequence[Array], Cancellation | None, float | None], list[Any]]:
        """What runs these parts: of values, in the order of ``feeds``, those of ``fetches``.

        It is given what may cancel the run, and the ``time.monotonic()`` at which the run must end.
        """

    def close(self) -> None:
        """Let go of what the tasks keep of this session."""


class Remote(NamedTuple):
    """A signature whose graph runs on the tasks of a cluster."""

    feeds: list[Feed]
    run: Callable[[Sequence[Array], Cancellation | None, float | None], list[Any]]
    quick: None = None

    def uses(self) -> int:
        """None are counted."""
        return 0


def open_target(config: SessionConfig) -> Target | None:
    """What the config's target leads to; None without one.

    Raises ``BadRequest`` (``no-network-module``), and what the package that opens it raises.
    """
    if not config.target:
        return None
    from drystone_base.modules import stage

    for make in stage("target"):
        found: Target = make(config)
        return found
    raise BadRequest(
        "the session's target cannot be reached",
        check="drystone-network runs graphs on other tasks",
        found=f"target {config.target!r}, and drystone-network is not installed",
        needed="drystone-network",
        remedy="pip install drystone-network, or leave SessionConfig.target out",
        code="no-network-module",
        status="FAILED_PRECONDITION",
    )


def refuse_remote(what: str) -> BadRequest:
    """The error of asking a session for what is on the tasks of its target."""
    return BadRequest(
        f"{what} of a session with a target cannot be had here",
        check="variables, plans and recordings are where the graph runs",
        found="a session whose graph runs on other tasks",
        needed="a session without SessionConfig.target",
        remedy="fetch the values that you need by session.run",
        code="remote-session",
        status="FAILED_PRECONDITION",
    )
