"""The dynamic symbols of a library: all names of a kind, or whether it defines these.

Sources: the System V ABI, chapter 5, and the layout of the GNU hash section, by which the dynamic
linker looks a name up: a few of a thousand names are found without reading the others.
"""

from __future__ import annotations

import struct
from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, Literal

import numpy as np

from drystone_base.plugins._elf_bytes import BadElf, Bytes

__all__ = ["MOST_SYMBOLS", "GnuHash", "Symbols", "text_at"]

MOST_SYMBOLS: Final = 4_000_000
_LONGEST_NAME: Final = 65536
_WEAK: Final = 2
_ENDIAN: Final[dict[str, Literal["little", "big"]]] = {"<": "little", ">": "big"}
_SYMBOL: Final = (
    ("name", "u4"), ("info", "u1"), ("other", "u1"), ("section", "u2"), ("rest", "V16"),
)  # fmt: skip


def text_at(strings: bytes, offset: int) -> str:
    """The name that begins there; raises ``BadElf``."""
    if offset >= len(strings):
        raise BadElf(f"a name is at byte {offset} of a table of {len(strings)}")
    end = strings.find(b"\0", offset, offset + _LONGEST_NAME)
    return strings[offset : end if end >= 0 else offset + _LONGEST_NAME].decode("utf-8", "replace")


@dataclass(frozen=True)
class GnuHash:
    """A GNU hash table: for symbols from ``first`` on, those of one bucket in a row."""

    first: int
    buckets: Any
    chain: Any

    @classmethod
    def read(cls, data: Bytes, at: int) -> GnuHash:
        """The table at a place of the file; raises ``BadElf``."""
        what = "the GNU hash table"
        buckets, first, words, _ = data.unpack("IIII", at, what)
        if max(buckets, words) > data.size:
            raise BadElf(f"{what} states {buckets} buckets and {words} words")
        at += 16 + words * 8
        number = data.order + "u4"
        table = np.frombuffer(data.take(at, buckets * 4, what), number)
        last = int(table.max(initial=0))
        if last < first:
            return cls(first, table, table[:0])
        at += buckets * 4
        index = last - first
        while index < MOST_SYMBOLS:  # the last bucket's symbols go on until one says that it ends
            if int.from_bytes(data.take(at + index * 4, 4, what), _ENDIAN[data.order]) & 1:
                break
            index += 1
        return cls(first, table, np.frombuffer(data.take(at, (index + 1) * 4, what), number))

    @property
    def count(self) -> int:
        """One more than the highest index of a symbol."""
        return self.first + len(self.chain)

    def among(self, name: bytes) -> Iterator[int]:
        """Indices of the symbols that may have this name."""
        if not len(self.buckets):
            return
        hashed = _hash(name)
        k = int(self.buckets[hashed % len(self.buckets)]) - self.first
        while 0 <= k < len(self.chain):
            found = int(self.chain[k])
            if (found ^ hashed) < 2:  # the lowest bit says that a bucket ends
                yield self.first + k
            if found & 1:
                return
            k += 1


@lru_cache(maxsize=4096)
def _hash(name: bytes) -> int:
    hashed = 5381
    for byte in name:
        hashed = (hashed * 33 + byte) & 0xFFFFFFFF
    return hashed


@dataclass(frozen=True)
class Symbols:
    """The table of symbols and that of their names, as they lie in the file."""

    table: bytes = b""
    strings: bytes = b"\0"
    order: str = "<"
    hashed: GnuHash | None = None

    def names(self, *, defined: bool) -> frozenset[str]:
        """The global symbols that are defined here, or those that must be elsewhere."""
        rows = self._rows()
        offsets = rows["name"][_is_defined(rows) if defined else _is_needed(rows)]
        return frozenset([text_at(self.strings, offset) for offset in offsets.tolist()])

    def defined(self, names: Iterable[str]) -> set[str]:
        """Those of the names that are defined here, looked up as the dynamic linker does."""
        if self.hashed is None:
            return set(names) & self.names(defined=True)
        return {name for name in names if self._finds(self.hashed, name.encode())}

    def undefined(self, names: Container[bytes]) -> dict[bytes, tuple[int, int]]:
        """Those of the names that must be elsewhere, with the index and the type of each."""
        rows = self._rows()
        found = {}
        for index in np.flatnonzero(_is_needed(rows)).tolist():
            name = text_at(self.strings, int(rows["name"][index])).encode("utf-8", "replace")
            if name in names:
                found[name] = index, int(rows["info"][index]) & 15
        return found

    def _rows(self) -> Any:
        return np.frombuffer(self.table, [(name, self.order + kind) for name, kind in _SYMBOL])

    def _finds(self, hashed: GnuHash, name: bytes) -> bool:
        for index in hashed.among(name):
            if index * 24 >= len(self.table):
                continue
            start, info, other, section = struct.unpack_from(
                self.order + "IBBH", self.table, index * 24
            )
            seen = info >= 16 and other & 3 not in (1, 2) and section
            if seen and self.strings[start : start + len(name) + 1] == name + b"\0":
                return True
        return False


def _is_global(rows: Any) -> Any:
    """Which symbols are seen from outside: with a name, neither local nor hidden."""
    return (rows["name"] != 0) & (rows["info"] >= 16) & ~np.isin(rows["other"] & 3, (1, 2))


def _is_defined(rows: Any) -> Any:
    return _is_global(rows) & (rows["section"] != 0)


def _is_needed(rows: Any) -> Any:
    return _is_global(rows) & (rows["section"] == 0) & (rows["info"] >> 4 != _WEAK)
