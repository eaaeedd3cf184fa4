"""Relative links in Markdown files lead to files and headings that exist."""

from __future__ import annotations

import re
import sys
from pathlib import Path

from ci.checks._report import report
from ci.scripts.project import ROOT, tracked_files

__all__ = ["find", "main"]

LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)|!\[[^\]]*\]\(([^)\s]+)\)")
FENCE = re.compile(r"(?ms)^```.*?^```$|`[^`\n]*`")
HEADING = re.compile(r"(?m)^#+ +(.+?) *$")


def find(root: Path = ROOT) -> list[str]:
    """Links of tracked Markdown files whose target is missing."""
    problems = []
    for path in tracked_files(root):
        if path.suffix != ".md":
            continue
        text = FENCE.sub("", (root / path).read_text(encoding="utf-8"))
        for match in LINK.finditer(text):
            target = match.group(1) or match.group(2)
            if not re.match(r"[a-z]+:", target) and not _exists(root / path, target):
                problems.append(f"{path}: link to {target} leads nowhere")
    return problems


def _exists(page: Path, target: str) -> bool:
    name, _, anchor = target.partition("#")
    file = page if not name else page.parent / name
    if not file.exists():
        return False
    if not anchor or file.suffix != ".md":
        return True
    headings = HEADING.findall(file.read_text(encoding="utf-8"))
    return anchor in {_slug(heading) for heading in headings}


def _slug(heading: str) -> str:
    """The anchor that a Markdown renderer gives a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def main() -> int:
    """Run the check on this checkout."""
    return report("doc_links", find())


if __name__ == "__main__":
    sys.exit(main())
