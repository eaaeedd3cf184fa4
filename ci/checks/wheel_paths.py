"""No path is contained in two wheels: `python -m ci.checks.wheel_paths WHEEL_DIR`."""

from __future__ import annotations

import sys
import zipfile
from collections import defaultdict
from pathlib import Path

from ci.checks._report import report

__all__ = ["find", "main"]


def find(wheels: Path) -> list[str]:
    """Paths that more than one wheel in the folder installs; case is ignored, as on macOS."""
    owners: defaultdict[str, set[str]] = defaultdict(set)
    for wheel in sorted(wheels.glob("*.whl")):
        with zipfile.ZipFile(wheel) as archive:
            for name in archive.namelist():
                owners[name.lower()].add(wheel.name)
    return [
        f"{name} is in {', '.join(sorted(held))}"
        for name, held in sorted(owners.items())
        if len(held) > 1
    ]


def main() -> int:
    """Run the check on the folder named on the command line."""
    wheels = Path(sys.argv[1])
    count = len(list(wheels.glob("*.whl")))
    return report("wheel_paths", find(wheels) if count else [f"no wheels in {wheels}"])


if __name__ == "__main__":
    sys.exit(main())
