"""What a section of the benchmark found, as a table and as plain data."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from rich.console import Console
from rich.table import Table

__all__ = ["Column", "Report", "mb", "number", "ratio", "show", "span", "text", "yes"]


class Column(NamedTuple):
    """One column: the key of its value in a row, its heading, and how a value is written."""

    key: str
    heading: str
    write: Callable[[Any], str] = str


@dataclass
class Report:
    """Rows of one section; a row lacks what was not measured, and says why as ``error``."""

    name: str
    title: str
    columns: Sequence[Column]
    rows: list[dict[str, Any]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def failures(self) -> list[str]:
        """Each row that could not be measured, or whose facts do not hold, and why."""
        facts = [column for column in self.columns if column.write is yes]
        return [
            f"{row[self.columns[0].key]}: {row.get('error') or 'a fact does not hold'}"
            for row in self.rows
            if "error" in row or any(not row.get(fact.key) for fact in facts)
        ]

    def data(self) -> Mapping[str, Any]:
        """The section as plain data, units as in the columns' keys."""
        return {"title": self.title, "rows": self.rows, "notes": self.notes}


def text(value: Any) -> str:
    """A name."""
    return str(value)


def number(value: float) -> str:
    """A count."""
    return f"{value:,}"


def span(seconds: float) -> str:
    """A duration in the unit that fits it."""
    if seconds >= 1:
        return f"{seconds:.2f} s"
    if seconds >= 1e-3:
        return f"{seconds * 1e3:.1f} ms"
    return f"{seconds * 1e6:.2f} µs"


def mb(size: float) -> str:
    """Bytes in MB (10⁶)."""
    return f"{size / 1e6:,.1f} MB"


def ratio(value: float) -> str:
    """A factor."""
    return f"{value:.2f} x"


def yes(value: bool) -> str:
    """A fact that ought to hold."""
    return "yes" if value else "NO"


def show(console: Console, report: Report) -> None:
    """Print one section."""
    table = Table(title=report.title, title_justify="left", title_style="bold")
    for column in report.columns:
        left = column.write in (text, yes)
        table.add_column(column.heading, justify="left" if left else "right", no_wrap=True)
    for row in report.rows:
        table.add_row(*[_cell(column, row) for column in report.columns])
    console.print(table)
    for note in report.notes:
        console.print(f"  {note}", highlight=False, markup=False)
    for failure in report.failures:
        console.print(f"  failed: {failure}", style="red", highlight=False, markup=False)
    console.print()


def _cell(column: Column, row: Mapping[str, Any]) -> str:
    value = row.get(column.key)
    return "" if value is None else column.write(value)
