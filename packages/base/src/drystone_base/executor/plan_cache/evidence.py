"""The files of code that took part in making a plan, and whether they are as they were.

Python itself takes a compiled module for good as long as its source has the size and the time of
its last change that were noted; so does this, for each module and each library of the process.
"""

from __future__ import annotations

import math
import os
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from drystone_base import STARTED

__all__ = ["code_files", "is_unchanged"]

_MAPS: Final = "/proc/self/maps"
_PATH: Final = 5  # its place among the fields of a line
_OURS: Final = "drystone"
_MOMENT: Final = 0.2  # seconds
_HOME: Final = os.path.dirname(os.path.dirname(os.path.dirname(__file__)))
_OP_DEFINITIONS: Final = os.path.join(_HOME, "ops", "_data", "op_defs.binpb.z")


def code_files(started: float = STARTED) -> dict[str, tuple[int, int]] | None:
    """Size and time of change of each file of code in this process.

    Of modules of drystone's packages, definitions of ops, and libraries that are mapped. None where
    that is not known, and where a file may be another one than at the start of the process
    (seconds since 1970): whoever links to it meanwhile looks like one who writes to it.
    """
    found = {}
    try:
        with open(_MAPS, encoding="utf-8", errors="surrogateescape") as file:
            lines = file.read().splitlines()
        for path in sorted({*_mapped(lines), *_modules()}):
            facts = os.stat(path)
            if facts.st_ctime > started:
                return None
            found[path] = facts.st_size, facts.st_mtime_ns
    except OSError:  # another system, or a file that was replaced
        return None
    return found


def _mapped(lines: Sequence[str]) -> Iterator[str]:
    for fields in (line.split(maxsplit=_PATH) for line in lines):
        if len(fields) > _PATH and ".so" in fields[_PATH]:
            yield fields[_PATH]


def _modules() -> Iterator[str]:
    yield _OP_DEFINITIONS
    for name, module in list(sys.modules.items()):
        if name.startswith(_OURS) and (path := getattr(module, "__file__", None)):
            yield path


class _Seen:
    """States of files that were asked for just now: loading a model and its plan have the same."""

    def __init__(self) -> None:
        self.states: dict[str, tuple[int, int]] = {}
        self.since = -math.inf

    def now(self) -> dict[str, tuple[int, int]]:
        """Those of the last moment, to look up and to add to."""
        if time.monotonic() - self.since > _MOMENT:
            self.states, self.since = {}, time.monotonic()
        return self.states


_SEEN: Final = _Seen()


def is_unchanged(files: Mapping[str, Any]) -> bool:
    """Whether files are as they were when they were noted; each is looked at once in a moment."""
    seen = _SEEN.now()
    try:
        for path, state in files.items():
            found = seen.get(path)
            if found is None:
                facts = os.stat(path)
                found = seen[path] = facts.st_size, facts.st_mtime_ns
            if found[0] != state[0] or found[1] != state[1] or len(state) != len(found):
                return False
    except (OSError, TypeError, ValueError, AttributeError, LookupError):
        return False
    return True
