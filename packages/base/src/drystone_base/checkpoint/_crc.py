"""CRC-32C as checkpoints store it: rotated and offset, so that data may hold checksums."""

from __future__ import annotations

from typing import Final

from google_crc32c import extend

__all__ = ["crc32c", "mask"]

_OFFSET: Final = 0xA282EAD8
# The library takes bytes only: copy pieces that stay in the cache rather than whole tensors.
_PIECE: Final = 1 << 18


def crc32c(data: memoryview | bytes, start: int = 0) -> int:
    """The plain CRC-32C of ``data`` (a flat view of bytes), continued from ``start``."""
    for position in range(0, len(data), _PIECE):
        start = extend(start, bytes(data[position : position + _PIECE]))
    return start


def mask(crc: int) -> int:
    """The stored form of a checksum."""
    return ((crc >> 15 | crc << 17) + _OFFSET) & 0xFFFFFFFF
