"""Who sums and gathers over processes for the ``Collective*`` ops of graphs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import numpy as np

__all__ = ["Collectives", "find_collectives", "use_collectives"]


class Collectives(Protocol):
    """A group of ``size`` processes, of which this is number ``rank``.

    Each makes the same calls in the same order.
    """

    size: int
    rank: int

    def reduce(self, value: np.ndarray[Any, Any], merge: str, *, mean: bool) -> Any:
        """The elementwise ``merge`` (Add, Mul, Max, Min) of the values of all, or their mean."""

    def reduce_scatter(self, value: np.ndarray[Any, Any], merge: str, *, mean: bool) -> Any:
        """This process's share of it, along the first axis."""

    def gather(self, value: np.ndarray[Any, Any]) -> Any:
        """The values of all, one after another on the first axis."""

    def broadcast(self, value: np.ndarray[Any, Any]) -> Any:
        """The value of the first process."""


_used: list[Collectives] = []


def use_collectives(collectives: Collectives | None) -> None:
    """Have the process's graphs use this group; None: no group any more."""
    _used[:] = [] if collectives is None else [collectives]


def find_collectives() -> Collectives | None:
    """The group of the process."""
    return _used[0] if _used else None
