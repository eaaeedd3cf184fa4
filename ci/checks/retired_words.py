"""No tracked text file says what docs/glossary.md has retired.

The glossary's second table lists the words, in backticks, beside what to say. Changelogs, decision
pages, paragraphs of the source documents and headers of releases stay as they were written.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from ci.checks._report import report
from ci.checks.forbidden_text import BINARY
from ci.scripts.project import ROOT, tracked_files

__all__ = ["find", "main", "retired"]

GLOSSARY = Path("docs", "glossary.md")
_ROW = re.compile(r"^\| (`[^|]+`) \| ([^|]+) \|$", re.MULTILINE)
_HISTORY = re.compile(
    r"changelog\.d/|CHANGELOG\.md$|docs/explanation/decisions/|docs/reference/spec/"
)


def retired(text: str) -> dict[str, str]:
    """Retired words of the glossary, with what to say in their place."""
    rows = _ROW.findall(text.partition("\n## Retired words\n")[2])
    return {word: instead for words, instead in rows for word in re.findall(r"`([^`]+)`", words)}


def find(root: Path = ROOT) -> list[str]:
    """Lines of tracked text files with a retired word."""
    words = retired((root / GLOSSARY).read_text(encoding="utf-8"))
    pattern = re.compile(rf"\b(?:{'|'.join(map(re.escape, words))})\b")
    problems = []
    for path in tracked_files(root):
        if path == GLOSSARY or path.suffix in BINARY or _HISTORY.search(path.as_posix()):
            continue
        data = (root / path).read_bytes()
        text = "" if b"\0" in data else data.decode("utf-8", "replace")
        if not pattern.search(text):
            continue
        for number, line in enumerate(text.splitlines(), 1):
            problems += [
                f"{path}:{number}: {word!r} is retired; say {words[word]}"
                for word in pattern.findall(line)
            ]
    return problems


def main() -> int:
    """Run the check on this checkout."""
    return report("retired_words", find())


if __name__ == "__main__":
    sys.exit(main())
