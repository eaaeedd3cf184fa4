"""Queues of tuples of tensors: what is behind a queue's handle."""

from __future__ import annotations

import heapq
import itertools
import threading
from collections import deque
from typing import Any, Final

import numpy as np

from drystone_base.core.dtypes import DType
from drystone_base.kernels._registry import Array, Call
from drystone_base.kernels._variants import blank
from drystone_base.kernels._waiting import wait_for
from drystone_base.kernels.random._philox import Stream
from drystone_base.ops.attrs import Shape

__all__ = ["PaddingQueue", "PriorityQueue", "Queue", "ShuffleQueue"]

_order: Final = itertools.count()


class Queue:
    """First in, first out. A negative ``capacity`` is no limit; ``shapes`` may be empty (unknown).

    Safe to use from several threads; what one lacks it waits for as ``wait_for`` says.
    """

    def __init__(self, name: str, types: list[DType], shapes: list[Shape], capacity: int) -> None:
        self.name = name
        self.types = types
        self.shapes = shapes
        self.capacity = capacity
        self.closed = self._cancelled = False
        self._changed = threading.Condition()
        self._adding, self._taking = threading.Lock(), threading.Lock()  # one many-op at a time
        self._items: deque[tuple[Array, ...]] = deque()

    def __len__(self) -> int:
        return len(self._items)

    def _put(self, item: tuple[Array, ...]) -> None:
        self._items.append(item)

    def _take(self) -> tuple[Array, ...]:
        return self._items.popleft()

    def available(self) -> int:
        """How many elements may be taken now."""
        return len(self)

    def check(self, call: Call, item: tuple[Array, ...], skip: int) -> None:
        """Refuse components of another number, dtype or shape (``skip`` leading dims aside)."""
        given = call.attrs["Tcomponents"]
        call.require(
            given == self.types,
            "components must have the queue's types",
            found=given,
            needed=self.types,
        )
        for value, shape in zip(item, self.shapes, strict=False):
            got = value.shape[skip:]
            call.require(
                _fits(shape, got),
                "a component must have the queue's shape",
                found=list(got),
                needed=shape if shape is None else list(shape),
            )

    def enqueue(self, call: Call, items: list[tuple[Array, ...]]) -> None:
        """Add elements, each once there is room; CANCELLED when the queue is closed."""
        with self._adding, self._changed:
            self._require_open(call, self.closed)
            if call.runtime.deadline is None and not self._has_room(len(items)):
                self._wait_for_room(call, len(items))  # all or nothing where nothing can wait
            for item in items:
                self._wait_for_room(call, 1)
                self._require_open(call, self._cancelled)
                self._put(item)
                self._changed.notify_all()

    def _require_open(self, call: Call, closed: bool) -> None:
        call.require(
            not closed,
            "a queue must be open to take elements",
            found=f"{self.name!r} is closed",
            needed="an open queue",
            status="CANCELLED",
        )

    def _has_room(self, count: int) -> bool:
        return self.capacity < 0 or len(self) + count <= self.capacity

    def _wait_for_room(self, call: Call, count: int) -> None:
        wait_for(
            call,
            self._changed,
            lambda: self._cancelled or self._has_room(count),
            "a queue must have room to enqueue",
            lambda: f"queue {self.name!r}: {len(self)} of {self.capacity} places are taken",
        )

    def close(self, cancel: bool = False) -> None:
        """Take no more elements; ``cancel`` stops those that wait for room, too."""
        with self._changed:
            self.closed, self._cancelled = True, self._cancelled or cancel
            self._changed.notify_all()

    def dequeue(self, call: Call, count: int, fewer: bool = False) -> list[tuple[Array, ...]]:
        """Take ``count`` elements, or those left in a closed queue if ``fewer`` will do.

        OUT_OF_RANGE when the queue is closed and has too few; what was taken then is put back.
        """
        call.require(count >= 0, "the number must not be negative", found=count, needed="0 or more")
        taken: list[tuple[Array, ...]] = []
        with self._taking, self._changed:
            try:
                while len(taken) < count and not self._exhausted(call, count, len(taken), fewer):
                    taken.append(self._take())
                    self._changed.notify_all()
            except BaseException:
                self._put_back(taken)
                raise
        return taken

    def _exhausted(self, call: Call, count: int, taken: int, fewer: bool) -> bool:
        """Whether nothing more will come and what was taken will do; else one is available."""
        missing = 1 if call.runtime.deadline is not None else count - taken
        wait_for(
            call,
            self._changed,
            lambda: self.closed or self.available() >= missing,
            "a queue must have elements to dequeue",
            lambda: (
                f"queue {self.name!r}: {taken + self.available()} elements can be taken, "
                f"{count} are asked for"
            ),
        )
        if self.available():
            return False
        call.require(
            fewer and taken,
            "a closed queue must have enough elements",
            found=f"{self.name!r} is closed and has {taken}",
            needed=count,
            status="OUT_OF_RANGE",
        )
        return True

    def _put_back(self, items: list[tuple[Array, ...]]) -> None:
        """Undo taking ``items``."""
        self._items.extendleft(reversed(items))

    def dequeue_stacked(self, call: Call, count: int, fewer: bool = False) -> list[Array]:
        """As :meth:`dequeue`, each component along a new first axis; shapes must be declared."""
        call.require(
            len(self.shapes) == len(self.types),
            "taking several elements needs a queue with declared shapes",
            found="no shapes",
            needed=f"{len(self.types)} shapes",
        )
        items = self.dequeue(call, count, fewer)
        return [self._join([item[k] for item in items], k) for k in range(len(self.types))]

    def _join(self, rows: list[Array], component: int) -> Array:
        shape, dtype = self.shapes[component], self.types[component]
        if not rows:
            return blank((0, *(max(d, 0) for d in shape or ())), dtype)
        return np.stack(rows)


def _fits(want: Shape, got: tuple[int, ...]) -> bool:
    if want is None:
        return True
    return len(want) == len(got) and all(w < 0 or w == g for w, g in zip(want, got, strict=True))


class PaddingQueue(Queue):
    """Elements may differ along unknown dims; taken together they are padded to the largest."""

    def _join(self, rows: list[Array], component: int) -> Array:
        if not rows:
            return super()._join(rows, component)
        dims = [max(sizes) for sizes in zip(*(row.shape for row in rows), strict=True)]
        out = blank((len(rows), *dims), self.types[component])
        for k, row in enumerate(rows):
            where: tuple[Any, ...] = (k, *(slice(0, d) for d in row.shape))
            out[where] = row
        return out


class ShuffleQueue(Queue):
    """Elements come out in random order; ``keep`` stay behind while the queue is open.

    ``numbers`` choose, in the order in which TensorFlow uses them.
    """

    def __init__(
        self,
        name: str,
        types: list[DType],
        shapes: list[Shape],
        capacity: int,
        keep: int,
        numbers: Stream,
    ) -> None:
        super().__init__(name, types, shapes, capacity)
        self._keep = keep
        self._numbers, self._drawn = numbers, 0

    def available(self) -> int:
        """How many elements may be taken now."""
        return len(self) if self.closed else max(0, len(self) - self._keep)

    def _take(self) -> tuple[Array, ...]:
        block, word = divmod(self._drawn, 4)
        chosen = int(self._numbers.skip(block).blocks(1)[0, word]) % len(self._items)
        self._drawn += 1
        self._items[chosen], self._items[-1] = self._items[-1], self._items[chosen]
        return self._items.pop()


class PriorityQueue(Queue):
    """Elements come out by their first component, an int64 scalar, smallest first."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._heap: list[tuple[int, int, tuple[Array, ...]]] = []

    def __len__(self) -> int:
        return len(self._heap)

    def _put(self, item: tuple[Array, ...]) -> None:
        heapq.heappush(self._heap, (int(item[0].item()), next(_order), item))

    def _take(self) -> tuple[Array, ...]:
        return heapq.heappop(self._heap)[2]

    def _put_back(self, items: list[tuple[Array, ...]]) -> None:
        for item in reversed(items):  # before those of equal rank that stayed
            heapq.heappush(self._heap, (int(item[0].item()), -next(_order), item))
