"""A Philox stream that is used up number by number, in order."""

from __future__ import annotations

from typing import Final

import numpy as np

from drystone_base.kernels._registry import Array
from drystone_base.kernels.random._philox import Stream, doubles, floats

__all__ = ["Serial"]

_CHUNK: Final = 256


def _array(*words: int) -> Array:
    return np.array(words, np.uint32)


class Serial:
    """Single numbers from a stream; each takes one 32-bit word, or two."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self._words: list[int] = []
        self._at = 0

    def word(self) -> int:
        """32 bits."""
        if self._at == len(self._words):
            self._words = self._stream.blocks(_CHUNK).ravel().tolist()
            self._stream = self._stream.skip(_CHUNK)
            self._at = 0
        self._at += 1
        return self._words[self._at - 1]

    def wide(self) -> int:
        """64 bits, the lower half first."""
        low = self.word()
        return low | self.word() << 32

    def single(self) -> float:
        """A float32 number in [0, 1)."""
        return float(floats(_array(self.word()))[0])

    def double(self) -> float:
        """A float64 number in [0, 1)."""
        return float(doubles(_array(self.word(), self.word())))

    def below(self, limit: int, *, bits: int = 64) -> int:
        """An integer in [0, limit), each equally likely; 0 uses up a number for a limit of 0."""
        draw = self.wide if bits == 64 else self.word
        if limit & (limit - 1) == 0:
            return draw() & (limit - 1) if limit else draw() * 0
        rest = ((1 << bits) - 1) % limit + 1
        found = draw()
        while found < rest:
            found = draw()
        return found % limit
