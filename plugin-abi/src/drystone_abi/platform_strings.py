"""Read what TF_PLATFORM_STRINGS() wrote into a library, without opening the library as code.

The file is read as bytes, a block at a time: it may be for another machine, truncated, or no
library at all. `include/drystone/platform_strings.h` states the format.
"""

from __future__ import annotations

import errno
import io
import os
import stat
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from typing import Protocol
else:
    Protocol = object  # a class for the type checker only

__all__ = [
    "ABI_VERSION_RECORD",
    "FORMAT_RECORD",
    "MAGIC",
    "find_platform_strings",
    "parse_records",
    "read_platform_strings",
]

MAGIC: Final = b"\x00S\\s\x22:^p*L}"
"""The eleven bytes that begin a record."""

FORMAT_RECORD: Final = "TF_PLAT_STR_VERSION"
"""Name of the record with the version of the format: the first of a library."""

ABI_VERSION_RECORD: Final = "DRYSTONE_ABI_VERSION"
"""Name of the record with the version of the plugin ABI that a library was built for."""

_LONGEST: Final = 4096
_BLOCK: Final = 1 << 16  # stays in a processor's cache while it is searched


class _Readable(Protocol):
    def read(self, size: int, /) -> bytes | None:
        """Up to `size` bytes; none at the end."""


def read_platform_strings(path: str | os.PathLike[str]) -> list[str]:
    """The records of a file, `NAME=value` each, in the order they lie in it; [] when it has none.

    Raises OSError when the file cannot be read or is not a regular file. Bytes that are not ASCII
    come back escaped, and a record is cut after 4096 bytes: nothing in a file can make this fail.
    """
    with open(path, "rb", buffering=0, opener=_open_regular) as file:
        return _texts(file)


def find_platform_strings(data: bytes) -> list[str]:
    """The same for the bytes of a library that has been read already."""
    return _texts(io.BytesIO(data))


def parse_records(records: Iterable[str]) -> dict[str, str]:
    """Records as a mapping from macro to value; the first of a name wins, one without `=` is ''."""
    found: dict[str, str] = {}
    for record in records:
        name, _, value = record.partition("=")
        found.setdefault(name, value)
    return found


def _texts(file: _Readable) -> list[str]:
    return [raw.decode("ascii", "backslashreplace") for raw in _records(file) if raw]


def _open_regular(path: str, flags: int) -> int:
    """Open without waiting for a pipe's other end, and refuse what is not a regular file."""
    descriptor = os.open(path, flags | getattr(os, "O_NONBLOCK", 0))
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "not a regular file", path)
    return descriptor


def _records(file: _Readable) -> Iterator[bytes]:
    """Texts after each magic, up to the NUL that follows, the end of the file or the limit."""
    data = b""
    while True:
        piece = file.read(_BLOCK) or b""
        data += piece
        done = 0
        while (found := data.find(MAGIC, done)) >= 0:
            start = found + len(MAGIC)
            end = data.find(0, start, start + _LONGEST)
            if end < 0 and piece and len(data) < start + _LONGEST:
                break  # the rest lies in the next piece
            done = end if end >= 0 else min(start + _LONGEST, len(data))
            yield data[start:done]
        if not piece:
            return
        data = data[found if found >= 0 else max(done, len(data) - len(MAGIC) + 1) :]
