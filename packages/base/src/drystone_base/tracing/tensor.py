"""Symbolic tensors: what stands for values while a function is traced."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any, NoReturn

import numpy as np

from drystone_base.autodiff._slices import Grad, IndexedSlices
from drystone_base.core.dtypes import BOOL, DType, as_dtype
from drystone_base.core.errors import BadRequest
from drystone_base.core.shown import shape_text
from drystone_base.graph.node import Output, output_name
from drystone_base.tracing import calls
from drystone_base.tracing.trace import Trace

__all__ = ["Operators", "Tensor"]


def _call(op: str, *args: Any, **attrs: Any) -> Any:
    return calls.call(op, args, attrs)


class Operators(ABC):
    """Python's operators and NumPy's common methods, as ops."""

    __slots__ = ()
    __array_ufunc__ = None  # NumPy leaves operators with its arrays to us
    __hash__ = object.__hash__

    dtype: DType

    @property
    def ndim(self) -> int | None:
        """The rank, None where it is not known."""
        shape = self.shape
        return None if shape is None else len(shape)

    @property
    @abstractmethod
    def shape(self) -> tuple[int | None, ...] | None:
        """The sizes, None for those that are not known; None where not even the rank is."""

    def __add__(self, other: Any) -> Any:
        return _call("AddV2", self, other)

    def __radd__(self, other: Any) -> Any:
        return _call("AddV2", other, self)

    def __sub__(self, other: Any) -> Any:
        return _call("Sub", self, other)

    def __rsub__(self, other: Any) -> Any:
        return _call("Sub", other, self)

    def __mul__(self, other: Any) -> Any:
        return _call("Mul", self, other)

    def __rmul__(self, other: Any) -> Any:
        return _call("Mul", other, self)

    def __truediv__(self, other: Any) -> Any:
        return _call("RealDiv", self, other)

    def __rtruediv__(self, other: Any) -> Any:
        return _call("RealDiv", other, self)

    def __floordiv__(self, other: Any) -> Any:
        return _call("FloorDiv", self, other)

    def __mod__(self, other: Any) -> Any:
        return _call("FloorMod", self, other)

    def __pow__(self, other: Any) -> Any:
        return _call("Pow", self, other)

    def __rpow__(self, other: Any) -> Any:
        return _call("Pow", other, self)

    def __matmul__(self, other: Any) -> Any:
        return _product(self, other)

    def __rmatmul__(self, other: Any) -> Any:
        return _product(other, self)

    def __neg__(self) -> Any:
        return _call("Neg", self)

    def __abs__(self) -> Any:
        return _call("Abs", self)

    def __lt__(self, other: Any) -> Any:
        return _call("Less", self, other)

    def __le__(self, other: Any) -> Any:
        return _call("LessEqual", self, other)

    def __gt__(self, other: Any) -> Any:
        return _call("Greater", self, other)

    def __ge__(self, other: Any) -> Any:
        return _call("GreaterEqual", self, other)

    def __eq__(self, other: object) -> Any:
        return _call("Equal", self, other)

    def __ne__(self, other: object) -> Any:
        return _call("NotEqual", self, other)

    def __and__(self, other: Any) -> Any:
        return _call("LogicalAnd" if self.dtype is BOOL else "BitwiseAnd", self, other)

    def __or__(self, other: Any) -> Any:
        return _call("LogicalOr" if self.dtype is BOOL else "BitwiseOr", self, other)

    def __invert__(self) -> Any:
        return _call("LogicalNot" if self.dtype is BOOL else "Invert", self)

    def __getitem__(self, key: Any) -> Any:
        return _sliced(self, key)

    def astype(self, dtype: Any) -> Any:
        """The values as another dtype."""
        return _call("Cast", self, DstT=as_dtype(dtype))

    def reshape(self, *shape: Any) -> Any:
        """The elements in another shape, of which one size may be -1."""
        return _call("Reshape", self, shape[0] if len(shape) == 1 else list(shape))

    def transpose(self, *axes: int) -> Any:
        """The dimensions in another order, reversed by default."""
        if not axes and self.ndim is None:
            _no_value(self, "the order of its dimensions, as its rank is unknown")
        order = list(axes) or list(range(self.ndim or 0))[::-1]
        return _call("Transpose", self, np.asarray(order, np.int32))

    @property
    def T(self) -> Any:  # noqa: N802 — NumPy's name
        """The dimensions reversed."""
        return self.transpose()

    def sum(self, axis: Any = None, keepdims: bool = False) -> Any:
        """The sum over axes, all by default."""
        return _reduced("Sum", self, axis, keepdims)

    def mean(self, axis: Any = None, keepdims: bool = False) -> Any:
        """The mean over axes, all by default."""
        return _reduced("Mean", self, axis, keepdims)

    def max(self, axis: Any = None, keepdims: bool = False) -> Any:
        """The largest over axes, all by default."""
        return _reduced("Max", self, axis, keepdims)

    def min(self, axis: Any = None, keepdims: bool = False) -> Any:
        """The smallest over axes, all by default."""
        return _reduced("Min", self, axis, keepdims)

    def prod(self, axis: Any = None, keepdims: bool = False) -> Any:
        """The product over axes, all by default."""
        return _reduced("Prod", self, axis, keepdims)


class Tensor(Operators):
    """An output of the graph that is traced; it has a dtype and a shape, and no value yet.

    Operators and NumPy's common methods add nodes, as the functions of ``drystone.ops`` do.
    ``shape`` has None for unknown sizes. Raises ``BadRequest`` (``symbolic-value``) where
    Python needs a value: in ``if``, ``float()``, ``numpy.asarray()``.
    """

    __slots__ = ("place", "trace")

    def __init__(self, trace: Trace, place: Output) -> None:
        self.trace, self.place = trace, place

    def __repr__(self) -> str:
        return f"<Tensor {self.name!r}: {self.dtype} {shape_text(self.shape)}>"

    @property
    def output(self) -> Output:
        """The output of the graph that is traced now."""
        active = Trace.active()
        return self.place if active is None else active.resolve(self)

    def standing_for(self, grad: Grad) -> Any:
        """A gradient as a symbolic tensor, or as slices of such."""
        return standing_for(grad)

    @property
    def name(self) -> str:
        """The name of the output in its graph."""
        return output_name(self.place)

    @property
    def dtype(self) -> DType:  # type: ignore[override]
        """The element type."""
        return self.trace.b.dtype(self.place)

    @property
    def shape(self) -> tuple[int | None, ...] | None:
        """The sizes, None for those that are not known; None where not even the rank is."""
        found = self.trace.shapes.shape(self.place)
        return None if found is None else tuple(None if d < 0 else d for d in found)

    def __bool__(self) -> bool:
        _no_value(self, "a truth value", "ds.cond(test, ...) or ds.while_loop(test, ...)")

    def __float__(self) -> float:
        _no_value(self, "a number")

    def __int__(self) -> int:
        _no_value(self, "a number", "x.astype('int32') for a cast")

    def __index__(self) -> int:
        _no_value(self, "an index", "ds.ops.gather_v2(x, index, axis)")

    def __array__(self, *_: Any, **__: Any) -> Any:
        _no_value(self, "an array", "functions of ds.ops in place of NumPy's")

    def __len__(self) -> int:
        shape = self.shape
        if not shape or shape[0] is None:
            _no_value(self, "a length")
        return shape[0]

    def __iter__(self) -> Iterator[Tensor]:
        return (self[k] for k in range(len(self)))


def standing_for(grad: Grad) -> Any:
    """A gradient of the graph that is traced, as a symbolic tensor or slices of such."""
    trace = Trace.active()
    assert trace is not None
    if isinstance(grad, IndexedSlices):
        return IndexedSlices(*(Tensor(trace, part) for part in grad))  # type: ignore[arg-type]
    return Tensor(trace, grad)


def _no_value(tensor: Any, what: str, instead: str = "") -> NoReturn:
    raise BadRequest(
        f"{tensor!r} has no {what.removeprefix('a ').removeprefix('an ')} while it is traced",
        check="Python cannot look at values of a function that is traced: they come when it runs",
        found=f"{what} was asked for",
        needed="ops on symbolic tensors",
        remedy=f"use {instead}" if instead else "compute with ds.ops, and return the result",
        code="symbolic-value",
    )


def _product(x: Any, y: Any) -> Any:
    plain = all(getattr(v, "ndim", None) == 2 for v in (x, y))
    return _call("MatMul" if plain else "BatchMatMulV2", x, y)


def _reduced(op: str, x: Any, axis: Any, keepdims: bool) -> Any:
    if axis is None:
        rank = x.ndim
        axis = range(rank) if rank is not None else None
    if axis is None:
        axes = _call("Range", np.int32(0), _call("Rank", x), np.int32(1))
    else:
        axes = np.asarray([axis] if isinstance(axis, int) else list(axis), np.int32)
    return _call(op, x, axes, keep_dims=bool(keepdims))


def _sliced(x: Any, key: Any) -> Any:
    """``x[...]`` of numbers, slices, None and Ellipsis."""
    begin: list[Any] = []
    end: list[Any] = []
    step: list[Any] = []
    masks = dict.fromkeys(("begin", "end", "ellipsis", "new_axis", "shrink_axis"), 0)
    for k, one in enumerate(key if isinstance(key, tuple) else (key,)):
        first, last, stride = 0, 0, 1
        if one is Ellipsis:
            masks["ellipsis"] |= 1 << k
        elif one is None:
            masks["new_axis"] |= 1 << k
        elif isinstance(one, slice):
            masks["begin"] |= (one.start is None) << k
            masks["end"] |= (one.stop is None) << k
            first, last, stride = one.start or 0, one.stop or 0, one.step or 1
        elif isinstance(one, int | np.integer) and not isinstance(one, bool):
            masks["shrink_axis"] |= 1 << k
            first, last = int(one), int(one) + 1
        else:
            raise _bad_key(one)
        begin, end, step = [*begin, first], [*end, last], [*step, stride]
    ends = [np.asarray(part, np.int32) for part in (begin, end, step)]
    return _call("StridedSlice", x, *ends, **{f"{name}_mask": v for name, v in masks.items()})


def _bad_key(key: Any) -> BadRequest:
    return BadRequest(
        "a tensor cannot be indexed with this",
        check="an index must be a number, a slice of numbers, None or Ellipsis",
        found=f"{type(key).__name__}: {key!r:.80}",
        needed="x[1], x[2:], x[..., None]",
        remedy="take elements by ds.ops.gather_v2(x, indices, axis) or ds.ops.gather_nd",
        code="bad-argument",
    )
