"""Public names do not break between the last release and now, unless that is said.

Baseline: the newest record of the package in ci/released. A break is said by a fragment
`changelog.d/SLUG.removed.md`, after which only a release that may break is let through, or by such
a version in the tree.
"""

from __future__ import annotations

import sys
from pathlib import Path

from ci.checks._report import report
from ci.release.gates import broken, may_break
from ci.release.records import latest
from ci.scripts.project import ROOT, Package, packages

__all__ = ["find", "main"]


def find(root: Path = ROOT) -> list[str]:
    """Breaking changes since each package's last release that nothing announces, a line each."""
    return [text for package in packages(root).values() for text in _unsaid(package)]


def _unsaid(package: Package) -> list[str]:
    last = latest(package.root, package.key)
    if last is None:
        print(f"public_symbols: ci/released has nothing of {package.key}: no baseline")
        return []
    said = any((package.path / "changelog.d").glob("*.removed.md"))
    if said or may_break(last.version, package.version):
        return []
    return [f"{package.key} since {last.version}: {text}" for text in broken(package)]


def main() -> int:
    """Run the check on this checkout."""
    return report("public_symbols", find())


if __name__ == "__main__":
    sys.exit(main())
