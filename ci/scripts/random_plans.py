"""Random programs on both executors: random_plans.py [--count 20000] [--first SEED]

Each is drawn from its seed (packages/base/tests/random_programs) and run several times in one
session of either executor. A disagreement is printed for the shortest beginning of the program that
shows it; the status is 1 then. With drystone-cpu installed, the native executor uses its kernels.
With --optimizer native sessions run graphs as drystone-optimizer rewrites them. With --cached two
native sessions of one file are compared, of which the second finds the plans that the first cached.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from drystone_base import plugins
from drystone_base.cli.kit import progress

ROOT = Path(__file__).resolve().parents[2]
MOST_SHOWN = 10


def main(arguments: list[str] | None = None) -> int:
    """Draw, run and compare."""
    sys.path.insert(0, str(ROOT / "packages" / "base" / "tests"))
    from random_programs import disagreement, draw, smallest

    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--count", type=int, default=20_000)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--optimizer", action="store_true", help="optimize native sessions")
    parser.add_argument("--cached", action="store_true", help="compare cached plans")
    options = parser.parse_args(arguments)
    optimizer = "default" if options.optimizer else "off"
    if options.cached:
        return cached(options.first, options.count, optimizer)
    ops: Counter[str] = Counter()
    start, shown = time.monotonic(), 0
    for seed in progress(range(options.first, options.first + options.count), "programs"):
        program = draw(seed)
        ops.update({node.op for node in program.graph})
        found = disagreement(program, optimizer)
        if found is not None:
            print(smallest(seed, optimizer) or found, flush=True)
            shown += 1
            if shown == MOST_SHOWN:
                break
    loaded = ", ".join(p.name for p in plugins.report().plugins if p.state == "loaded") or "none"
    print(
        f"{seed + 1 - options.first} programs of {len(ops)} ops, plugins: {loaded}; "
        f"{shown} disagreements; {time.monotonic() - start:.0f} s"
    )
    return int(shown > 0)


def cached(first: int, count: int, optimizer: str) -> int:
    """Draw programs, and run each with plans that are made and with cached plans."""
    from random_programs import draw
    from random_programs.cached import cached_disagreement

    start, shown, taken = time.monotonic(), 0, 0
    for seed in progress(range(first, first + count), "programs"):
        with tempfile.TemporaryDirectory(prefix="drystone-plans-") as folder:
            os.environ["DRYSTONE_PLAN_CACHE"] = os.path.join(folder, "plans")
            found, plans = cached_disagreement(draw(seed), Path(folder), optimizer)
        taken += plans
        if found is not None:
            print(found, flush=True)
            shown += 1
    seconds = time.monotonic() - start
    print(f"{count} programs, {taken} cached plans; {shown} disagreements; {seconds:.0f} s")
    return int(shown > 0 or not taken)


if __name__ == "__main__":
    sys.exit(main())
