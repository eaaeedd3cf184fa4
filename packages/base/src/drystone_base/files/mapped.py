"""Memory of files that are read in place."""

from __future__ import annotations

import mmap
import os
import sys
from typing import TYPE_CHECKING, Any, BinaryIO, Final, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from drystone_base.core.errors import BadModelFile

__all__ = ["MappedFile", "Place", "file_changed", "let_go", "place_of"]


# Else a mapping keeps a descriptor of its own besides, which cannot be asked for.
_ONE_DESCRIPTOR: Final = {"trackfd": False} if sys.version_info >= (3, 13) else {}


class MappedFile(mmap.mmap):
    """A whole file, mapped read-only, with a descriptor of it that stays open as long."""

    descriptor: int = -1
    _written: int = 0

    @classmethod
    def of(cls, file: BinaryIO) -> MappedFile:
        """The mapping of an open file that is not empty; raises ``OSError``, ``ValueError``."""
        mapped = cls(file.fileno(), 0, access=mmap.ACCESS_READ, **_ONE_DESCRIPTOR)
        mapped.descriptor = os.dup(file.fileno())
        mapped._written = os.fstat(mapped.descriptor).st_mtime_ns
        return mapped

    def is_whole(self) -> bool:
        """Whether the file still has the size that is mapped; to read past its end is a signal."""
        return os.fstat(self.descriptor).st_size == len(self)

    def is_untouched(self) -> bool:
        """Whether the file seems unchanged since."""
        now = os.fstat(self.descriptor)
        return now.st_size == len(self) and now.st_mtime_ns == self._written

    def let_go(self) -> None:
        """Take all its pages out of memory; they are read again from the file."""
        if hasattr(mmap, "MADV_DONTNEED"):
            self.madvise(mmap.MADV_DONTNEED)

    def __del__(self) -> None:
        if self.descriptor >= 0:
            os.close(self.descriptor)


def file_changed(found: str) -> BadModelFile:
    """What to raise where a mapped file is seen to hold something else than when it was loaded."""
    from drystone_base.core.errors import BadModelFile

    return BadModelFile(
        "the model's file was changed while the model is in use",
        check="a graph and its large constants are read from the file when they are needed",
        found=found,
        needed="the file as it was when it was loaded",
        remedy="write a new model under another name, move it in place, and load that",
        code="file-changed",
        status="DATA_LOSS",
    )


class Place(NamedTuple):
    """Where a tensor's elements lie: from byte ``offset`` of a mapped file on.

    Each element is what the file has, times ``factors[k // inner % len(factors)]``, a product in
    single precision, where there are factors; ``k`` is its number.
    """

    file: MappedFile
    offset: int
    factors: np.ndarray[Any, np.dtype[np.float32]] | None = None
    inner: int = 1


def _held(array: np.ndarray[Any, Any]) -> Any:
    """What an array's memory belongs to, behind all views."""
    held: Any = array
    while isinstance(held, np.ndarray):
        held = held.base
    return held.obj if isinstance(held, memoryview) else held


def _start(array: np.ndarray[Any, Any], mapped: mmap.mmap) -> int:
    begin: int = array.ctypes.data - np.frombuffer(mapped, np.uint8).ctypes.data
    return begin


def place_of(array: np.ndarray[Any, Any]) -> Place | None:
    """Where a contiguous array lies in the file that it is mapped from; else None."""
    held = _held(array)
    if not isinstance(held, MappedFile) or not array.flags.c_contiguous:
        return None
    return Place(held, _start(array, held))


def let_go(array: np.ndarray[Any, Any]) -> None:
    """Take the pages of a mapped file that lie in a contiguous array out of memory.

    They are read from the file again. Nothing happens for other memory.
    """
    held = _held(array)
    if not isinstance(held, mmap.mmap) or not hasattr(mmap, "MADV_DONTNEED"):
        return
    begin = _start(array, held)
    first = -(-begin // mmap.PAGESIZE) * mmap.PAGESIZE
    last = (begin + array.nbytes) // mmap.PAGESIZE * mmap.PAGESIZE
    if last > first:
        held.madvise(mmap.MADV_DONTNEED, first, last - first)
