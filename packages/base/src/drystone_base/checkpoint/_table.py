"""Sorted tables of the LevelDB kind: the form of a checkpoint's index file.

A table is a run of blocks, an (unused) meta block, an index block and a 48-byte footer. A block
holds entries (shared prefix length, rest length, value length, rest of the key, value), restart
offsets and their count; five bytes follow it: compression type and masked CRC-32C. Source: LevelDB.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from typing import Final

from drystone_base.checkpoint._crc import crc32c, mask
from drystone_base.checkpoint._errors import corrupt
from drystone_base.core.errors import CheckpointError
from drystone_base.core.wire import write_varint

__all__ = ["MAGIC", "read_table", "read_varint", "write_table"]

_MAGIC: Final = 0xDB4775248B80FB57
MAGIC: Final = struct.pack("<Q", _MAGIC)
_FOOTER: Final = 48
_TRAILER: Final = 5
_RESTART_INTERVAL: Final = 16
_BLOCK_SIZE: Final = 256 * 1024
# Prefix compression lets a small file spell huge keys; a table's keys may take this much memory.
_KEY_BYTES_FREE: Final = 1 << 24
_KEY_BYTES_PER_BYTE: Final = 32


def read_varint(data: memoryview, position: int, where: str) -> tuple[int, int]:
    """The varint at ``position`` (64 bits at most) and the position after it."""
    result = 0
    for shift in range(0, 70, 7):
        if position >= len(data):
            break
        byte = data[position]
        position += 1
        result |= (byte & 0x7F) << shift
        if byte < 0x80:
            return result, position
    raise corrupt(where, "numbers must end inside the file", f"byte {position} of {len(data)}")


def read_table(data: memoryview, where: str) -> Iterator[tuple[bytes, memoryview]]:
    """Keys and values of a table in order; every block's checksum is verified first.

    Raises ``CheckpointError`` (``checkpoint-truncated``, ``checkpoint-checksum``,
    ``checkpoint-unsupported``, ``bad-checkpoint``).
    """
    _check_footer(data, where)
    footer = data[len(data) - _FOOTER :]
    position = 0
    for _ in range(2):  # the meta block's handle
        _, position = read_varint(footer, position, where)
    budget = _KEY_BYTES_FREE + _KEY_BYTES_PER_BYTE * len(data)
    last: bytes | None = None
    for _, handle in _entries(_block(data, footer[position:], where), where):
        block = _block(data, handle, where)
        if len(block) <= 8:
            raise corrupt(where, "a block must hold entries", "an empty block")
        for key, value in _entries(block, where):
            budget -= len(key)
            if budget < 0:
                raise corrupt(where, "keys must not grow out of proportion", "an absurd prefix")
            if last is not None and key <= last:
                raise corrupt(where, "keys must be unique and sorted", f"{key[:80]!r} out of order")
            last = key
            yield key, value


def _check_footer(data: memoryview, where: str) -> None:
    if len(data) >= _FOOTER and struct.unpack_from("<Q", data, len(data) - 8)[0] == _MAGIC:
        return
    raise CheckpointError(
        f"{where} is not complete",
        check="an index file must end in the table's footer",
        found=f"{len(data)} bytes without the footer's magic number",
        needed="a TensorFlow V2 checkpoint index",
        remedy="the file is truncated or something else: copy or save the checkpoint again",
        code="checkpoint-truncated",
    )


def _block(data: memoryview, handle: memoryview, where: str) -> memoryview:
    """The contents of the block that a handle (offset, size) points to."""
    offset, position = read_varint(handle, 0, where)
    size, _ = read_varint(handle, position, where)
    end = offset + size
    if end + _TRAILER > len(data):
        raise corrupt(
            where, "blocks must lie inside the file", f"bytes {offset}-{end}", f"<= {len(data)}"
        )
    kind, stored = struct.unpack_from("<BI", data, end)
    found = mask(crc32c(data[offset : end + 1]))
    if found != stored:
        raise CheckpointError(
            f"{where} is corrupt",
            check=f"the checksum of the block at byte {offset} must match",
            found=f"{found:#010x}",
            needed=f"{stored:#010x}",
            remedy="copy the checkpoint again, or save it again",
            code="checkpoint-checksum",
        )
    if kind != 0:
        raise CheckpointError(
            f"{where} is compressed",
            check="blocks must be stored as they are; TensorFlow never compresses them",
            found=f"compression type {kind}" + (" (snappy)" if kind == 1 else ""),
            needed="type 0",
            remedy="save the checkpoint again with TensorFlow",
            code="checkpoint-unsupported",
            status="UNIMPLEMENTED",
        )
    return data[offset:end]


def _entries(block: memoryview, where: str) -> Iterator[tuple[bytes, memoryview]]:
    """Keys and values of one block."""
    restarts = struct.unpack_from("<I", block, len(block) - 4)[0] if len(block) >= 4 else -1
    end = len(block) - 4 - 4 * restarts
    if restarts < 0 or end < 0:
        raise corrupt(where, "a block must end in its restart points", f"{restarts} restarts")
    position, key = 0, b""
    while position < end:
        shared, position = read_varint(block, position, where)
        rest, position = read_varint(block, position, where)
        length, position = read_varint(block, position, where)
        stop = position + rest + length
        if shared > len(key) or stop > end:
            raise corrupt(where, "entries must lie inside their block", f"{stop} of {end} bytes")
        key = key[:shared] + bytes(block[position : position + rest])
        yield key, block[position + rest : stop]
        position = stop


def write_table(items: Iterable[tuple[bytes, bytes]]) -> bytes:
    """The bytes of a table; keys must come sorted and unique."""
    out = bytearray()
    index: list[tuple[bytes, bytes]] = []
    pending: list[tuple[bytes, bytes]] = []
    size = 0
    for key, value in items:
        pending.append((key, value))
        size += len(key) + len(value)
        if size >= _BLOCK_SIZE:
            index.append((key, _append_block(out, pending, _RESTART_INTERVAL)))
            pending, size = [], 0
    if pending:
        index.append((pending[-1][0], _append_block(out, pending, _RESTART_INTERVAL)))
    handles = _append_block(out, [], 1) + _append_block(out, index, 1)
    out += handles.ljust(_FOOTER - 8, b"\0") + struct.pack("<Q", _MAGIC)
    return bytes(out)


def _append_block(out: bytearray, items: list[tuple[bytes, bytes]], interval: int) -> bytes:
    """Append a block with its trailer; its handle."""
    block = bytearray()
    restarts: list[int] = []
    last = b""
    for k, (key, value) in enumerate(items):
        shared = 0
        if k % interval == 0:
            restarts.append(len(block))
        else:
            shared = _common(last, key)
        block += write_varint(shared) + write_varint(len(key) - shared) + write_varint(len(value))
        block += key[shared:] + value
        last = key
    restarts = restarts or [0]
    block += struct.pack(f"<{len(restarts)}I", *restarts) + struct.pack("<I", len(restarts))
    handle = write_varint(len(out)) + write_varint(len(block))
    block.append(0)
    out += block + struct.pack("<I", mask(crc32c(bytes(block))))
    return handle


def _common(a: bytes, b: bytes) -> int:
    limit = min(len(a), len(b))
    return next((k for k in range(limit) if a[k] != b[k]), limit)
