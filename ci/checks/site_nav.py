"""Every page of docs/ is in the nav of the site, or on the index of its folder.

`mkdocs build --strict` (`nox -s docs`) says the same, and takes half a minute with what it needs.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from ci.checks._report import report
from ci.scripts.project import ROOT, tracked_files

__all__ = ["find", "main"]

CONFIG = Path("ci/config/mkdocs.yml")
BY_INDEX = ("docs/reference/errors/", "docs/explanation/decisions/")
"""Folders of many pages, which an index of their own leads to."""
_ENTRY = re.compile(r"(?m)^ +- (?:[^:\n]+: )?(\S+\.(?:md|ipynb))$")


def find(root: Path = ROOT) -> list[str]:
    """Pages without an entry, and entries without a page."""
    nav = (root / CONFIG).read_text(encoding="utf-8").partition("\nnav:\n")[2]
    entries = {f"docs/{path}" for path in _ENTRY.findall(nav)}
    files = (p for p in tracked_files(root) if p.parts[0] == "docs")
    pages = {str(p) for p in files if p.suffix in (".md", ".ipynb")}
    listed = {p for p in pages if p.startswith(BY_INDEX) and not p.endswith("/index.md")}
    return [
        *(f"{page}: not in the nav of {CONFIG}" for page in sorted(pages - entries - listed)),
        *(f"{CONFIG}: its nav names {page}, which is no page" for page in sorted(entries - pages)),
    ]


def main() -> int:
    """Run the check on this checkout."""
    return report("site_nav", find())


if __name__ == "__main__":
    sys.exit(main())
