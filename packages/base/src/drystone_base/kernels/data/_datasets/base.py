"""What every dataset is: a recipe for a stream of elements, and how its functions are called."""

from __future__ import annotations

import abc
import copy
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, NoReturn, TypeAlias

from drystone_base.core.dtypes import STRING, DType
from drystone_base.kernels._limits import check_size
from drystone_base.kernels._registry import Array, Call
from drystone_base.kernels._variants import blank
from drystone_base.ops.attrs import FunctionRef, Shape
from drystone_base.state.cancellation import check_time
from drystone_base.state.runtime import Runtime
from drystone_base.state.variables import Step, resource_of

__all__ = [
    "INFINITE",
    "UNKNOWN",
    "Context",
    "Dataset",
    "Element",
    "Function",
    "Next",
    "Unary",
    "check_element",
    "compatible",
    "dataset_of",
    "from_generator",
    "part",
    "positive",
    "scalar",
    "scalar_of",
    "stacked",
]

INFINITE: Final = -1
UNKNOWN: Final = -2
"""Cardinalities that are not counts."""

Element: TypeAlias = list[Array]
Next: TypeAlias = Callable[[], Element | None]
"""Gives the next element, or None at the end; may be called again after it raised."""


class Context:
    """What an iteration reaches: ``runtime`` is that of the step that now asks for an element.

    ``seeds`` holds the streams of the random ops of each function, which go on from epoch to epoch.
    """

    __slots__ = ("runtime", "seeds")

    def __init__(self, runtime: Runtime) -> None:
        self.runtime = runtime
        self.seeds: dict[str, dict[str, Any]] = {}

    def tick(self, call: Call) -> None:
        """Raise where the step must end: its time is over, or it was cancelled."""
        check_time(self.runtime, f"in the dataset of node {call.node!r} ({call.op})")


class Dataset(abc.ABC):
    """A recipe for elements, each a list of arrays of ``types`` and ``shapes``.

    They are one string each where the op does not say. ``call`` is the node that made it, for
    messages and attributes.
    """

    def __init__(self, call: Call) -> None:
        self.call = call
        a = call.attrs
        self.types: Sequence[DType] = a.get("output_types") or a.get("Toutput_types") or [STRING]
        self.shapes: Sequence[Shape] = a.get("output_shapes", [()])

    @abc.abstractmethod
    def iterate(self, context: Context) -> Next:
        """A new iteration from the first element on."""

    def cardinality(self) -> int:
        """The number of elements, :data:`INFINITE` or :data:`UNKNOWN`."""
        return UNKNOWN

    def elements(self, context: Context) -> Iterator[Element]:
        """All elements, one by one; stops with an error at the session's deadline."""
        following = self.iterate(context)
        while (element := following()) is not None:
            context.tick(self.call)
            yield element


class Unary(Dataset):
    """A dataset of one other; as it stands, one that gives the same elements."""

    def __init__(self, call: Call, source: Dataset) -> None:
        super().__init__(call)
        self.source = source

    def iterate(self, context: Context) -> Next:
        """The elements of the other."""
        return self.source.iterate(context)

    def cardinality(self) -> int:
        """As many as the other has."""
        return self.source.cardinality()


class Function:
    """A function of the graph's library with what it captures."""

    __slots__ = ("captured", "reference")

    def __init__(self, reference: FunctionRef, captured: Sequence[Array]) -> None:
        self.reference = reference
        self.captured = list(captured)

    @classmethod
    def of(cls, call: Call, attr: str, captured: Sequence[Array]) -> Function:
        """The function of an attribute."""
        return cls(call.attrs[attr], captured)

    def bind(self, context: Context) -> Callable[..., Element]:
        """The function for one iteration."""
        seeds = context.seeds.setdefault(self.reference.name, {})
        last: Runtime | None = None
        own: Runtime | None = None

        def invoke(*args: Array) -> Element:
            nonlocal last, own
            if own is None or last is not context.runtime:
                last, own = context.runtime, copy.copy(context.runtime)
                own.seeds = seeds
            own.step = Step()
            return own.invoke(self.reference, [*args, *self.captured])

        return invoke


def dataset_of(tensor: Array) -> Dataset:
    """The dataset in a variant scalar."""
    return resource_of(tensor, Dataset)  # type: ignore[type-abstract]


def part(call: Call, name: str, inputs: Sequence[Array]) -> Sequence[Array]:
    """The inputs of one argument of the op."""
    return inputs[call.input_slices[name]]


def scalar(call: Call, name: str, value: Array) -> int:
    """An input that must be one number."""
    call.require(value.ndim == 0, f"{name} must be a scalar", found=list(value.shape), needed="[]")
    return int(value)


def positive(call: Call, name: str, value: Array) -> int:
    """An input that must be one number above 0."""
    found = scalar(call, name, value)
    call.require(found > 0, f"{name} must be positive", found=found, needed="1 or more")
    return found


def from_generator(elements: Iterator[Element]) -> Next:
    """An iteration over a generator that does not raise."""
    return lambda: next(elements, None)


def compatible(a: Shape, b: Shape) -> bool:
    """Whether a tensor may have both shapes."""
    if a is None or b is None:
        return True
    return len(a) == len(b) and all(x == y or x < 0 or y < 0 for x, y in zip(a, b, strict=True))


def scalar_of(call: Call, outputs: Sequence[Array], dtype: str, who: str) -> Array:
    """The one scalar of that dtype which a function must give; raises ``KernelError``."""
    call.require(
        len(outputs) == 1 and outputs[0].dtype == dtype and outputs[0].ndim == 0,
        f"{who} must return a scalar {dtype}",
        found=[f"{v.dtype}{list(v.shape)}" for v in outputs],
        needed=f"{dtype}[]",
    )
    return outputs[0]


def check_element(
    call: Call, element: Sequence[Array], types: Sequence[DType], shapes: Sequence[Shape]
) -> None:
    """Refuse an element that is not of these types and shapes."""
    if len(element) != len(types):
        _misfit(call, "must have as many components as declared", len(element), len(types))
    for k, (value, dtype, shape) in enumerate(zip(element, types, shapes, strict=True)):
        if value.dtype != dtype.np:
            _misfit(call, f"must have the declared type in component {k}", value.dtype, dtype)
        if not compatible(value.shape, shape):
            found, needed = list(value.shape), list(shape or ())
            _misfit(call, f"must have the declared shape in component {k}", found, needed)


def _misfit(call: Call, check: str, found: object, needed: object) -> NoReturn:
    call.fail(f"an element {check}", found=found, needed=needed)


def stacked(call: Call, rows: Sequence[Element], types: Sequence[DType]) -> Element:
    """Elements along a new first axis, component by component; shapes must be equal."""
    return [_stack(call, [row[k] for row in rows], k, t) for k, t in enumerate(types)]


def _stack(call: Call, values: Sequence[Array], component: int, dtype: DType) -> Array:
    first = values[0].shape
    for k, value in enumerate(values):
        if value.shape != first:
            call.fail(
                "elements of one batch must have equal shapes",
                found=f"component {component}: first element {list(first)}, "
                f"element {k} {list(value.shape)}",
                needed="equal shapes",
                remedy="pad the elements (padded_batch) or batch fewer",
            )
    shape = check_size(call, (len(values), *first), values[0].dtype)
    out = blank(shape, dtype)
    for k, value in enumerate(values):
        out[k, ...] = value
    return out
