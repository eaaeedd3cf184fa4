"""Index files that no writer would make, for tests of the checkpoint reader."""

from __future__ import annotations

import struct

from drystone_base.checkpoint._crc import crc32c, mask
from drystone_base.core.wire import write_varint

MAGIC = 0xDB4775248B80FB57


def stored(block: bytes, kind: int = 0) -> bytes:
    """A block with its trailer: compression type and a right checksum."""
    body = block + bytes([kind])
    return body + struct.pack("<I", mask(crc32c(body)))


def entry(shared: int, rest: bytes, value: bytes) -> bytes:
    """One entry of a block."""
    return b"".join(map(write_varint, (shared, len(rest), len(value)))) + rest + value


def handle(offset: int, size: int) -> bytes:
    """Where a block lies."""
    return write_varint(offset) + write_varint(size)


def table_of_block(block: bytes, kind: int = 0) -> bytes:
    """A table whose one data block is ``block``, restart points included."""
    first = stored(block, kind)
    index = entry(0, b"\xff", handle(0, len(block))) + struct.pack("<II", 0, 1)
    at = handle(len(first), len(index))
    footer = (at + at).ljust(40, b"\0") + struct.pack("<Q", MAGIC)
    return first + stored(index) + footer
