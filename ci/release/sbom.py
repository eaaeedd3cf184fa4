"""The bill of materials in each wheel: `.dist-info/sboms/` (PEP 770), in CycloneDX 1.6.

It names the package and the libraries of others that the wheel holds: those in the table of the
package's THIRD_PARTY.md, which is among its licence files, and the library of C++ that a compiler
has linked into what is native, as Zig's does, of which only the binary tells. What a wheel needs
beside it is in its METADATA. It has neither times nor random numbers: the same wheel gets the same
one.
"""

from __future__ import annotations

import json
import re
import zipfile
from email.message import Message
from email.parser import BytesParser
from pathlib import Path
from typing import Any, NamedTuple

from ci.release.archive import dist_info, with_file

__all__ = ["Part", "add", "bill", "linked", "parts", "place"]

LINKED = {
    b"libc++abi: ": ("libc++ and libc++abi", "https://libcxx.llvm.org/"),
    b"libunwind: ": ("libunwind", "https://github.com/llvm/llvm-project/tree/main/libunwind"),
}
"""What begins the messages of LLVM's libraries: their names, and where they come from."""
COLUMNS = ("file", "is", "version", "from", "licence", "changes")


class Part(NamedTuple):
    """A library of others, or a part of one: a row of THIRD_PARTY.md."""

    file: str
    name: str
    version: str
    origin: str
    licence: str
    changes: str


def add(wheel: Path) -> None:
    """Put the bill of a wheel into it."""
    text = json.dumps(bill(wheel), indent=1, ensure_ascii=False) + "\n"
    with_file(wheel, place(wheel), text.encode("utf-8"))


def place(wheel: Path) -> str:
    """Where the bill is in a wheel."""
    return f"{dist_info(wheel)}/sboms/{wheel.name.split('-')[0]}.cdx.json"


def bill(wheel: Path) -> dict[str, Any]:
    """The bill as JSON-ready values."""
    with zipfile.ZipFile(wheel) as archive:
        about = BytesParser().parsebytes(archive.read(f"{dist_info(wheel)}/METADATA"))
        held = parts(archive) + linked(archive)
        missing = [part.file for part in held if part.file not in archive.namelist()]
    if missing:
        raise ValueError(f"{wheel.name} has no {', '.join(missing)}, which THIRD_PARTY.md names")
    own = _package(about)
    components = _components(held)
    refs = [component["bom-ref"] for component in components]
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": own},
        "components": components,
        "dependencies": [{"ref": own["bom-ref"], "dependsOn": refs}]
        + [{"ref": ref, "dependsOn": []} for ref in refs],
    }


def parts(archive: zipfile.ZipFile) -> list[Part]:
    """The rows of the THIRD_PARTY.md in a wheel; raises `ValueError` for another table."""
    found = [name for name in archive.namelist() if name.endswith("/THIRD_PARTY.md")]
    if not found:
        return []
    lines = archive.read(found[0]).decode("utf-8").splitlines()
    rows = [_cells(line) for line in lines if line.startswith("|")]
    if not rows or tuple(rows[0]) != COLUMNS or any(len(row) != len(COLUMNS) for row in rows):
        raise ValueError(f"{found[0]} needs one table with the columns {', '.join(COLUMNS)}")
    return [Part(row[0].strip("`"), *row[1:]) for row in rows[2:]]


def linked(archive: zipfile.ZipFile) -> list[Part]:
    """LLVM's libraries of C++ in the shared objects of a wheel, by what they print when they fail.

    They are of the compiler's version, which it leaves in each object.
    """
    found = []
    for name in sorted(name for name in archive.namelist() if name.endswith(".so")):
        content = archive.read(name)
        version = re.search(rb"clang version ([\d.]+)", content)
        number = version[1].decode() if version else "unknown"
        found += [
            Part(name, what, number, origin, "Apache-2.0 WITH LLVM-exception", "")
            for mark, (what, origin) in LINKED.items()
            if mark in content
        ]
    return found


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip()[1:-1].split("|")]


def _package(about: Message) -> dict[str, Any]:
    name, version = str(about["Name"]), str(about["Version"])
    link = f"pkg:pypi/{name}@{version}"
    return {
        "type": "library",
        "bom-ref": link,
        "name": name,
        "version": version,
        "description": str(about["Summary"]),
        "licenses": [{"expression": str(about["License-Expression"])}],
        "purl": link,
    }


def _components(held: list[Part]) -> list[dict[str, Any]]:
    """One for each library, with each file that has it."""
    found: dict[str, dict[str, Any]] = {}
    for part in held:
        made = _component(part)
        there = found.setdefault(made["bom-ref"], made)
        if there is not made:
            there["evidence"]["occurrences"] += made["evidence"]["occurrences"]
    return [*found.values()]


def _component(part: Part) -> dict[str, Any]:
    found: dict[str, Any] = {
        "type": "library",
        "bom-ref": f"{part.name}@{part.version}".replace(" ", "-"),
        "name": part.name,
        "version": part.version,
        "licenses": [{"expression": part.licence}],
        "externalReferences": [{"type": "distribution", "url": part.origin}],
        "evidence": {"occurrences": [{"location": part.file}]},
    }
    if part.changes:
        found["pedigree"] = {"notes": part.changes}
    return found
