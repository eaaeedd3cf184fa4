"""A run's figures as tables on the terminal."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from rich.console import Console
from rich.table import Table

from bench import result as of
from bench.case import GROUPS

__all__ = ["cell", "line", "show", "show_row", "why_not"]


def show(console: Console, result: of.Result) -> None:
    """All tables: processes and sizes, then the groups with their geometric means, then memory."""
    names = of.peers(result)
    for name, facts in result["peers"].items():
        if "absent" in facts:
            line(console, f"{name}: absent: {facts['absent']}")
    _show(console, "Processes", result["processes"], names)
    _sizes(console, result, names)
    for group, heading in GROUPS.items():
        _show(console, heading, list(of.rows_of(result, group)), names)
    _first_steps(console, result, names)
    _memory(console, result, names)
    for reason in why_not(result):
        line(console, reason)


def _show(console: Console, heading: str, rows: list[Mapping[str, Any]], names: list[str]) -> None:
    if not rows:
        return
    table = Table(title=heading, title_justify="left", title_style="bold")
    table.add_column("case", no_wrap=True)
    for name in names:
        table.add_column(name, justify="right", no_wrap=True)
    for row in rows:
        table.add_row(row["name"], *[cell(row, name) for name in names])
    means = [of.mean_ratio(rows, name) for name in names]
    if any(means):
        cells = [f"{of.count(mean[0])}x of {mean[1]}" if mean else "" for mean in means]
        table.add_section()
        table.add_row("geometric mean", *cells)
    console.print(table)


def cell(row: Mapping[str, Any], name: str) -> str:
    """Time, spread and ratio to drystone; a dash where there is no time."""
    entry = row["found"].get(name)
    if not entry or "slots" not in entry:
        return "failed" if entry and "error" in entry else "—"
    if not of.right(row, name):
        return f"wrong: {of.wrong(entry)}"
    text = f"{of.duration(of.middle(row, name))} {of.share(of.spread(row, name))}"
    factor = of.ratio(row, name)
    return text if factor is None else f"{text} {of.count(factor)}x"


def _sizes(console: Console, result: of.Result, names: list[str]) -> None:
    known = {name: result["peers"][name].get("bytes") for name in names}
    if any(known.values()):
        texts = [f"{name} {of.size(value)}" for name, value in known.items() if value]
        line(console, "installed size, with all that it needs: " + ", ".join(texts))


def _first_steps(console: Console, result: of.Result, names: list[str]) -> None:
    """What the first step of training takes, in which runtimes trace, compile and plan."""
    rows = list(of.rows_of(result, "training-keras"))
    if not rows:
        return
    table = Table(title="First training step", title_justify="left", title_style="bold")
    for column in ("case", *names):
        table.add_column(column, justify="left" if column == "case" else "right", no_wrap=True)
    for row in rows:
        found = [(row["found"].get(name) or {}).get("first_s") for name in names]
        table.add_row(row["name"], *["—" if s is None else of.duration(s) for s in found])
    console.print(table)


def _memory(console: Console, result: of.Result, names: list[str]) -> None:
    rows = [row for row in result["cases"] if row["group"] not in ("calls",)]
    if not rows:
        return
    table = Table(title="Memory, peak", title_justify="left", title_style="bold")
    table.add_column("case", no_wrap=True)
    for name in names:
        table.add_column(name, justify="right", no_wrap=True)
    for row in rows:
        table.add_row(row["name"], *[_rss(row, name) for name in names])
    console.print(table)


def _rss(row: Mapping[str, Any], name: str) -> str:
    entry = row["found"].get(name) or {}
    if "rss" not in entry:
        return "—"
    factor = of.ratio(row, name, "rss")
    return of.size(entry["rss"]) + ("" if factor is None else f" {of.count(factor)}x")


def why_not(result: of.Result) -> Iterable[str]:
    """Why each dash and failure is there."""
    for row in [*result["processes"], *result["cases"]]:
        for name, entry in row["found"].items():
            reason = entry.get("error")
            if not reason and not of.right(row, name):
                reason = None if "none" in entry else f"wrong answers: {of.wrong(entry)}"
            if reason:
                yield f"{row['name']}, {name}: {reason}"


def show_row(console: Console, row: Mapping[str, Any]) -> None:
    """One line when a case is done."""
    cells = [
        f"{name} {cell(row, name)}" for name in row["found"] if "none" not in row["found"][name]
    ]
    line(console, f"{row['name']}: " + ", ".join(cells))


def line(console: Console, text: str) -> None:
    """One line of plain text, of any length."""
    console.print(text, highlight=False, markup=False, soft_wrap=True)
