"""Write the metapackage's exact pins from ci/compat.toml; `--check` only compares.

Run from the repository root: `python -m ci.scripts.metapackage_pins [--check]`.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from ci.scripts.generated import settle
from ci.scripts.project import ROOT, load_toml

__all__ = ["main", "outdated", "render"]


def render(root: Path = ROOT) -> str:
    """Text of metapackage/pyproject.toml with version and pins of the newest tested set."""
    newest = load_toml(root / "ci" / "compat.toml")["sets"][0]
    pins = "".join(f'    "{name}=={newest["packages"][name]}",\n' for name in newest["packages"])
    text = _file(root).read_text(encoding="utf-8")
    text = re.sub(r'(?m)^version = ".*"$', f'version = "{newest["drystone"]}"', text, count=1)
    return re.sub(r"(?ms)^dependencies = \[\n.*?^\]$", f"dependencies = [\n{pins}]", text, count=1)


def outdated(root: Path = ROOT) -> bool:
    """Whether the file on disk differs from what `render` gives."""
    return _file(root).read_text(encoding="utf-8") != render(root)


def _file(root: Path) -> Path:
    return root / "metapackage" / "pyproject.toml"


def main() -> int:
    """Write the file, or with `--check` exit 1 when it is outdated."""
    return settle(
        "metapackage pins",
        "metapackage_pins",
        outdated=outdated(),
        check="--check" in sys.argv[1:],
        write=lambda: _file(ROOT).write_text(render(), encoding="utf-8"),
    )


if __name__ == "__main__":
    sys.exit(main())
