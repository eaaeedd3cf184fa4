"""Whom files and folders belong to: whether another user may write to them."""

from __future__ import annotations

import errno
import os
import stat
from typing import BinaryIO, Final

__all__ = ["described", "is_own", "opened", "others_who_write"]

_OTHERS_WRITE: Final = 0o022
_STICKY: Final = 0o1000
_AT_ONCE: Final = getattr(os, "O_NONBLOCK", 0)


def is_own(state: os.stat_result) -> bool:
    """Whether a file belongs to this user or to root, and no other user may write to it."""
    if not hasattr(os, "geteuid"):
        return True
    return state.st_uid in (os.geteuid(), 0) and not state.st_mode & _OTHERS_WRITE


def opened(path: str | os.PathLike[str]) -> BinaryIO:
    """A plain file, to be read; raises ``OSError`` for anything else.

    Nothing is waited for: a pipe that another user has put there may never have a writer.
    """
    descriptor = os.open(path, os.O_RDONLY | _AT_ONCE)
    if stat.S_ISREG(os.fstat(descriptor).st_mode):
        return os.fdopen(descriptor, "rb")
    os.close(descriptor)
    raise OSError(errno.EINVAL, "not a plain file", os.fspath(path))


def described(state: os.stat_result) -> str:
    """Whose it is and who may write to it."""
    return f"it belongs to user {state.st_uid}, mode {state.st_mode & 0o7777:o}"


def others_who_write(path: str, *beside: str) -> list[str]:
    """The file, others beside it, its folder and those above, as far as others may replace it.

    Of a folder above that is sticky, as /tmp is, only the owner of an entry may replace that.
    """
    found = []
    folder = os.path.dirname(path)
    for place in (path, *beside, folder, *_above(folder)):
        try:
            state = os.stat(place)
        except OSError:
            continue
        sheltered = state.st_mode & _STICKY and place != folder
        if not sheltered and not is_own(state):
            found.append(f"{place}: {described(state)}")
    return found


def _above(folder: str) -> list[str]:
    found = []
    while (parent := os.path.dirname(folder)) != folder:
        found.append(parent)
        folder = parent
    return found
