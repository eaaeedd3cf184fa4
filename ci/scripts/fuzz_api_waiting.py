"""Whether a process that says nothing hangs, or is not let run on a busy machine."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

__all__ = ["Silence"]

_SHARE: Final = 0.25
"""Of the time waited: who has computed as long and has no answer hangs."""


class Silence:
    """The silence of the processes of one group, from its first look on."""

    def __init__(self, group: int) -> None:
        self._group = group
        self._before: float | None = None

    def is_hang(self, patience: float) -> bool:
        """Whether to give up, after ``patience`` seconds without a word.

        Not if one of the group waits for a processor, and all have had little of one since the
        last look.
        """
        seconds, runs = self._load()
        if self._before is None:
            self._before = seconds
            return not runs
        return not runs or seconds - self._before >= _SHARE * patience

    def _load(self) -> tuple[float, bool]:
        """Seconds of processors that the group has had, and whether it runs or would like to."""
        seconds, runs = 0.0, False
        for entry in Path("/proc").iterdir():
            if not entry.name.isdigit():
                continue
            try:
                text = (entry / "stat").read_text(encoding="utf-8", errors="replace")
            except OSError:  # it has ended
                continue
            fields = text.rpartition(")")[2].split()
            if int(fields[2]) == self._group:
                seconds += (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
                runs = runs or fields[0] == "R"
        return seconds, runs
