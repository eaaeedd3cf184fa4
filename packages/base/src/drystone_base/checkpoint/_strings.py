"""String tensors in a checkpoint's data: lengths, a checksum of the lengths, then the bytes."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Final

from drystone_base.checkpoint._crc import crc32c, mask
from drystone_base.checkpoint._errors import corrupt
from drystone_base.checkpoint._table import read_varint
from drystone_base.core.wire import write_varint

__all__ = ["decode_strings", "encode_strings"]

_LONG: Final = 0xFFFFFFFF


def _lengths_crc(lengths: Sequence[int]) -> int:
    """The checksum runs over the lengths as 32-bit numbers, 64-bit ones where they are longer."""
    raw = b"".join(struct.pack("<I" if n <= _LONG else "<Q", n) for n in lengths)
    return crc32c(raw)


def encode_strings(values: Sequence[bytes]) -> tuple[bytes, int]:
    """The stored bytes of strings, and the plain checksum of their entry."""
    lengths = [len(v) for v in values]
    crc = _lengths_crc(lengths)
    stored = struct.pack("<I", mask(crc))
    body = b"".join(values)
    crc = crc32c(body, crc32c(stored, crc))
    return b"".join([*map(write_varint, lengths), stored, body]), crc


def decode_strings(data: memoryview, count: int, where: str) -> tuple[list[bytes], int]:
    """``count`` strings and the plain checksum of their entry; raises ``CheckpointError``."""
    if count + 4 > len(data):
        raise corrupt(where, "each string takes a byte at least", f"{len(data)} bytes", count + 4)
    lengths = []
    position = 0
    for _ in range(count):
        length, position = read_varint(data, position, where)
        lengths.append(length)
    start = position + 4
    if start + sum(lengths) != len(data):
        raise corrupt(
            where, "strings must fill the entry", f"{start + sum(lengths)} bytes", len(data)
        )
    stored = bytes(data[position:start])
    crc = crc32c(stored, _lengths_crc(lengths))
    values = []
    for length in lengths:
        values.append(bytes(data[start : start + length]))
        start += length
    return values, crc32c(data[position + 4 :], crc)
