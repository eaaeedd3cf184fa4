"""Datasets that call functions: on each element, for a verdict, for a dataset of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from drystone_base.core.errors import DrystoneError
from drystone_base.kernels._registry import Array, Call
from drystone_base.kernels.data._datasets.base import (
    INFINITE,
    UNKNOWN,
    Context,
    Dataset,
    Element,
    Function,
    Next,
    Unary,
    check_element,
    dataset_of,
    scalar_of,
)

__all__ = ["Filtered", "FlatMapped", "Interleaved", "Mapped", "Scanned", "Until", "verdict"]


class Mapped(Unary):
    """A function of each element. OUT_OF_RANGE inside the function ends the iteration."""

    def __init__(self, call: Call, source: Dataset, function: Function) -> None:
        super().__init__(call, source)
        self.function = function
        self.exact = bool(call.attrs.get("preserve_cardinality", False))

    def iterate(self, context: Context) -> Next:
        """Element by element; one that fails is passed over when asked again."""
        source, invoke = self.source.iterate(context), self.function.bind(context)

        def advance() -> Element | None:
            element = source()
            if element is None:
                return None
            try:
                return invoke(*element)
            except DrystoneError as error:
                if error.status != "OUT_OF_RANGE":
                    raise
                self.call.require(
                    not self.exact,
                    "the function must give a value for every element",
                    found="OUT_OF_RANGE inside the function",
                    needed="no end of a sequence inside it",
                    inner=error,
                )
                return None

        return advance

    def cardinality(self) -> int:
        """That of the source, if the node says that it is kept."""
        return self.source.cardinality() if self.exact else UNKNOWN


def verdict(call: Call, outputs: Sequence[Array]) -> bool:
    """The one scalar bool that a predicate gives."""
    return bool(scalar_of(call, outputs, "bool", "a predicate"))


class Filtered(Unary):
    """The elements for which a predicate holds; without one, by their last component."""

    def __init__(self, call: Call, source: Dataset, predicate: Function | None) -> None:
        super().__init__(call, source)
        self.predicate = predicate

    def iterate(self, context: Context) -> Next:
        """Element by element."""
        source = self.source.iterate(context)
        invoke = self.predicate.bind(context) if self.predicate else None

        def advance() -> Element | None:
            while (element := source()) is not None:
                context.tick(self.call)
                if invoke is None:
                    if verdict(self.call, element[-1:]):
                        return element[:-1]
                elif verdict(self.call, invoke(*element)):
                    return element
            return None

        return advance

    def cardinality(self) -> int:
        """Unknown."""
        return UNKNOWN


class Until(Unary):
    """Elements until a predicate fails."""

    def __init__(self, call: Call, source: Dataset, predicate: Function) -> None:
        super().__init__(call, source)
        self.predicate = predicate

    def iterate(self, context: Context) -> Next:
        """Element by element."""
        source: Next | None = self.source.iterate(context)
        invoke = self.predicate.bind(context)

        def advance() -> Element | None:
            nonlocal source
            if source is None or (element := source()) is None:
                return None
            if verdict(self.call, invoke(*element)):
                return element
            source = None
            return None

        return advance

    def cardinality(self) -> int:
        """Unknown."""
        return UNKNOWN


class Scanned(Unary):
    """A function of a state and each element, which gives the next state and an element."""

    def __init__(
        self, call: Call, source: Dataset, function: Function, state: Sequence[Array]
    ) -> None:
        super().__init__(call, source)
        self.function, self.state = function, list(state)

    def iterate(self, context: Context) -> Next:
        """From the initial state on."""
        source, invoke = self.source.iterate(context), self.function.bind(context)
        state, count = self.state, len(self.state)

        def advance() -> Element | None:
            nonlocal state
            element = source()
            if element is None:
                return None
            try:
                outputs = invoke(*state, *element)
            except DrystoneError as error:
                if error.status != "OUT_OF_RANGE" or self.call.attrs["preserve_cardinality"]:
                    raise
                return None
            check_element(self.call, outputs[:count], self.call.attrs["Tstate"], [None] * count)
            state = outputs[:count]
            return outputs[count:]

        return advance

    def cardinality(self) -> int:
        """That of the source, if the node says that it is kept."""
        return self.source.cardinality() if self.call.attrs["preserve_cardinality"] else UNKNOWN


def _maker(dataset: Dataset, function: Function, context: Context) -> Callable[[Element], Next]:
    """Gives an iteration over the dataset that the function makes of an element."""
    invoke = function.bind(context)

    def make(element: Element) -> Next:
        outputs = invoke(*element)
        dataset.call.require(
            len(outputs) == 1 and outputs[0].dtype == object and outputs[0].ndim == 0,
            "the function must return one dataset",
            found=[f"{v.dtype}{list(v.shape)}" for v in outputs],
            needed="a variant scalar",
        )
        return dataset_of(outputs[0]).iterate(context)

    return make


class FlatMapped(Unary):
    """The elements of the dataset that a function makes of each element, one after the other."""

    def __init__(self, call: Call, source: Dataset, function: Function) -> None:
        super().__init__(call, source)
        self.function = function

    def iterate(self, context: Context) -> Next:
        """Dataset by dataset."""
        source, make = self.source.iterate(context), _maker(self, self.function, context)
        current: Next | None = None

        def advance() -> Element | None:
            nonlocal current
            while True:
                context.tick(self.call)
                if current is None:
                    outer = source()
                    if outer is None:
                        return None
                    current = make(outer)
                element = current()
                if element is not None:
                    return element
                current = None

        return advance

    def cardinality(self) -> int:
        """Unknown."""
        return UNKNOWN


class Interleaved(Unary):
    """As :class:`FlatMapped` with ``cycle`` datasets in turn, ``block`` elements of each."""

    def __init__(
        self, call: Call, source: Dataset, function: Function, cycle: int, block: int
    ) -> None:
        super().__init__(call, source)
        self.function, self.cycle, self.block = function, cycle, block

    def iterate(self, context: Context) -> Next:
        """Turn by turn."""
        return _Turns(self, context).advance

    def cardinality(self) -> int:
        """Unknown, unless the source has no end or nothing in it."""
        one = self.source.cardinality()
        return one if one in (0, INFINITE) else UNKNOWN


class _Turns:
    """One iteration of an interleaved dataset."""

    def __init__(self, dataset: Interleaved, context: Context) -> None:
        self.dataset, self.context = dataset, context
        self.source: Next | None = dataset.source.iterate(context)
        self.make = _maker(dataset, dataset.function, context)
        self.places: list[Next | None] = [None] * dataset.cycle
        self.turn = self.given = 0

    def advance(self) -> Element | None:
        while self.source is not None or any(self.places):
            self.context.tick(self.dataset.call)
            current = self.places[self.turn] or self.open()
            if current is None:
                self.pass_on()
                continue
            element = current()
            if element is None:
                self.places[self.turn] = None
                self.pass_on()
                continue
            self.given += 1
            if self.given == self.dataset.block:
                self.pass_on()
            return element
        return None

    def open(self) -> Next | None:
        """A new dataset at this place, while there are some."""
        outer = self.source() if self.source is not None else None
        if outer is None:
            self.source = None
            return None
        self.places[self.turn] = self.make(outer)
        return self.places[self.turn]

    def pass_on(self) -> None:
        self.given = 0
        self.turn = (self.turn + 1) % self.dataset.cycle
