"""Plugins of drystone's own distributions: vouched for by where and how they were installed.

Such a plugin counts as trusted under every policy when it lies in a folder of the same
site-packages as drystone-base, ``drystone-plugins`` or its package's own, and the RECORD of the
distribution that brought it has the digests of the file and of the manifest beside it. Who can put
it there can change drystone-base itself, so a signature would add nothing; the digest finds a file
that another wheel has overwritten. Names of distributions are owned on the package index.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Final

from drystone_base.files.contents import sha256

__all__ = ["DISTRIBUTIONS", "installed_by", "is_ours"]

DISTRIBUTIONS: Final = (
    "drystone-cpu", "drystone-filesystem", "drystone-gpu", "drystone-net-ucx", "drystone-network",
    "drystone-tvm",
)  # fmt: skip
"""Those with libraries that are plugins."""
_INFO: Final = ".dist-info"
_MANIFEST: Final = ".toml"
_LARGEST: Final = 1 << 24


def installed_by(path: str, home: str | os.PathLike[str] | None = None) -> str:
    """The distribution of drystone's that vouches for a library, with its version; "" for none.

    ``home`` is the site-packages folder of drystone-base. A file that the record does not fit is
    not trusted.
    """
    place = os.fspath(home) if home else _above(os.path.realpath(__file__), 3)
    file = os.path.realpath(path)
    if _above(file, 2) != place:
        return ""
    wanted = [file, *(one for one in (file + _MANIFEST,) if os.path.lexists(one))]
    for name in DISTRIBUTIONS:
        stem = name.replace("-", "_") + "-"
        for folder in sorted(os.listdir(place)):
            version = folder.removeprefix(stem).removesuffix(_INFO)
            named = folder.startswith(stem) and folder.endswith(_INFO) and version
            if named and _lists(os.path.join(place, folder, "RECORD"), wanted, place):
                return f"{name} {version}"
    return ""


def is_ours(path: str) -> bool:
    """Whether a distribution of drystone's brought the library, wherever it is installed.

    Says whose it is, not that it is trusted: what it does is what drystone's own tests look at.
    """
    return bool(installed_by(path, _above(os.path.realpath(path), 2)))


def _above(path: str, levels: int) -> str:
    for _ in range(levels):
        path = os.path.dirname(path)
    return path


def _lists(record: str, files: Sequence[str], home: str) -> bool:
    """Whether a RECORD has a digest for each of the files, and it is the file's own."""
    try:
        if os.stat(record).st_size > _LARGEST:
            return False
        with open(record, encoding="utf-8") as stream:
            rows = _rows(stream.read())
        return all(_digest(file) == _listed(rows, file, home) for file in files)
    except (OSError, ValueError):
        return False


def _listed(rows: list[list[str]], file: str, home: str) -> str:
    """The digest that a RECORD has of a file; "" for none."""
    return next((row[1].removeprefix("sha256=") for row in rows if _names(row, file, home)), "")


def _names(row: list[str], file: str, home: str) -> bool:
    """Whether the row has a digest of the file."""
    digested = len(row) >= 2 and row[1].startswith("sha256=")
    return digested and os.path.realpath(os.path.join(home, row[0])) == file


def _rows(text: str) -> list[list[str]]:
    """The rows of a table of comma-separated values; raises ``ValueError``."""
    if '"' not in text:
        return [line.split(",") for line in text.splitlines()]
    import csv

    try:
        return list(csv.reader(text.splitlines()))
    except csv.Error as error:
        raise ValueError(str(error)) from error


def _digest(file: str) -> str:
    """As a RECORD has it: base64 in letters for file names."""
    import binascii

    plain = binascii.b2a_base64(sha256(file), newline=False).decode().rstrip("=")
    return plain.replace("+", "-").replace("/", "_")
