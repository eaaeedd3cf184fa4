"""Random graphs, random selectors: random_partitions.py [--count 1000000] [--first SEED]

Each is drawn from its seed (packages/subgraph/tests/random_partitions.py). Regions must be
connected, apart from one another, and leave no cycle; every hundredth graph must compute the same
as without them, and of others every fiftieth have the regions that grow node by node.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MOST_SHOWN = 10


def _differ(seed: int) -> str:
    """What takes longer than to look for cycles: of one seed in fifty."""
    from random_partitions import parts_differ, values_differ

    if seed % 100 == 0:
        return str(values_differ(seed) or values_differ(seed, "native"))
    return str(parts_differ(seed)) if seed % 50 == 0 else ""


def main(arguments: list[str] | None = None) -> int:
    """Draw, partition and check."""
    sys.path.insert(0, str(ROOT / "packages" / "subgraph" / "tests"))
    from random_partitions import cyclic, grown

    from drystone_base.cli.kit import progress

    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--count", type=int, default=1_000_000)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    options = parser.parse_args(arguments)
    start, wrong, regions = time.monotonic(), 0, 0
    seeds = range(options.first, options.first + options.count)
    for seed in progress(seeds, "partitions"):
        graph, found = grown(seed)
        regions += len(found)
        text = cyclic(graph, found) or _differ(seed)
        if text:
            print(f"seed {seed}: {text}", flush=True)
            wrong += 1
            if wrong == MOST_SHOWN:
                break
    print(
        f"{seed + 1 - options.first} partitions with {regions} regions; {wrong} wrong; "
        f"{time.monotonic() - start:.0f} s"
    )
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
