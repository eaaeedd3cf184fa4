"""Properties of fsspec's filesystems that they do not state: by protocol, and by method."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from fsspec import AbstractFileSystem

__all__ = ["behind", "inherits", "is_one_of", "own", "protocols", "turn_of", "uncached"]

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
    """The names of a filesystem's protocol.

    That of the web states none before fsspec 2025.10 unless it is made by name; its class is
    registered under them.
    """
    said: str | tuple[str, ...] = filesystem.protocol
    stated = (said,) if isinstance(said, str) else tuple(said)
    if stated != ("abstract",):
        return stated
    from fsspec.registry import known_implementations

    kinds = {f"{kind.__module__}.{kind.__qualname__}" for kind in type(filesystem).__mro__}
    names = (name for name, one in known_implementations.items() if one["class"] in kinds)
    return tuple(names) or stated


def uncached(filesystem: AbstractFileSystem) -> AbstractFileSystem:
    """What caches keep files of: they have the same paths.

    Before fsspec 2025.5 a cache of the web looks for a URL in a folder, where it is not.
    """
    from fsspec.implementations.cached import CachingFileSystem

    return next(one for one in behind(filesystem) if not issubclass(type(one), CachingFileSystem))
