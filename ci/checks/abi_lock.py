"""The plugin ABI changes only with its version: headers, lock, frozen copies and numbers agree."""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path

from ci.checks._report import report
from ci.scripts import abi_freeze, abi_lock, abi_platform_macros, platform_tables
from ci.scripts.project import ROOT

__all__ = ["find", "main"]


def find(root: Path = ROOT) -> list[str]:
    """Every disagreement."""
    return [
        *_versions(root),
        *abi_platform_macros.outdated(root),
        *platform_tables.outdated(root),
        *abi_freeze.changed(root),
        *abi_lock.check(root),
    ]


def _versions(root: Path) -> list[str]:
    """VERSION, version.h, `drystone_abi.ABI_VERSION` and the changelog name one number."""
    folder = root / "plugin-abi"
    version = (folder / "VERSION").read_text(encoding="utf-8").strip()
    header = (folder / "include" / "drystone" / "version.h").read_text(encoding="utf-8")
    numbers = re.findall(r"^#define DRYSTONE_ABI_VERSION_M\w+ (\d+)$", header, re.MULTILINE)
    python = (folder / "src" / "drystone_abi" / "headers.py").read_text(encoding="utf-8")
    changelog = (folder / "CHANGELOG.md").read_text(encoding="utf-8")
    problems = []
    if ".".join(numbers) != version:
        problems.append(f"drystone/version.h says {'.'.join(numbers)}, VERSION says {version}")
    if f'ABI_VERSION = "{version}"' not in python:
        problems.append(f"drystone_abi.ABI_VERSION is not VERSION's {version}")
    if f"## ABI {version}\n" not in changelog:
        problems.append(f"plugin-abi/CHANGELOG.md has no section '## ABI {version}'")
    return problems


def main() -> int:
    """Run the check on this checkout."""
    tool = "abidw is installed" if shutil.which("abidw") else "abidw is not installed"
    return report("abi_lock", find(), f"offsets and hashes compared; {tool}, not needed")


if __name__ == "__main__":
    sys.exit(main())
