"""Elements in random order, in TensorFlow's for equal seeds."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

import numpy as np

from drystone_base.kernels._registry import Call
from drystone_base.kernels.data._datasets.base import (
    INFINITE,
    UNKNOWN,
    Context,
    Dataset,
    Element,
    Next,
    Unary,
)
from drystone_base.kernels.data._datasets.seeds import SeedGenerator, words
from drystone_base.kernels.random._philox import floats

__all__ = ["Sampled", "Shuffled"]

_MAX_EPOCHS = 3
"""The most epochs whose elements are held at one time."""


class Shuffled(Unary):
    """``count`` epochs of elements drawn from a buffer of ``size``; epochs do not mix.

    A ``count`` of -1 is no end, a ``size`` of -2 room for all elements. Where two others read one
    shuffled dataset, each gets the next seeds, as in TensorFlow without its optimizations of
    pipelines: those copy such a dataset, and both copies begin with the same seeds.
    """

    def __init__(
        self, call: Call, source: Dataset, size: int, generator: SeedGenerator, count: int = 1
    ) -> None:
        super().__init__(call, source)
        self.size, self.generator, self.count = size, generator, count

    def iterate(self, context: Context) -> Next:
        """Fill the buffer, then draw from the oldest epoch in it."""
        return _Shuffling(self, context).advance

    def cardinality(self) -> int:
        """That of the source, ``count`` times."""
        one = self.source.cardinality()
        if self.count == -1 or one == INFINITE:
            return 0 if one == 0 and self.count != -1 else INFINITE
        return UNKNOWN if one == UNKNOWN else one * self.count


class _Shuffling:
    """One iteration: the buffer as one list for each epoch, oldest first."""

    def __init__(self, dataset: Shuffled, context: Context) -> None:
        self.dataset, self.context = dataset, context
        self.stream: Iterator[int] = words(*dataset.generator.seeds())
        self.epochs: deque[list[Element]] = deque([[]])
        self.starts: deque[int] = deque([0])
        self.held = 0
        self.epoch = 0
        self.input: Next | None = dataset.source.iterate(context)
        self.fresh = True

    def advance(self) -> Element | None:
        self.fill()
        if not self.held:
            return None
        while self.starts[0] == len(self.epochs[0]):
            self.epochs.popleft()
            self.starts.popleft()
            self.stream = words(*self.dataset.generator.seeds())
        items, start = self.epochs[0], self.starts[0]
        index = start + next(self.stream) % (len(items) - start)
        chosen = items[index]
        items[index] = items[start]
        items[start] = []
        self.starts[0] += 1
        self.held -= 1
        return chosen

    def fill(self) -> None:
        size = self.dataset.size
        while self.input is not None and (size < 0 or self.held < size):
            self.context.tick(self.dataset.call)
            element = self.following()
            if element is None:
                self.input = None
                return
            self.epochs[-1].append(element)
            self.held += 1
            if len(self.epochs) > _MAX_EPOCHS:
                return

    def following(self) -> Element | None:
        """The next element of this epoch or a later one, or None after the last."""
        count = self.dataset.count
        while count == -1 or self.epoch < count:
            self.context.tick(self.dataset.call)
            assert self.input is not None
            element = self.input()
            if element is not None:
                self.fresh = False
                return element
            if self.fresh and count == -1:
                return None  # an empty source would be asked for ever
            self.epoch += 1
            self.epochs.append([])
            self.starts.append(0)
            if self.epoch != count:
                self.input = self.dataset.source.iterate(self.context)
        return None


class Sampled(Unary):
    """Each element with probability ``rate``."""

    def __init__(self, call: Call, source: Dataset, rate: float, seeds: tuple[int, int]) -> None:
        super().__init__(call, source)
        self.rate, self.seeds = rate, seeds

    def iterate(self, context: Context) -> Next:
        """One random number for each element of the source."""
        source, stream = self.source.iterate(context), words(*self.seeds)

        def advance() -> Element | None:
            while (element := source()) is not None:
                context.tick(self.call)
                if floats(np.array(next(stream), np.uint32)) < self.rate:
                    return element
            return None

        return advance

    def cardinality(self) -> int:
        """Unknown: chance decides."""
        return UNKNOWN
