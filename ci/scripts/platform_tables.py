"""Write the host's tables of platforms and processors: `python -m ci.scripts.platform_tables`.

The tables of drystone_base.plugins are the ones to edit: the host's own loader, which programs in C
call, checks platform strings by copies made of them.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

from ci.scripts.project import ROOT

__all__ = ["main", "outdated", "render"]

FILE = Path("packages/base/host/src/library/platform_tables.inc")
_HEAD = """\
// Macros in platform strings, and what they stand for.
// Made by ci/scripts/platform_tables.py from drystone_base.plugins; change them there.
"""


def render() -> str:
    """The text of the file."""
    from drystone_base.core import processor as _processor
    from drystone_base.plugins import _platform

    always = [
        (machine, feature)
        for machine, features in sorted(_processor.ALWAYS.items())
        for feature in sorted(features)
    ]
    tables = (
        ("kFeatures", _processor.known_macros()),
        ("kSystems", _platform.SYSTEMS),
        ("kMachines", _platform.MACHINES),
        ("kOurs", _platform.OURS),
        ("kOrders", _platform.ORDERS),
        ("kAlways", always),
    )
    return _HEAD + "".join(_table(name, found) for name, found in tables)


def _table(name: str, found: Mapping[str, str] | Iterable[tuple[str, str]]) -> str:
    rows = found.items() if isinstance(found, Mapping) else found
    lines = "".join(f'    {{"{key}", "{value}"}},\n' for key, value in rows)
    return f"constexpr Pair {name}[] = {{\n{lines}}};\n"


def outdated(root: Path = ROOT) -> list[str]:
    """What to do where the file is not made of the tables as they are; [] where it is."""
    if (root / FILE).read_text(encoding="utf-8") == render():
        return []
    return [f"{FILE} differs from the tables: run python -m ci.scripts.platform_tables"]


def main() -> int:
    """Write the file, or with `--check` exit 1 when it is outdated."""
    if "--check" in sys.argv[1:]:
        print(*outdated() or [f"{FILE}: up to date"], sep="\n")
        return int(bool(outdated()))
    (ROOT / FILE).write_text(render(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
