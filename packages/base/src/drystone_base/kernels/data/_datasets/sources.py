"""Datasets that begin a pipeline: tensors, their slices, ranges, random numbers, generators."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from drystone_base.core.dtypes import INT64, DType
from drystone_base.core.errors import DrystoneError
from drystone_base.kernels._registry import Array, Call
from drystone_base.kernels.data._datasets.base import (
    INFINITE,
    Context,
    Dataset,
    Element,
    Function,
    Next,
    check_element,
    from_generator,
)
from drystone_base.kernels.data._datasets.seeds import SeedGenerator, words

__all__ = ["Generated", "Items", "RandomNumbers", "Range", "Slices", "SparseSlices", "number"]


class Items(Dataset):
    """The given elements."""

    def __init__(self, call: Call, items: Sequence[Element]) -> None:
        super().__init__(call)
        self.items = items

    def iterate(self, _: Context) -> Next:
        """Each item."""
        return from_generator(iter(self.items))

    def cardinality(self) -> int:
        """Their number."""
        return len(self.items)


class Slices(Dataset):
    """The rows of tensors of equally many rows."""

    def __init__(self, call: Call, components: Sequence[Array]) -> None:
        super().__init__(call)
        rows = {c.shape[0] if c.ndim else -1 for c in components}
        call.require(
            len(rows) == 1 and -1 not in rows,
            "components must have the same number of rows",
            found=[list(c.shape) for c in components],
            needed="equal first dimensions",
        )
        self.components = components
        self.count = rows.pop()

    def iterate(self, _: Context) -> Next:
        """Row by row."""
        return from_generator([c[k, ...] for c in self.components] for k in range(self.count))

    def cardinality(self) -> int:
        """The number of rows."""
        return self.count


class SparseSlices(Dataset):
    """The rows of a sparse tensor, each as indices, values and dense shape."""

    def __init__(self, call: Call, indices: Array, values: Array, dense_shape: Array) -> None:
        super().__init__(call)
        self.indices, self.values, self.dense_shape = indices, values, dense_shape
        inner = len(dense_shape) - 1
        self.types = (INT64, call.attrs["Tvalues"], INT64)
        self.shapes = ((-1, inner), (-1,), (inner,))
        self.count = int(dense_shape[0])
        rows = indices[:, 0]
        call.require(
            bool(np.all(rows[1:] >= rows[:-1])),
            "the rows of a sparse tensor must be in order to be sliced",
            found=rows.tolist(),
            needed="ascending indices",
            status="UNIMPLEMENTED",
        )

    def _elements(self) -> Iterator[Element]:
        rows, start = self.indices[:, 0], 0
        for row in range(self.count):
            end = int(np.searchsorted(rows, row, side="right"))
            yield [self.indices[start:end, 1:], self.values[start:end], self.dense_shape[1:]]
            start = end

    def iterate(self, _: Context) -> Next:
        """Row by row, empty ones too."""
        return from_generator(self._elements())

    def cardinality(self) -> int:
        """The number of rows."""
        return self.count


def number(value: int, dtype: DType) -> Array:
    """A scalar of any numeric type."""
    return np.array(value, np.int64).astype(dtype.np)


class Range(Dataset):
    """Numbers from a start to a limit by a step."""

    def __init__(self, call: Call, start: int, stop: int, step: int) -> None:
        super().__init__(call)
        call.require(step, "the step of a range must not be zero", found=0, needed="not 0")
        self.values = range(start, stop, step)

    def iterate(self, _: Context) -> Next:
        """Number by number."""
        return from_generator([number(v, self.types[0])] for v in self.values)

    def cardinality(self) -> int:
        """How many there are."""
        start, stop, step = self.values.start, self.values.stop, self.values.step
        return max(0, -((start - stop) // step))


class RandomNumbers(Dataset):
    """Random 32-bit numbers without end."""

    def __init__(self, call: Call, generator: SeedGenerator) -> None:
        super().__init__(call)
        self.generator = generator

    def iterate(self, _: Context) -> Next:
        """Number by number."""
        stream = words(*self.generator.seeds())
        return lambda: [np.array(next(stream), np.int64).astype(self.types[0].np)]

    def cardinality(self) -> int:
        """No end."""
        return INFINITE


class Generated(Dataset):
    """Elements that a function gives for a state until it says OUT_OF_RANGE."""

    def __init__(self, call: Call, init: Function, following: Function, final: Function) -> None:
        super().__init__(call)
        self.init, self.following, self.final = init, following, final

    def iterate(self, context: Context) -> Next:
        """Call after call; the state is made at the first, given back at the end."""
        init, following = self.init.bind(context), self.following.bind(context)
        final = self.final.bind(context)
        state: Element | None = None
        done = False

        def advance() -> Element | None:
            nonlocal state, done
            if state is None:
                state = init()
            if done:
                return None
            try:
                element = following(*state)
            except DrystoneError as error:
                if error.status != "OUT_OF_RANGE":
                    raise
                done = True
                final(*state)
                return None
            check_element(self.call, element, self.types, self.shapes)
            return element

        return advance
