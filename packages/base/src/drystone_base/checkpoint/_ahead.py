"""Tensors of a checkpoint behind a scheme, asked for together: few ranges, several at once."""

from __future__ import annotations

import sys
from bisect import bisect_right
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Final

from drystone_base.files.uris import Ranges

if TYPE_CHECKING:
    from drystone_base.checkpoint.shards import Entry

__all__ = ["Ahead"]

_GAP: Final = 64 << 10
"""Bytes between two tensors that are rather read than left out, which costs a request."""
_AT_ONCE: Final = 8


class Ahead:
    """The bytes of some entries; those of shards on this machine are not copied."""

    def __init__(
        self, entries: Iterable[Entry], shard: Callable[[int], memoryview | Ranges]
    ) -> None:
        self._ranges = _joined(e for e in entries if _fits(e, shard(e.shard)))
        with ThreadPoolExecutor(_AT_ONCE, "drystone-checkpoint") as pool:
            self._bytes = list(pool.map(lambda r: shard(r[0])[r[1] : r[2]], self._ranges))

    def get(self, entry: Entry) -> memoryview | None:
        """The bytes of an entry, if they were asked for."""
        last = entry.offset + entry.size
        k = bisect_right(self._ranges, (entry.shard, entry.offset, sys.maxsize)) - 1
        if k < 0 or self._ranges[k][0] != entry.shard or self._ranges[k][2] < last:
            return None
        start = self._ranges[k][1]
        return self._bytes[k][entry.offset - start : last - start]


def _fits(entry: Entry, data: memoryview | Ranges) -> bool:
    """Whether an entry lies behind a scheme, and in its shard; who reads it says what is wrong."""
    return isinstance(data, Ranges) and 0 < entry.size <= len(data) - entry.offset


def _joined(entries: Iterable[Entry]) -> list[tuple[int, int, int]]:
    """Shard, start and end of ranges that hold the entries, in order; near ones are one."""
    found: list[tuple[int, int, int]] = []
    for entry in sorted(entries, key=lambda e: (e.shard, e.offset)):
        start, end = entry.offset, entry.offset + entry.size
        if found and found[-1][0] == entry.shard and start - found[-1][2] <= _GAP:
            start, end = found[-1][1], max(found.pop()[2], end)
        found.append((entry.shard, start, end))
    return found
