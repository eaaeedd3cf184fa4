"""Files of what was computed once, in a folder: written at once or not at all, checked when read.

A file is a line of magic, the length and the checksum of a header, the header (JSON: facts about
the contents, their size and checksum), and the contents. Several processes may use a folder.
"""

from __future__ import annotations

import errno
import json
import os
import struct
import time
import zlib
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, BinaryIO, Final, NamedTuple

from drystone_base.core.machine import chosen_folder
from drystone_base.core.owners import described, is_own, opened
from drystone_base.files.mapped import MappedFile

if TYPE_CHECKING:
    from pathlib import Path

    from drystone_base.core.environment import Variable

__all__ = ["BadFile", "Store", "cache_store"]

_FRONT: Final = 8  # bytes: the length of a header, and its checksum
_MOST_HEADER: Final = 1 << 26
_DRAFT: Final = ".draft-"
_BOUNDARY: Final = 64  # bytes: contents begin at a multiple
_MOST_SECONDS: Final = 3600.0
"""How long a file may be in the writing without a change."""


class BadFile(Exception):
    """A file of the folder that cannot be used, and why."""


class Store(NamedTuple):
    """A folder, at ``place``; ``most_bytes``: what all its files may take (None: no bound).

    ``kind``: what its files are, one word. Names of files are hexadecimal: a key of what is
    computed, then one of who computed it, where. Each file states its name, so that none is taken
    for another. ``own_only``: files that belong to another user than this user and root, or that
    others may write to, are not read.
    """

    place: str | Path
    most_bytes: int | None = None
    kind: str = "executable"
    own_only: bool = False

    def read(self, name: str) -> tuple[dict[str, Any], memoryview] | None:
        """Facts and contents of a file, None where there is none; raises ``BadFile``.

        The contents are mapped: they live as long as the view, whatever becomes of the file.
        """
        path = self._path(name)
        try:
            with self._open(path) as file:
                data = memoryview(MappedFile.of(file))
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            raise BadFile(f"{path} cannot be read: {error}") from error
        facts, rest = self._parse(path, data)
        if facts.get("name") != name:
            raise BadFile(f"{path} is a file of another name: {facts.get('name')}")
        with suppress(OSError):
            os.utime(path)  # what was used last goes last
        return facts, rest

    def write(self, name: str, facts: dict[str, Any], parts: Sequence[bytes | memoryview]) -> None:
        """Put a file in place, whole; what was used least goes where there is too much.

        Raises ``OSError``.
        """
        self._clean()
        checksum = 0
        for part in parts:
            checksum = zlib.crc32(part, checksum)
        sizes = {"size": sum(len(part) for part in parts), "crc32": checksum}
        stated = facts | sizes | {"name": name}
        header = json.dumps(stated, sort_keys=True).encode()
        header += b" " * (-(len(self._magic) + _FRONT + len(header)) % _BOUNDARY)
        if len(header) > _MOST_HEADER:
            raise OSError(errno.EFBIG, "there are too many facts to keep")
        begin = struct.pack("<II", len(header), zlib.crc32(header))
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        draft = os.path.join(self.place, f"{_DRAFT}{os.urandom(8).hex()}")
        try:
            with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                for piece in (self._magic, begin, header, *parts):
                    file.write(piece)
            os.replace(draft, self._path(name))
        except BaseException:
            with suppress(OSError):
                os.unlink(draft)
            raise
        self._shrink(name)

    def discard(self, name: str) -> None:
        """Remove a file, if it is there."""
        with suppress(OSError):
            os.unlink(self._path(name))

    def like(self, beginning: str) -> list[dict[str, Any]]:
        """The facts of all files whose names begin so; those that cannot be read are left out."""
        found = []
        for path in sorted(self.folder.glob(f"{beginning}*.{self.kind}")):
            with suppress(OSError, BadFile), self._open(path) as file:
                found.append(self._parse(path, memoryview(file.read()))[0])
        return found

    def entries(self) -> list[tuple[Path, dict[str, Any]]]:
        """Every file whose header can be read, sorted by path, with its facts."""
        found = []
        for path in sorted(self.folder.glob(f"*.{self.kind}")):
            with suppress(OSError, BadFile), self._open(path) as file:
                found.append((path, self._header(path, memoryview(MappedFile.of(file)))[0]))
        return found

    def totals(self) -> tuple[int, int]:
        """How many files there are, and their bytes."""
        sizes = []
        for path in self.folder.glob(f"*.{self.kind}"):
            with suppress(OSError):
                sizes.append(path.stat().st_size)
        return len(sizes), sum(sizes)

    def refused(self) -> list[str]:
        """Files that are not read because of whom they belong to, each with what was found."""
        found = []
        for path in sorted(self.folder.glob(f"*.{self.kind}")) if self.own_only else ():
            with suppress(OSError):
                state = path.stat()
                if not is_own(state):
                    found.append(f"{path}: {described(state)}")
        return found

    @property
    def folder(self) -> Path:
        """The folder, for those who write or list: such objects take long to import."""
        from pathlib import Path

        return Path(self.place)

    @property
    def _magic(self) -> bytes:
        return f"drystone {self.kind} 1\n".encode()

    def _open(self, path: str | Path) -> BinaryIO:
        """A file, this user's where it must be; raises ``BadFile`` and ``OSError``."""
        file = opened(path)
        state = os.fstat(file.fileno())
        if self.own_only and not is_own(state):
            file.close()
            raise BadFile(f"{path} is not this user's alone: {described(state)}")
        return file

    def _path(self, name: str) -> str:
        return os.path.join(self.place, f"{name}.{self.kind}")

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
        for path in self.folder.glob(f"*.{self.kind}"):
            with suppress(OSError):  # another process has removed it
                state = path.stat()
                is_new = path.name == f"{kept}.{self.kind}"
                rows.append((is_new, state.st_mtime, state.st_size, path))
        left = sum(size for *_, size, _ in rows) - self.most_bytes
        for _, _, size, path in sorted(rows):
            if left <= 0:
                return
            with suppress(OSError):
                path.unlink()
            left -= size

    def _parse(self, path: str | Path, data: memoryview) -> tuple[dict[str, Any], memoryview]:
        """Facts and contents of a file; raises ``BadFile``."""
        facts, begin = self._header(path, data)
        rest = data[begin:]
        if len(rest) != facts["size"] or zlib.crc32(rest) != facts["crc32"]:
            found = f"its {len(rest)} bytes are not those that were written"
            raise BadFile(f"{path} is damaged: {found}")
        return facts, rest

    def _header(self, path: str | Path, data: memoryview) -> tuple[dict[str, Any], int]:
        """Facts of a file, and where its contents begin; raises ``BadFile``."""
        magic = self._magic
        begin = len(magic) + _FRONT
        if bytes(data[: len(magic)]) != magic or len(data) < begin:
            raise BadFile(f"{path} is no file of {_a(self.kind)}")
        length, checked = struct.unpack_from("<II", data, len(magic))
        try:
            if length > _MOST_HEADER or zlib.crc32(data[begin : begin + length]) != checked:
                raise ValueError
            facts = json.loads(bytes(data[begin : begin + length]))
            facts |= {"size": int(facts["size"]), "crc32": int(facts["crc32"])}
        except (ValueError, KeyError, TypeError, OverflowError, RecursionError) as error:
            raise BadFile(f"{path} has a header that cannot be read") from error
        return facts, begin + length


def cache_store(kind: str, where: Variable, size: Variable) -> Store | None:
    """The store of a kind in the user's cache folder; None where it is switched off.

    The variable ``where`` says where else it is, or ``off``; ``size`` how much may be there.
    """
    folder = chosen_folder(where, f"{kind}s")
    return None if folder is None else Store(folder, size.value(), kind, own_only=True)


def _a(kind: str) -> str:
    return f"an {kind}" if kind[0] in "aeiou" else f"a {kind}"
