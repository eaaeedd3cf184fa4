"""What a plugin in a process of its own may use."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

__all__ = ["Limits"]


@dataclass(frozen=True)
class Limits:
    """What an isolated plugin may use: seconds for one request, bytes of memory.

    ``ends``: when the caller's time is over, as ``time.monotonic`` tells it. ``stop`` is
    called while the plugin works, and raises what ends the request.
    """

    deadline: float = 60.0
    memory: int = 4 << 30
    ends: float | None = None
    stop: Callable[[], object] | None = None

    @property
    def seconds(self) -> float:
        """How long a request that begins now may take."""
        left = self.deadline if self.ends is None else self.ends - time.monotonic()
        return max(0.0, min(self.deadline, left))

    @property
    def is_over(self) -> bool:
        """Whether the caller's time is over, whatever the plugin's own deadline is."""
        return self.ends is not None and time.monotonic() >= self.ends
