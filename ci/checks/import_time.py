"""Importing drystone stays cheap: medians over fresh processes against ci/packages.toml.

`python -m ci.checks.import_time [PYTHON]` measures the environment of PYTHON, by default this one.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
from pathlib import Path

from ci.checks._report import report
from ci.scripts.project import ROOT, load_toml

__all__ = ["find", "main", "measure"]

STATEMENTS = {
    "import_seconds": "import drystone",
    "first_use_seconds": "import drystone as ds; [getattr(ds, name) for name in ds.__all__]",
}
RUNS = 7
ROUNDS = 3
"""A busy machine gets three chances; a slow import is slow in all of them."""


def measure(statement: str, python: str = sys.executable, runs: int = RUNS) -> float:
    """Median seconds that `statement` takes in `runs` fresh processes, after one to warm up."""
    program = f"import time; t = time.perf_counter()\n{statement}\nprint(time.perf_counter() - t)"
    seconds = [
        float(
            subprocess.run(
                [python, "-I", "-c", program], capture_output=True, text=True, check=True
            ).stdout
        )
        for _ in range(runs + 1)
    ]
    return statistics.median(seconds[1:])


def find(budgets: dict[str, float], python: str = sys.executable) -> list[str]:
    """Statements that take longer than their budget in every round."""
    problems = []
    for key, statement in STATEMENTS.items():
        budget = budgets[key]
        best = float("inf")
        for _ in range(ROUNDS):
            best = min(best, measure(statement, python))
            if best <= budget:
                break
        print(f"import_time: {best:.3f} s (budget {budget} s): {statement}")
        if best > budget:
            problems.append(f"{statement}: {best:.3f} s, budget {budget} s")
    return problems


def main() -> int:
    """Measure the environment named on the command line."""
    python = str(Path(sys.argv[1]).absolute()) if len(sys.argv) > 1 else sys.executable
    return report("import_time", find(load_toml(ROOT / "ci" / "packages.toml")["budgets"], python))


if __name__ == "__main__":
    sys.exit(main())
