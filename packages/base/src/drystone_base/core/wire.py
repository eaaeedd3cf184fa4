"""The wire format of protobuf: varints, and where the fields of a message are."""

from __future__ import annotations

from collections.abc import Iterator

from drystone_base.core.errors import BadModelFile

__all__ = ["fields", "read_varint", "skip", "truncated", "write_varint"]


def truncated(position: int) -> BadModelFile:
    """The error for bytes that end inside a field."""
    return BadModelFile(
        "cannot be read",
        subject="the graph",
        check="protobuf fields must end inside the file",
        found=f"a field that runs past the end, at byte {position}",
        needed="a complete GraphDef",
        remedy="the file is truncated or is not a GraphDef: export or download it again",
        code="bad-graphdef",
    )


def read_varint(data: memoryview, position: int) -> tuple[int, int]:
    """The varint at ``position`` and the position after it; raises ``BadModelFile`` at the end."""
    result = shift = 0
    try:
        while True:
            byte = data[position]
            position += 1
            result |= (byte & 0x7F) << shift
            if byte < 0x80:
                return result, position
            shift += 7
            if shift > 63:
                raise truncated(position)
    except IndexError:
        raise truncated(position) from None


def write_varint(value: int) -> bytes:
    """The varint encoding of a non-negative int."""
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def skip(data: memoryview, position: int, wire_type: int) -> int:
    """The position after a field's payload that starts at ``position``."""
    if wire_type == 2:
        size, position = read_varint(data, position)
        position += size
    elif wire_type == 0:
        _, position = read_varint(data, position)
    elif wire_type in (1, 5):
        position += 8 if wire_type == 1 else 4
    else:
        raise truncated(position)
    if position > len(data):
        raise truncated(position)
    return position


def fields(data: memoryview) -> Iterator[tuple[int, int, int, int]]:
    """``(tag, start of field, start of payload, end)`` of every field of a message."""
    position, end = 0, len(data)
    while position < end:
        start = position
        tag, position = read_varint(data, position)
        stop = skip(data, position, tag & 7)
        if tag & 7 == 2:
            _, position = read_varint(data, position)
        yield tag, start, position, stop
        position = stop
