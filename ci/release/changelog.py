"""A package's changelog at a release: its fragments become the section of the version.

The section of a first release is written by hand, as "## VERSION (unreleased)"; it gets its date.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from ci.scripts.project import Package

__all__ = ["build", "fragments", "problems", "section"]


def fragments(package: Package) -> list[Path]:
    """Fragments since the last release."""
    return sorted((package.path / "changelog.d").glob("*.md"))


def problems(package: Package, version: str) -> list[str]:
    """Why the section of `version` cannot be made."""
    by_hand = _by_hand(package, version)
    waiting = fragments(package)
    if by_hand and waiting:
        names = ", ".join(file.name for file in waiting)
        text = f"{package.dir}/CHANGELOG.md has {version} written by hand: merge {names} into it"
        return [f"{text} and delete them"]
    if not by_hand and not waiting:
        return [f"{package.dir}/changelog.d has nothing that {version} would bring"]
    return []


def build(package: Package, version: str, date: str) -> None:
    """Write the section of `version` and delete the fragments that it is made of."""
    file = package.path / "CHANGELOG.md"
    if _by_hand(package, version):
        text = file.read_text(encoding="utf-8")
        dated = text.replace(f"## {version} (unreleased)\n", f"## {version} ({date})\n", 1)
        file.write_text(dated, encoding="utf-8")
        return
    command = [sys.executable, "-m", "towncrier", "build", "--yes"]
    given = ["--name", package.distribution, "--version", version, "--date", date]
    subprocess.run([*command, *given], cwd=package.path, check=True, capture_output=True, text=True)


def section(package: Package, version: str) -> str:
    """The section of a version, without its heading."""
    text = (package.path / "CHANGELOG.md").read_text(encoding="utf-8")
    found = re.search(rf"(?ms)^## {re.escape(version)} \([^\n]*\)\n(.*?)(?=^## |\Z)", text)
    return found[1].strip() + "\n" if found else ""


def _by_hand(package: Package, version: str) -> bool:
    text = (package.path / "CHANGELOG.md").read_text(encoding="utf-8")
    return f"## {version} (unreleased)\n" in text
