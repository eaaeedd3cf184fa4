"""Random numbers for many outputs at once, each from its own place in one Philox stream.

Rejection samplers use up a number of draws that is not known beforehand; so that the order of work
does not matter, TensorFlow starts each output at a fixed distance from the one before it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from drystone_base.kernels._registry import Array, Call
from drystone_base.kernels.random._philox import Stream
from drystone_base.state.cancellation import check_time

__all__ = ["Draws", "Lanes"]


class Lanes:
    """Positions in a stream, one for each output: lane ``k`` starts at block ``starts[k]``.

    A sampler that rejects numbers may ask for ever more: each time it is looked whether the run of
    ``call`` is over.
    """

    def __init__(self, call: Call, stream: Stream, starts: Array) -> None:
        self._call = call
        self._stream = stream
        self._next = starts.astype(np.uint64)

    def blocks(self, lanes: Array) -> Array:
        """The next block of each lane that is named, uint32 [len(lanes), 4].

        Raises ``KernelError`` (``deadline-exceeded``, ``run-cancelled``).
        """
        check_time(self._call.runtime, f"in node {self._call.node!r} ({self._call.op})")
        found = self._stream.at(self._next[lanes])
        self._next[lanes] += np.uint64(1)
        return found


class Draws:
    """Single numbers out of blocks: ``convert`` makes ``width`` numbers of a block, last first."""

    def __init__(
        self, lanes: Lanes, count: int, convert: Callable[[Array], Array], width: int, dtype: Any
    ) -> None:
        self._lanes = lanes
        self._convert = convert
        self._width = width
        self._kept = np.zeros((count, width), dtype)
        self._left = np.zeros(count, np.int64)

    def __call__(self, lanes: Array) -> Array:
        """The next number of each lane that is named."""
        empty = lanes[self._left[lanes] == 0]
        if empty.size:
            self._kept[empty] = self._convert(self._lanes.blocks(empty))
            self._left[empty] = self._width
        self._left[lanes] -= 1
        return np.asarray(self._kept[lanes, self._left[lanes]])
