"""Sums of files that stores state, as ``ALGORITHM:hex``."""

from __future__ import annotations

import hashlib
from typing import Final, Protocol

__all__ = ["Sum", "sum_of"]

_COPIED: Final = 1 << 18


class Sum(Protocol):
    """What ``hashlib`` makes."""

    def update(self, data: memoryview, /) -> None:
        """Go on with these bytes."""

    def hexdigest(self) -> str:
        """The sum so far."""


class _Crc32c:
    """The CRC that Google's stores state."""

    def __init__(self) -> None:
        self._value = 0

    def update(self, data: memoryview, /) -> None:
        """Go on with these bytes."""
        from google_crc32c import extend

        for start in range(0, len(data), _COPIED):  # it takes no views
            self._value = extend(self._value, bytes(data[start : start + _COPIED]))

    def hexdigest(self) -> str:
        """Four bytes, the highest first."""
        return f"{self._value:08x}"


def sum_of(digest: str) -> Sum | None:
    """What computes a sum like ``digest``; None for a kind that is not known here."""
    kind = digest.partition(":")[0]
    if kind == "crc32c":
        return _Crc32c()
    if kind in ("md5", "sha256"):
        return hashlib.new(kind, usedforsecurity=False)
    return None
