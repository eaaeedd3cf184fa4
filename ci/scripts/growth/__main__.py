"""Growth of passes, loaders and printers: growth [--seconds 3600] [--only TEXT] [--json FILE]

Each is measured on each of a table of graphs or files, at a size and at four times that size; the
processor time must grow by less than six. What grows faster is printed, and the status is 1.
"""

from __future__ import annotations

import argparse
import json
import logging
import sys
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ci.scripts.growth.edge_shapes import EDGES
from ci.scripts.growth.file_jobs import file_jobs
from ci.scripts.growth.flow_shapes import FLOW
from ci.scripts.growth.graph_jobs import Job, graph_jobs
from ci.scripts.growth.measure import TooSlow, grow
from ci.scripts.growth.plain_shapes import PLAIN, Shape

_QUICK = ("read pb", "read pbtxt", "infer", "optimize", "lower", "subgraphs: default")
_LIMIT = 20.0
"""Seconds that one measurement may take."""


def pairs(only: str, *, quick: bool) -> Iterator[tuple[str, Job, Shape]]:
    """What is measured: a name, what is done, and to what."""
    shapes = {**PLAIN, **EDGES, **FLOW}
    for name, job in graph_jobs().items():
        for stem, shape in shapes.items():
            title = f"{name} / {stem}"
            if only in title and (not quick or name in _QUICK):
                yield title, job, shape
    for title, (job, shape) in file_jobs().items():
        if only in title:
            yield title, job, shape


def main(arguments: list[str] | None = None) -> int:
    """Measure all, or as much as there is time for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=3600.0, help="end after that long")
    parser.add_argument("--only", default="", help="only what has this in its name")
    parser.add_argument("--first", type=int, default=200, help="the size to begin with")
    parser.add_argument("--most", type=int, default=12_800, help="the largest smaller size")
    parser.add_argument("--least", type=float, default=0.02, help="seconds worth measuring")
    parser.add_argument("--quick", action="store_true", help="small sizes, few jobs")
    parser.add_argument("--json", type=Path, help="write what was measured there")
    options = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    logging.disable()
    begin, found, wrong = time.monotonic(), list[dict[str, Any]](), 0
    for title, job, shape in pairs(options.only, quick=options.quick):
        if time.monotonic() - begin > options.seconds:
            print(f"stopped after {options.seconds:.0f} s", flush=True)
            break
        row = measured(title, job, shape, options)
        found.append(row)
        wrong += not row["linear"]
        print(line(row), flush=True)
    if options.json:
        options.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    print(f"{len(found)} measured; {wrong} grow too fast; {time.monotonic() - begin:.0f} s")
    return int(wrong > 0)


def measured(title: str, job: Job, shape: Shape, options: argparse.Namespace) -> dict[str, Any]:
    """One row of the table."""
    limits = {"first": options.first, "most": options.most, "least": options.least}
    try:
        grown = grow(job, shape, limit=_LIMIT, **limits)
    except TooSlow:
        return {"name": title, "linear": False, "error": f"more than {_LIMIT:.0f} s"}
    except Exception as error:
        return {"name": title, "linear": False, "error": f"{type(error).__name__}: {error}"}
    return {"name": title, "linear": grown.is_linear, "size": grown.size, "ratio": grown.ratio,
            "small": grown.small, "large": grown.large}  # fmt: skip


def line(row: dict[str, Any]) -> str:
    """A row as text."""
    mark = "  " if row["linear"] else "! "
    if "error" in row:
        return f"{mark}{row['name']:60} {row['error'][:200]}"
    return (f"{mark}{row['name']:60} {row['size']:6} {row['small'] * 1e3:9.1f} ms "
            f"{row['large'] * 1e3:9.1f} ms {row['ratio']:5.1f}")  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
