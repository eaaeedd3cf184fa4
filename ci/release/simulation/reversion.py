"""Wheels of other versions made of built ones: metadata, RECORD and single files are rewritten.

Native code is built once; what a release would change around it is a matter of seconds.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Mapping
from pathlib import Path

from ci.release.archive import record

__all__ = ["reversion"]


def reversion(
    wheel: Path,
    version: str,
    folder: Path,
    *,
    requires: Mapping[str, str] | None = None,
    edits: Mapping[str, tuple[str, str]] | None = None,
) -> Path:
    """Write `wheel` as `version` into `folder`; the new file.

    `requires`: specifiers of requirements on packages of ours, by name, in place of those that
    it has. `edits`: old and new text by path in the wheel; "" as the old text appends.
    """
    name, old, tags = wheel.stem.split("-", 2)
    before, after = f"{name}-{old}.dist-info/", f"{name}-{version}.dist-info/"
    contents: dict[str, bytes] = {}
    with zipfile.ZipFile(wheel) as archive:
        for entry in archive.namelist():
            contents[entry.replace(before, after, 1)] = archive.read(entry)
    metadata = contents[f"{after}METADATA"].decode("utf-8")
    contents[f"{after}METADATA"] = _metadata(metadata, version, requires or {}).encode("utf-8")
    for path, (text, replacement) in {
        **_version_edits(contents, old, version),
        **(edits or {}),
    }.items():
        contents[path] = _edited(contents[path].decode("utf-8"), text, replacement).encode("utf-8")
    contents[f"{after}RECORD"] = record(contents, f"{after}RECORD")
    target = folder / f"{name}-{version}-{tags}.whl"
    with zipfile.ZipFile(target, "w", zipfile.ZIP_STORED) as archive:
        for entry, content in contents.items():
            archive.writestr(entry, content)
    return target


def _metadata(text: str, version: str, requires: Mapping[str, str]) -> str:
    text = re.sub(r"(?m)^Version: .*$", f"Version: {version}", text, count=1)
    for name, specifier in requires.items():
        pattern = rf"(?m)^(Requires-Dist: {re.escape(name)}(?:\[\w+\])?)\s*[=<>!~][^;\n]*"
        text = re.sub(pattern, rf"\g<1>{specifier}", text)
    return text


def _version_edits(
    contents: Mapping[str, bytes], old: str, version: str
) -> dict[str, tuple[str, str]]:
    """Where a package states its own version in Python."""
    stated = f'__version__ = "{old}"'
    found = [p for p in contents if p.count("/") == 1 and p.endswith("/__init__.py")]
    return {
        path: (stated, f'__version__ = "{version}"')
        for path in found
        if stated in contents[path].decode("utf-8")
    }


def _edited(text: str, old: str, new: str) -> str:
    if old and old not in text:
        raise ValueError(f"there is no {old!r} to replace")
    return text.replace(old, new, 1) if old else text + new
