"""Files of records: each is a length, a checksum of it, the bytes, and a checksum of those.

The length is a little-endian uint64, a checksum a masked CRC-32C (``write_record`` adds 16 bytes to
a record). Files may be compressed as a whole. Source: TensorFlow ``record_writer.h``.
"""

from __future__ import annotations

import io
import struct
import zlib
from collections.abc import Iterator
from typing import BinaryIO, Final, cast

from drystone_base.checkpoint._crc import crc32c, mask
from drystone_base.core.errors import KernelError
from drystone_base.kernels._limits import byte_limit

__all__ = ["RECORD_OVERHEAD", "decompressed", "read_records", "write_record"]

_HEADER: Final = struct.Struct("<QI")
_CRC: Final = struct.Struct("<I")
_PIECE: Final = 1 << 18
_WINDOW_BITS: Final = {"GZIP": 31, "ZLIB": 15}

RECORD_OVERHEAD: Final = _HEADER.size + _CRC.size
"""The bytes that a record takes beside its own."""


def read_records(
    stream: BinaryIO, compression: str = "", where: str = "a record file"
) -> Iterator[bytes]:
    """The records of a stream in order; ``compression`` is as for :func:`decompressed`.

    ``where`` names the file in errors. A rest that is too short for a record's header ends the
    file. Raises ``KernelError`` (``bad-record``, DATA_LOSS) for a record that is cut off or does
    not have its checksum.
    """
    data = decompressed(stream, compression, where)
    offset = 0
    while len(header := _read(data, _HEADER.size)) == _HEADER.size:
        length, crc = _HEADER.unpack(header)
        _check_crc(header[:8], crc, f"{where}: record at {offset}", "the length")
        _check_length(length, f"{where}: record at {offset}")
        record, tail = _read(data, length), _read(data, _CRC.size)
        if len(tail) < _CRC.size:
            found = f"{len(record)} of {length} bytes and {len(tail)} of their checksum"
            raise _bad_record(f"{where}: record at {offset}", "must be whole", found)
        _check_crc(record, _CRC.unpack(tail)[0], f"{where}: record at {offset}", "the bytes")
        yield record
        offset += length + RECORD_OVERHEAD


def write_record(stream: BinaryIO, data: bytes) -> None:
    """Append one record."""
    length = struct.pack("<Q", len(data))
    stream.write(length + _CRC.pack(mask(crc32c(length))))
    stream.write(data)
    stream.write(_CRC.pack(mask(crc32c(data))))


def decompressed(
    stream: BinaryIO, compression: str = "", where: str = "a compressed file"
) -> BinaryIO:
    """A stream of what ``stream`` holds: ``GZIP`` (parts may follow each other) or ``ZLIB``.

    Any other name means no compression, as it does in TensorFlow, but for ``SNAPPY``: raises
    ``KernelError`` (UNIMPLEMENTED). Data that do not inflate raise ``bad-record``; where they are
    cut off, the stream ends.
    """
    if compression == "SNAPPY":
        raise KernelError(
            f"{where} cannot be read",
            check="the compression must be one that this runtime has",
            found=compression,
            needed="none, ZLIB or GZIP",
            remedy="write the file again with one of these",
            status="UNIMPLEMENTED",
        )
    if compression not in _WINDOW_BITS:
        return stream
    return cast(BinaryIO, io.BufferedReader(_Inflated(stream, compression, where), _PIECE))


class _Inflated(io.RawIOBase):
    """Reads a deflated stream piece by piece."""

    def __init__(self, stream: BinaryIO, compression: str, where: str) -> None:
        self._stream, self._kind, self._where = stream, compression, where
        self._machine = zlib.decompressobj(_WINDOW_BITS[compression])
        self._rest = b""  # compressed bytes that the machine has not taken

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: object) -> int:
        into = memoryview(cast(bytearray, buffer)).cast("B")
        while True:
            if self._machine.eof and not self._next_part():
                return 0
            piece = self._rest or self._stream.read(_PIECE)
            out = self._inflate(piece, len(into))
            if out:
                into[: len(out)] = out
                return len(out)
            if not piece:
                return 0

    def _inflate(self, piece: bytes, limit: int) -> bytes:
        try:
            out = self._machine.decompress(piece, limit)
        except zlib.error as error:
            found = str(error)
            raise _bad_record(self._where, f"must be {self._kind} data", found) from error
        self._rest = self._machine.unconsumed_tail or self._machine.unused_data
        return out

    def _next_part(self) -> bool:
        """Whether another compressed part begins; only GZIP files have several."""
        self._rest = self._rest or self._stream.read(_PIECE)
        if not self._rest or self._kind != "GZIP":
            return False
        self._machine = zlib.decompressobj(_WINDOW_BITS[self._kind])
        return True


def _read(stream: BinaryIO, size: int) -> bytes:
    """Up to ``size`` bytes; memory is taken as they come, whatever the size claims."""
    parts: list[bytes] = []
    while size > 0 and (part := stream.read(min(size, _PIECE))):
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def _check_crc(data: bytes, stored: int, where: str, what: str) -> None:
    found = mask(crc32c(data))
    if found != stored:
        check = f"the checksum of {what} must match"
        raise _bad_record(where, check, f"{found:#010x}", f"{stored:#010x}")


def _check_length(length: int, where: str) -> None:
    if length > byte_limit():
        raise KernelError(
            f"{where} cannot be read",
            check="a record must fit in this machine's memory",
            found=f"{length} bytes",
            needed=f"at most {byte_limit()} bytes",
            remedy="the file may be corrupt: write it again, or cut its records smaller",
            status="RESOURCE_EXHAUSTED",
        )


def _bad_record(where: str, check: str, found: object, needed: object = "") -> KernelError:
    return KernelError(
        f"{where} cannot be read",
        check=check,
        found=found,
        needed=needed,
        remedy="is it a file of records, compressed as the op says? Copy it again if it is",
        code="bad-record",
        status="DATA_LOSS",
    )
