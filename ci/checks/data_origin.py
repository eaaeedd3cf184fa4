"""Every model in integration_tests/data says where it is from, and all fit their budget."""

from __future__ import annotations

import sys
from pathlib import Path

from ci.checks._report import report
from ci.scripts.project import ROOT, load_toml, tracked_files

__all__ = ["find", "main"]

DATA = Path("integration_tests/data")
BESIDE = ("LICENSE", "ORIGIN.md")


def find(root: Path = ROOT) -> list[str]:
    """Model folders without origin or licence, and a total over the budget in megabytes."""
    files = [path for path in tracked_files(root) if path.is_relative_to(DATA)]
    folders = sorted({DATA / path.relative_to(DATA).parts[0] for path in files})
    problems = [
        f"{folder} has no {name}"
        for folder in folders
        if (root / folder).is_dir()
        for name in BESIDE
        if not (root / folder / name).is_file()
    ]
    budget = load_toml(root / "ci" / "packages.toml")["budgets"]["data_megabytes"]
    size = sum((root / path).stat().st_size for path in files) / 1e6
    if size > budget:
        problems.append(f"{DATA} holds {size:.1f} MB, budget {budget} MB")
    return problems


def main() -> int:
    """Run the check on this checkout."""
    return report("data_origin", find())


if __name__ == "__main__":
    sys.exit(main())
