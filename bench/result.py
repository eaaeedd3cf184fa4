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

__all__ = ["FORMAT", "OURS", "QUIET", "clock", "count", "duration", "latest", "mean_ratio",
           "middle", "misfit", "peers", "ratio", "right", "rows_of", "share", "size", "spread",
           "times", "updated", "worth", "wrong"]  # fmt: skip

QUIET = 0.15
"""Cores that other programs may keep busy before a case counts as disturbed."""
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


def misfit(published: Result | None, run: Result) -> str:
    """Why rows of a run cannot stand among the published ones; else nothing."""
    if published is None:
        return "nothing is published yet"
    if not _are_alike(published["machine"], run["machine"]):
        return "the published rows are of another machine"
    for name, facts in run["peers"].items():
        known, now = (at.get("versions") for at in (published["peers"].get(name, {}), facts))
        if now != known:
            return f"the published rows are of another {name}: {known}, and now {now}"
    return ""


def _are_alike(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Whether two machines are the same, but for what a system keeps of its memory at its start."""
    sizes = one.get("memory", 0), other.get("memory", 0)
    is_near = abs(sizes[0] - sizes[1]) <= sizes[0] / 1000
    return {**one, "memory": 0} == {**other, "memory": 0} and is_near


def updated(published: Result, run: Result) -> Result:
    """The published result with the rows of a run, which say when and of what commit they are."""
    own = {"when": run["when"], "commit": run["commit"]}

    def rows(key: str) -> list[Any]:
        new = {row["name"]: {**row, **own} for row in run[key]}
        kept = [new.pop(row["name"], row) for row in published[key]]
        return [*kept, *new.values()]

    return {**published, "processes": rows("processes"), "cases": rows("cases")}


def peers(result: Result) -> list[str]:
    """drystone and the peers that were there, in the order of the columns."""
    return [name for name, facts in result["peers"].items() if "absent" not in facts]


def right(row: Mapping[str, Any], name: str) -> bool:
    """Whether a runtime has a time for the case, and answers that are right.

    Ours must keep to the case's tolerance; a peer's kernels may round otherwise.
    """
    own = row.get("tolerance", math.inf if name == OURS else SAME)
    return worth(row["found"].get(name), own if name == OURS else max(own, SAME))


def worth(entry: Mapping[str, Any] | None, tolerance: float = math.inf) -> bool:
    """Whether an entry has times, and its answers were right.

    A difference of None: in shapes or strings.
    """
    if not entry or "slots" not in entry:
        return False
    difference = entry.get("difference", 0.0)
    return difference is not None and difference <= tolerance


def clock(row: Mapping[str, Any]) -> str:
    """Which clock a row's times are of: ``wall``, or ``cpu`` where others took the cores away.

    With one thread both agree on a quiet machine; with more, processor time says nothing.
    """
    others = [entry["others"] for entry in row["found"].values() if "others" in entry]
    return "cpu" if row.get("threads", 1) == 1 and max(others, default=0.0) > QUIET else "wall"


def times(row: Mapping[str, Any], name: str) -> list[float]:
    """Seconds of each slot by the row's clock."""
    found: list[float] = row["found"][name]["slots"][row["clock"]]
    return found


def middle(row: Mapping[str, Any], name: str) -> float:
    """The median of the slots."""
    return statistics.median(times(row, name))


def spread(row: Mapping[str, Any], name: str) -> float:
    """Half the range of the slots, as a share of their median."""
    slots = times(row, name)
    return (max(slots) - min(slots)) / 2 / statistics.median(slots)


def ratio(row: Mapping[str, Any], peer: str, what: str = "time") -> float | None:
    """How many times drystone's time (or ``rss``) the peer's is: above 1, drystone is ahead.

    Times are compared round by round, as both were measured one after the other.
    """
    if not (right(row, OURS) and right(row, peer)) or peer == OURS:
        return None
    if what != "time":
        return float(row["found"][peer][what]) / float(row["found"][OURS][what])
    ours, theirs = times(row, OURS), times(row, peer)
    if len(ours) != len(theirs):  # a worker died on the way
        return middle(row, peer) / middle(row, OURS)
    return statistics.median(b / a for a, b in zip(ours, theirs, strict=True))


def mean_ratio(
    rows: Iterable[Mapping[str, Any]], peer: str, what: str = "time"
) -> tuple[float, int] | None:
    """The geometric mean of the rows' ratios, and of how many; None where there is none."""
    values = [value for row in rows if (value := ratio(row, peer, what)) is not None]
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
