"""Random graphs with extreme feeds and constants: exact_graphs.py [--count N] [--first SEED]

Arithmetic, networks of images and layers of transformers hold NaN, infinities, -0 and subnormals.
Each runs as it is, and with every rewrite of numeric="exact", on both executors: not one bit may
differ. With drystone-cpu installed, the native executor uses its kernels. The status is 1 where
something differs.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
HELPERS = ("packages/optimizer/tests", "packages/base/tests")
sys.path[:0] = [str(ROOT / folder) for folder in HELPERS]


def main(arguments: list[str] | None = None) -> int:
    """Draw, run and compare."""
    from exact_bits import KINDS, first_difference

    from drystone_base.cli.kit import progress

    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--count", type=int, default=2000, help="seeds; each makes a graph a kind")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    options = parser.parse_args(arguments)
    shown = 0
    for seed in progress(range(options.first, options.first + options.count), "seeds"):
        for kind in KINDS:
            for executor in ("native", "reference"):
                with np.errstate(all="ignore"):
                    found = first_difference(kind, seed, executor)
                if found:
                    print(found, flush=True)
                    shown += 1
    print(f"{options.count * len(KINDS)} graphs on both executors; {shown} differ")
    return int(shown > 0)


if __name__ == "__main__":
    sys.exit(main())
