"""Wheels keep to the budgets of ci/packages.toml: `python -m ci.checks.wheel_size WHEEL_DIR`."""

from __future__ import annotations

import sys
import zipfile
from collections.abc import Collection
from pathlib import Path

from ci.checks._report import report
from ci.scripts.project import ROOT, packages

__all__ = ["find", "main", "wheel_sizes"]


def wheel_sizes(wheel: Path) -> tuple[float, float]:
    """Size of the wheel and of what it unpacks to, in KiB."""
    with zipfile.ZipFile(wheel) as archive:
        unpacked = sum(entry.file_size for entry in archive.infolist())
    return wheel.stat().st_size / 1024, unpacked / 1024


def find(wheels: Path, root: Path = ROOT, only: Collection[str] = ()) -> list[str]:
    """Wheels in the folder that are missing or too large; of the packages `only`, if any."""
    problems = []
    for package in packages(root).values():
        if only and package.key not in only:
            continue
        stem = package.distribution.replace("-", "_")
        wheel = next(iter(sorted(wheels.glob(f"{stem}-[0-9]*.whl"))), None)
        if wheel is None and package.apart and not only:
            print(f"wheel_size: {package.distribution} is built by its own session")
            continue
        if wheel is None:
            problems.append(f"{package.distribution} has no wheel in {wheels}")
            continue
        packed, unpacked = wheel_sizes(wheel)
        print(f"wheel_size: {wheel.name}: {packed:.0f} KiB, {unpacked:.0f} KiB unpacked")
        for what, size, budget in (
            ("wheel", packed, package.wheel_kib),
            ("unpacked", unpacked, package.installed_kib),
        ):
            if size > budget:
                problems.append(f"{wheel.name}: {what} {size:.0f} KiB, budget {budget} KiB")
    return problems


def main() -> int:
    """Run the check on the folder named first, and on the packages named behind it, if any."""
    return report("wheel_size", find(Path(sys.argv[1]), only=sys.argv[2:]))


if __name__ == "__main__":
    sys.exit(main())
