"""Parts of files that were read: some in memory, more on disk where a folder is named for it.

``DRYSTONE_FILES_CACHE`` names the folder (none by default), ``DRYSTONE_FILES_CACHE_MB`` its size
(1024), ``DRYSTONE_FILES_MEMORY_MB`` that of the memory (64). What is on disk has a checksum, and
what does not fit it is dropped and fetched again.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import threading
import time
from collections import OrderedDict
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, Final

from google_crc32c import value as crc32c

from drystone_filesystem.environment import CACHE, CACHE_MB, MEMORY_MB

__all__ = ["Blocks", "blocks"]

_SUM: Final = 4
_SUFFIX: Final = ".part"
_DRAFT_SECONDS: Final = 3600


class Blocks:
    """Parts by the key of a version of a file and their number; least recently used go first."""

    def __init__(self, memory: int, folder: Path | None, limit: int) -> None:
        self._memory, self._folder, self._limit = memory, folder, limit
        self._parts: OrderedDict[tuple[Any, ...], bytes] = OrderedDict()
        self._size = 0
        self._lock = threading.Lock()
        self._on_disk, self._added = -1, 0

    def find(self, key: tuple[Any, ...], index: int) -> bytes | None:
        """The part, or None."""
        with self._lock:
            found = self._parts.get((key, index))
            if found is not None:
                self._parts.move_to_end((key, index))
                return found
        return self._read(key, index)

    def keep(self, key: tuple[Any, ...], index: int, part: memoryview, *, memory: bool) -> None:
        """Remember a part: on disk if there is a folder, and in memory if asked."""
        if memory and len(part) <= self._memory:
            with self._lock:
                before = self._parts.pop((key, index), b"")
                self._parts[key, index] = bytes(part)
                self._size += len(part) - len(before)
                while self._size > self._memory:
                    self._size -= len(self._parts.popitem(last=False)[1])
        self._write(key, index, part)

    def forget(self, key: tuple[Any, ...]) -> None:
        """Drop all parts of one version of a file."""
        with self._lock:
            for name in [name for name in self._parts if name[0] == key]:
                self._size -= len(self._parts.pop(name))
        if self._folder is not None:
            for path in self._folder.glob(f"{_digest(key)}-*{_SUFFIX}"):
                with suppress(OSError):
                    path.unlink(missing_ok=True)

    # ---- on disk -------------------------------------------------------------------------------

    def _path(self, key: tuple[Any, ...], index: int) -> Path | None:
        return self._folder and self._folder / f"{_digest(key)}-{index}{_SUFFIX}"

    def _read(self, key: tuple[Any, ...], index: int) -> bytes | None:
        path = self._path(key, index)
        if path is None:
            return None
        try:
            raw = path.read_bytes()
            # No part is empty, but a file is where the machine stopped before its bytes were there.
            if len(raw) <= _SUM or int.from_bytes(raw[:_SUM], "little") != crc32c(raw[_SUM:]):
                path.unlink(missing_ok=True)
                return None
        except OSError:
            return None
        with suppress(OSError):  # it may be another user's, or on a disk that is only read
            os.utime(path)
        return raw[_SUM:]

    def _write(self, key: tuple[Any, ...], index: int, part: memoryview) -> None:
        """Under another name first: no other process sees half of it. A full disk is no failure."""
        path = self._path(key, index)
        if path is None or len(part) + _SUM > self._limit:
            return
        draft = path.with_name(f"{path.name}.{secrets.token_hex(4)}.tmp")
        data = bytes(part)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            draft.write_bytes(crc32c(data).to_bytes(_SUM, "little") + data)
            draft.replace(path)
            self._make_room(len(data) + _SUM)
        except OSError:
            with suppress(OSError):
                draft.unlink(missing_ok=True)

    def _make_room(self, added: int) -> None:
        """Delete what was not used for longest until all fits.

        Other processes do so, too; what they added is counted each time that a sixteenth of the
        limit was added here.
        """
        with self._lock:
            self._added += added
            fits = self._on_disk + added <= self._limit and self._added <= self._limit / 16
            if self._on_disk >= 0 and fits:
                self._on_disk += added
                return
            assert self._folder is not None
            self._added = 0
            self._delete_drafts(self._folder)
            found = []
            for path in self._folder.glob(f"*{_SUFFIX}"):
                with suppress(OSError):
                    state = path.stat()
                    found.append((state.st_mtime_ns, state.st_size, path))
            self._on_disk = sum(size for _, size, _ in found)
            for _, size, path in sorted(found):
                if self._on_disk <= self._limit:
                    break
                with suppress(OSError):  # another user's stays, and the next goes
                    path.unlink(missing_ok=True)
                    self._on_disk -= size

    @staticmethod
    def _delete_drafts(folder: Path) -> None:
        """Those of processes that ended while they wrote."""
        for path in folder.glob(f"*{_SUFFIX}.*.tmp"):
            with suppress(OSError):
                if path.stat().st_mtime < time.time() - _DRAFT_SECONDS:
                    path.unlink()


def _digest(key: tuple[Any, ...]) -> str:
    return hashlib.sha256(repr(key).encode("utf-8", "surrogateescape")).hexdigest()[:32]


@cache
def _blocks(memory: float, folder: str, limit: float) -> Blocks:
    return Blocks(int(memory * (1 << 20)), Path(folder) if folder else None, int(limit * (1 << 20)))


if hasattr(os, "register_at_fork"):  # another thread may have held its lock, which stays locked
    os.register_at_fork(after_in_child=_blocks.cache_clear)


def blocks() -> Blocks:
    """What the environment asks for."""
    return _blocks(MEMORY_MB.value(), CACHE.value(), CACHE_MB.value())
