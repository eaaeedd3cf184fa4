"""Unit tests of packages with floors lie in the folders of src: who looks for a file's test knows.

Tests of `src/PACKAGE/graph/` are in `tests/unit/graph/`.
"""

from __future__ import annotations

import sys
from pathlib import Path

from ci.checks._report import report
from ci.scripts.project import ROOT, packages, tracked_files

__all__ = ["find", "main"]


def find(root: Path = ROOT) -> list[str]:
    """Tests in folders that src does not have."""
    ours = {Path(p.dir): p.source for p in packages(root).values() if p.floors}
    faults = []
    for path in tracked_files(root):
        if not (path.name.startswith("test_") and path.suffix == ".py"):
            continue
        for folder, source in ours.items():
            unit = folder / "tests" / "unit"
            if path.is_relative_to(unit):
                place = path.parent.relative_to(unit)
                if not place.parts or not (source / place).is_dir():
                    faults.append(f"{path}: must be in the folder of {unit} that src has")
    return faults


def main() -> int:
    """Run the check on this checkout."""
    return report("test_folders", find())


if __name__ == "__main__":
    sys.exit(main())
