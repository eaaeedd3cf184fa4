"""Datasets that pass elements on: some of them, several times, from several sources."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from drystone_base.core.errors import DrystoneError
from drystone_base.kernels._registry import Array, Call
from drystone_base.kernels.data._datasets.base import (
    INFINITE,
    UNKNOWN,
    Context,
    Dataset,
    Element,
    Next,
    Unary,
)

__all__ = [
    "CacheStore",
    "Cached",
    "Counted",
    "Directed",
    "Joined",
    "Repeated",
    "Sharded",
    "Skipped",
    "Taken",
    "Unfailing",
    "Uniques",
    "Zipped",
]

_IGNORED: Final = frozenset({"DEADLINE_EXCEEDED", "CANCELLED"})


class Zipped(Dataset):
    """One element of each source, their components one after the other; ends with the first."""

    def __init__(self, call: Call, sources: Sequence[Dataset]) -> None:
        super().__init__(call)
        self.sources = sources

    def iterate(self, context: Context) -> Next:
        """Side by side."""
        inputs = [s.iterate(context) for s in self.sources]

        def advance() -> Element | None:
            whole: Element = []
            for source in inputs:
                element = source()
                if element is None:
                    return None
                whole += element
            return whole

        return advance

    def cardinality(self) -> int:
        """The least of the known ones; unknown if any is."""
        found = [s.cardinality() for s in self.sources]
        if UNKNOWN in found:
            return UNKNOWN
        return min((n for n in found if n != INFINITE), default=INFINITE)


class Joined(Dataset):
    """The elements of one source, then those of another."""

    def __init__(self, call: Call, first: Dataset, second: Dataset) -> None:
        super().__init__(call)
        self.first, self.second = first, second

    def iterate(self, context: Context) -> Next:
        """One after the other."""
        waiting = [self.second]
        source = self.first.iterate(context)

        def advance() -> Element | None:
            nonlocal source
            element = source()
            while element is None and waiting:
                source = waiting.pop().iterate(context)
                element = source()
            return element

        return advance

    def cardinality(self) -> int:
        """The sum."""
        found = [self.first.cardinality(), self.second.cardinality()]
        if INFINITE in found:
            return INFINITE
        return UNKNOWN if UNKNOWN in found else sum(found)


class Repeated(Unary):
    """The source ``count`` times, without end for a negative count."""

    def __init__(self, call: Call, source: Dataset, count: int) -> None:
        super().__init__(call, source)
        self.count = count

    def iterate(self, context: Context) -> Next:
        """Epoch after epoch; an empty one ends an endless repetition."""
        left = self.count
        if left == 0:
            return lambda: None
        source: Next | None = self.source.iterate(context)
        fresh = True

        def advance() -> Element | None:
            nonlocal source, fresh, left
            while source is not None:
                context.tick(self.call)
                element = source()
                if element is not None:
                    fresh = False
                    return element
                left -= 1
                stop = left == 0 or (fresh and self.count < 0)
                source = None if stop else self.source.iterate(context)
                fresh = True
            return None

        return advance

    def cardinality(self) -> int:
        """That of the source, ``count`` times."""
        one = self.source.cardinality()
        if self.count < 0:
            return 0 if one == 0 else INFINITE
        if self.count == 0:
            return 0
        return one if one < 0 else one * self.count


class Taken(Unary):
    """The first ``count`` elements, all for a negative count."""

    def __init__(self, call: Call, source: Dataset, count: int) -> None:
        super().__init__(call, source)
        self.count = count

    def iterate(self, context: Context) -> Next:
        """As many as asked for."""
        if self.count < 0:
            return self.source.iterate(context)
        if self.count == 0:
            return lambda: None
        source, taken = self.source.iterate(context), 0

        def advance() -> Element | None:
            nonlocal taken
            if taken >= self.count:
                return None
            element = source()
            taken = self.count if element is None else taken + 1
            return element

        return advance

    def cardinality(self) -> int:
        """At most ``count``."""
        one = self.source.cardinality()
        if one == UNKNOWN:
            return UNKNOWN
        if one == INFINITE:
            return self.count if self.count >= 0 else INFINITE
        return one if self.count < 0 else min(one, self.count)


class Skipped(Unary):
    """All but the first ``count`` elements, none for a negative count."""

    def __init__(self, call: Call, source: Dataset, count: int) -> None:
        super().__init__(call, source)
        self.count = count

    def iterate(self, context: Context) -> Next:
        """Those are dropped when the first element is asked for."""
        if self.count < 0:
            return lambda: None
        source, left = self.source.iterate(context), self.count

        def advance() -> Element | None:
            nonlocal left
            while left:
                context.tick(self.call)
                if source() is None:
                    return None
                left -= 1
            return source()

        return advance

    def cardinality(self) -> int:
        """What is left."""
        one = self.source.cardinality()
        if one in (UNKNOWN, INFINITE):
            return one
        return 0 if self.count < 0 else max(0, one - self.count)


class Sharded(Unary):
    """Every ``shards``-th element, from that of ``index`` on."""

    def __init__(self, call: Call, source: Dataset, shards: int, index: int) -> None:
        super().__init__(call, source)
        self.shards, self.index = shards, index

    def iterate(self, context: Context) -> Next:
        """The others are read and dropped; with ``require_non_empty`` there must be one."""
        source, position = self.source.iterate(context), -1
        strict = self.call.attrs.get("require_non_empty", False)

        def advance() -> Element | None:
            nonlocal position
            while (element := source()) is not None:
                context.tick(self.call)
                position += 1
                if position % self.shards == self.index:
                    return element
            self.call.require(
                not strict or position + 1 >= self.shards,
                "every shard must have an element",
                found=f"{position + 1} elements in {self.shards} shards",
                needed="an element for each",
            )
            return None

        return advance

    def cardinality(self) -> int:
        """Its share."""
        one = self.source.cardinality()
        if one < 0:
            return one
        return one // self.shards + (self.index < one % self.shards)


class CacheStore:
    """Elements of one complete iteration, kept for all later ones."""

    def __init__(self) -> None:
        self.items: list[Element] | None = None


class Cached(Unary):
    """The source; once it was read to its end, what it gave then."""

    def __init__(self, call: Call, source: Dataset, store: CacheStore) -> None:
        super().__init__(call, source)
        self.store = store

    def iterate(self, context: Context) -> Next:
        """From memory if it is all there, else from the source."""
        mode: Next | None = None

        def advance() -> Element | None:
            nonlocal mode
            if mode is None:
                mode = self._reading() if self.store.items is not None else self._writing(context)
            return mode()

        return advance

    def _reading(self) -> Next:
        items = iter(self.store.items or ())
        return lambda: next(items, None)

    def _writing(self, context: Context) -> Next:
        source = self.source.iterate(context)
        items: list[Element] = []

        def advance() -> Element | None:
            element = source()
            if element is not None:
                items.append(element)
            elif self.store.items is None:
                self.store.items = items
            return element

        return advance


class Counted(Unary):
    """The source, which must have as many elements as said."""

    def __init__(self, call: Call, source: Dataset, count: int) -> None:
        super().__init__(call, source)
        self.count = count

    def iterate(self, context: Context) -> Next:
        """Elements, counted."""
        source, seen = self.source.iterate(context), 0

        def advance() -> Element | None:
            nonlocal seen
            element = source()
            seen += element is not None
            wrong = seen > self.count >= 0 if element is not None else seen != self.count
            if wrong and self.count != UNKNOWN:
                said = "an infinite number of" if self.count == INFINITE else str(self.count)
                self.call.fail(
                    "a dataset must have the asserted number of elements",
                    found=f"{'at least ' if element is not None else ''}{seen} elements",
                    needed=f"{said} elements",
                    status="FAILED_PRECONDITION",
                )
            return element

        return advance

    def cardinality(self) -> int:
        """As asserted."""
        return self.count


class Unfailing(Unary):
    """The source without the elements that fail."""

    def iterate(self, context: Context) -> Next:
        """Asks again after each failure; a deadline is not one."""
        source = self.source.iterate(context)

        def advance() -> Element | None:
            while True:
                context.tick(self.call)
                try:
                    return source()
                except DrystoneError as error:
                    if error.status in _IGNORED:
                        raise

        return advance

    def cardinality(self) -> int:
        """Unknown, or none at all."""
        one = self.source.cardinality()
        return one if one == INFINITE else UNKNOWN


class Uniques(Unary):
    """Elements that did not come before."""

    def iterate(self, context: Context) -> Next:
        """By their bytes."""
        source = self.source.iterate(context)
        seen: set[object] = set()

        def advance() -> Element | None:
            while (element := source()) is not None:
                context.tick(self.call)
                key = _key(element[0])
                if key not in seen:
                    seen.add(key)
                    return element
            return None

        return advance

    def cardinality(self) -> int:
        """Unknown."""
        return UNKNOWN


def _key(value: Array) -> object:
    return tuple(value.ravel().tolist()) if value.dtype.hasobject else value.tobytes()


class Directed(Dataset):
    """Elements of several sources; another dataset says whose turn it is."""

    def __init__(self, call: Call, selector: Dataset, sources: Sequence[Dataset]) -> None:
        super().__init__(call)
        self.selector, self.sources = selector, sources

    def iterate(self, context: Context) -> Next:
        """An exhausted source is passed over, or ends all with ``stop_on_empty_dataset``."""
        selector: Next | None = self.selector.iterate(context)
        inputs: list[Next | None] = [s.iterate(context) for s in self.sources]
        stop = self.call.attrs.get("stop_on_empty_dataset", False)

        def advance() -> Element | None:
            nonlocal selector
            while selector is not None:
                context.tick(self.call)
                if not any(inputs) or (choice := selector()) is None:
                    break
                index = self._index(choice[0])
                source = inputs[index]
                element = source() if source is not None else None
                if element is not None:
                    return element
                inputs[index] = None
                if stop:
                    break
            selector = None
            return None

        return advance

    def _index(self, choice: Array) -> int:
        index = int(choice)
        self.call.require(
            0 <= index < len(self.sources),
            "the selector must name one of the datasets",
            found=index,
            needed=f"0 <= index < {len(self.sources)}",
        )
        return index

    def cardinality(self) -> int:
        """Unknown, unless no source has an end."""
        found = [s.cardinality() for s in self.sources]
        if self.selector.cardinality() == INFINITE and (all(n == INFINITE for n in found)):
            return INFINITE
        return UNKNOWN
