"""Plugins of drystone's own distributions: vouched for by where and how they were installed.

Such a plugin counts as trusted under the default policy when it lies in the same site-packages as
drystone-base, and the RECORD of the distribution that brought it has the digest of the file. Who
can put it there can change drystone-base itself, so a signature would add nothing; the digest finds
a file that another wheel has overwritten. Names of distributions are owned on the package index.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

__all__ = ["DISTRIBUTIONS", "installed_by"]

DISTRIBUTIONS: Final = ("drystone-cpu",)
_HERE: Final = Path(__file__).resolve().parents[2]
_LARGEST: Final = 1 << 24


def installed_by(path: str, home: Path = _HERE) -> str:
    """The distribution of drystone's that vouches for a library, with its version; "" for none.

    ``home`` is the site-packages folder of drystone-base. A file that the record does not fit is
    not vouched for.
    """
    file = Path(path).resolve()
    if file.parents[1] != home:
        return ""
    for name in DISTRIBUTIONS:
        stem = name.replace("-", "_")
        for record in sorted(home.glob(f"{stem}-*.dist-info/RECORD")):
            version = re.fullmatch(rf"{stem}-(.+)\.dist-info", record.parent.name)
            if version and _lists(record, file, home):
                return f"{name} {version[1]}"
    return ""


def _lists(record: Path, file: Path, home: Path) -> bool:
    """Whether a RECORD has a digest for the file, and it is the file's own."""
    try:
        if record.stat().st_size > _LARGEST:
            return False
        rows = _rows(record.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    for row in rows:
        if len(row) >= 2 and row[1].startswith("sha256=") and (home / row[0]).resolve() == file:
            return row[1].removeprefix("sha256=") == _digest(file)
    return False


def _rows(text: str) -> list[list[str]]:
    """The rows of a table of comma-separated values; raises ``ValueError``."""
    if '"' not in text:
        return [line.split(",") for line in text.splitlines()]
    import csv

    try:
        return list(csv.reader(text.splitlines()))
    except csv.Error as error:
        raise ValueError(str(error)) from error


def _digest(file: Path) -> str:
    """As a RECORD has it: base64 in letters for file names."""
    import binascii
    import hashlib

    with file.open("rb") as stream:
        found = hashlib.file_digest(stream, "sha256").digest()
    plain = binascii.b2a_base64(found, newline=False).decode().rstrip("=")
    return plain.replace("+", "-").replace("/", "_")
