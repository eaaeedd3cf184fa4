"""Installed size of a runtime with all that it needs: ``python -m bench.size DISTRIBUTION ...``.

Runs in the runtime's own environment and prints JSON: versions, bytes, files. Of the named
distributions those that are installed count; 1 when none is.
"""

from __future__ import annotations

import json
import re
import sys
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

__all__ = ["closure", "installed_size", "main"]


def main(names: list[str]) -> int:
    """Print what there is of ``names``."""
    found = closure(names)
    if not any(name in found for name in names):
        print(f"none of {', '.join(names)} is installed", file=sys.stderr)
        return 1
    sizes = [installed_size(distribution(name)) for name in found]
    print(json.dumps({
        "versions": {name: distribution(name).version for name in [*names, "numpy"]
                     if name in found},
        "bytes": sum(size for size, _ in sizes), "files": sum(files for _, files in sizes),
        "distributions": found,
    }))  # fmt: skip
    return 0


def closure(names: list[str]) -> list[str]:
    """Those of the distributions that are installed, and all that they need.

    Extras and other platforms' needs are left out.
    """
    found: list[str] = []
    queue = list(names)
    while queue:
        current = queue.pop()
        if current in found:
            continue
        try:
            needs = distribution(current).requires or []
        except PackageNotFoundError:
            continue  # needed on another platform or Python only
        found.append(current)
        for need in needs:
            match = re.match(r"[A-Za-z0-9._-]+", need)
            if match and "extra ==" not in need:
                queue.append(re.sub(r"[-_.]+", "-", match[0]).lower())
    return sorted(found)


def installed_size(dist: Distribution) -> tuple[int, int]:
    """Bytes and number of the files of a distribution, bytecode caches not counted."""
    files = [Path(str(dist.locate_file(file))) for file in dist.files or []]
    kept = [path for path in files if path.is_file() and "__pycache__" not in path.parts]
    return sum(path.stat().st_size for path in kept), len(kept)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
