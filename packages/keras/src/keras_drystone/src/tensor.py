"""Symbolic tensors as Keras expects tensors to be."""

from __future__ import annotations

from typing import Any

import numpy as np

from drystone_base.core.dtypes import DType
from drystone_base.tracing import calls
from drystone_base.tracing.tensor import Tensor
from drystone_base.tracing.trace import Trace

__all__ = ["SymbolicTensor", "wrapped"]


class SymbolicTensor(Tensor):
    """An output of the graph that is traced, with NumPy's dtypes and Keras's promotion of them.

    Values are NumPy arrays, and nothing else: a tensor of this backend is one or the other. Keras
    keeps masks as attributes of tensors.
    """

    moments_of: tuple[Any, Any, Any] | None = None
    """The trace, output and axes that ``moments`` gave this for."""

    @property
    def dtype(self) -> Any:  # type: ignore[override]
        """The dtype as NumPy has it, as that of arrays is; ``"string"`` for texts."""
        kind: DType = super().dtype
        return kind.label if kind.is_object else kind.np

    @property
    def size(self) -> Any:
        """The number of elements, where it is known."""
        shape = self.shape
        if shape is None or None in shape:
            return _numpy().size(self)
        return int(np.prod([d for d in shape if d is not None]))

    def __getitem__(self, key: Any) -> Any:
        return _indexing().getitem(self, key)

    def __len__(self) -> int:
        return super().__len__()

    def __array_ufunc__(  # type: ignore[override]
        self, ufunc: Any, method: str, *inputs: Any, **_: Any
    ) -> Any:
        """NumPy's functions and operators of arrays and tensors, in place ones (``+=``), too."""
        function = _UFUNCS.get(ufunc)
        if function is None or method != "__call__":
            return NotImplemented
        return getattr(_numpy(), function)(*inputs)

    def astype(self, dtype: Any) -> Any:
        """The values as another dtype."""
        return _core().cast(self, dtype)

    def reshape(self, *shape: Any) -> Any:
        """The elements in another shape, of which one size may be -1."""
        return _numpy().reshape(self, shape[0] if len(shape) == 1 else shape)

    def transpose(self, *axes: int) -> Any:
        """The dimensions in another order, reversed by default."""
        return _numpy().transpose(self, axes or None)


_UFUNCS: dict[Any, str] = {
    np.add: "add", np.subtract: "subtract", np.multiply: "multiply", np.divide: "true_divide",
    np.floor_divide: "floor_divide", np.remainder: "mod", np.power: "power", np.matmul: "matmul",
    np.bitwise_and: "_and", np.bitwise_or: "_or", np.bitwise_xor: "_xor", np.negative: "negative",
    np.left_shift: "left_shift", np.right_shift: "right_shift", np.absolute: "absolute",
    np.less: "less", np.less_equal: "less_equal", np.greater: "greater", np.equal: "equal",
    np.greater_equal: "greater_equal", np.not_equal: "not_equal", np.invert: "bitwise_not",
    np.maximum: "maximum", np.minimum: "minimum", np.sqrt: "sqrt", np.exp: "exp", np.log: "log",
}  # fmt: skip


def _core() -> Any:
    from keras_drystone.src.ops import core

    return core


def _numpy() -> Any:
    from keras_drystone.src.ops import numpy

    return numpy


def _indexing() -> Any:
    from keras_drystone.src.ops import indexing

    return indexing


def _operator(name: str, function: str, swapped: bool) -> None:
    def operator(self: Any, other: Any) -> Any:
        found = getattr(_numpy(), function)
        return found(other, self) if swapped else found(self, other)

    operator.__name__ = name
    setattr(SymbolicTensor, name, operator)


_BINARY = {
    "add": "add", "sub": "subtract", "mul": "multiply", "truediv": "true_divide",
    "floordiv": "floor_divide", "mod": "mod", "pow": "power", "matmul": "matmul",
    "and": "_and", "or": "_or", "xor": "_xor", "lshift": "left_shift", "rshift": "right_shift",
}  # fmt: skip
_COMPARED = {
    "lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal",
    "eq": "equal", "ne": "not_equal",
}  # fmt: skip
for _name, _function in _BINARY.items():
    _operator(f"__{_name}__", _function, False)
    _operator(f"__r{_name}__", _function, True)
for _name, _function in _COMPARED.items():
    _operator(f"__{_name}__", _function, False)
SymbolicTensor.__neg__ = lambda self: _numpy().negative(self)  # type: ignore[method-assign]
SymbolicTensor.__abs__ = lambda self: _numpy().absolute(self)  # type: ignore[method-assign]
SymbolicTensor.__invert__ = lambda self: _numpy().bitwise_not(self)  # type: ignore[method-assign]
SymbolicTensor.__hash__ = object.__hash__  # type: ignore[method-assign, assignment]


def wrapped(found: Any) -> Any:
    """A tensor of base as one of Keras; all else as it is."""
    if isinstance(found, Tensor) and not isinstance(found, SymbolicTensor):
        return SymbolicTensor(found.trace, found.place)
    return found


def symbolic(trace: Trace, value: Any) -> SymbolicTensor:
    """What an argument of a trace stands for."""
    return SymbolicTensor(trace, calls.as_output(trace, value))
