"""Draw what the section scaling found: `python -m bench.scaling_plot FILE`, its JSON."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, Final

from bench.peers import TOP

__all__ = ["FILE", "draw"]

FILE: Final = TOP / "docs" / "reference" / "measurements" / "scaling.svg"
_COLOURS: Final = ("#1a73e8", "#e8710a", "#7b3fa0")

Row = dict[str, Any]


def draw(rows: list[Row], file: Path = FILE) -> None:
    """Write the plot: measured beside simulated sums, and simulated sums over more workers."""
    import matplotlib as mpl

    mpl.use("svg")
    mpl.rcParams.update({"svg.hashsalt": "drystone", "svg.fonttype": "none", "font.size": 9})
    from matplotlib import pyplot

    figure, (left, right) = pyplot.subplots(1, 2, figsize=(9, 3.6))
    _checked(left, [row for row in rows if row.get("measured") is not None])
    _predicted(right, [row for row in rows if row.get("measured") is None])
    for axes in (left, right):
        axes.set_xscale("log", base=2)
        axes.set_yscale("log")
        axes.grid(visible=True, which="major", alpha=0.3)
        axes.legend(frameon=False)
        for side in ("top", "right"):
            axes.spines[side].set_visible(False)
    figure.tight_layout()
    figure.savefig(file, format="svg", metadata={"Date": None, "Creator": None})
    pyplot.close(figure)


def _checked(axes: Any, rows: list[Row]) -> None:
    """By size, for each number of processes: dots were measured, lines are simulated."""
    counts = sorted({row["workers"] for row in rows})
    for count, colour in zip(counts, _COLOURS, strict=True):
        own = [row for row in rows if row["workers"] == count and row["bytes"] > 1 << 10]
        sizes = [row["bytes"] / 2**20 for row in own]
        axes.plot(sizes, [row["simulated"] * 1e3 for row in own], color=colour, label=str(count))
        axes.plot(sizes, [row["measured"] * 1e3 for row in own], "o", color=colour, markersize=4)
    axes.set_title("all_reduce over processes of this machine\n(dots measured, lines simulated)")
    axes.set_xlabel("MiB")
    axes.set_ylabel("ms")


def _predicted(axes: Any, rows: list[Row]) -> None:
    """By workers, for each network: a step with 100 MiB of gradients, and 200 ms of work."""
    steps = [row for row in rows if row["what"].endswith("a step")]
    names = list(dict.fromkeys(row["network"] for row in steps))
    for name, colour in zip(names, _COLOURS, strict=True):
        own = [row for row in steps if row["network"] == name]
        counts = [row["workers"] for row in own]
        axes.plot(counts, [row["simulated"] * 1e3 for row in own], color=colour, label=name)
    axes.axhline(200, color="black", linewidth=1, linestyle=":")
    axes.set_title("a step over workers with a machine each\n(simulated; dotted: work alone)")
    axes.set_xlabel("workers")


if __name__ == "__main__":
    draw(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))["scaling"]["rows"])
