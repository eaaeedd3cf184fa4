"""Files of executables in a folder: written at once or not at all, checked when they are read.

A file is a line of magic, the length of a header, the header (JSON: facts about the executable,
size and hash of what follows), and the bytes of the executable. Several processes may use a folder.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

__all__ = ["BadFile", "Store"]

_MAGIC: Final = b"drystone executable 1\n"
_SUFFIX: Final = ".executable"
_LENGTH: Final = 8
_MOST_HEADER: Final = 1 << 20
_DRAFT: Final = ".draft-"
_MOST_SECONDS: Final = 3600.0
"""How long a file may be in the writing without a change."""


class BadFile(Exception):
    """A file of the folder that cannot be used, and why."""


@dataclass(frozen=True)
class Store:
    """A folder; ``most_bytes``: what all its files may take (None: no bound).

    Names of files are hexadecimal: a key of what is computed, then one of who compiled it, where.
    """

    folder: Path
    most_bytes: int | None = None

    def read(self, name: str) -> tuple[dict[str, Any], bytes] | None:
        """Facts and bytes of an executable, None where there is none; raises ``BadFile``."""
        path = self._path(name)
        try:
            data = path.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise BadFile(f"{path} cannot be read: {error}") from error
        facts, rest = _parse(path, data)
        with suppress(OSError):
            os.utime(path)  # what was used last goes last
        return facts, rest

    def write(self, name: str, facts: dict[str, Any], data: bytes) -> None:
        """Put a file in place, whole; what was used least goes where there is too much.

        Raises ``OSError``.
        """
        self._clean()
        stated = facts | {"size": len(data), "sha256": hashlib.sha256(data).hexdigest()}
        header = json.dumps(stated, sort_keys=True).encode()
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        handle, draft = tempfile.mkstemp(prefix=_DRAFT, dir=self.folder)
        try:
            with os.fdopen(handle, "wb") as file:
                for part in (_MAGIC, len(header).to_bytes(_LENGTH, "little"), header, data):
                    file.write(part)
            os.replace(draft, self._path(name))
        except BaseException:
            with suppress(OSError):
                os.unlink(draft)
            raise
        self._shrink(name)

    def discard(self, name: str) -> None:
        """Remove a file, if it is there."""
        with suppress(OSError):
            self._path(name).unlink()

    def like(self, beginning: str) -> list[dict[str, Any]]:
        """The facts of all files whose names begin so; those that cannot be read are left out."""
        found = []
        for path in sorted(self.folder.glob(f"{beginning}*{_SUFFIX}")):
            with suppress(OSError, BadFile):
                found.append(_parse(path, path.read_bytes())[0])
        return found

    def _path(self, name: str) -> Path:
        return self.folder / f"{name}{_SUFFIX}"

    def _clean(self) -> None:
        """Remove what processes left that were killed while they wrote."""
        for path in self.folder.glob(f"{_DRAFT}*"):
            with suppress(OSError):
                if time.time() - path.stat().st_mtime > _MOST_SECONDS:
                    path.unlink()

    def _shrink(self, kept: str) -> None:
        if self.most_bytes is None:
            return
        rows = []
        for path in self.folder.glob(f"*{_SUFFIX}"):
            with suppress(OSError):  # another process has removed it
                state = path.stat()
                rows.append((path.name == f"{kept}{_SUFFIX}", state.st_mtime, state.st_size, path))
        left = sum(size for *_, size, _ in rows) - self.most_bytes
        for _, _, size, path in sorted(rows):
            if left <= 0:
                return
            with suppress(OSError):
                path.unlink()
            left -= size


def _parse(path: Path, data: bytes) -> tuple[dict[str, Any], bytes]:
    """Facts and bytes of a file; raises ``BadFile``."""
    begin = len(_MAGIC) + _LENGTH
    if not data.startswith(_MAGIC) or len(data) < begin:
        raise BadFile(f"{path} is no file of an executable")
    length = int.from_bytes(data[len(_MAGIC) : begin], "little")
    try:
        if length > _MOST_HEADER:
            raise ValueError
        facts = json.loads(data[begin : begin + length])
        size, digest = int(facts["size"]), str(facts["sha256"])
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError) as error:
        raise BadFile(f"{path} has a header that cannot be read") from error
    rest = data[begin + length :]
    if len(rest) != size or hashlib.sha256(rest).hexdigest() != digest:
        raise BadFile(f"{path} is damaged: its {len(rest)} bytes are not those that were written")
    return facts, rest
