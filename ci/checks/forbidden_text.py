"""No tracked text file names a machine's path or a registry's host; file names are plain."""

from __future__ import annotations

import re
import sys
from pathlib import Path

from ci.checks._report import report
from ci.scripts.project import ROOT, tracked_files

__all__ = ["find", "main"]

# Written in pieces so that this file passes its own check.
FORBIDDEN = {
    "a machine path": re.compile(
        r"(?<![\w.:/-])/" + r"(?:work|opt|root|home/\w+|Users/\w+|tmp/team)/"
    ),
    "a registry host": re.compile(
        r"(?:pypi|test\.pypi)" + r"\.org|files\.pythonhosted" + r"\.org|registry\.npmjs" + r"\.org"
    ),
}
PLAIN = re.compile(r"[\w.+@ -]+", re.ASCII)
BINARY = {".pb", ".npz", ".npy", ".png", ".jpg", ".wav", ".gz", ".zst", ".index", ".ico"}


def find(root: Path = ROOT) -> list[str]:
    """Tracked files with an odd name, and lines of text files that hold a forbidden string."""
    problems = []
    for path in tracked_files(root):
        if not all(PLAIN.fullmatch(part) for part in path.parts):
            problems.append(f"{str(path)!r}: the name has other than plain characters")
        if path.suffix in BINARY or path.name.startswith("LICENSE"):
            continue
        data = (root / path).read_bytes()
        if b"\0" in data:
            continue
        for number, line in enumerate(data.decode("utf-8", "replace").splitlines(), 1):
            problems += [
                f"{path}:{number}: {what}: {line.strip()[:80]}"
                for what, pattern in FORBIDDEN.items()
                if pattern.search(line)
            ]
    return problems


def main() -> int:
    """Run the check on this checkout."""
    return report("forbidden_text", find())


if __name__ == "__main__":
    sys.exit(main())
