"""Whether the samples of a soak are flat, and what they look like.

A line is laid through memory by Theil and Sen: the median of the slopes of all pairs of samples,
which samples far off do not move, and an interval of slopes from Kendall's test, which says how
much the samples can tell. Source: P. K. Sen, "Estimates of the regression coefficient based on
Kendall's tau", J. Am. Stat. Assoc. 63 (1968).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import median
from typing import Any, Final

__all__ = ["Bounds", "slopes", "sparkline", "svg", "verdict"]

WARM: Final = 0.3  # of the turns, not judged: caches fill, the allocator finds its size
LEAST: Final = 8  # turns that are judged: fewer decide nothing
NORMAL: Final = 1.96  # of the normal distribution, for an interval that holds 95 in 100
FLAT: Final = ("threads", "files", "maps", "live_")
BARS: Final = "▁▂▃▄▅▆▇█"
PER: Final = 10_000  # runs


@dataclass(frozen=True)
class Bounds:
    """How much memory may rise: MiB in 10,000 runs, MiB over all that is judged, and MiB in 10,000
    runs of what is in use."""

    rate: float
    total: float
    used: float


def slopes(places: Sequence[float], values: Sequence[float]) -> tuple[float, float, float]:
    """Of the line through the points: the least that they allow, the median, and the greatest."""
    points = list(zip(places, values, strict=True))
    found = sorted((w - v) / (q - p) for (p, v), (q, w) in combinations(points, 2) if q > p)
    if not found:
        return -math.inf, 0.0, math.inf
    n, many = len(points), len(found)
    spread = NORMAL * math.sqrt(n * (n - 1) * (2 * n + 5) / 18)
    low, high = math.floor((many - spread) / 2), math.ceil((many + spread) / 2)
    return (
        found[low - 1] if low >= 1 else -math.inf,
        median(found),
        found[high] if high < many else math.inf,
    )


def verdict(samples: Sequence[dict[str, Any]], bounds: Bounds) -> dict[str, Any]:
    """``flat``: memory does not rise by more than ``bounds``, and no count is above the warm one.

    The rise in all, between the medians of the first and the last third of the judged turns, must
    be within ``bounds.total``; the greatest slope that the samples allow, within ``bounds.rate``.
    The same holds for what is in use, where that was counted, and ``bounds.used``.
    Where only a part of the slopes that they allow is above it, or few turns are judged, the soak
    was too short to tell. A count may not be above its greatest value in the first half.
    """
    judged = samples[int(WARM * len(samples)) :]
    mib = [s["mib"] for s in judged]
    rates = [_rate(judged, "mib", "memory at rest", bounds.rate)]
    if "used" in judged[0]:
        rates.append(_rate(judged, "used", "of it in use", bounds.used))
    third = max(1, len(mib) // 3)
    total = median(mib[-third:]) - median(mib[:third])
    grown = _grown(judged)
    said = "FLAT"
    if any(rate.high > rate.bound for rate in rates) or len(judged) < LEAST:
        said = "UNDECIDED, soak for longer"
    if grown or any(rate.low > rate.bound for rate in rates) or total > bounds.total:
        said = "NOT FLAT"
    last, more = samples[-1], f"; grown: {', '.join(grown)}" if grown else ""
    in_all = f"{last['runs']} runs in {last['seconds'] / 3600:.2f} h, {last['findings']} findings"
    lines = [
        *(line for rate in rates for line in rate.lines),
        f"rise: {total:+.2f} MiB over {len(judged)} turns (flat: at most {bounds.total:g})",
        *_counts(judged),
        f"{said}: {in_all}{more}",
    ]
    facts = {"said": said, "flat": said == "FLAT", "total": total, "grown": grown} | {
        rate.key: rate.middle for rate in rates
    }
    return facts | {"lines": lines} | {key: last[key] for key in ("seconds", "runs", "findings")}


@dataclass(frozen=True)
class _Rate:
    """MiB by which something rises in 10,000 runs: the least that samples allow, and the most."""

    key: str
    bound: float
    low: float
    middle: float
    high: float
    lines: tuple[str, str]


def _rate(judged: Sequence[dict[str, Any]], key: str, name: str, bound: float) -> _Rate:
    values = [s[key] for s in judged]
    low, middle, high = (PER * slope for slope in slopes([s["runs"] for s in judged], values))
    place = f"{name}: {values[0]:.2f} MiB warm, {values[-1]:.2f} MiB at the end"
    rise = f"  rise in {PER:,} runs: {middle:+.3f} MiB (flat: at most {bound:g}),"
    lines = (place, f"{rise} at 95 in 100 between {low:+.3f} and {high:+.3f}")
    return _Rate(key, bound, low, middle, high, lines)


def _halves(judged: Sequence[dict[str, Any]]) -> list[tuple[str, int, int]]:
    """For each count the greatest value of the first half and of the second one."""
    half = max(1, len(judged) // 2)
    return [
        (key, max(s[key] for s in judged[:half]), max(s[key] for s in judged[half:] or judged))
        for key in judged[0]
        if key.startswith(FLAT)
    ]


def _grown(judged: Sequence[dict[str, Any]]) -> list[str]:
    return [key for key, before, after in _halves(judged) if after > before]


def _counts(judged: Sequence[dict[str, Any]]) -> list[str]:
    return [f"{key}: at most {a}, then at most {b}" for key, a, b in _halves(judged)]


def sparkline(values: Sequence[float], width: int = 72) -> str:
    """The values as a line of bars between their least and greatest."""
    step = max(1, -(-len(values) // width))
    parts = [values[k : k + step] for k in range(0, len(values), step)]
    means = [sum(part) / len(part) for part in parts]
    low, high = min(means), max(means)
    scale = (len(BARS) - 1) / (high - low) if high > low else 0.0
    bars = "".join(BARS[round((value - low) * scale)] for value in means)
    return f"{bars} {low:.1f} to {high:.1f} MiB"


def svg(samples: Sequence[dict[str, Any]], width: int = 800, height: int = 240) -> str:
    """Memory over time, from 0, as a picture."""
    top = max(s["mib"] for s in samples) * 1.1
    end = samples[-1]["seconds"] or 1.0
    points = " ".join(
        f"{40 + s['seconds'] / end * (width - 50):.1f},"
        f"{height - 20 - s['mib'] / top * (height - 40):.1f}"
        for s in samples
    )
    texts = (
        (40, height - 4, "0 h"),
        (width - 60, height - 4, f"{end / 3600:.2f} h"),
        (2, 14, f"{top:.0f} MiB"),
    )
    marks = "".join(f'<text x="{x}" y="{y}">{text}</text>' for x, y, text in texts)
    axes = f'<path d="M40 20V{height - 20}H{width - 10}" fill="none" stroke="#888"/>'
    line = f'<polyline points="{points}" fill="none" stroke="#06c" stroke-width="1.5"/>'
    style = 'font-family="sans-serif" font-size="11"'
    size = f'width="{width}" height="{height}"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size} {style}>{axes}{line}{marks}</svg>\n'
