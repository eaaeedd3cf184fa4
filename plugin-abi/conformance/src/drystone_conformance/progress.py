"""What a process that runs tests tells the one that started it, line by line, while it runs.

A plugin may end its process at any time. What has been written by then says which test ran, what
that test was doing, and what came of those before it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

__all__ = ["Progress", "doing", "read_progress", "tell", "write_to"]

_file = -1
_now: list[str] = []


def write_to(path: str) -> None:
    """From now on what is told goes to the end of that file."""
    global _file
    _file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)


def tell(kind: str, value: Any) -> None:
    """One line at once, so that it is there whatever comes next."""
    if _file >= 0:
        os.write(_file, f"{kind}\t{json.dumps(value)}\n".encode())


@contextmanager
def doing(what: str) -> Iterator[None]:
    """Say what is asked of the plugin meanwhile, for instance ``optimizing graph dense``."""
    _now.append(what)
    tell("doing", what)
    try:
        yield
    finally:
        _now.pop()
        tell("doing", _now[-1] if _now else "")


@dataclass
class Progress:
    """What a process has told."""

    rows: list[dict[str, Any]] = field(default_factory=list)
    facts: dict[str, Any] = field(default_factory=dict)
    begun: list[str] = field(default_factory=list)
    test: str = ""
    doing: str = ""
    ended: bool = False


def read_progress(path: Path) -> Progress:
    """What is in the file; a last line that is cut off is left out."""
    found = Progress()
    if not path.exists():
        return found
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines(keepends=True):
        kind, _, text = line.partition("\t")
        if not line.endswith("\n") or not text:
            continue
        value = json.loads(text)
        if kind == "row":
            found.rows.append(value)
        elif kind == "facts":
            found.facts = value
        elif kind == "test":
            found.test, found.doing = value, ""
            found.begun += [value] if value else []
        elif kind == "doing":
            found.doing = value
        elif kind == "end":
            found.ended = True
    return found
