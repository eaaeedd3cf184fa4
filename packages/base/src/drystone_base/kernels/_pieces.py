"""Elements in pieces: what turns all of a large tensor into Python's objects in one go keeps the
interpreter's lock for seconds, and neither a deadline nor Ctrl-C is seen meanwhile.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from drystone_base.kernels._registry import Array

__all__ = ["PIECE", "elements"]

PIECE: Final = 1 << 16
"""Elements that are made in one go; whole blocks of random numbers."""


def elements(array: Array) -> Iterator[Any]:
    """The elements as Python's objects, row by row."""
    flat = array.ravel()
    for begin in range(0, flat.size, PIECE):
        yield from flat[begin : begin + PIECE].tolist()
