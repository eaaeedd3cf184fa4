"""Write docs/reference/compat.md from ci/compat.toml and ci/matrix.toml; `--check` only compares.

Run from the repository root: `python -m ci.scripts.compat_page [--check]`.
"""

from __future__ import annotations

import sys
from pathlib import Path

from ci.scripts.generated import settle
from ci.scripts.project import ROOT, load_toml

__all__ = ["main", "outdated", "render"]

INTRO = """# Versions tested together

Generated from `ci/compat.toml` and `ci/matrix.toml`; newest set first. Each row is what
installing that version of `drystone` gives, and in parentheses what was tested with it and is
installed apart. Other combinations that satisfy the packages' lower bounds should work.
"""


def render(root: Path = ROOT) -> str:
    """The page as text."""
    sets = load_toml(root / "ci" / "compat.toml")["sets"]
    matrix = load_toml(root / "ci" / "matrix.toml")
    every = {name for entry in sets for name in entry["packages"] | entry.get("beside", {})}
    names = ["drystone", *sorted(every)]
    rows = [names, ["---"] * len(names)]
    for entry in sets:
        beside = {name: f"({number})" for name, number in entry.get("beside", {}).items()}
        held = {"drystone": entry["drystone"], **entry["packages"], **beside}
        rows.append([held.get(name, "-") for name in names])
    table = "\n".join("| " + " | ".join(row) + " |" for row in rows)
    pythons = ", ".join(matrix["python"]["tested"])
    systems = ", ".join(matrix["os"]["tested"])
    return f"{INTRO}\n{table}\n\nTested with Python {pythons} on {systems}.\n"


def outdated(root: Path = ROOT) -> bool:
    """Whether the page on disk is missing or differs from what `render` gives."""
    page = root / "docs" / "reference" / "compat.md"
    return not page.exists() or page.read_text(encoding="utf-8") != render(root)


def main() -> int:
    """Write the page, or with `--check` exit 1 when it is outdated."""
    return settle(
        "docs/reference/compat.md",
        "compat_page",
        outdated=outdated(),
        check="--check" in sys.argv[1:],
        write=lambda: (ROOT / "docs" / "reference" / "compat.md").write_text(render(), "utf-8"),
    )


if __name__ == "__main__":
    sys.exit(main())
