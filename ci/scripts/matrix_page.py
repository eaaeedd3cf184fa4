"""Write docs/reference/matrix.md from ci/matrix.toml; `--check` only compares.

Run from the repository root: `python -m ci.scripts.matrix_page`.
"""

from __future__ import annotations

import sys
from pathlib import Path

from ci.scripts.generated import settle
from ci.scripts.jobs import Matrix
from ci.scripts.project import ROOT

__all__ = ["main", "outdated", "render"]

PAGE = Path("docs/reference/matrix.md")
INTRO = """# What each package is tested on

Generated from `ci/matrix.toml`, from which the workflows in `.github/workflows/` come as well. A
package is tried on the axes that it may break on, and not on all: what is pure Python on every
Python of one system, a plugin that knows no Python on every processor. Native code is compiled once
per system and compiler; another Python compiles nothing.

| axis | values |
|---|---|
"""


def render(root: Path = ROOT) -> str:
    """The page as text."""
    matrix = Matrix(root)
    values = {
        "system": matrix.systems,
        "compiler": matrix.compilers,
        "Python": matrix.pythons,
        "processor": list(matrix.table["processors"]),
    }
    axes = "".join(f"| {axis} | {', '.join(names)} |\n" for axis, names in values.items())
    head = "\n| package | axes | jobs of tests | native builds | the full product |\n"
    head += "|---|---|--:|--:|--:|\n"
    body = "".join(f"| {' | '.join(map(str, row))} |\n" for row in matrix.rows())
    body += "| **all** | | {} | {} | {} |\n".format(*matrix.sums())
    return INTRO + axes + head + body


def outdated(root: Path = ROOT) -> bool:
    """Whether the page on disk is missing or differs from what `render` gives."""
    page = root / PAGE
    return not page.exists() or page.read_text(encoding="utf-8") != render(root)


def main(arguments: list[str] | None = None) -> int:
    """Write the page, or with `--check` exit 1 when it is outdated."""
    arguments = sys.argv[1:] if arguments is None else arguments
    return settle(
        str(PAGE),
        "matrix_page",
        outdated=outdated(),
        check="--check" in arguments,
        write=lambda: (ROOT / PAGE).write_text(render(), encoding="utf-8"),
    )


if __name__ == "__main__":
    sys.exit(main())
