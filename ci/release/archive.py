"""Wheels as what they hold: read, and written with another RECORD, all else as it was."""

from __future__ import annotations

import base64
import zipfile
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path

__all__ = ["dist_info", "record", "with_file"]


def dist_info(wheel: Path) -> str:
    """The folder of metadata in a wheel, by its name."""
    return "-".join(wheel.name.split("-")[:2]) + ".dist-info"


def record(contents: Mapping[str, bytes], name: str) -> bytes:
    """The RECORD of a wheel with these files, whose own path is `name`."""
    rows = []
    for path, content in contents.items():
        if path != name:
            digest = base64.urlsafe_b64encode(sha256(content).digest()).rstrip(b"=").decode()
            rows.append(f"{path},sha256={digest},{len(content)}")
    return "\n".join([*rows, f"{name},,", ""]).encode("utf-8")


def with_file(wheel: Path, path: str, content: bytes) -> None:
    """Put a file into a wheel, in place of one of that path; all else stays, times included."""
    list_of_files = f"{dist_info(wheel)}/RECORD"
    with zipfile.ZipFile(wheel) as archive:
        entries = [one for one in archive.infolist() if one.filename not in (path, list_of_files)]
        contents = {one.filename: archive.read(one) for one in entries}
        last = archive.getinfo(list_of_files)
    contents[path] = content
    new = wheel.with_suffix(".new")
    with zipfile.ZipFile(new, "w", zipfile.ZIP_DEFLATED) as archive:
        for entry in entries:
            archive.writestr(entry, contents[entry.filename], zipfile.ZIP_DEFLATED)
        for name, data in ((path, content), (list_of_files, record(contents, list_of_files))):
            entry = zipfile.ZipInfo(name, last.date_time)
            entry.external_attr = last.external_attr
            archive.writestr(entry, data, zipfile.ZIP_DEFLATED)
    new.replace(wheel)
