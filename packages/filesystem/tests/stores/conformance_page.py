"""The table of which filesystem passes which check of the conformance suite: a column for each."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from page import KINDS
from tables import Cells, Table

__all__ = ["TABLE", "confirm"]

OURS: Final = ("file", "posix", "ram", "memory", "example in C", "gs, TensorFlow's")
TABLE: Final = Table("conformance", "check", (*OURS, *KINDS))
_TEST: Final = re.compile(r"::test_(\w+)\[")
_LACKS: Final = re.compile(r"lacks filesystem\.([\w-]+)")


def confirm(name: str, report: Mapping[str, Any]) -> None:
    """The page says of this filesystem what its report does."""
    TABLE.confirm(_column(name, report), whole=name)


def _column(name: str, report: Mapping[str, Any]) -> Cells:
    """What each check gave, by its name in words; one with several cases is one check."""
    cases: dict[tuple[str, str], list[str]] = {}
    for row in report["results"]:
        found = _TEST.search(row["test"])
        if found is not None:
            lacks = _LACKS.search(row.get("reason", ""))
            said = f"no {lacks[1]}" if lacks else "not offered"
            said = said if row["outcome"] == "skipped" else row["outcome"]
            cases.setdefault((found[1].replace("_", " "), name), []).append(said)
    return {place: _cell(said) for place, said in cases.items()}


def _cell(said: list[str]) -> str:
    """``yes`` where all cases passed, what it states that it lacks where none was tried."""
    passed = said.count("passed")
    if passed in (0, len(said)):
        return ", ".join(sorted(set(said))).replace("passed", "yes")
    return f"{passed} of {len(said)}"
