"""Memory of files that are read in place."""

from __future__ import annotations

import mmap
from typing import Any

import numpy as np

__all__ = ["let_go"]


def let_go(array: np.ndarray[Any, Any]) -> None:
    """Take the pages of a mapped file that lie in a contiguous array out of memory.

    Whoever reads them again gets them from the file. Nothing happens for other memory.
    """
    held: Any = array
    while isinstance(held, np.ndarray):
        held = held.base
    if isinstance(held, memoryview):
        held = held.obj
    if not isinstance(held, mmap.mmap) or not hasattr(mmap, "MADV_DONTNEED"):
        return
    begin = array.ctypes.data - np.frombuffer(held, np.uint8).ctypes.data
    first = -(-begin // mmap.PAGESIZE) * mmap.PAGESIZE
    last = (begin + array.nbytes) // mmap.PAGESIZE * mmap.PAGESIZE
    if last > first:
        held.madvise(mmap.MADV_DONTNEED, first, last - first)
