"""The table of docs/filesystem.md that says which filesystem passes which check of the suite.

Each filesystem has a column, which the test of that filesystem holds against its report, or with
DRYSTONE_PUBLISH=1 writes: no test waits for another.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

__all__ = ["column", "published"]

_PAGE: Final = Path(__file__).resolve().parents[4] / "docs" / "filesystem.md"
_BEGIN, _END = "<!-- conformance: begin -->\n", "<!-- conformance: end -->\n"
_TEST: Final = re.compile(r"::test_(\w+)\[")
_LACKS: Final = re.compile(r"lacks filesystem\.([\w-]+)")


def column(report: Mapping[str, Any]) -> dict[str, str]:
    """What each check gave, by its name in words; one with several cases is one check.

    ``yes`` where all cases passed, what the filesystem states that it lacks where none was tried.
    """
    cases: dict[str, list[str]] = {}
    for row in report["results"]:
        found = _TEST.search(row["test"])
        if found is not None:
            lacks = _LACKS.search(row.get("reason", ""))
            said = f"no {lacks[1]}" if lacks else "not offered"
            said = said if row["outcome"] == "skipped" else row["outcome"]
            cases.setdefault(found[1].replace("_", " "), []).append(said)
    return {name: _cell(said) for name, said in cases.items()}


def _cell(said: list[str]) -> str:
    passed = said.count("passed")
    if passed in (0, len(said)):
        return ", ".join(sorted(set(said))).replace("passed", "yes")
    return f"{passed} of {len(said)}"


def published(name: str, cells: Mapping[str, str]) -> None:
    """Fail unless the page's column ``name`` is just that; or write it there."""
    text = _PAGE.read_text(encoding="utf-8")
    before, rest = text.split(_BEGIN)
    now, after = rest.split(_END)
    columns = _read(now)
    if os.environ.get("DRYSTONE_PUBLISH"):
        columns[name] = dict(cells)
        text = f"{before}{_BEGIN}{_written(columns)}{_END}{after}"
        _PAGE.write_text(text, encoding="utf-8")
    else:
        assert columns.get(name) == cells, f"column {name} of {_PAGE.name} is not current"


def _read(table: str) -> dict[str, dict[str, str]]:
    rows = [[cell.strip() for cell in row.split("|")[1:-1]] for row in table.splitlines()]
    if not rows:
        return {}
    names, _, *checks = rows
    return {
        name: {row[0]: row[k] for row in checks if row[k] != "-"}
        for k, name in enumerate(names)
        if k
    }


def _written(columns: Mapping[str, Mapping[str, str]]) -> str:
    checks = list(dict.fromkeys(check for cells in columns.values() for check in cells))
    lines = [f"| check | {' | '.join(columns)} |", "|---|" + "---|" * len(columns)]
    for check in checks:
        cells = " | ".join(cells.get(check, "-") for cells in columns.values())
        lines.append(f"| {check} | {cells} |")
    return "\n".join(lines) + "\n"
