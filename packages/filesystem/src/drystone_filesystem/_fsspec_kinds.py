"""Properties of fsspec's filesystems that they do not state: by protocol, and by method."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from fsspec import AbstractFileSystem

__all__ = ["behind", "inherits", "is_one_of", "own", "protocols", "turn_of"]

_ONE_AT_A_TIME: Final = frozenset(("ftp", "sftp", "ssh", "tar", "libarchive"))
"""Protocols with one connection, or one open file, that mix up what threads ask at once."""
_TURN: Final = "_drystone_turn"


def turn_of(filesystem: AbstractFileSystem) -> AbstractContextManager[Any]:
    """What a thread takes before it asks: a lock where only one may, which all schemes share."""
    held = [one for one in behind(filesystem) if _ONE_AT_A_TIME.intersection(protocols(one))]
    if not held:
        return nullcontext()
    lock: AbstractContextManager[Any] = own(held[-1]).setdefault(_TURN, threading.RLock())
    return lock


def is_one_of(filesystem: AbstractFileSystem, *wanted: str) -> bool:
    """Whether it has one of these protocols, or is a view of one that has."""
    return any(set(wanted).intersection(protocols(one)) for one in behind(filesystem))


def inherits(filesystem: AbstractFileSystem, method: str) -> bool:
    """Whether a method is the one that fsspec has for filesystems that have none of their own."""
    from fsspec import AbstractFileSystem

    general = getattr(AbstractFileSystem, method)
    return any(
        getattr(getattr(one, method), "__func__", None) is general for one in behind(filesystem)
    )


def behind(filesystem: AbstractFileSystem) -> Iterator[AbstractFileSystem]:
    """A filesystem, and those that it is a folder, a cache or an archive of."""
    from fsspec import AbstractFileSystem

    one: Any = filesystem
    while one is not None:
        yield one
        held = own(one)
        one = held.get("fs") or held.get("sync_fs") or getattr(held.get("of"), "fs", None)
        one = one if isinstance(one, AbstractFileSystem) else None


def own(filesystem: AbstractFileSystem) -> dict[str, Any]:
    """Its attributes; caches answer for the filesystem behind them when asked plainly."""
    found: dict[str, Any] = object.__getattribute__(filesystem, "__dict__")
    return found


def protocols(filesystem: AbstractFileSystem) -> tuple[str, ...]:
    """The names of a filesystem's protocol."""
    said: str | tuple[str, ...] = filesystem.protocol
    return (said,) if isinstance(said, str) else tuple(said)
