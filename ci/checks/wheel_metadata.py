"""What a wheel says of itself is complete: `python -m ci.checks.wheel_metadata WHEEL_DIR`.

An index shows it, installers and lawyers go by it: summary, description, Pythons, classifiers,
licences with their files, and the bill of materials, which a release build puts in.
"""

from __future__ import annotations

import json
import sys
import zipfile
from collections.abc import Iterator
from email.message import Message
from email.parser import BytesParser
from pathlib import Path

from ci.checks._report import report
from ci.release.archive import dist_info
from ci.release.sbom import bill, place

__all__ = ["find", "main", "stated"]

FIELDS = ("Summary", "License-Expression", "Requires-Python", "Description-Content-Type")
CLASSIFIERS = (
    "Development Status", "Intended Audience", "Operating System", "Programming Language",
    "Topic", "Typing",
)  # fmt: skip


def find(wheels: Path) -> list[str]:
    """What is missing in the wheels of a folder and of those in it."""
    return [
        f"{wheel.name}: {text}" for wheel in sorted(wheels.rglob("*.whl")) for text in _of(wheel)
    ]


def _of(wheel: Path) -> Iterator[str]:
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        about = BytesParser().parsebytes(archive.read(f"{dist_info(wheel)}/METADATA"))
        stored = archive.read(place(wheel)) if place(wheel) in names else b""
    yield from stated(about)
    folder = f"{dist_info(wheel)}/licenses"
    listed = about.get_all("License-File") or []
    yield from (f"has no {one} in {folder}" for one in listed if f"{folder}/{one}" not in names)
    if not stored:
        yield f"has no {place(wheel)}: built otherwise than by `nox -s build`?"
    elif json.loads(stored) != bill(wheel):
        yield f"{place(wheel)} is of another wheel"


def stated(about: Message) -> Iterator[str]:
    """What is missing in a METADATA."""
    yield from (f"METADATA has no {name}" for name in FIELDS if not about[name])
    if not str(about.get_payload()).strip():
        yield "METADATA has no description"
    if not about.get_all("License-File"):
        yield "METADATA has no License-File"
    stated = about.get_all("Classifier") or []
    for prefix in CLASSIFIERS:
        if not any(one.startswith(f"{prefix} ::") for one in stated):
            yield f"METADATA has no classifier {prefix}"


def main() -> int:
    """Run the check on the folder named on the command line."""
    return report("wheel_metadata", find(Path(sys.argv[1])))


if __name__ == "__main__":
    sys.exit(main())
