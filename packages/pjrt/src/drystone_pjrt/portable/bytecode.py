"""MLIR bytecode, as far as portable artifacts of StableHLO use it.

Source: MLIR's documentation of its bytecode format, version 6; locations are passed over.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple, TypeVar

__all__ = ["Block", "Cursor", "Entry", "Operation", "Unreadable", "operations"]

T = TypeVar("T")

_MAGIC: Final = b"ML\xefR"
_STRINGS, _DIALECTS, _ENTRIES, _OFFSETS, _IR = 0, 1, 2, 3, 4
_PROPERTIES: Final = 8
_ALIGNED: Final = 0x80
_VERSIONS: Final = (6, 6)
"""The oldest and the newest version that is read."""
_HAS_ATTRIBUTES, _HAS_RESULTS, _HAS_OPERANDS, _HAS_SUCCESSORS = 1, 2, 4, 8
_HAS_REGIONS, _HAS_USE_ORDER, _HAS_PROPERTIES = 0x10, 0x20, 0x40
_DEEPEST: Final = 64


class Unreadable(Exception):
    """What these bytes have that is not read here."""


class Cursor:
    """Bytes with a place in them."""

    def __init__(self, data: bytes, at: int = 0) -> None:
        self.data, self.at = data, at

    def take(self, count: int) -> bytes:
        """The next bytes."""
        if count > len(self.data) - self.at:
            raise Unreadable("it ends too early")
        self.at += count
        return self.data[self.at - count : self.at]

    def byte(self) -> int:
        """The next byte."""
        return self.take(1)[0]

    def number(self) -> int:
        """A number; the zeros at the end of the first byte say how many bytes follow."""
        first = self.byte()
        if not first:
            return int.from_bytes(self.take(8), "little")
        count = (first & -first).bit_length() - 1
        return int.from_bytes(bytes([first]) + self.take(count), "little") >> (count + 1)

    def signed(self) -> int:
        """A number that may be below zero."""
        number = self.number()
        return (number >> 1) ^ -(number & 1)

    def flagged(self) -> tuple[int, bool]:
        """A number and a truth value."""
        number = self.number()
        return number >> 1, bool(number & 1)

    def many(self, read: Callable[[], T]) -> list[T]:
        """A count, and so many."""
        count = self.number()
        if count > len(self.data):
            raise Unreadable("it ends too early")
        return [read() for _ in range(count)]

    def section(self) -> tuple[int, bytes]:
        """The kind and the bytes of a section."""
        kind, length = self.byte(), self.number()
        if kind & _ALIGNED:
            self.at += -self.at % max(self.number(), 1)
        return kind & ~_ALIGNED, self.take(length)

    @property
    def more(self) -> bool:
        """Whether bytes are left."""
        return self.at < len(self.data)


class Entry(NamedTuple):
    """An attribute or a type: its dialect, and how it is written there."""

    dialect: str
    data: bytes
    is_custom: bool


@dataclass
class Block:
    """Operations in order, after arguments, which are values with types."""

    arguments: list[tuple[int, int]]
    operations: list[Operation] = field(default_factory=list)


@dataclass
class Operation:
    """Values and types by number. ``properties``: attributes by number, as the op orders them."""

    name: str
    attributes: int | None = None
    properties: bytes = b""
    operands: list[int] = field(default_factory=list)
    results: list[int] = field(default_factory=list)
    types: list[int] = field(default_factory=list)
    regions: list[list[Block]] = field(default_factory=list)


class _File:
    """The tables of a file."""

    def __init__(self, data: bytes) -> None:
        cursor = Cursor(data)
        if cursor.take(4) != _MAGIC:
            raise Unreadable("it is no MLIR bytecode")
        version = cursor.number()
        if not _VERSIONS[0] <= version <= _VERSIONS[1]:
            raise Unreadable(f"its format has version {version}")
        cursor.at = data.index(0, cursor.at) + 1  # who has written it
        sections: dict[int, bytes] = {}
        while cursor.more:
            kind, content = cursor.section()
            sections[kind] = content
        self.strings = _strings(sections[_STRINGS])
        self._dialects(Cursor(sections[_DIALECTS]))
        self._entries(Cursor(sections[_OFFSETS]), sections[_ENTRIES])
        properties = Cursor(sections.get(_PROPERTIES, b"\x01"))
        self.properties = properties.many(lambda: properties.take(properties.number()))
        self.ir = Cursor(sections[_IR])

    def _dialects(self, cursor: Cursor) -> None:
        self.dialects, self.names = list[str](), list[str]()
        for _ in range(cursor.number()):
            name, has_version = cursor.flagged()
            if has_version:
                cursor.section()
            self.dialects.append(self.strings[name])
        cursor.number()  # how many names of operations there are
        while cursor.more:
            dialect = self.dialects[cursor.number()]
            for _ in range(cursor.number()):
                self.names.append(f"{dialect}.{self.strings[cursor.flagged()[0]]}")

    def _entries(self, cursor: Cursor, data: bytes) -> None:
        self.attributes, self.types, at = list[Entry](), list[Entry](), 0
        counts = cursor.number(), cursor.number()
        for table, count in zip((self.attributes, self.types), counts, strict=True):
            while len(table) < count:
                dialect = self.dialects[cursor.number()]
                for _ in range(cursor.number()):
                    size, is_custom = cursor.flagged()
                    table.append(Entry(dialect, data[at : at + size], is_custom))
                    at += size


def _strings(data: bytes) -> list[str]:
    """Strings, whose lengths come first, in the other order."""
    cursor = Cursor(data)
    lengths, end, found = cursor.many(cursor.number), len(data), list[str]()
    for length in lengths:
        found.append(data[end - length : end - 1].decode("utf-8", "surrogateescape"))
        end -= length
    return found[::-1]


class Module(NamedTuple):
    """The operations of a file's module, and its tables."""

    body: list[Operation]
    strings: Sequence[str]
    attributes: Sequence[Entry]
    types: Sequence[Entry]


def operations(data: bytes) -> Module:
    """What a file holds; raises ``Unreadable``."""
    try:
        file = _File(data)
        block = _block(file, file.ir, 0, 0)
    except (IndexError, KeyError, ValueError) as error:
        raise Unreadable(f"it is not whole: {error}") from error
    (module,) = block.operations
    return Module(module.regions[0][0].operations, file.strings, file.attributes, file.types)


def _block(file: _File, cursor: Cursor, first: int, deep: int, above: int = 0) -> Block:
    """``first``: the number of the next value; ``above``: of the next value of inner regions."""
    if deep > _DEEPEST:
        raise Unreadable("its regions are too deep")
    count, has_arguments = cursor.flagged()
    block, following = Block([]), first
    if has_arguments:
        for _ in range(cursor.number()):
            kind, has_location = cursor.flagged()
            if has_location:
                cursor.number()
            block.arguments.append((following, kind))
            following += 1
        if cursor.byte():
            _skip_uses(cursor, len(block.arguments))
    for _ in range(count):
        operation = _operation(file, cursor, following, deep, above)
        following += len(operation.results)
        block.operations.append(operation)
    return block


def _operation(file: _File, cursor: Cursor, following: int, deep: int, above: int) -> Operation:
    made = Operation(file.names[cursor.number()])
    mask = cursor.byte()
    cursor.number()  # its location
    if mask & _HAS_ATTRIBUTES:
        made.attributes = cursor.number()
    if mask & _HAS_PROPERTIES:
        made.properties = file.properties[cursor.number()]
    if mask & _HAS_RESULTS:
        made.types = cursor.many(cursor.number)
        made.results = list(range(following, following + len(made.types)))
    if mask & _HAS_OPERANDS:
        made.operands = cursor.many(cursor.number)
    if mask & _HAS_SUCCESSORS:
        raise Unreadable("it has branches")
    if mask & _HAS_USE_ORDER:
        _skip_uses(cursor, len(made.results))
    if mask & _HAS_REGIONS:
        made.regions = _regions(file, cursor, deep, above)
    return made


def _skip_uses(cursor: Cursor, values: int) -> None:
    """Pass over the order in which values are used, which says nothing of what is computed."""
    for _ in range(cursor.number() if values > 1 else 1):
        if values > 1:
            cursor.number()
        for _ in range(cursor.flagged()[0]):
            cursor.number()


def _regions(file: _File, cursor: Cursor, deep: int, above: int) -> list[list[Block]]:
    count, is_isolated = cursor.flagged()
    if is_isolated:
        cursor, above = Cursor(cursor.section()[1]), 0
    found = []
    for _ in range(count):
        blocks = cursor.number()
        if blocks > 1:
            raise Unreadable("it has branches")
        values = cursor.number() if blocks else 0
        found.append([_block(file, cursor, above, deep + 1, above + values)] * blocks)
    return found
