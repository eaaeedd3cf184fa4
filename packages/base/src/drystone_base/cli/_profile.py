"""Time per op of one run, by an observer around every kernel."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from drystone_base.kernels import Call

__all__ = ["Profile"]

_REST = "(executor)"


class Profile:
    """Seconds and calls by op. The time of an op leaves out the kernels that run inside it."""

    def __init__(self) -> None:
        self.total = 0.0
        self._seconds: dict[str, float] = {}
        self._calls: dict[str, int] = {}
        self._inside = [0.0]  # per nested call: seconds of the kernels in it

    def __call__(self, call: Call, run: Callable[[], Any]) -> Any:
        """Run one kernel and note what it took."""
        self._inside.append(0.0)
        start = time.perf_counter()
        try:
            return run()
        finally:
            spent = time.perf_counter() - start
            own = spent - self._inside.pop()
            self._inside[-1] += spent
            self._seconds[call.op] = self._seconds.get(call.op, 0.0) + own
            self._calls[call.op] = self._calls.get(call.op, 0) + 1

    def measure(self, run: Callable[[], Any]) -> None:
        """Run something under this profile, whatever is not in a kernel being the executor's."""
        start = time.perf_counter()
        run()
        self.total = time.perf_counter() - start
        self._seconds[_REST] = max(0.0, self.total - self._inside[0])

    def rows(self) -> list[dict[str, Any]]:
        """One row per op, most time first."""
        ordered = sorted(self._seconds.items(), key=lambda item: -item[1])
        return [
            {
                "op": op,
                "calls": self._calls.get(op, 0),
                "seconds": seconds,
                "share": seconds / self.total if self.total else 0.0,
            }
            for op, seconds in ordered
        ]
