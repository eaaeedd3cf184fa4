"""The files of code that took part in making a plan, and whether they are as they were.

Python itself takes a compiled module for good as long as its source has the size and the time of
its last change that were noted; so does this, for each module and each library of the process.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from drystone_base import STARTED

__all__ = ["code_files", "is_unchanged"]

_MAPS: Final = "/proc/self/maps"
_PATH: Final = 5  # its place among the fields of a line
_OURS: Final = "drystone"
_HOME: Final = os.path.dirname(os.path.dirname(__file__))
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


def _state(path: str) -> tuple[int, int]:
    found = os.stat(path)
    return found.st_size, found.st_mtime_ns


def is_unchanged(files: Mapping[str, Any]) -> bool:
    """Whether files are as they were when they were noted."""
    try:
        return all(_state(path) == tuple(state) for path, state in files.items())
    except (OSError, TypeError, ValueError, AttributeError):
        return False
