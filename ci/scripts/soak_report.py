"""Whether the samples of a soak are flat, and what they look like."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

__all__ = ["slope", "sparkline", "svg", "verdict"]

WARM: Final = 0.2  # of the time, not judged: caches fill, the allocator finds its size
STEADY: Final = ("threads", "files", "live_")
BARS: Final = "▁▂▃▄▅▆▇█"


def slope(times: Sequence[float], values: Sequence[float]) -> float:
    """Of the line of least squares through the points; 0.0 for less than two times."""
    mean_t, mean_v = sum(times) / len(times), sum(values) / len(values)
    spread = sum((t - mean_t) ** 2 for t in times)
    along = sum((t - mean_t) * (v - mean_v) for t, v in zip(times, values, strict=True))
    return along / spread if spread else 0.0


def verdict(samples: Sequence[dict[str, Any]], bound: float) -> dict[str, Any]:
    """``flat``: memory rises by at most ``bound`` MiB an hour and no count is above the warm one.

    A count may not be above its greatest value in the first half of what is judged.
    """
    judged = [s for s in samples if s["seconds"] >= WARM * samples[-1]["seconds"]]
    hours = [s["seconds"] / 3600 for s in judged]
    rise = slope(hours, [s["mib"] for s in judged])
    half = max(1, len(judged) // 2)
    ends = f"{judged[0]['mib']:.1f} MiB warm, {judged[-1]['mib']:.1f} MiB at the end"
    lines = [f"memory: {ends}, {rise:+.2f} MiB an hour (flat: at most {bound:g})"]
    grown = []
    for key in (k for k in judged[0] if k.startswith(STEADY)):
        before = max(s[key] for s in judged[:half])
        after = max(s[key] for s in judged[half:] or judged)
        lines.append(f"{key}: at most {before}, then at most {after}")
        grown += [key] if after > before else []
    last = samples[-1]
    flat = rise <= bound and not grown
    lines.append(
        f"{'FLAT' if flat else 'NOT FLAT'}: {last['runs']} runs in {last['seconds'] / 3600:.2f} h, "
        f"{last['findings']} findings{'; grown: ' + ', '.join(grown) if grown else ''}"
    )
    return {"flat": flat, "mib_an_hour": round(rise, 3), "grown": grown, "lines": lines} | {
        key: last[key] for key in ("seconds", "runs", "findings")
    }


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
