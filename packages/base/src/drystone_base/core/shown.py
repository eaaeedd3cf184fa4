"""Names, shapes and sizes as people read them, in terminals and in notebooks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from drystone_base.core.printable import plain

__all__ = ["shape_text", "size_text", "table"]


def shape_text(shape: Iterable[int | None] | None) -> str:
    """A shape for people: ``[1, ?, 3]``, or ``any rank``."""
    if shape is None:
        return "any rank"
    return "[" + ", ".join("?" if d is None or d < 0 else str(d) for d in shape) + "]"


def size_text(count: int) -> str:
    """Bytes as text with a fitting unit."""
    for unit, factor in (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if count >= factor:
            return f"{count / factor:.1f} {unit}"
    return f"{count} B"


def table(title: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """An HTML table, everything in it escaped."""
    held = [[f"<td style='text-align:left'>{_cell(cell)}</td>" for cell in row] for row in rows]
    heads = "".join(f"<th style='text-align:left'>{_cell(column)}</th>" for column in columns)
    body = "".join(f"<tr>{''.join(row)}</tr>" for row in held)
    return (
        f"<div><strong>{_cell(title)}</strong>"
        f"<table><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _cell(value: Any) -> str:
    from html import escape  # with a table of all entities: not for processes that only run

    return escape(plain(str(value)))
