"""Datasets of groups: windows of consecutive elements, elements of equal keys."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from drystone_base.kernels._registry import Array, Call
from drystone_base.kernels.data._datasets.base import (
    UNKNOWN,
    Context,
    Dataset,
    Element,
    Function,
    Next,
    Unary,
    check_element,
    dataset_of,
    from_generator,
    scalar_of,
    stacked,
)
from drystone_base.ops.attrs import Shape
from drystone_base.state.variables import handle_array

__all__ = ["GroupReduced", "GroupWindowed", "Reducers", "Sliding", "WindowSpec", "Windowed"]


class Held(Dataset):
    """Elements held by a window."""

    def __init__(self, call: Call, source: Dataset, items: Sequence[Element]) -> None:
        self.call, self.types = call, source.types
        self.shapes: Sequence[Shape] = source.shapes
        self.items = items

    def iterate(self, _: Context) -> Next:
        """Each of them."""
        return from_generator(iter(self.items))

    def cardinality(self) -> int:
        """Their number."""
        return len(self.items)


class WindowSpec(NamedTuple):
    """``size`` elements, ``stride`` apart; the next window begins ``shift`` elements later."""

    size: int
    shift: int
    stride: int
    drop: bool


class Windowed(Unary):
    """Windows over the elements; each component of a window is a dataset of its own."""

    def __init__(self, call: Call, source: Dataset, spec: WindowSpec) -> None:
        super().__init__(call, source)
        self.spec = spec

    def iterate(self, context: Context) -> Next:
        """Window by window."""
        source: Next | None = self.source.iterate(context)
        size, shift, stride, drop = self.spec
        span = (size - 1) * stride + 1
        buffer: list[Element] = []
        skip = 0

        def advance() -> Element | None:
            nonlocal source, buffer, skip
            while source is not None and len(buffer) < span:
                context.tick(self.call)
                element = source()
                if element is None:
                    source = None
                elif skip:
                    skip -= 1
                else:
                    buffer.append(element)
            if not buffer or (drop and len(buffer) < span):
                return None
            rows = buffer[::stride][:size]
            skip = max(0, shift - len(buffer))
            buffer = buffer[shift:]
            return self.window(rows)

        return advance

    def window(self, rows: list[Element]) -> Element:
        """One element of the elements of a window."""
        return [
            handle_array(Held(self.call, _Component(self.source, k), [[row[k]] for row in rows]))
            for k in range(len(self.source.types))
        ]

    def cardinality(self) -> int:
        """The number of windows."""
        one, (size, shift, stride, drop) = self.source.cardinality(), self.spec
        if one < 0:
            return one
        if drop:
            return max(0, -(-(one - (size - 1) * stride) // shift))
        return -(-one // shift)


class _Component(Unary):
    """One component of the elements of another dataset: only its type and shape are of use."""

    def __init__(self, source: Dataset, index: int) -> None:
        self.call, self.source = source.call, source
        self.types, self.shapes = [source.types[index]], [source.shapes[index]]


class Sliding(Windowed):
    """Windows whose elements are stacked."""

    def window(self, rows: list[Element]) -> Element:
        """Component by component."""
        return stacked(self.call, rows, self.types)


class GroupWindowed(Unary):
    """Elements are collected by key; a full window, made a dataset, is handed to a function."""

    def __init__(
        self, call: Call, source: Dataset, key: Function, reduce: Function, size: Function
    ) -> None:
        super().__init__(call, source)
        self.key, self.reduce, self.size = key, reduce, size

    def iterate(self, context: Context) -> Next:
        """Dataset by dataset: full windows first, then what is left by ascending key."""
        groups = _Groups(self, context)
        current: Next | None = None

        def advance() -> Element | None:
            nonlocal current
            while True:
                context.tick(self.call)
                element = current() if current is not None else None
                if element is not None:
                    check_element(self.call, element, self.types, self.shapes)
                    return element
                current = groups.following()
                if current is None:
                    return None

        return advance

    def cardinality(self) -> int:
        """Unknown."""
        return UNKNOWN


def key_of(call: Call, outputs: Sequence[Array]) -> int:
    """The one int64 scalar that a key function gives."""
    return int(scalar_of(call, outputs, "int64", "a key function"))


class _Groups:
    """The windows of one iteration that are not full."""

    def __init__(self, dataset: GroupWindowed, context: Context) -> None:
        self.dataset, self.context = dataset, context
        self.source: Next | None = dataset.source.iterate(context)
        self.key, self.size = dataset.key.bind(context), dataset.size.bind(context)
        self.reduce = dataset.reduce.bind(context)
        self.windows: dict[int, list[Element]] = {}
        self.sizes: dict[int, int] = {}

    def following(self) -> Next | None:
        call = self.dataset.call
        while self.source is not None:
            self.context.tick(call)
            element = self.source()
            if element is None:
                self.source = None
                break
            key = key_of(call, self.key(*element))
            window = self.windows.setdefault(key, [])
            if key not in self.sizes:
                size = key_of(call, self.size(np.array(key, np.int64)))
                call.require(
                    size > 0, "a window size must be positive", found=size, needed="1 or more"
                )
                self.sizes[key] = size
            window.append(element)
            if len(window) == self.sizes[key]:
                return self.close(key)
        return self.close(min(self.windows)) if self.windows else None

    def close(self, key: int) -> Next:
        del self.sizes[key]
        held = Held(self.dataset.call, self.dataset.source, self.windows.pop(key))
        outputs = self.reduce(np.array(key, np.int64), handle_array(held))
        self.dataset.call.require(
            len(outputs) == 1 and outputs[0].ndim == 0 and outputs[0].dtype == object,
            "the reduce function must return one dataset",
            found=[f"{v.dtype}{list(v.shape)}" for v in outputs],
            needed="a variant scalar",
        )
        return dataset_of(outputs[0]).iterate(self.context)


class Reducers(NamedTuple):
    """The functions of a reduction by key."""

    key: Function
    init: Function
    reduce: Function
    final: Function


class GroupReduced(Unary):
    """For each key one element, reduced from all elements of that key."""

    def __init__(self, call: Call, source: Dataset, functions: Reducers) -> None:
        super().__init__(call, source)
        self.functions = functions

    def iterate(self, context: Context) -> Next:
        """By ascending key, after the source has ended."""
        results: Iterator[Element] | None = None
        final = self.functions.final.bind(context)

        def advance() -> Element | None:
            nonlocal results
            if results is None:
                results = iter(self._states(context))
            state = next(results, None)
            return None if state is None else final(*state)

        return advance

    def _states(self, context: Context) -> list[Element]:
        key, init, reduce = (f.bind(context) for f in self.functions[:3])
        states: dict[int, Element] = {}
        for element in self.source.elements(context):
            at = key_of(self.call, key(*element))
            if at not in states:
                states[at] = init(np.array(at, np.int64))
            states[at] = reduce(*states[at], *element)
        return [states[k] for k in sorted(states)]

    def cardinality(self) -> int:
        """Unknown."""
        return UNKNOWN
