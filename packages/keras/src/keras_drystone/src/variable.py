"""Variables of Keras, kept by base: functions that are traced read and assign them in the graph."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Final

import numpy as np
from keras.src.backend.common import KerasVariable
from keras.src.backend.common.name_scope import current_path
from keras.src.backend.common.stateless_scope import get_stateless_scope, in_stateless_scope
from keras.src.backend.common.symbolic_scope import in_symbolic_scope

from drystone_base.core.dtypes import as_dtype
from drystone_base.tracing import variable as base
from drystone_base.tracing.trace import Trace
from keras_drystone.src.tensor import SymbolicTensor

__all__ = ["Frozen", "Variable", "frozen"]


class Frozen:
    """What a trace takes of variables as constants: values and their versions.

    ``assigned`` are variables that the trace assigns, which cannot be constants in it.
    """

    def __init__(self, live: frozenset[int] = frozenset()) -> None:
        self.live = live
        self.versions: dict[Variable, int] = {}
        self.assigned: set[int] = set()

    def is_current(self) -> bool:
        """Whether no variable that was taken has another value since."""
        return all(v.version == version for v, version in self.versions.items())


_FROZEN: Final[ContextVar[Frozen | None]] = ContextVar("keras_drystone_frozen", default=None)


@contextmanager
def frozen(taken: Frozen) -> Iterator[None]:
    """Inside, functions that are traced see variables as constants, but for ``taken.live``."""
    token = _FROZEN.set(taken)
    try:
        yield
    finally:
        _FROZEN.reset(token)


class Variable(KerasVariable):  # type: ignore[misc]
    """A variable of Keras.

    ``held`` is the ``drystone.Variable`` that keeps the value: its name, and what gradients are
    taken by. Outside of a trace the value is an array, inside of one a tensor: the value at that
    point of the trace, after the assignments before.
    """

    __hash__ = object.__hash__

    @property
    def held(self) -> base.Variable:
        """The variable of base."""
        found: base.Variable = self._value
        return found

    @property
    def version(self) -> int:
        """Another number after each change of the value."""
        return self.held.version

    @property
    def output(self) -> Any:
        """The handle in the graph that is traced, by which gradients are taken."""
        return self.held.output

    def standing_for(self, grad: Any) -> Any:
        """A gradient by this variable, as a tensor of Keras or as slices of such."""
        return self.held.standing_for(grad)

    @property
    def value(self) -> Any:
        """The value: that of a stateless scope, a tensor in a trace, else an array."""
        if in_stateless_scope():
            found = get_stateless_scope().get_current_value(self)
            if found is not None:
                return self._maybe_autocast(found)
        trace = Trace.active()
        if trace is not None and in_symbolic_scope():  # only the shape is asked for
            place = trace.placeholder(as_dtype(self._dtype), self._shape, "variable")
            return self._maybe_autocast(SymbolicTensor(trace, place))
        if self._value is None:
            return self._maybe_autocast(self._initializer(self._shape, dtype=self._dtype))
        return self._maybe_autocast(self._read(trace))

    def _read(self, trace: Trace | None) -> Any:
        taken = _FROZEN.get()
        if trace is None:
            return self.held.value
        if taken is None or id(self) in taken.live:
            with trace.scope(current_path()):
                return SymbolicTensor(trace, self.held.read(trace))
        taken.versions.setdefault(self, self.version)
        return self.held.value

    def _initialize(self, value: Any) -> None:
        array = np.asarray(value)
        self._value: Any = base.Variable(
            array, self.path, dtype=self._dtype, trainable=self._trainable
        )

    def _direct_assign(self, value: Any) -> None:
        taken = _FROZEN.get()
        if taken is not None:
            taken.assigned.add(id(self))
        if Trace.active() is None:
            value = np.array(value, self._dtype)
        self.held.assign(value)

    def _convert_to_tensor(self, value: Any, dtype: Any = None) -> Any:
        from keras_drystone.src.ops.core import convert_to_tensor

        given = value.dtype if isinstance(value, np.ndarray | np.generic) else None
        if given is not None and given.kind == "c" and not as_dtype(self._dtype).is_complex:
            raise ValueError(f"variable {self.path} of {self._dtype} cannot hold {given} numbers")
        return convert_to_tensor(value, dtype=dtype)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        value = self.value
        return np.array(value, dtype)
