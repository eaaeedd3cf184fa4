"""Tables of docs/how-to/filesystem.md, by cell: what a test has just seen is what the page says.

Each test confirms its own cells, so it matters neither which of them run nor in which process.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

__all__ = ["Cells", "Table"]

PAGE: Final = Path(__file__).resolve().parents[4] / "docs" / "how-to" / "filesystem.md"
NONE: Final = "-"
Cells = dict[tuple[str, str], str]
"""What a table says by row and column, where it says something."""


@dataclass(frozen=True)
class Table:
    """One between two comments that name it; without ``rows`` those that there are, in order."""

    name: str
    corner: str
    columns: Sequence[str]
    rows: Sequence[str] = ()

    def cells(self) -> Cells:
        """What the page says."""
        return self._cells(self._split(PAGE.read_text(encoding="utf-8"))[1])

    def confirm(self, said: Mapping[tuple[str, str], str], *, whole: str = "") -> None:
        """The page says that; with ``DRYSTONE_PUBLISH=1`` it is made to.

        Of the column ``whole`` it says nothing else.
        """
        if not os.environ.get("DRYSTONE_PUBLISH"):
            found = self.cells()
            kept = {key: found.get(key) for key in found if key in said or key[1] == whole}
            assert kept == said, f"the table {self.name} of {PAGE.name} is not current"
            return
        with PAGE.open("r+", encoding="utf-8") as file:
            fcntl.flock(file, fcntl.LOCK_EX)  # other processes confirm theirs
            before, table, after = self._split(file.read())
            found = {k: cell for k, cell in self._cells(table).items() if k[1] != whole}
            file.seek(0)
            file.write(before + self._text({**found, **said}) + after)
            file.truncate()

    def _split(self, text: str) -> tuple[str, str, str]:
        begin, end = (f"<!-- {self.name}: {what} -->\n" for what in ("begin", "end"))
        before, rest = text.split(begin)
        table, after = rest.split(end)
        return before + begin, table, end + after

    def _cells(self, table: str) -> Cells:
        rows = [
            [one.strip() for one in line.strip("|\n").split("|")] for line in table.splitlines()
        ]
        return {
            (title, column): cell
            for title, *row in rows[2:]
            for column, cell in zip(rows[0][1:], row, strict=True)
            if cell != NONE
        }

    def _text(self, found: Cells) -> str:
        lines = [f"| {self.corner} | {' | '.join(self.columns)} |"]
        lines += ["|---|" + "---|" * len(self.columns)]
        there = dict.fromkeys(row for row, _ in found)
        for title in self.rows or there:
            if title in there:
                row = (found.get((title, column), NONE) for column in self.columns)
                lines.append(f"| {title} | {' | '.join(row)} |")
        return "\n".join(lines) + "\n"
