"""Datasets that put elements together, or take them apart."""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from drystone_base.core.errors import DrystoneError
from drystone_base.kernels._limits import check_size
from drystone_base.kernels._registry import Array, Call
from drystone_base.kernels._variants import blank
from drystone_base.kernels.data._datasets.base import (
    INFINITE,
    UNKNOWN,
    Context,
    Dataset,
    Element,
    Function,
    Next,
    Unary,
    stacked,
)
from drystone_base.ops.attrs import Shape

__all__ = ["Batched", "MapBatched", "Padded", "Rebatched", "Sparse", "Split", "Unbatched"]


class Batched(Unary):
    """``size`` elements as one; the last may have fewer, or is dropped."""

    def __init__(self, call: Call, source: Dataset, size: int, drop: bool) -> None:
        super().__init__(call, source)
        self.size, self.drop = size, drop

    def iterate(self, context: Context) -> Next:
        """Batch by batch."""
        source: Next | None = self.source.iterate(context)

        def advance() -> Element | None:
            nonlocal source
            rows: list[Element] = []
            while source is not None and len(rows) < self.size:
                context.tick(self.call)
                element = source()
                if element is None:
                    source = None
                else:
                    rows.append(element)
            if not rows or (self.drop and len(rows) < self.size):
                return None
            return self.join(rows)

        return advance

    def join(self, rows: list[Element]) -> Element:
        """One element of several."""
        return stacked(self.call, rows, self.types)

    def cardinality(self) -> int:
        """The number of batches."""
        one = self.source.cardinality()
        if one < 0:
            return one
        return one // self.size if self.drop else -(-one // self.size)


class Padded(Batched):
    """Batches of elements that are padded to one shape: the given one, or the largest."""

    def __init__(
        self,
        call: Call,
        source: Dataset,
        size: int,
        drop: bool,
        shapes: Sequence[tuple[int, ...]],
        fills: Sequence[Array],
    ) -> None:
        super().__init__(call, source, size, drop)
        self.padded, self.fills = shapes, fills

    def join(self, rows: list[Element]) -> Element:
        """Component by component."""
        return [self._join([row[k] for row in rows], k) for k in range(len(self.types))]

    def _join(self, values: list[Array], component: int) -> Array:
        want = self.padded[component]
        for value in values:
            ok = value.ndim == len(want) and all(
                w < 0 or n <= w for n, w in zip(value.shape, want, strict=True)
            )
            self.call.require(
                ok,
                "an element must fit into the padded shape",
                found=f"component {component}: {list(value.shape)}",
                needed=f"at most {list(want)}",
                status="INVALID_ARGUMENT" if value.ndim != len(want) else "DATA_LOSS",
            )
        largest = [max(dims) for dims in zip(*(v.shape for v in values), strict=True)]
        dims = [n if w < 0 else w for n, w in zip(largest, want, strict=True)]
        dtype = self.types[component]
        out = blank(check_size(self.call, (len(values), *dims), dtype.np), dtype)
        out[...] = self.fills[component]
        for k, value in enumerate(values):
            where: tuple[Any, ...] = (k, *(slice(0, n) for n in value.shape), ...)
            out[where] = value
        return out


class Sparse(Batched):
    """Batches of dense elements as one sparse tensor, shown as a variant vector of its parts."""

    def __init__(self, call: Call, source: Dataset, size: int, row_shape: Sequence[int]) -> None:
        super().__init__(call, source, size, False)
        self.row_shape = tuple(row_shape)

    def join(self, rows: list[Element]) -> Element:
        """Indices, values and dense shape."""
        values = [row[0] for row in rows]
        for value in values:
            self.call.require(
                value.ndim == len(self.row_shape)
                and all(w < 0 or n <= w for n, w in zip(value.shape, self.row_shape, strict=True)),
                "an element must fit into the row shape",
                found=list(value.shape),
                needed=list(self.row_shape),
                status="INVALID_ARGUMENT" if value.ndim != len(self.row_shape) else "DATA_LOSS",
            )
        largest = [max(dims) for dims in zip(*(v.shape for v in values), strict=True)]
        dims = [n if w < 0 else w for n, w in zip(largest, self.row_shape, strict=True)]
        indices = [_row_indices(k, v.shape) for k, v in enumerate(values)]
        flat = np.concatenate([v.reshape(-1) for v in values])
        out = np.empty(3, dtype=object)
        parts = np.concatenate(indices), flat, np.array([len(values), *dims], np.int64)
        for k, one in enumerate(parts):
            out[k] = one
        return [out]


def _row_indices(row: int, shape: tuple[int, ...]) -> Array:
    grid = np.indices(shape, dtype=np.int64).reshape(len(shape), -1).T
    return np.concatenate([np.full((len(grid), 1), row, np.int64), grid], axis=1)


class Unbatched(Unary):
    """The rows of elements."""

    def iterate(self, context: Context) -> Next:
        """Row by row."""
        source, rows = self.source.iterate(context), iter(())  # type: Next, Iterator[Element]

        def advance() -> Element | None:
            nonlocal rows
            while True:
                context.tick(self.call)
                element = next(rows, None)
                if element is not None:
                    return element
                batch = source()
                if batch is None:
                    return None
                rows = self._rows(batch)

        return advance

    def _rows(self, batch: Element) -> Iterator[Element]:
        rows = batch_rows(self.call, batch)
        return ([c[k, ...] for c in batch] for k in range(rows))

    def cardinality(self) -> int:
        """Known where the batch size is declared."""
        one = self.source.cardinality()
        if one in (INFINITE, UNKNOWN):
            return one
        shapes = self.source.shapes
        first = shapes[0] if shapes else None
        return UNKNOWN if not first or first[0] < 0 else one * first[0]


class Rebatched(Unary):
    """Batches of other sizes, taken in turn."""

    def __init__(self, call: Call, source: Dataset, sizes: Sequence[int], drop: bool) -> None:
        super().__init__(call, source)
        self.sizes, self.drop = sizes, drop

    def iterate(self, context: Context) -> Next:
        """Rows are collected until the next batch is full."""
        source: Next | None = self.source.iterate(context)
        held: deque[Element] = deque()
        turn = rows = 0

        def advance() -> Element | None:
            nonlocal source, turn, rows
            size = self.sizes[turn % len(self.sizes)]
            while source is not None and rows < size:
                context.tick(self.call)
                batch = source()
                if batch is None:
                    source = None
                else:
                    held.append(batch)
                    rows += batch_rows(self.call, batch)
            if (not rows and source is None) or (self.drop and rows < size):
                return None
            size = min(size, rows)
            turn, rows = turn + 1, rows - size
            return self._take(held, size)

        return advance

    def _take(self, held: deque[Element], size: int) -> Element:
        taken: list[Element] = []
        if size == 0:
            return [blank((0, *_inner(s)), t) for s, t in zip(self.shapes, self.types, strict=True)]
        while size:
            batch = held.popleft()
            count = min(size, batch[0].shape[0])
            taken.append([c[:count] for c in batch])
            if count < batch[0].shape[0]:
                held.appendleft([c[count:] for c in batch])
            size -= count
        return [self._concatenated([row[k] for row in taken]) for k in range(len(self.types))]

    def _concatenated(self, parts: list[Array]) -> Array:
        if len({p.shape[1:] for p in parts}) > 1:
            self.call.fail(
                "batches must have equal row shapes",
                found=[list(p.shape) for p in parts],
                needed="equal shapes",
            )
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    def cardinality(self) -> int:
        """Known for one declared size of batches."""
        one = self.source.cardinality()
        if one < 0:
            return one
        rows = self.source.shapes[0] if self.source.shapes else None
        if not rows or rows[0] < 0 or not self.drop:
            return UNKNOWN
        left, total = one * rows[0], sum(self.sizes)
        if total == 0:
            return UNKNOWN
        whole, left = divmod(left, total)
        count = whole * len(self.sizes)
        for size in self.sizes:
            if left < size:
                break
            left -= size
            count += 1
        return count


def _inner(shape: Shape) -> tuple[int, ...]:
    return tuple(max(d, 0) for d in (shape or ())[1:])


class MapBatched(Batched):
    """A function of each element, in batches."""

    def __init__(
        self, call: Call, source: Dataset, function: Function, size: int, drop: bool
    ) -> None:
        super().__init__(call, source, size, drop)
        self.function = function

    def cardinality(self) -> int:
        """The number of batches, if the node says that the function keeps it."""
        return super().cardinality() if self.call.attrs["preserve_cardinality"] else UNKNOWN

    def iterate(self, context: Context) -> Next:
        """A failure ends its batch; the next one goes on behind it."""
        source: Next | None = self.source.iterate(context)
        invoke = self.function.bind(context)

        def advance() -> Element | None:
            nonlocal source
            rows: list[Element] = []
            failure: DrystoneError | None = None
            taken = 0
            while source is not None and taken < self.size:
                context.tick(self.call)
                element = source()
                if element is None:
                    source = None
                    break
                taken += 1
                try:
                    rows.append(invoke(*element))
                except DrystoneError as error:
                    if error.status == "OUT_OF_RANGE":
                        source = None
                        break
                    failure = failure or error
            if failure is not None:
                raise failure
            if not rows or (self.drop and len(rows) < self.size):
                return None
            return self.join(rows)

        return advance


class Split(Unary):
    """Each batch in ``count`` parts of nearly equal size; the last may be small or empty."""

    def __init__(self, call: Call, source: Dataset, count: int) -> None:
        super().__init__(call, source)
        self.count = count

    def iterate(self, context: Context) -> Next:
        """Part by part."""
        source = self.source.iterate(context)
        parts: deque[Element] = deque()

        def advance() -> Element | None:
            if not parts:
                batch = source()
                if batch is None:
                    return None
                parts.extend(self._parts(batch))
            return parts.popleft()

        return advance

    def _parts(self, batch: Element) -> Iterator[Element]:
        rows = batch_rows(self.call, batch)
        step = -(-rows // self.count)
        starts = [min(k * step, rows) for k in range(self.count + 1)]
        return ([c[a:b] for c in batch] for a, b in itertools.pairwise(starts))

    def cardinality(self) -> int:
        """Unknown, as in TensorFlow."""
        return UNKNOWN


def batch_rows(call: Call, batch: Element) -> int:
    """The number of rows, which all components must share."""
    sizes = {c.shape[0] if c.ndim else -1 for c in batch}
    call.require(
        len(sizes) == 1 and -1 not in sizes,
        "components must have the same number of rows to be taken apart",
        found=[list(c.shape) for c in batch],
        needed="equal first dimensions",
    )
    return sizes.pop()
