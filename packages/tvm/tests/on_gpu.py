"""Random regions on a GPU: compiled where TVM and nvcc are, run where neither is needed.

``python on_gpu.py make FOLDER --count N`` writes a library, arrays and what NumPy's kernels
compute of them; ``python on_gpu.py check FOLDER`` runs them there. Its exit status is 1 where one
differs, 3 where there is no GPU.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Final

import drystone_tvm
import numpy as np
from random_regions import compare, compile_together, expected_of, name_of, random_region

_LIBRARY: Final = "regions.so"


def make(folder: Path, first: int, count: int) -> int:
    """Write the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    made = {seed: random_region(seed) for seed in range(first, first + count)}
    compile_together(made, folder / _LIBRARY, "cuda")
    seeds = []
    for seed, one in made.items():
        arrays = {f"x{k}": x for k, x in enumerate(one.feeds.values())}
        arrays |= {f"y{k}": y for k, y in enumerate(expected_of(one))}
        np.savez(folder / f"{seed}.npz", **arrays)  # type: ignore[arg-type]
        seeds.append(seed)
    (folder / "seeds.json").write_text(json.dumps(seeds))
    print(f"{count} regions from seed {first} on are in {folder}")
    return 0


def check(folder: Path) -> int:
    """Run what the folder has."""
    module = drystone_tvm.load(folder / _LIBRARY)
    seeds, wrong, begin = json.loads((folder / "seeds.json").read_text()), 0, time.monotonic()
    for seed in seeds:
        with np.load(folder / f"{seed}.npz") as arrays:
            given, expected = (
                [arrays[f"{kind}{k}"] for k in range(len(arrays)) if f"{kind}{k}" in arrays]
                for kind in "xy"
            )
        try:
            found = module[name_of(seed)](
                *given,
                output_dtypes=[y.dtype for y in expected],
                output_shapes=[y.shape for y in expected],
            )
            results = found if len(expected) > 1 else [found]
            for k, (x, y) in enumerate(zip(results, expected, strict=True)):
                compare(f"seed {seed}, result {k}", x, y)
        except Exception as error:
            if "CUDA's driver" in str(error) or "no device" in str(error):
                print(f"there is no GPU: {error}")
                return 3
            wrong += 1
            print(f"seed {seed}: {type(error).__name__}: {error}", flush=True)
    print(f"{len(seeds)} regions in {time.monotonic() - begin:.1f} s: {wrong} differ")
    return int(wrong > 0)


def main() -> int:
    """Make or check."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("make", "check"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=50)
    chosen = parser.parse_args()
    if chosen.what == "check":
        return check(chosen.folder)
    return make(chosen.folder, chosen.first, chosen.count)


if __name__ == "__main__":
    sys.exit(main())
