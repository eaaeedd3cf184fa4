"""Hold random cases of every op against TensorFlow: parity.py [--ops A,B] [--cases N] [--seed S]

Run with a Python that has tensorflow and drystone_base. Case K of an op has the seed S + K and is
drawn again from it: `--ops Tile --seed 17 --cases 1` repeats one case. `--record` writes
packages/base/tests/golden/parity.jsonl.xz, or replaces the ops given there.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "packages" / "base" / "tests"))


def main() -> int:
    """Run the cases, print what differs, record if asked."""
    from parity.eligible import eligible_ops
    from parity.live import answers
    from parity.recorded import Entry, entry, update

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ops", default="", help="names, separated by commas; all without")
    parser.add_argument("--cases", type=int, default=16, help="cases an op")
    parser.add_argument("--seed", type=int, default=0, help="seed of the first case")
    parser.add_argument("--record", action="store_true")
    parser.add_argument("--skipped", action="store_true", help="list what was skipped, too")
    options = parser.parse_args()
    ops = options.ops.split(",") if options.ops else eligible_ops()
    print(f"parity: {len(ops)} ops, {options.cases} cases each, first seed {options.seed}")
    tasks = [(op, options.seed + k) for op in ops for k in range(options.cases)]
    kinds: Counter[str] = Counter()
    entries: list[Entry] = []
    for (op, seed), want, verdict in answers(tasks):
        kinds[verdict.kind] += 1
        if verdict.kind in ("differs", "broken") or (options.skipped and verdict.kind == "skipped"):
            print(f"  {op} seed {seed}: {verdict.text}", flush=True)
        entries.append(entry(op, seed, want, verdict))
    if options.record:
        update(entries, whole=not options.ops)
    print("parity: " + ", ".join(f"{n} {kind}" for kind, n in sorted(kinds.items())))
    return 1 if kinds["differs"] + kinds["broken"] else 0


if __name__ == "__main__":
    sys.exit(main())
