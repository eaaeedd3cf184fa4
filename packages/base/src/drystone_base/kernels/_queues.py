"""Queues of tuples of tensors: what is behind a queue's handle."""

from __future__ import annotations

import heapq
import itertools
import random
from collections import deque
from typing import Any, Final, NoReturn

import numpy as np

from drystone_base.dtypes import DType
from drystone_base.errors import KernelError
from drystone_base.kernels._registry import Array, Call
from drystone_base.kernels._variants import blank
from drystone_base.ops.attrs import Shape

__all__ = ["PaddingQueue", "PriorityQueue", "Queue", "ShuffleQueue"]

_order: Final = itertools.count()


class Queue:
    """First in, first out. A negative ``capacity`` is no limit; ``shapes`` may be empty (unknown).

    One step at a time: where TensorFlow would wait for another thread, an error says so.
    """

    def __init__(self, name: str, types: list[DType], shapes: list[Shape], capacity: int) -> None:
        self.name = name
        self.types = types
        self.shapes = shapes
        self.capacity = capacity
        self.closed = False
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
        """Add elements; CANCELLED when the queue is closed."""
        call.require(
            not self.closed,
            "a queue must be open to take elements",
            found=f"{self.name!r} is closed",
            needed="an open queue",
            status="CANCELLED",
        )
        if 0 <= self.capacity < len(self) + len(items):
            self._would_block(call, f"{len(self)} of {self.capacity} places are taken")
        for item in items:
            self._put(item)

    def dequeue(self, call: Call, count: int, fewer: bool = False) -> list[tuple[Array, ...]]:
        """Take ``count`` elements, or those left in a closed queue if ``fewer`` will do.

        OUT_OF_RANGE when the queue is closed and has too few.
        """
        call.require(count >= 0, "the number must not be negative", found=count, needed="0 or more")
        ready = self.available()
        if ready < count and not self.closed:
            self._would_block(call, f"{ready} elements can be taken, {count} are asked for")
        call.require(
            ready >= count or (fewer and ready > 0),
            "a closed queue must have enough elements",
            found=f"{self.name!r} is closed and has {ready}",
            needed=count,
            status="OUT_OF_RANGE",
        )
        return [self._take() for _ in range(min(count, ready))]

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

    def _would_block(self, call: Call, found: str) -> NoReturn:
        raise KernelError(
            f"node {call.node!r} ({call.op}) would wait for ever",
            check="a queue must have room to enqueue, and elements to dequeue",
            found=f"queue {self.name!r}: {found}",
            needed="another step that fills or empties the queue first",
            remedy="run the steps that feed the queue before this one; nothing runs beside it",
            code="queue-would-block",
            status="DEADLINE_EXCEEDED",
        )


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
    """Elements come out in random order; ``keep`` stay behind while the queue is open."""

    def __init__(
        self,
        name: str,
        types: list[DType],
        shapes: list[Shape],
        capacity: int,
        keep: int,
        seed: int | None,
    ) -> None:
        super().__init__(name, types, shapes, capacity)
        self._keep = keep
        self._random = random.Random(seed)

    def available(self) -> int:
        """How many elements may be taken now."""
        return len(self) if self.closed else max(0, len(self) - self._keep)

    def _take(self) -> tuple[Array, ...]:
        chosen = self._random.randrange(len(self._items))
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
