"""Write the metapackage's exact pins and extras from ci/compat.toml; `--check` only compares.

Packages of the set are pinned, those for some machines only under their marker; what is beside it
is pinned by an extra of the metapackage, as ci/packages.toml says.

Run from the repository root: `python -m ci.scripts.metapackage_pins [--check]`.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ci.scripts.generated import settle
from ci.scripts.project import ROOT, Package, load_toml, packages

__all__ = ["main", "outdated", "render"]


def render(root: Path = ROOT) -> str:
    """Text of metapackage/pyproject.toml with version, pins and extras of the newest tested set."""
    newest = load_toml(root / "ci" / "compat.toml")["sets"][0]
    every = list(packages(root).values())
    text = _file(root).read_text(encoding="utf-8")
    text = re.sub(r'(?m)^version = ".*"$', f'version = "{newest["drystone"]}"', text, count=1)
    pins = "".join(f'    "{pin}",\n' for pin in _pins(newest, every))
    text = re.sub(r"(?ms)^dependencies = \[\n.*?^\]$", f"dependencies = [\n{pins}]", text, count=1)
    extras = "".join(f'{name} = ["{pin}"]\n' for name, pin in _extras(newest, every).items())
    table = r"(?m)^(\[project\.optional-dependencies\]\n)(?:[^\[\n].*\n)*"
    return re.sub(table, lambda found: found[1] + extras, text, count=1)


def _pins(newest: dict[str, Any], every: Sequence[Package]) -> list[str]:
    """The requirements of the metapackage."""
    markers = {package.distribution: package.only_on for package in every}
    found = []
    for name, version in sorted(newest["packages"].items()):
        marker = markers.get(name)
        found.append(f"{name}=={version}" + (f"; {marker}" if marker else ""))
    return found


def _extras(newest: dict[str, Any], every: Sequence[Package]) -> dict[str, str]:
    """What each extra of the metapackage requires: a package beside the set, or an extra of one."""
    held = newest["packages"] | newest.get("beside", {})
    found = {}
    for package in every:
        name = package.distribution
        if package.extra and name in held:
            found[package.extra] = f"{name}=={held[name]}"
        for extra in package.extras:
            found[extra] = f"{name}[{extra}]=={held[name]}"
    return dict(sorted(found.items()))


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
