"""Delegation tokens of Hadoop: those of the file that ``HADOOP_TOKEN_FILE_LOCATION`` names.

Source: Hadoop's ``Credentials``, which schedulers hand to the programs that they start; both of its
formats are read, of Writables (0) and of protobufs (1).
"""

from __future__ import annotations

import base64
import os
import socket
from functools import lru_cache
from pathlib import Path
from typing import Final, NamedTuple

from drystone_filesystem import StoreFailure

__all__ = ["VARIABLE", "Token", "parse", "token_for"]

VARIABLE: Final = "HADOOP_TOKEN_FILE_LOCATION"
_MAGIC: Final = b"HDTS"
_KINDS: Final = ("HDFS_DELEGATION_TOKEN", "WEBHDFS delegation", "SWEBHDFS delegation")
_TOKENS, _TOKEN, _VARINT, _BYTES = 1, 2, 0, 2
"""Fields of the protobufs, and the wire types that they have."""


class Token(NamedTuple):
    """One token: what it says, the proof of it, its kind, and whose it is (``host:port``)."""

    identifier: bytes
    password: bytes
    kind: str
    service: str

    def __repr__(self) -> str:
        return f"<Token of kind {self.kind!r} for {self.service!r}>"

    @property
    def text(self) -> str:
        """As the parameter ``delegation`` has it: the Writables in base64."""
        parts = (self.identifier, self.password, self.kind.encode(), self.service.encode())
        raw = b"".join(_length(len(part)) + part for part in parts)
        return base64.urlsafe_b64encode(raw).decode().rstrip("=")


def token_for(node: str) -> str:
    """The token for a name node (``host:port``) as a parameter; "" where there is none.

    One for that address comes first, then one for that machine, then the only one that there is.
    Raises ``StoreFailure`` (``UNAUTHENTICATED``) for a file that holds no tokens.
    """
    named = os.environ.get(VARIABLE)
    if not named:
        return ""
    try:
        found = [one for one in _read(named, Path(named).stat().st_mtime_ns) if one.kind in _KINDS]
    except (OSError, ValueError, LookupError) as error:
        why = f"{type(error).__name__}: {error}"
        raise StoreFailure(
            "UNAUTHENTICATED",
            f"{VARIABLE} names {named}, from which no tokens can be read: {why}; have it name what "
            "`hdfs fetchdt` writes, or unset it",
        ) from error
    host = node.rpartition(":")[0] or node
    near = [one for one in found if one.service == node]
    near = near or [one for one in found if _same(one.service.rpartition(":")[0], host)]
    return (near or found)[0].text if near or len(found) == 1 else ""


def _same(one: str, other: str) -> bool:
    """Whether two names are those of one machine."""
    if one == other:
        return True
    try:
        return socket.gethostbyname(one) == socket.gethostbyname(other)
    except OSError:
        return False


@lru_cache(8)
def _read(path: str, _time: int) -> tuple[Token, ...]:
    return parse(Path(path).read_bytes())


def parse(raw: bytes) -> tuple[Token, ...]:
    """The tokens of a file's bytes. Raises ``ValueError``, or ``LookupError`` where it is cut."""
    if raw[:4] != _MAGIC:
        raise ValueError("it does not begin with HDTS")
    if raw[4] == 0:
        return tuple(_writables(raw))
    if raw[4] == 1:
        return tuple(_protobufs(raw))
    raise ValueError(f"its format is {raw[4]}; known are 0 and 1")


# ---- Writables -----------------------------------------------------------------------------------


def _length(value: int) -> bytes:
    """A length as Hadoop's ``writeVInt`` has it."""
    if value <= 127:
        return bytes([value])
    size = (value.bit_length() + 7) // 8
    return bytes([256 - 112 - size]) + value.to_bytes(size, "big")


def _taken(raw: bytes, at: int) -> tuple[int, int]:
    """Such a length, and where it ends."""
    first = raw[at]
    if first <= 127:
        return first, at + 1
    size = 256 - 112 - first
    if not 1 <= size <= 8 or at + 1 + size > len(raw):
        raise ValueError("a length in it is none")
    return int.from_bytes(raw[at + 1 : at + 1 + size], "big"), at + 1 + size


def _part(raw: bytes, at: int) -> tuple[bytes, int]:
    """Bytes with their length before them, and where they end."""
    size, at = _taken(raw, at)
    if at + size > len(raw):
        raise ValueError(f"it ends {at + size - len(raw)} bytes too early")
    return raw[at : at + size], at + size


def _writables(raw: bytes) -> list[Token]:
    count, at = _taken(raw, len(_MAGIC) + 1)
    found = []
    for _ in range(count):
        parts = []
        for _ in range(5):  # an alias, then the token's own
            part, at = _part(raw, at)
            parts.append(part)
        found.append(_token(parts[1:]))
    secrets, at = _taken(raw, at)
    for _ in range(2 * secrets):  # a name and a value: nothing here needs them, but all is there
        _, at = _part(raw, at)
    return found


def _token(parts: list[bytes]) -> Token:
    identifier, password, kind, service = parts
    return Token(identifier, password, kind.decode(), service.decode())


# ---- protobufs -----------------------------------------------------------------------------------


def _varint(raw: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        value |= (raw[at] & 127) << shift
        shift, at = shift + 7, at + 1
        if raw[at - 1] < 128:
            return value, at


def _fields(raw: bytes) -> list[tuple[int, bytes]]:
    """The fields of a message that are bytes: their numbers, and what they hold."""
    found, at = [], 0
    while at < len(raw):
        tag, at = _varint(raw, at)
        size, at = _varint(raw, at)
        if tag & 7 == _VARINT:
            continue
        if tag & 7 != _BYTES or at + size > len(raw):
            raise ValueError("a message in it is none")
        found.append((tag >> 3, raw[at : at + size]))
        at += size
    return found


def _protobufs(raw: bytes) -> list[Token]:
    size, at = _varint(raw, len(_MAGIC) + 1)
    if at + size > len(raw):
        raise ValueError(f"it ends {at + size - len(raw)} bytes too early")
    found = []
    for number, entry in _fields(raw[at : at + size]):
        if number == _TOKENS:
            token = dict(_fields(dict(_fields(entry))[_TOKEN]))
            found.append(_token([token.get(field, b"") for field in (1, 2, 3, 4)]))
    return found
