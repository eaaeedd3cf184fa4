"""Public names do not break between the last release and now, unless the version says so.

Baseline: the newest tag `PACKAGE/v*`. A break is allowed when the first non-zero part of the
version grew since that tag.
"""

from __future__ import annotations

import sys
from pathlib import Path

import griffe

from ci.checks._report import report
from ci.scripts.project import ROOT, Package, git, packages

__all__ = ["find", "last_tag", "main"]


def find(root: Path = ROOT) -> list[str]:
    """Breaking changes since each package's last tag, one line each."""
    problems = []
    for package in packages(root).values():
        tag = last_tag(package)
        if tag is None:
            print(f"public_symbols: {package.key} has no tag {package.key}/v*: no baseline")
        elif not _may_break(tag.rpartition("/v")[2], package.version):
            problems += [f"{package.key} since {tag}: {text}" for text in _breaks(package, tag)]
    return problems


def last_tag(package: Package) -> str | None:
    """The newest release tag of `package`, by version order, or None."""
    tags = git(package.root, "tag", "--list", "--sort=-v:refname", f"{package.key}/v*")
    return next(iter((tags or "").split()), None)


def _may_break(before: str, after: str) -> bool:
    """Whether the significant part of the version grew: major, or minor before 1.0."""
    old, new = ([int(part) for part in version.split(".")[:2]] for version in (before, after))
    return new[0] > old[0] or (old[0] == new[0] == 0 and new[1] > old[1])


def _breaks(package: Package, tag: str) -> list[str]:
    search = [f"{package.dir}/src"]
    before = griffe.load_git(
        package.import_name, ref=tag, repo=package.root, search_paths=search, resolve_aliases=True
    )
    after = griffe.load(
        package.import_name, search_paths=[package.path / "src"], resolve_aliases=True
    )
    found = griffe.find_breaking_changes(before, after)
    return [item.explain(griffe.ExplanationStyle.ONE_LINE) for item in found]


def main() -> int:
    """Run the check on this checkout."""
    return report("public_symbols", find())


if __name__ == "__main__":
    sys.exit(main())
