"""What it costs that a plugin's optimizer turns built-in passes off.

``python -m bench.alone.turned_off_passes [LIBRARY] [--off remapping …] [--worse 1.1]``. Networks of
random layers are run as the built-in passes leave them, and as they do with the passes off that the
optimizer in LIBRARY wishes to be off (or those after ``--off``), and its own in their place. Prints
nodes and time before and after; exits with 1 where the geometric mean of the times is more than
``--worse`` times that with all built-in passes.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import drystone_base as ds
from bench.grappler_graphs import dense_layers, towers
from drystone_base.graph import Graph
from drystone_optimizer import OptimizerConfig, optimize_with_report, optimizers

__all__ = ["Row", "main", "measure"]

GRAPHS = {"dense layers": partial(dense_layers, 50), "towers": partial(towers, 20)}
PLAIN = ds.SessionConfig(optimizer="off")


@dataclass
class Row:
    """A graph: nodes and seconds of a run with all passes, and with some of them off."""

    name: str
    nodes: tuple[int, int]
    seconds: tuple[float, float]

    @property
    def ratio(self) -> float:
        """Times as long as with all passes; above 1 it was slowed down."""
        return self.seconds[1] / self.seconds[0]


def measure(off: Sequence[str], plugin: str = "", seconds: float = 0.5) -> list[Row]:
    """Each graph with all passes, and with those off; ``plugin`` is an optimizer's name."""
    available = [one for one in optimizers() if one.name == plugin]
    changed = OptimizerConfig.from_options(dict.fromkeys(off, "off"))
    rows = []
    for name, make in GRAPHS.items():
        graph, fetches, feeds = make()
        ends = (graph, fetches, list(feeds))
        before, _ = optimize_with_report(*ends, OptimizerConfig(), ())
        after, _ = optimize_with_report(*ends, changed, available)
        both = _timed([before, after], fetches, feeds, seconds)
        rows.append(Row(name, (len(before), len(after)), (both[0], both[1])))
    return rows


def _timed(
    graphs: Sequence[Graph], fetches: list[str], feeds: dict[str, Any], seconds: float
) -> list[float]:
    """Least CPU seconds of one run of each graph, the graphs in turn."""
    sessions = [ds.Session(graph, PLAIN) for graph in graphs]
    best = [math.inf] * len(sessions)
    ends = time.monotonic() + seconds
    while math.inf in best or time.monotonic() < ends:
        for k, session in enumerate(sessions):
            begin = time.process_time()
            session.run(fetches, feeds)
            best[k] = min(best[k], time.process_time() - begin)
    return best


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table; 1 where turning passes off costs too much."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("library", nargs="?", help="a plugin with an optimizer")
    parser.add_argument("--off", nargs="*", default=[], help="passes to turn off")
    parser.add_argument("--worse", type=float, default=1.1, help="times as long as is too much")
    parser.add_argument("--seconds", type=float, default=0.5, help="for each graph")
    options = parser.parse_args(arguments)
    plugin = ""
    if options.library:
        ds.plugins.load_library(options.library)
        plugin = next(o.name for o in optimizers() if o.path == options.library)
    rows = measure(options.off, plugin, options.seconds)
    print(f"{'graph':16}{'nodes':>8}{'after':>8}{'µs':>10}{'after':>10}{'times':>8}")
    for row in rows:
        first, second = (seconds * 1e6 for seconds in row.seconds)
        print(f"{row.name:16}{row.nodes[0]:8}{row.nodes[1]:8}{first:10.1f}{second:10.1f}"
              f"{row.ratio:8.2f}")  # fmt: skip
    mean = math.exp(sum(math.log(row.ratio) for row in rows) / len(rows))
    print(f"geometric mean {mean:.2f}, {options.worse:g} is too much")
    return int(mean > options.worse)


if __name__ == "__main__":
    sys.exit(main())
