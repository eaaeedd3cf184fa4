"""Digests of large files that were read before, as long as they have not changed since.

The system sets the time of a file's last change of any kind (``st_ctime``) on every write; no
program can set it back. A file that has changed just now may change again at the same time by
its clock, which git calls racy: nothing is noted of it.
"""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Any, Final

from drystone_base.executor.plan_cache.records import read_record, write_record

if TYPE_CHECKING:
    from drystone_base.files.store import Store

__all__ = [
    "State", "is_large", "is_new_size", "is_settled", "note_digest", "note_size", "noted_digest",
    "state_of",
]  # fmt: skip

State = tuple[int, ...]
"""What tells one state of a file from all others."""
_LARGE: Final = 1 << 20  # bytes
_SETTLED: Final = (
    3 * 10**9
)  # nanoseconds without a change: clocks of file systems have 2 s at worst
_DIGITS: Final = 64


def state_of(descriptor: int) -> State:
    """The state of an open file; raises ``OSError``."""
    found = os.fstat(descriptor)
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


def is_large(state: State) -> bool:
    """Whether it takes longer to hash a file than to look for a note of that."""
    return state[2] >= _LARGE


def is_settled(state: State) -> bool:
    """Whether a file is large, and was not changed a moment ago."""
    return is_large(state) and time.time_ns() - state[-1] > _SETTLED


def note_digest(where: Store, state: State, digest: str) -> None:
    """Note the SHA-256 of a file that was in this state before and after it was read."""
    write_record(where, _file(state), {"digest": digest})


def noted_digest(where: Store, state: State) -> str | None:
    """What :func:`note_digest` noted of a file in this state; None where that is nothing."""
    found = read_record(where, _file(state))
    digest = None if found is None else found[0].get("digest")
    return digest if isinstance(digest, str) and len(digest) == _DIGITS else None


def note_size(where: Store, state: State) -> None:
    """Note that there was a file of this size, if it is large."""
    if is_large(state) and is_new_size(where, state):
        write_record(where, _size(state), {})


def is_new_size(where: Store, state: State) -> bool:
    """Whether no file of this size was noted: else this may be a copy of that one."""
    return read_record(where, _size(state)) is None


def _file(state: State) -> list[Any]:
    return ["file", *state]


def _size(state: State) -> list[Any]:
    return ["size", state[2]]
