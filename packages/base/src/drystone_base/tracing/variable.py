"""Variables of functions: arrays that functions read and write, and keep from call to call."""

from __future__ import annotations

from typing import Any

import numpy as np

from drystone_base.autodiff._slices import Grad, IndexedSlices
from drystone_base.core.arguments import checked
from drystone_base.core.dtypes import DType, as_dtype, from_numpy
from drystone_base.core.errors import BadRequest
from drystone_base.core.printable import described
from drystone_base.core.shown import shape_text
from drystone_base.graph.node import Output
from drystone_base.state.variables import Variable as Held
from drystone_base.tracing import calls
from drystone_base.tracing.store import VariableStore
from drystone_base.tracing.tensor import Operators, Tensor, standing_for
from drystone_base.tracing.trace import Trace

__all__ = ["Variable"]


class Variable(Operators):
    """An array that functions read and write; it keeps its dtype and shape.

    ``initial`` is anything that NumPy makes an array of; floats of Python are ``float32``. In a
    function that is traced a variable is used as a tensor is; outside of one operators give arrays.
    ``name`` is what checkpoints and SavedModels call it, with a number behind where the
    :class:`~drystone_base.VariableStore` has one of that name; ``trainable`` says whether training
    changes it.
    """

    __slots__ = ("__weakref__", "_shape", "held", "name", "trainable")

    @checked
    def __init__(
        self, initial: Any, name: str = "variable", *, dtype: Any = None, trainable: bool = True
    ) -> None:
        kind = as_dtype(dtype) if dtype is not None else _kind_of(initial)
        try:
            value = np.array(initial, kind.np)
        except (TypeError, ValueError, OverflowError) as error:
            raise _no_numbers(initial) from error
        self.trainable = trainable
        self._shape = value.shape
        self.name = VariableStore.active().add(self, name or "variable")
        self.held = Held(self.name, kind, value.shape)  # what sessions of functions share
        self.held.write(value)

    def __repr__(self) -> str:
        return f"<Variable {self.name!r}: {self.dtype} {shape_text(self.shape)}>"

    def __getstate__(self) -> tuple[np.ndarray[Any, Any], str, DType, bool]:
        return self.value, self.name, self.dtype, self.trainable

    def __setstate__(self, state: tuple[np.ndarray[Any, Any], str, DType, bool]) -> None:
        """A copy, pickled or not, has the value of then, and is in no store."""
        value, self.name, dtype, self.trainable = state
        self._shape = value.shape
        self.held = Held(self.name, dtype, value.shape)
        self.held.write(np.array(value))

    @property
    def dtype(self) -> DType:  # type: ignore[override]
        """The element type."""
        return self.held.dtype

    @property
    def shape(self) -> tuple[int, ...]:
        """The sizes."""
        return self._shape

    @property
    def value(self) -> np.ndarray[Any, Any]:
        """The value now, read-only; while a function is traced the value before its run."""
        return self.held.read()

    @property
    def version(self) -> int:
        """Another number after each change of the value."""
        return self.held.version

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        return np.array(self.value, dtype, copy=copy)

    @property
    def output(self) -> Output:
        """The handle in the graph that is traced."""
        trace = Trace.active()
        if trace is None:
            raise BadRequest(
                f"variable {self.name!r} is in no graph",
                check="gradients by a variable are taken in a function that is traced",
                found="no function is traced",
                needed="a call in a function with the decorator @drystone.function",
                remedy="take the gradient inside of the function that computes the result",
                code="no-run",
            )
        return trace.handle(self)

    def standing_for(self, grad: Grad) -> Any:
        """A gradient as a symbolic tensor, or as slices of such."""
        return standing_for(grad)

    def read(self, trace: Trace) -> Output:
        """The value, in a graph."""
        node = trace.emit("ReadVariableOp", [trace.handle(self)], {"dtype": self.dtype})
        if trace.parent is None:
            return node, 0
        shaped = trace.emit("EnsureShape", [(node, 0)], {"shape": self.shape})
        return shaped, 0  # inside of functions it is unknown what a handle refers to

    def assign(self, value: Any) -> None:
        """Give the variable another value of its dtype and shape; raises ``BadRequest``."""
        self._write("AssignVariableOp", value, lambda _, new: new)

    def assign_add(self, value: Any) -> None:
        """Add to the value; slices (gradients of gathered rows) are added to their rows."""
        self._write("AssignAddVariableOp", value, np.add)

    def assign_sub(self, value: Any) -> None:
        """Subtract from the value; slices (gradients of gathered rows) from their rows."""
        self._write("AssignSubVariableOp", value, np.subtract)

    def _write(self, op: str, value: Any, eager: Any) -> None:
        trace = Trace.active()
        if trace is None:
            new = eager(self.value, calls.as_array(value, self.dtype))
            self.check(np.shape(new), from_numpy(np.asarray(new).dtype))
            self.held.write(np.array(new))
            return
        handle = trace.handle(self)
        if isinstance(value, IndexedSlices):
            scatter = {"AssignSubVariableOp": "ResourceScatterSub",
                       "AssignAddVariableOp": "ResourceScatterAdd"}[op]  # fmt: skip
            parts = [calls.as_output(trace, part) for part in (value.indices, value.values)]
            trace.emit(scatter, [handle, *parts], {"dtype": self.dtype})
            return
        new = calls.as_output(trace, value, self.dtype)
        tensor = Tensor(trace, new)
        self.check(tensor.shape, tensor.dtype)
        trace.emit(op, [handle, new], {"dtype": self.dtype})

    def check(self, shape: tuple[int | None, ...] | None, dtype: DType) -> None:
        """Raise ``BadRequest`` (``variable-mismatch``) for what the variable cannot hold."""
        same = shape is None or (
            len(shape) == len(self._shape)
            and all(a is None or a == b for a, b in zip(shape, self._shape, strict=True))
        )
        if not same or dtype is not self.dtype:
            raise BadRequest(
                f"variable {self.name!r} cannot hold that",
                check="a variable keeps its dtype and shape",
                found=f"{dtype} {shape_text(shape)}",
                needed=f"{self.dtype} {shape_text(self._shape)}",
                remedy="cast or reshape the value, or make a variable of another one",
                code="variable-mismatch",
            )


def _kind_of(initial: Any) -> DType:
    found = calls.dtype_of(initial) or calls.usual_dtype(initial)
    if found is None or found.is_object:
        raise _no_numbers(initial)
    return found


def _no_numbers(initial: Any) -> BadRequest:
    return BadRequest(
        "a variable cannot begin with this",
        check="a variable must begin with numbers of its dtype",
        found=f"{type(initial).__name__}: {described(initial, 80)}",
        needed="what numpy.asarray makes numbers of",
        remedy="give an array",
        code="variable-mismatch",
    )
