"""What is made from the tables in ci/ is up to date, and each package has its place in the matrix.

These generators need nothing but the tree. `nox -s generate -- --check` compares all of them, those
that need drystone installed, too.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from ci.checks._report import report
from ci.scripts import codeowners, matrix_page, missing_packages, notebooks, workflows
from ci.scripts.jobs import Matrix
from ci.scripts.project import ROOT

__all__ = ["find", "main"]

SESSIONS = ("noxfile.py", "ci/apart/sessions.py", "ci/nightly/sessions.py")
_SESSION = re.compile(r"(?ms)^@nox\.session(.*?)^def (\w+)\(")


def find(root: Path = ROOT) -> list[str]:
    """What is outdated or means nothing, and the command that mends it."""
    problems = Matrix(root).problems()
    if problems:
        return problems
    stale = [str(file.relative_to(root)) for file in missing_packages.outdated(root)]
    found = [f"{file} is outdated: run python -m ci.scripts.missing_packages" for file in stale]
    found += [
        f"{file} is outdated: run python -m ci.scripts.notebooks"
        for file in notebooks.outdated(root)
    ]
    if codeowners.outdated(root):
        found.append(f"{codeowners.FILE} is outdated: run python -m ci.scripts.codeowners")
    if matrix_page.outdated(root):
        found.append(f"{matrix_page.PAGE} is outdated: run python -m ci.scripts.matrix_page")
    found += [
        f"{file} is outdated: run python -m ci.scripts.workflows"
        for file in workflows.outdated(root)
    ]
    return found + _unknown_sessions(root)


def _unknown_sessions(root: Path) -> list[str]:
    """Sessions that a workflow or the matrix names and noxfile.py has not."""
    texts = [(root / file).read_text(encoding="utf-8") for file in SESSIONS]
    known = {name for text in texts for _, name in _SESSION.findall(text)}
    matrix = Matrix(root)
    named = {"ci/matrix.toml": {name for one in matrix.table["files"] for name in one["sessions"]}}
    for file, text in workflows.files(root).items():
        named[str(file)] = {name.partition("-")[0] for name in workflows.sessions(text)}
    return [
        f"{file} names the session {name}, noxfile.py has none of that name"
        for file, names in named.items()
        for name in sorted(names - known)
    ]


def main() -> int:
    """Check the working tree."""
    return report("generated", find())


if __name__ == "__main__":
    sys.exit(main())
