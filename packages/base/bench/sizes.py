"""Installed sizes: each distribution that ``drystone`` brings, and all of them together."""

from __future__ import annotations

import json
import re
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from bench._report import Column, Report, mb, number, text

__all__ = ["TARGET", "closure", "installed_size", "run"]

TARGET = 120_000_000
"""Bytes that drystone may take with everything that it needs."""


def run(quick: bool) -> Report:
    """Bytes and files of every distribution, bytecode caches not counted."""
    del quick  # takes no time
    names = closure("drystone")
    rows: list[dict[str, Any]] = []
    for name in names:
        size, files = installed_size(distribution(name))
        rows.append({"what": name, "version": distribution(name).version,
                     "bytes": size, "files": files})  # fmt: skip
    rows.sort(key=lambda row: -row["bytes"])
    ours = [row for row in rows if row["what"].startswith("drystone")]
    for what, part in (("drystone's own", ours), ("all together", rows)):
        total = {key: sum(row[key] for row in part) for key in ("bytes", "files")}
        rows = [*rows, {"what": what, "version": "", **total}]
    rows[-1]["target"] = TARGET
    columns = [
        Column("what", "distribution", text), Column("version", "version", text),
        Column("bytes", "size", mb), Column("files", "files", number),
        Column("target", "target", mb),
    ]  # fmt: skip
    return Report("sizes", "Installed sizes", columns, rows)


def closure(name: str) -> list[str]:
    """The distribution and all that it needs, extras and other platforms' needs left out."""
    found: list[str] = []
    queue = [name]
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
    return found


def installed_size(dist: Distribution) -> tuple[int, int]:
    """Bytes and number of the files of a distribution, also of one installed editable."""
    files = [Path(str(dist.locate_file(file))) for file in dist.files or []]
    direct = json.loads(dist.read_text("direct_url.json") or "{}")
    if direct.get("dir_info", {}).get("editable"):
        spec = find_spec(_import_name(dist))
        roots = [Path(root) for root in (spec.submodule_search_locations or [])] if spec else []
        files = [path for root in roots for path in root.rglob("*")]
    kept = [p for p in files if p.is_file() and "__pycache__" not in p.parts]
    return sum(path.stat().st_size for path in kept), len(kept)


def _import_name(dist: Distribution) -> str:
    """The import name of one of our own distributions; only those are installed editable."""
    name = str(dist.metadata["Name"]).replace("-", "_")
    return name.replace("drystone_plugin_abi", "drystone_abi")
