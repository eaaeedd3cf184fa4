"""Record TensorFlow's answers to the scenarios: scenario_record.py [FAMILY...] [--dry] [--only X]

Run with a Python that has tensorflow and drystone_base. Writes
packages/base/tests/golden/scenarios/<family>.npz.xz and prints one line per family, with the steps
on which we disagree, and the scenarios that TensorFlow answers otherwise when asked again.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "packages" / "base" / "tests"))


def record(family: str, only: str, dry: bool) -> int:
    """Record one family; the number of steps on which we disagree, or TensorFlow with itself."""
    from scenarios import _answers, load
    from scenarios._built import built

    held: list[Any] = []
    wrong: list[str] = []
    for item in load(family):
        if only not in item.label:
            continue
        graph, steps = built(item)
        want = _answers.theirs(graph, steps)
        again = _answers.theirs(graph, steps)
        wrong += [f"  {item.label}: TensorFlow: {p}" for p in _answers.problems(again, want, 0)]
        wrong += [f"  {item.label}: {p}" for p in _judged(graph, steps, want, item.tol)]
        held.append((item, graph, steps, want))
    size = 0 if dry or only else _answers.write(family, held)
    count = sum(len(answers) for *_, answers in held)
    refused = sum(isinstance(a, str) for *_, answers in held for a in answers)
    print(
        f"{family}: {len(held)} scenarios, {count} steps ({refused} refused), {size} bytes, "
        f"{len(wrong)} disagree",
        *wrong,
        sep="\n",
    )
    return len(wrong)


def _judged(graph: bytes, steps: list[Any], want: list[Any], tol: float) -> list[str]:
    from scenarios import _answers

    try:
        return list(_answers.problems(_answers.ours(graph, steps), want, tol))
    except Exception as error:  # a kernel may raise anything; it should not
        return [f"raised {type(error).__name__}: {error}"]


def main() -> int:
    """Record the families named on the command line, or all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("family", nargs="*")
    parser.add_argument("--only", default="", help="scenarios whose label has this text; no record")
    parser.add_argument("--dry", action="store_true", help="compare, and record nothing")
    given = parser.parse_args()
    from scenarios import families

    return 1 if sum(record(f, given.only, given.dry) for f in given.family or families()) else 0


if __name__ == "__main__":
    sys.exit(main())
