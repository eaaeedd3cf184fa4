"""Record TensorFlow's answers to the golden cases: golden_record.py [FAMILY...]

Run with a Python that has tensorflow and drystone_base. Writes
packages/base/tests/golden/data/<family>.npz and prints one line per family, with the cases in which
the reference kernels disagree.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "packages" / "base" / "tests"))


def record(family: str) -> int:
    """Record one family; the number of cases on which we disagree."""
    import oracle

    cases = oracle.load(family)
    answers = [oracle.theirs(item) for item in cases]
    arrays: dict[str, Any] = oracle.pack(answers)
    np.savez_compressed(oracle.DATA / f"{family}.npz", **arrays)
    wrong = [
        f"  {item.label()}: {problem}"
        for item, want in zip(cases, answers, strict=True)
        if (problem := oracle.disagreement(item, want))
    ]
    print(f"{family}: {len(cases)} cases recorded, {len(wrong)} disagree", *wrong, sep="\n")
    return len(wrong)


def main() -> int:
    """Record the families named on the command line, or all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("family", nargs="*")
    import oracle

    return 1 if sum(record(f) for f in parser.parse_args().family or oracle.families()) else 0


if __name__ == "__main__":
    sys.exit(main())
