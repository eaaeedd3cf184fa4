"""The plot of a result: how many times as long as drystone each peer takes, case by case."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from bench import result as of
from bench.case import GROUPS
from bench.peers import TOP

__all__ = ["FILE", "digest", "draw"]

FILE = TOP / "docs" / "reference" / "performance.svg"
GAP = 0.8
"""Between the bars of two cases, in bars."""
COLOURS = {"tensorflow": "#e8710a", "onnxruntime": "#1a73e8", "openvino": "#7b3fa0",
           "torch": "#c5221f"}  # fmt: skip


def digest(result: of.Result) -> str:
    """What ties a plot to its result."""
    text = json.dumps(result, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def draw(result: of.Result, file: Path = FILE) -> None:
    """Write the plot; the same result gives the same bytes with the same matplotlib."""
    import matplotlib as mpl

    mpl.use("svg")
    mpl.rcParams.update({"svg.hashsalt": "drystone", "svg.fonttype": "none", "font.size": 9})
    from matplotlib import pyplot, ticker

    names = [name for name in of.peers(result) if name != of.OURS]
    rows = [row for group in GROUPS for row in of.rows_of(result, group)
            if any(of.ratio(row, name) for name in names)]  # fmt: skip
    lines = sum(of.ratio(row, name) is not None for row in rows for name in names)
    figure, axes = pyplot.subplots(figsize=(8, 1.2 + 0.13 * (lines + GAP * len(rows))))
    _bars(axes, rows, names)
    axes.set_xscale("log")
    axes.xaxis.set_major_locator(ticker.LogLocator(subs=(1, 2, 5)))
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}x")
    axes.xaxis.set_minor_locator(ticker.NullLocator())
    axes.axvline(1, color="black", linewidth=1)
    axes.set_xlabel("time of the peer / time of drystone (log; right of 1: drystone is faster)")
    plural = "s" if result["threads"] > 1 else ""
    axes.set_title(f"drystone beside its peers, {result['threads']} thread{plural}", pad=26)
    axes.legend(loc="lower center", bbox_to_anchor=(0.4, 1.0), ncol=4, frameon=False)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    figure.tight_layout()
    facts = {"Date": None, "Creator": None, "Description": f"result {digest(result)}"}
    figure.savefig(file, format="svg", metadata=facts)
    pyplot.close(figure)


def _bars(axes: Any, rows: list[Any], names: list[str]) -> None:
    """A bar from 1 for each ratio, those of a case together."""
    place, middles = 0.0, []
    seen: set[str] = set()
    for row in rows:
        begin = place
        for name in names:
            factor = of.ratio(row, name)
            if factor is not None:
                label = None if name in seen else name
                axes.barh(place, factor - 1, left=1, height=0.9, color=COLOURS[name], label=label)
                seen.add(name)
                place += 1
        middles.append((begin + place - 1) / 2)
        place += GAP
    axes.set_yticks(middles, [row["name"] for row in rows])
    axes.set_ylim(place, -1)


if __name__ == "__main__":
    newest = of.latest()
    if newest is None:
        raise SystemExit("bench/results holds no result")
    draw(newest)
