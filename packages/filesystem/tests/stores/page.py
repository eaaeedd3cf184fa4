"""The table of docs/filesystem.md, cell by cell: what came of a fault, as a test has just seen it.

Each test confirms its own cells, so it matters neither which of them run nor in which process.
"""

from __future__ import annotations

import fcntl
import os
from pathlib import Path
from typing import Final

from faults import FAULTS

__all__ = ["KINDS", "cells", "confirm", "tried"]

KINDS: Final = ("s3", "gs", "az", "hdfs", "http")
PAGE: Final = Path(__file__).resolve().parents[4] / "docs" / "filesystem.md"
BEGIN, END = "<!-- faults: begin -->\n", "<!-- faults: end -->\n"
OTHERS: Final = {
    "credentials expire": (("s3", "gs", "az"), ("read", "write"), ("once", "always")),
    "clock is wrong": (("s3", "az"), ("read", "write"), ("always",)),
    "changed while it is read": (KINDS, ("read",), ("once",)),
    "disk of the cache is full": (KINDS, ("read",), ("always",)),
}
"""Which stores, what is done, and how often, of faults that not all stores can have."""
COLUMNS: Final = [f"{kind}, {do}" for kind in KINDS for do in ("read", "write")][:-1]
"""Nothing is written to a web server."""
Cells = dict[tuple[str, str, str], str]


def tried() -> set[tuple[str, str, str]]:
    """The cells that the tests confirm: a store and what is done, a fault, and how often."""
    found = {
        (column, fault, how)
        for column in COLUMNS
        for fault in FAULTS
        for how in ("once", "always")
        if not (fault == "wrong bytes" and column.endswith("write"))
    }
    for fault, (kinds, actions, often) in OTHERS.items():
        found |= {(f"{k}, {do}", fault, how) for k in kinds for do in actions for how in often}
    return found


def _split(text: str) -> tuple[str, str, str]:
    before, rest = text.split(BEGIN)
    table, after = rest.split(END)
    return before + BEGIN, table, END + after


def cells() -> Cells:
    """What the page says; cells of what cannot happen are left out."""
    return _cells(_split(PAGE.read_text(encoding="utf-8"))[1])


def _cells(table: str) -> Cells:
    rows = [[one.strip() for one in line.strip("|\n").split("|")] for line in table.splitlines()]
    found: Cells = {}
    for title, *row in rows[2:]:
        fault, _, how = title.rpartition(", ")
        found |= {
            (column, fault, how): cell
            for column, cell in zip(rows[0][1:], row, strict=True)
            if cell != "-"
        }
    return found


def _table(found: Cells) -> str:
    lines = [f"| fault | {' | '.join(COLUMNS)} |", "|---|" + "---|" * len(COLUMNS)]
    for how in ("once", "always"):
        for fault in (*FAULTS, *OTHERS):
            row = [found.get((column, fault, how), "-") for column in COLUMNS]
            if set(row) != {"-"}:
                lines.append(f"| {fault}, {how} | {' | '.join(row)} |")
    return "\n".join(lines) + "\n"


def confirm(column: str, fault: str, how: str, said: str) -> None:
    """The page says so of this cell; with ``DRYSTONE_PUBLISH=1`` it is made to."""
    if not os.environ.get("DRYSTONE_PUBLISH"):
        assert cells().get((column, fault, how)) == said, f"{column}: {fault}, {how}"
        return
    with PAGE.open("r+", encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_EX)  # other processes confirm theirs
        before, table, after = _split(file.read())
        found = _cells(table) | {(column, fault, how): said}
        file.seek(0)
        file.write(before + _table(found) + after)
        file.truncate()
