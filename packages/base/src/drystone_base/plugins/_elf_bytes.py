"""Bytes of a file that may be damaged: every access is checked."""

from __future__ import annotations

import struct
from typing import Any

__all__ = ["BadElf", "Bytes"]


class BadElf(ValueError):
    """The bytes are no ELF file, or one that is damaged; the text says how."""


class Bytes:
    """The bytes of a file; every access is checked."""

    def __init__(self, data: Any) -> None:
        self.data = data
        self.size = len(data)
        self.order = "<"

    def take(self, offset: int, size: int, what: str) -> bytes:
        if offset < 0 or size < 0 or offset + size > self.size:
            end = offset + size
            raise BadElf(f"{what} ends at byte {end}, but the file has {self.size}: truncated?")
        return bytes(self.data[offset : offset + size])

    def unpack(self, layout: str, offset: int, what: str) -> tuple[Any, ...]:
        layout = self.order + layout
        return struct.unpack(layout, self.take(offset, struct.calcsize(layout), what))
