"""What a run found, as plain data: one JSON file, and the figures that are derived from it.

Needs nothing but the standard library: the pages are made from the file alone.
"""

from __future__ import annotations

import json
import math
import statistics
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

__all__ = ["FORMAT", "OURS", "count", "duration", "latest", "mean_ratio", "peers", "ratio",
           "ratios", "right", "rows_of", "share", "size", "worth", "wrong"]  # fmt: skip

SAME = 0.1
"""How far a peer's answers may be off and still be those of the same calculation."""
FORMAT = 1
"""Number of the file's layout."""
OURS = "drystone"
RESULTS = Path(__file__).resolve().parent / "results"

Result = Mapping[str, Any]


def latest(folder: Path = RESULTS) -> Result | None:
    """The newest committed result."""
    found = [json.loads(file.read_text(encoding="utf-8")) for file in sorted(folder.glob("*.json"))]
    return max(found, key=lambda result: str(result["when"]), default=None)


def peers(result: Result) -> list[str]:
    """drystone and the peers that were there, in the order of the columns."""
    return [name for name, facts in result["peers"].items() if "absent" not in facts]


def right(row: Mapping[str, Any], name: str) -> bool:
    """Whether a runtime has a time for the case, and answers that are right.

    Ours must keep to the case's tolerance; a peer's kernels may round otherwise.
    """
    return worth(row["found"].get(name), row.get("tolerance", math.inf) if name == OURS else SAME)


def worth(entry: Mapping[str, Any] | None, tolerance: float = math.inf) -> bool:
    """Whether an entry has a time, and its answers were right.

    A difference of None: in shapes or strings.
    """
    if not entry or "median_s" not in entry:
        return False
    difference = entry.get("difference", 0.0)
    return difference is not None and difference <= tolerance


def ratio(row: Mapping[str, Any], peer: str, key: str = "median_s") -> float | None:
    """How many times drystone's time (or ``key``) the peer's is: above 1, drystone is ahead.

    Times are compared round by round, as both were measured one after the other.
    """
    ours, theirs = row["found"].get(OURS), row["found"].get(peer)
    if not (right(row, OURS) and right(row, peer)) or peer == OURS:
        return None
    if key == "median_s" and len(ours["slots_s"]) == len(theirs["slots_s"]):
        pairs = zip(ours["slots_s"], theirs["slots_s"], strict=True)
        return statistics.median(float(b) / float(a) for a, b in pairs)
    return float(theirs[key]) / float(ours[key])


def ratios(rows: Iterable[Mapping[str, Any]], peer: str, key: str = "median_s") -> list[float]:
    """The ratios of all rows that have one."""
    return [value for row in rows if (value := ratio(row, peer, key)) is not None]


def mean_ratio(
    rows: Iterable[Mapping[str, Any]], peer: str, key: str = "median_s"
) -> tuple[float, int] | None:
    """The geometric mean of the ratios, and of how many; None where there is none."""
    values = ratios(rows, peer, key)
    if not values:
        return None
    return math.exp(statistics.fmean(map(math.log, values))), len(values)


def wrong(entry: Mapping[str, Any]) -> str:
    """What is wrong with the answers of an entry."""
    difference = entry["difference"]
    return "other shapes or strings" if difference is None else f"off by {difference:.1g}"


def rows_of(result: Result, group: str) -> Iterator[Mapping[str, Any]]:
    """The cases of a group."""
    return (row for row in result["cases"] if row["group"] == group)


def duration(seconds: float) -> str:
    """A time in the unit that fits it, three digits."""
    for scale, unit in ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs")):
        if seconds >= scale * 0.9995 or unit == "µs":
            text = f"{seconds / scale:#.3g}".rstrip(".")
            return f"{float(text):.0f} {unit}" if "e" in text else f"{text} {unit}"
    raise AssertionError


def size(value: float) -> str:
    """Bytes in MB (10⁶)."""
    return f"{value / 1e6:,.0f} MB"


def count(value: float) -> str:
    """A ratio, two or three digits."""
    return f"{value:.2f}" if value < 10 else f"{value:.1f}" if value < 100 else f"{value:,.0f}"


def share(value: float) -> str:
    """A spread."""
    return f"±{value * 100:.0f} %"
