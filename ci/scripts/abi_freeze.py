"""Keep the headers of a released ABI version: `python -m ci.scripts.abi_freeze`.

Copies the C headers of plugin-abi/include into plugin-abi/frozen/vMAJOR_MINOR with a list of
checksums. What is there already is never written again: later hosts and plugins are tested against
it. The C++ helpers in drystone/sdk are no part of the ABI and are not kept.
"""

from __future__ import annotations

import hashlib
import shutil
import sys
from pathlib import Path

from ci.scripts.abi_lock import frozen_folder
from ci.scripts.project import ROOT

__all__ = ["changed", "freeze", "main"]

SUMS = "SHA256SUMS"


def _sums(folder: Path) -> str:
    """`sha256sum` lines of the headers in a folder."""
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path.name != SUMS)
    return "".join(
        f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.relative_to(folder).as_posix()}\n"
        for path in files
    )


def freeze(root: Path = ROOT) -> Path:
    """Copy the headers of the version in plugin-abi/VERSION; fails when it is frozen already."""
    version = (root / "plugin-abi" / "VERSION").read_text(encoding="utf-8").strip()
    folder = frozen_folder(root, version)
    if folder.exists():
        raise FileExistsError(f"{folder} is there: a released version does not change")
    include = root / "plugin-abi" / "include"
    shutil.copytree(include, folder, ignore=shutil.ignore_patterns("sdk"))
    (folder / SUMS).write_text(_sums(folder), encoding="utf-8")
    return folder


def changed(root: Path = ROOT) -> list[str]:
    """Frozen headers that differ from their list of checksums, are missing or were added."""
    problems = []
    for folder in sorted((root / "plugin-abi" / "frozen").glob("v*")):
        listed = folder / SUMS
        kept = set(listed.read_text(encoding="utf-8").splitlines()) if listed.is_file() else set()
        found = set(_sums(folder).splitlines())
        names = {line.split("  ", 1)[1] for line in kept ^ found}
        problems += [
            f"{(folder / name).relative_to(root)}: frozen headers do not change; restore it"
            for name in sorted(names)
        ]
    return problems


def main() -> int:
    """Freeze the version and say where."""
    try:
        print(freeze().relative_to(ROOT))
    except FileExistsError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
