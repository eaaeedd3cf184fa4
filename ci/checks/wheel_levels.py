"""drystone-cpu's wheel has kernels of every level: `python -m ci.checks.wheel_levels WHEEL_DIR`.

A quick build has those of the machine that built it, and must not be released.
"""

from __future__ import annotations

import re
import sys
import zipfile
from pathlib import Path

from ci.checks._report import report
from ci.scripts.project import ROOT

__all__ = ["find", "levels", "main"]


def levels(machine: str, root: Path = ROOT) -> list[str]:
    """The levels that packages/cpu/CMakeLists.txt builds for a processor, by a wheel's name."""
    text = (root / "packages/cpu/CMakeLists.txt").read_text(encoding="utf-8")
    x86, other = re.findall(r"set\(all_levels ([\w ]+)\)", text)
    return str(x86 if machine == "x86_64" else other).split()


def find(wheels: Path, root: Path = ROOT) -> list[str]:
    """Levels that a wheel of drystone-cpu in the folder has not."""
    problems = []
    for wheel in sorted(wheels.glob("drystone_cpu-*.whl")):
        machine = "x86_64" if wheel.stem.endswith("x86_64") else "other"
        with zipfile.ZipFile(wheel) as archive:
            held = set(archive.namelist())
        missing = [
            level for level in levels(machine, root)
            if f"drystone_cpu/libdrystone_cpu_{level}.so" not in held
        ]  # fmt: skip
        if missing:
            problems.append(f"{wheel.name} has no kernels of {', '.join(missing)}: a quick build?")
    return problems


def main() -> int:
    """Run the check on the folder named on the command line."""
    return report("wheel_levels", find(Path(sys.argv[1])))


if __name__ == "__main__":
    sys.exit(main())
