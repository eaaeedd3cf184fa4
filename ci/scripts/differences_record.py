"""Find a case for each documented difference from TensorFlow: differences_record.py [--all]

Run with a Python that has tensorflow, drystone_base and drystone-cpu. Drawn cases and extreme ones
of its ops are answered by TensorFlow and by us until one falls under it; it is written to
packages/base/tests/golden/differences.json. Differences that have one are left as they are without
`--all`. What is not found is printed, and the status is 1: such a difference occurs no more.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "packages" / "base" / "tests"))

LARGEST = 300  # elements of an example


def _rare(op: str) -> Iterator[Any]:
    """Cases that chance hardly makes."""
    from oracle import case

    if op == "EditDistance":  # a row before the shape, whose second index leads back into it
        row = np.array([[-1, 4, 0], [0, 0, 0]]), np.array([1, 2]), np.array([2, 3, 4])
        yield case(op, *row, row[0][1:], row[1][1:], row[2], normalize=False)


def _cases(ops: list[str], tries: int) -> Iterator[Any]:
    """Extreme and drawn cases of the ops in turn."""
    from extremes.bases import bases
    from extremes.bases import ops as known
    from extremes.changes import changed_case
    from parity.draft import draw_case
    from parity.eligible import eligible_ops

    chosen = [op for op in ops or known() if bases(op)]
    for op in ops:
        yield from _rare(op)
    for number in range(max(tries // max(len(chosen), 1), 1)):
        for op in chosen[:tries]:
            items = [changed_case(op, 0, number, huge)[0] for huge in (False, True)]
            items += [draw_case(op, number)] if op in eligible_ops() else []
            yield from (i for i in items if sum(map(np.size, i.inputs)) <= LARGEST)


def find(difference: Any, theirs: Any, ours: Any, tries: int) -> Any:
    """The first example of a difference, or None."""
    from parity.examples import Example
    from parity.judge import judge

    for item in _cases(difference.ops.split(), tries):
        theirs.send(item)
        want = theirs.answer()
        if isinstance(want, str) and want.startswith("skip"):
            continue
        ours.send(item, want)
        for _, verdict in list(ours.verdicts()):
            if (verdict.kind, verdict.reason) != ("known", difference.reason):
                continue
            # The kernel by itself, as the tests run it: a session may refuse before it.
            alone = judge(item, want)
            if alone.kind == "equal" if difference.only else alone == verdict:
                return Example(difference.reason, verdict.way, item, want)
    return None


def main(arguments: list[str] | None = None) -> int:
    """Look for what is missing, and write it."""
    from extremes.process import Ours, Tensorflow
    from parity.differences import DIFFERENCES
    from parity.examples import load, save

    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--tries", type=int, default=240, help="cases a difference")
    parser.add_argument("--all", action="store_true", help="look for all again")
    options = parser.parse_args(arguments)
    known = {} if options.all else load()
    theirs, ours, cpu = Tensorflow(60), Ours("plain", 20), Ours("cpu", 20)
    missing = []
    for difference in DIFFERENCES:
        if difference.reason in known:
            continue
        example = find(difference, theirs, cpu if difference.only else ours, options.tries)
        print(f"{'found' if example else 'NOT FOUND'}: {difference.reason}", flush=True)
        if example is None:
            missing.append(difference)
        else:
            known[difference.reason] = example
            save([known[d.reason] for d in DIFFERENCES if d.reason in known])
    save([known[d.reason] for d in DIFFERENCES if d.reason in known])
    theirs.close()
    for process in (ours, cpu):
        process.close()
    print(f"{len(known)} differences have an example, {len(missing)} have none")
    return int(bool(missing))


if __name__ == "__main__":
    sys.exit(main())
