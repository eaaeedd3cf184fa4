"""A scan of GraphDef bytes that leaves large constants where they are.

Protobuf copies every ``bytes`` field that it parses. Here the top level of the file is walked
first; the ``tensor_content`` of a large node is cut out and kept as a view, and what remains (the
skeleton) is handed to protobuf. Field numbers: GraphDef.node = 1, .library = 2; NodeDef.attr = 5;
AttrValue.tensor = 8; TensorProto.tensor_content = 4.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from drystone_base.core.wire import fields, read_varint, skip, truncated, write_varint

__all__ = ["LARGE", "Skeleton", "split_large"]

LARGE: Final = 64 * 1024
_NODE: Final = 0x0A
# The path from a node to its constant's bytes: attr entry, its value, the tensor, the content.
_PATH: Final = ((5, 2), (2, 2), (8, 2), (4, 2))


class Skeleton(NamedTuple):
    """GraphDef bytes without large contents, the rest of the top level, contents by node."""

    graph: bytes | memoryview
    rest: bytes
    contents: dict[int, memoryview]


def _cut(data: memoryview, depth: int) -> tuple[bytes, memoryview] | None:
    """The message without its large content, and that content; None when there is none to cut."""
    number, wire_type = _PATH[depth]
    wanted = number << 3 | wire_type
    for tag, start, payload, stop in fields(data):
        if tag != wanted or stop - payload < LARGE // 2:
            continue
        inner = data[payload:stop]
        if depth == len(_PATH) - 1:
            return bytes(data[:start]) + bytes(data[stop:]), inner
        found = _cut(inner, depth + 1)
        if found is None:
            continue
        body, content = found
        head = bytes(data[:start]) + write_varint(tag) + write_varint(len(body))
        return head + body + bytes(data[stop:]), content
    return None


def split_large(data: memoryview) -> Skeleton:
    """Split GraphDef bytes into skeleton, the top level beyond nodes, and large contents.

    Raises ``BadModelFile`` (``bad-graphdef``) when a field runs past the end.
    """
    pieces: list[bytes | memoryview] = []
    rest: list[bytes] = []
    contents: dict[int, memoryview] = {}
    position = kept = index = 0
    end = len(data)
    while position < end:
        start = position
        if data[position] == _NODE:
            size, payload = read_varint(data, position + 1)
            position = payload + size
            if position > end:
                raise truncated(position)
            if size >= LARGE and (cut := _cut(data[payload:position], 0)) is not None:
                body, contents[index] = cut
                pieces += [data[kept:start], b"\x0a", write_varint(len(body)), body]
                kept = position
            index += 1
            continue
        tag, payload = read_varint(data, position)
        position = skip(data, payload, tag & 7)
        if tag >> 3 != 2:
            rest.append(bytes(data[start:position]))
    if not pieces:
        return Skeleton(data, b"".join(rest), contents)
    pieces.append(data[kept:])
    return Skeleton(b"".join(pieces), b"".join(rest), contents)
