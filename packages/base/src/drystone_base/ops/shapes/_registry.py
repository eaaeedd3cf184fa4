"""Registration of shape functions, and what a shape function sees of its node."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NoReturn, TypeAlias

import numpy as np

from drystone_base.dtypes import DType
from drystone_base.errors import ShapeError

__all__ = [
    "UNKNOWN",
    "FunctionInference",
    "Handle",
    "Shape",
    "ShapeCall",
    "ShapeFunction",
    "find_shape_function",
    "shape",
]

Shape: TypeAlias = tuple[int, ...] | None
"""None: unknown rank. A dimension is >= 0 (known), -1 (unknown) or <= -2 (a symbol)."""

Handle: TypeAlias = tuple[DType, Shape]
"""Dtype and shape of what a resource or variant refers to (a variable, a tensor list's elements)."""

UNKNOWN: Final = -1

ShapeFunction: TypeAlias = Callable[["ShapeCall"], Sequence[Shape]]
FunctionInference: TypeAlias = Callable[
    [Any, Sequence[Shape], Sequence[Any], Sequence["Handle | None"]],
    "tuple[list[Shape], list[Any], list[Handle | None]]",
]


class ShapeCall:
    """What a shape function is told about its node.

    ``values`` holds per input a fully known array, a tuple of dims (a partly known int vector or
    scalar, as produced by ``Shape``, ``Pack``, ...), or None. ``handles`` likewise holds what is
    known of resource and variant inputs. A function may set ``output_handles`` and
    ``output_values`` (lists as long as the outputs) beside returning the outputs' shapes.
    """

    __slots__ = (
        "attrs", "dtypes", "handles", "infer_function", "input_slices", "node", "op",
        "output_count", "output_handles", "output_values", "shapes", "values",
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
        self.values = values
        self.dtypes = dtypes
        self.handles = handles or [None] * len(shapes)
        self.input_slices = input_slices or {}
        self.output_count = output_count
        self.infer_function = infer_function
        self.output_handles: list[Handle | None] | None = None
        self.output_values: list[Any] | None = None

    def shape(self, index: int) -> Shape:
        """Shape of input ``index``."""
        return self.shapes[index]

    def dtype(self, index: int) -> DType:
        """Dtype of input ``index``."""
        return self.dtypes[index]

    def value(self, index: int) -> np.ndarray[Any, Any] | None:
        """The input's value if every element of it is known."""
        known = self.values[index]
        if isinstance(known, np.ndarray):
            return known
        if isinstance(known, tuple) and all(d >= 0 for d in known):
            return np.array(known, self.dtypes[index].np)
        return None

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
            dims = tuple(int(d) for d in known.reshape(-1))
            if any(d < -1 for d in dims):
                self.fail("dimensions must not be negative", found=list(dims), needed="-1 or more")
            return dims
        if isinstance(known, tuple):
            return known
        vector = self.shapes[index]
        if vector is not None and len(vector) == 1 and vector[0] >= 0:
            return (UNKNOWN,) * vector[0]
        return None

    def fail(self, check: str, *, found: object = "", needed: object = "") -> NoReturn:
        """Raise a :class:`ShapeError` that names this node and op."""
        raise ShapeError(
            f"node {self.node!r} ({self.op}) cannot take its inputs",
            check=check,
            found=found,
            needed=needed,
        )

    def merge_dim(self, a: int, b: int) -> int:
        """The more specific of two dimensions that must be equal."""
        if a == b or b < 0:
            return a if a >= 0 or b == UNKNOWN or a <= -2 else b
        if a < 0:
            return b
        self.fail("dimensions must be equal", found=f"{a} and {b}", needed="equal dimensions")

    def merge(self, a: Shape, b: Shape) -> Shape:
        """The more specific of two shapes that must be compatible."""
        if a is None or b is None:
            return b if a is None else a
        if len(a) != len(b):
            self.fail(
                "ranks must be equal", found=f"{list(a)} and {list(b)}", needed="equal ranks"
            )
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


_FUNCTIONS: Final[dict[str, ShapeFunction]] = {}
_loaded = False


def shape(*ops: str) -> Callable[[ShapeFunction], ShapeFunction]:
    """Register the decorated function as the shape function of ``ops``."""

    def register(function: ShapeFunction) -> ShapeFunction:
        for op in ops:
            if op in _FUNCTIONS:
                raise ValueError(f"op {op!r} already has a shape function {_FUNCTIONS[op]!r}")
            _FUNCTIONS[op] = function
        return function

    return register


def find_shape_function(op: str) -> ShapeFunction | None:
    """The shape function of ``op``, or None."""
    global _loaded
    if not _loaded:
        package = importlib.import_module("drystone_base.ops.shapes")
        for module in sorted(pkgutil.iter_modules(package.__path__), key=lambda m: m.name):
            if not module.name.startswith("_"):
                importlib.import_module(f"drystone_base.ops.shapes.{module.name}")
        _loaded = True
    return _FUNCTIONS.get(op)
