"""Registration of shape functions, and what a shape function sees of its node."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NoReturn, TypeAlias

import numpy as np

from drystone_base.core.dtypes import DType
from drystone_base.core.errors import ShapeError, remedy_for
from drystone_base.core.families import Families
from drystone_base.core.payloads import at_node

__all__ = [
    "MAX_PARTIAL",
    "SHAPES",
    "UNKNOWN",
    "FunctionInference",
    "Handle",
    "PartialValue",
    "Shape",
    "ShapeCall",
    "ShapeFunction",
    "checked_shape",
    "contradict",
    "find_shape_function",
    "shape",
]

Shape: TypeAlias = tuple[int, ...] | None
"""None: unknown rank. A dimension is >= 0 (known), -1 (unknown) or <= -2 (a symbol)."""

Handle: TypeAlias = tuple[DType, Shape]
"""Dtype and shape of what a resource or variant refers to: a variable, a list's elements."""

UNKNOWN: Final = -1

MAX_PARTIAL: Final = 1024
"""The most elements that are followed one by one."""

_INT: Final = frozenset({int})

ShapeFunction: TypeAlias = Callable[["ShapeCall"], Sequence[Shape]]
FunctionInference: TypeAlias = Callable[
    [Any, Sequence[Shape], Sequence[Any], Sequence["Handle | None"]],
    "tuple[list[Shape], list[Any], list[Handle | None]]",
]


def contradict(a: Shape, b: Shape) -> bool:
    """Whether no tensor has both shapes."""
    if a is None or b is None:
        return False
    if len(a) != len(b):
        return True
    return any(x != y and x >= 0 and y >= 0 for x, y in zip(a, b, strict=True))


def checked_shape(shape: Any) -> Shape:
    """The shape, if it is one: what comes from an attribute may be anything in a corrupt graph."""
    if shape is None or (shape.__class__ is tuple and _INT.issuperset(map(type, shape))):
        return shape
    if shape is not None and not (
        isinstance(shape, tuple | list) and all(isinstance(d, int | np.integer) for d in shape)
    ):
        raise TypeError(f"{shape!r} is no shape")
    return None if shape is None else tuple(shape)


class PartialValue:
    """A partly known int tensor, in row-major order: what ``Shape``, ``Pack`` and others produce.

    ``items[k]`` is the element itself where ``known[k]`` (a known -1 is the number -1), else a
    dimension: -1 (unknown) or <= -2 (a symbol, known not to be negative).
    """

    __slots__ = ("items", "known", "shape")

    def __init__(
        self, shape: tuple[int, ...], items: Sequence[int], known: Sequence[bool] | None = None
    ) -> None:
        self.shape = shape
        self.items = tuple(items)
        self.known = tuple(known) if known is not None else tuple(d >= 0 for d in self.items)
        if not math.prod(shape) == len(self.items) == len(self.known):
            raise ValueError(f"{len(self.items)} items do not fill shape {shape}")

    def __repr__(self) -> str:
        marks = [str(d) if k else f"?{d}" for d, k in zip(self.items, self.known, strict=True)]
        return f"PartialValue({self.shape}, [{', '.join(marks)}])"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, PartialValue):
            return NotImplemented
        return (self.shape, self.items, self.known) == (other.shape, other.items, other.known)

    def __hash__(self) -> int:
        return hash((self.shape, self.items, self.known))

    @classmethod
    def of_shape(cls, dims: tuple[int, ...]) -> PartialValue:
        """The vector of a shape's dimensions."""
        return cls((len(dims),), dims)

    @classmethod
    def of_dim(cls, dim: int) -> PartialValue:
        """The scalar that holds one dimension."""
        return cls((), (dim,))

    @classmethod
    def of_array(cls, array: np.ndarray[Any, Any]) -> PartialValue:
        """A fully known integer array."""
        items = [int(v) for v in array.reshape(-1)]
        return cls(array.shape, items, [True] * len(items))

    @property
    def complete(self) -> bool:
        """Whether every element is known."""
        return all(self.known)

    def array(self, dtype: DType) -> np.ndarray[Any, Any] | None:
        """The value if every element is known (and fits ``dtype``), else None."""
        if not self.complete:
            return None
        wide = np.array(self.items, dtype=object)
        try:
            return wide.astype(dtype.np).reshape(self.shape)
        except OverflowError:
            return None


class ShapeCall:
    """What a shape function is told about its node.

    ``values`` holds per input a fully known array, a :class:`PartialValue` (a partly known int
    tensor, as produced by ``Shape``, ``Pack``, ...), or None. ``handles`` likewise holds what is
    known of resource and variant inputs. A function may set ``output_handles`` and
    ``output_values`` (lists as long as the outputs) beside returning the outputs' shapes.
    ``by_shapes``: so far it looked at attributes and shapes only, nor did it set any of these.
    ``called``: it asked what a function gives. ``varying``: two shapes of one output of which no
    tensor has both, as a loop's that is another after an iteration.
    """

    __slots__ = (
        "_handles", "_infer_function", "_values", "attrs", "called", "dtypes", "input_slices",
        "looked", "node", "op", "output_count", "output_handles", "output_values", "shapes",
        "varying",
    )  # fmt: skip

    def __init__(
        self,
        node: str,
        op: str,
        attrs: Mapping[str, Any],
        shapes: Sequence[Shape],
        values: Sequence[Any],
        dtypes: Sequence[DType],
        handles: Sequence[Handle | None] = (),
        input_slices: Mapping[str, slice] | None = None,
        output_count: int = 1,
        infer_function: FunctionInference | None = None,
    ) -> None:
        self.node = node
        self.op = op
        self.attrs = attrs
        self.shapes = shapes
        self._values = values
        self.dtypes = dtypes
        self._handles = handles or [None] * len(shapes)
        self.input_slices = input_slices or {}
        self.output_count = output_count
        self._infer_function = infer_function
        self.output_handles: list[Handle | None] | None = None
        self.output_values: list[Any] | None = None
        self.looked = self.called = False
        self.varying: tuple[Shape, Shape] | None = None

    @property
    def values(self) -> Sequence[Any]:
        """What is known of each input's value."""
        self.looked = True
        return self._values

    @property
    def handles(self) -> Sequence[Handle | None]:
        """What is known of each input's handle."""
        self.looked = True
        return self._handles

    @property
    def infer_function(self) -> FunctionInference | None:
        """Infers what a function gives."""
        self.looked = self.called = True
        return self._infer_function

    @property
    def by_shapes(self) -> bool:
        """Whether only attributes and shapes were looked at, and only shapes are said."""
        return not self.looked and self.output_values is None and self.output_handles is None

    def note_varying(self, shapes: Sequence[Shape], others: Sequence[Shape]) -> None:
        """Remember where two lists of outputs' shapes contradict each other."""
        for a, b in zip(shapes, others, strict=False):
            if contradict(a, b):
                self.varying = a, b

    def shape(self, index: int) -> Shape:
        """Shape of input ``index``."""
        return self.shapes[index]

    def dtype(self, index: int) -> DType:
        """Dtype of input ``index``."""
        return self.dtypes[index]

    def unexpected(self, error: Exception) -> ShapeError:
        """The error to raise where a shape function failed otherwise than by :meth:`fail`."""
        return ShapeError(
            f"the shapes of node {self.node!r} ({self.op}) cannot be inferred",
            check="attributes and input shapes must be such as the op takes",
            found=f"input shapes {list(self.shapes)}",
            needed="shapes and attributes that the op is defined for",
            remedy="the graph is corrupt: export the model again",
            inner=error,
        )

    def value(self, index: int) -> np.ndarray[Any, Any] | None:
        """The input's value if every element of it is known."""
        known = self.values[index]
        if isinstance(known, np.ndarray):
            return known
        if isinstance(known, PartialValue):
            return known.array(self.dtypes[index])
        return None

    def partial(self, index: int) -> PartialValue | None:
        """What is known of an int input, element by element, where its shape is known.

        Unlike :meth:`value_as_shape` this keeps a known -1 apart from an unknown element.
        """
        known = self.values[index]
        if isinstance(known, PartialValue):
            return known
        if isinstance(known, np.ndarray):
            return PartialValue.of_array(known) if known.dtype.kind in "iu" else None
        given = self.shapes[index]
        if given is None or len(given) > 1 or any(d < 0 or d > MAX_PARTIAL for d in given):
            return None
        return PartialValue(given, (UNKNOWN,) * math.prod(given))

    def int_value(self, index: int) -> int | None:
        """The input as one int, if it is a known scalar (or a vector of one)."""
        known = self.value(index)
        return int(known.reshape(-1)[0]) if known is not None and known.size == 1 else None

    def value_as_shape(self, index: int) -> Shape:
        """The input, an int vector, read as a shape: -1 stands for an unknown dimension.

        Falls back to an all-unknown shape when only the vector's length is known.
        """
        known = self.values[index]
        if isinstance(known, np.ndarray):
            known = PartialValue.of_array(known)
        if isinstance(known, PartialValue):
            bad = [d for d, sure in zip(known.items, known.known, strict=True) if sure and d < -1]
            if bad:
                self.fail("dimensions must not be negative", found=bad, needed="-1 or more")
            return known.items
        vector = self.shapes[index]
        if vector is not None and len(vector) == 1 and vector[0] >= 0:
            return (UNKNOWN,) * vector[0]
        return None

    def fail(self, check: str, *, found: object = "", needed: object = "") -> NoReturn:
        """Raise a :class:`ShapeError` that names this node and op."""
        raise ShapeError(
            f"node {self.node!r} ({self.op}) cannot take its inputs",
            details=at_node(self.node, self.op),
            check=check,
            found=found,
            needed=needed,
            remedy=remedy_for("INVALID_ARGUMENT"),
        )

    def merge_dim(self, a: int, b: int) -> int:
        """The more specific of two dimensions that must be equal."""
        if a >= 0 and b >= 0 and a != b:
            self.fail("dimensions must be equal", found=f"{a} and {b}", needed="equal dimensions")
        if a >= 0 or b == UNKNOWN:
            return a
        return b if b >= 0 or a == UNKNOWN else a

    def merge(self, a: Shape, b: Shape) -> Shape:
        """The more specific of two shapes that must be compatible."""
        if a is None or b is None:
            return b if a is None else a
        if len(a) != len(b):
            self.fail("ranks must be equal", found=f"{list(a)} and {list(b)}", needed="equal ranks")
        return tuple(self.merge_dim(x, y) for x, y in zip(a, b, strict=True))

    def with_rank(self, given: Shape, rank: int) -> tuple[int, ...]:
        """The shape, or ``rank`` unknown dimensions when its rank is unknown."""
        if given is None:
            return (UNKNOWN,) * rank
        if len(given) != rank:
            self.fail("rank must match", found=list(given), needed=f"rank {rank}")
        return given

    def with_rank_at_least(self, given: Shape, rank: int) -> Shape:
        """The shape unchanged; fails when its known rank is below ``rank``."""
        if given is not None and len(given) < rank:
            self.fail("rank is too low", found=list(given), needed=f"rank {rank} or more")
        return given

    def broadcast(self, a: Shape, b: Shape) -> Shape:
        """The shape that NumPy's broadcasting rule gives for ``a`` and ``b``."""
        if a is None or b is None:
            return None
        rank = max(len(a), len(b))
        a = (1,) * (rank - len(a)) + a
        b = (1,) * (rank - len(b)) + b
        return tuple(self._broadcast_dim(x, y) for x, y in zip(a, b, strict=True))

    def _broadcast_dim(self, a: int, b: int) -> int:
        if a == b:
            return a
        if a == 1 or b == 1:
            return b if a == 1 else a
        if a >= 0 and b >= 0:
            self.fail("shapes must broadcast", found=f"{a} and {b}", needed="equal, or one is 1")
        # A known dim that is not 1 wins over an unknown one; two unknown ones could be anything.
        return max(a, b) if max(a, b) > 1 else UNKNOWN


SHAPES: Final[Families[ShapeFunction]] = Families(
    "drystone_base.inference.shapes", "a shape function"
)


def shape(*ops: str) -> Callable[[ShapeFunction], ShapeFunction]:
    """Register the decorated function as the shape function of ``ops``."""
    return SHAPES.register(*ops)


def find_shape_function(op: str) -> ShapeFunction | None:
    """The shape function of ``op``, or None."""
    return SHAPES.find(op)
