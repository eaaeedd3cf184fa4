"""A list of small numbers whose order is told by labels, which is cheap to change anywhere.

Labels have gaps. Where one is used up, the smallest stretch around it that is not too full gets
new labels: the bookkeeping of Bender, Cole, Demaine, Farach-Colton and Zito, "Two simplified
algorithms for maintaining order in a list" (2002).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

__all__ = ["OrderedList"]

_GAP: Final = 1 << 24
_THINNER: Final = 1.4
"""How much thinner a stretch must be for every doubling of it."""


class OrderedList:
    """Numbers below ``count``, each at most once; ``labels[k]`` ascends along the list."""

    def __init__(self, items: Iterable[int], count: int) -> None:
        self.labels = [0] * count
        self._end = count
        self._next = list(range(1, count + 2))
        self._before = list(range(-1, count + 1))
        last = self._end
        for place, item in enumerate(items, 1):
            self.labels[item] = place * _GAP
            self._link(last, item)
            last = item
        self._link(last, self._end)

    def __iter__(self) -> Iterator[int]:
        item = self._next[self._end]
        while item != self._end:
            yield item
            item = self._next[item]

    def remove(self, item: int) -> None:
        """Take an item out."""
        self._link(self._before[item], self._next[item])

    def take_place(self, item: int, other: int) -> None:
        """Put ``item`` where ``other`` is, which leaves the list."""
        self.remove(item)
        self._link(self._before[other], item)
        self._link(item, self._next[other])
        self.labels[item] = self.labels[other]

    def move_after(self, place: int, items: Sequence[int]) -> None:
        """Put items, in their order, right behind ``place``, which is none of them."""
        for item in items:
            self.remove(item)
        self._insert(place, items)

    def move_before(self, place: int, items: Sequence[int]) -> None:
        """Put items, in their order, right before ``place``, which is none of them."""
        for item in items:
            self.remove(item)
        self._insert(self._before[place], items)

    def _link(self, a: int, b: int) -> None:
        self._next[a], self._before[b] = b, a

    def _insert(self, place: int, items: Sequence[int]) -> None:
        if not items:
            return
        after = self._next[place]
        low = self._label(place, 0)
        high = self._label(after, low + (len(items) + 1) * _GAP)
        last = place
        for item in items:
            self._link(last, item)
            last = item
        self._link(last, after)
        step = (high - low) // (len(items) + 1)
        if step:
            for k, item in enumerate(items, 1):
                self.labels[item] = low + k * step
        else:
            self._spread(items[0], last)

    def _label(self, item: int, at_the_end: int) -> int:
        return at_the_end if item == self._end else self.labels[item]

    def _spread(self, first: int, last: int) -> None:
        """New labels for a stretch around ``first`` .. ``last``, widened until they fit well."""
        count = 1 + sum(1 for _ in self._walk(first, last))
        room = 2.0
        while True:
            for _ in range(count):
                if self._before[first] != self._end:
                    first, count = self._before[first], count + 1
                if self._next[last] != self._end:
                    last, count = self._next[last], count + 1
            low = self._label(self._before[first], 0)
            high = self._label(self._next[last], low + (count + 1) * _GAP)
            room *= _THINNER
            if (high - low) // (count + 1) > min(room, _GAP // 2):
                break
        step = (high - low) // (count + 1)
        item = first
        for k in range(1, count + 1):
            self.labels[item] = low + k * step
            item = self._next[item]

    def _walk(self, first: int, last: int) -> Iterator[int]:
        while first != last:
            yield first
            first = self._next[first]
