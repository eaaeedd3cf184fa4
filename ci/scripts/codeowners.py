"""Write .github/CODEOWNERS from the owners in ci/packages.toml; `--check` only compares.

Run from the repository root: `python -m ci.scripts.codeowners`.
"""

from __future__ import annotations

import sys
from pathlib import Path

from ci.scripts.generated import settle
from ci.scripts.project import ROOT, packages

__all__ = ["main", "outdated", "render"]

FILE = Path(".github/CODEOWNERS")
HEAD = "# Generated from ci/packages.toml by ci.scripts.codeowners. Later lines win."
EVERYTHING = ("*", "@drystone/base")


def render(root: Path = ROOT) -> str:
    """A line for all files, then one for the folder of each package."""
    rows = [EVERYTHING, *((f"/{p.dir}/", " ".join(p.owners)) for p in packages(root).values())]
    width = max(len(place) for place, _ in rows)
    return "\n".join([HEAD, *(f"{place.ljust(width)} {owners}" for place, owners in rows)]) + "\n"


def outdated(root: Path = ROOT) -> bool:
    """Whether the file differs from the table."""
    file = root / FILE
    return not file.exists() or file.read_text(encoding="utf-8") != render(root)


def main(arguments: list[str] | None = None) -> int:
    """Write or compare the file."""
    arguments = sys.argv[1:] if arguments is None else arguments
    return settle(
        str(FILE),
        "codeowners",
        outdated=outdated(),
        check="--check" in arguments,
        write=lambda: (ROOT / FILE).write_text(render(), encoding="utf-8"),
    )


if __name__ == "__main__":
    sys.exit(main())
