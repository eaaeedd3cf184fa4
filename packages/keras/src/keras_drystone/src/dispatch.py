"""One op for arrays and for symbolic tensors: computed at once, or added to the graph."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, Final

import numpy as np
from keras.src.backend.common.name_scope import current_path

from drystone_base.core.dtypes import DType, as_dtype, from_numpy
from drystone_base.core.errors import DrystoneError, GraphError, KernelError, ShapeError
from drystone_base.graph import Graph
from drystone_base.graph.builder import Builder
from drystone_base.graph.validate import output_dtypes
from drystone_base.kernels.evaluate import evaluate
from drystone_base.ops.defs import OpDef, op_def
from drystone_base.tracing import calls
from drystone_base.tracing.trace import Trace
from keras_drystone.src.tensor import SymbolicTensor

__all__ = ["OperandError", "added", "emit", "is_symbolic", "outputs"]

_TEXT: Final = as_dtype("string")
_WIDER: Final = ("int32", "int64", "float32", "float64", "complex64", "complex128")


class OperandError(KernelError, ValueError):
    """An op refuses its operands: a ``ValueError``, as Keras and NumPy have it."""

    @classmethod
    def of(cls, error: DrystoneError) -> OperandError:
        """What base says, as an error that programs for Keras expect."""
        return cls(
            error.what, check=error.check, found=error.found, needed=error.needed,
            remedy=error.remedy, code=error.code, status=error.status, details=error.details,
        )  # fmt: skip


def is_symbolic(value: Any) -> bool:
    """Whether a value, or one in a list or tuple of them, is known only when the graph runs."""
    if isinstance(value, list | tuple):
        return any(map(is_symbolic, value))
    return isinstance(value, SymbolicTensor)


def emit(op: str, *inputs: Any, **attrs: Any) -> Any:
    """The first output of an op; inputs are tensors, or lists where the op takes lists."""
    return outputs(op, *inputs, **attrs)[0]


def outputs(op: str, *inputs: Any, **attrs: Any) -> list[Any]:
    """All outputs of an op.

    A dtype that the op does not take is computed in a wider one: NumPy has every function for every
    dtype, TensorFlow's ops are for some. Raises ``OperandError``, which says
    what base's kernels and builder do.
    """
    narrow = _narrow(op, inputs)
    try:
        if narrow is not None:
            return _widened(op, inputs, attrs, *narrow)
        if is_symbolic(inputs):
            return added(op, inputs, attrs)
        return _computed(op, inputs, attrs)
    except OperandError:
        raise
    except (KernelError, ShapeError, GraphError) as error:
        raise OperandError.of(error) from error


def _narrow(op: str, inputs: Sequence[Any]) -> tuple[str, DType, DType] | None:
    """The type attribute, dtype and wider dtype where an op does not take what it is given."""
    for place, name, allowed in _restricted(op):
        value = inputs[place]
        first = value[0] if isinstance(value, list | tuple) else value
        kind = _kind(first)
        if kind.number not in allowed and kind is not _TEXT:
            return name, kind, _wider(kind, allowed)
    return None


@cache
def _restricted(op: str) -> list[tuple[int, str, frozenset[int]]]:
    definition = op_def(op)
    found = []
    for place, arg in enumerate(definition.inputs):
        allowed = definition.attrs[arg.type_attr].allowed if arg.type_attr else None
        if allowed:
            found.append((place, arg.type_attr, frozenset(as_dtype(a).number for a in allowed)))
    return found


def _wider(kind: DType, allowed: frozenset[int]) -> DType:
    wider = [as_dtype(name) for name in _WIDER]
    if kind.is_unsigned and kind.np.itemsize > 2:
        wider = wider[1:]
    if kind.is_floating:
        wider = [w for w in wider if w.is_floating or w.is_complex]
    if kind.is_complex:
        wider = [w for w in wider if w.is_complex]
    return next((w for w in wider if w.number in allowed), kind)


def _widened(
    op: str, inputs: Sequence[Any], attrs: dict[str, Any], name: str, kind: DType, wider: DType
) -> list[Any]:
    if wider is kind:  # the op has none: its error says which it takes
        return added(op, inputs, attrs) if is_symbolic(inputs) else _computed(op, inputs, attrs)
    definition = op_def(op)
    given = [
        _cast_all(value, wider) if arg.type_attr == name else value
        for arg, value in zip(definition.inputs, inputs, strict=True)
    ]
    found = outputs(op, *given, **attrs)
    back = [arg.type_attr == name for arg in definition.outputs]
    return [_cast(v, kind) if same else v for v, same in zip(found, back, strict=False)]


def _cast_all(value: Any, kind: DType) -> Any:
    return (
        [_cast(v, kind) for v in value] if isinstance(value, list | tuple) else _cast(value, kind)
    )


def _cast(value: Any, kind: DType) -> Any:
    if isinstance(value, SymbolicTensor):
        return emit("Cast", value, DstT=kind)
    if value.dtype.kind == "c" and not kind.is_complex:
        value = value.real
    return np.asarray(value).astype(kind.np)


def _kind(value: Any) -> DType:
    if isinstance(value, SymbolicTensor):
        return value.trace.b.dtype(value.place)
    return _of_numpy(value.dtype)


@cache
def _of_numpy(dtype: np.dtype[Any]) -> DType:
    return _TEXT if dtype.kind in "OUS" else from_numpy(dtype)


def added(op: str, inputs: Sequence[Any], attrs: dict[str, Any]) -> list[Any]:
    """All outputs of an op that is added to the graph, though its inputs may be known.

    Its node is named after the layer that is called: ``block/dense/MatMul``.
    """
    trace = Trace.active()
    if trace is None:
        Trace().resolve(_first(inputs))  # raises: it belongs to a trace that is over
        raise AssertionError
    with trace.scope(current_path()):
        flat = [
            [calls.as_output(trace, v) for v in value] if isinstance(value, list | tuple)
            else calls.as_output(trace, value)
            for value in inputs
        ]  # fmt: skip
        node = trace.emit(op, flat, attrs)
    count = len(output_dtypes(node) or ())
    return [SymbolicTensor(trace, (node, k)) for k in range(count)]


def _first(inputs: Any) -> SymbolicTensor:
    for value in inputs:
        if isinstance(value, SymbolicTensor):
            return value
        if isinstance(value, list | tuple) and is_symbolic(value):
            return _first(value)
    raise AssertionError


def _computed(op: str, inputs: Sequence[Any], attrs: dict[str, Any]) -> list[Any]:
    arrays: list[Any] = []
    kinds: list[Any] = []
    for value in inputs:
        if isinstance(value, list | tuple):
            arrays += value
            kinds.append(tuple(_of_numpy(v.dtype) for v in value))
        else:
            arrays.append(value)
            kinds.append(_of_numpy(value.dtype))
    given = tuple((k, tuple(v) if isinstance(v, list) else v) for k, v in attrs.items())
    full, slices, count = _prepared(op, tuple(kinds), given)
    with np.errstate(all="ignore"):
        return [_own(value) for value in evaluate(op, op, full, arrays, slices, count)]


def _own(found: Any) -> Any:
    """A result that may be changed in place: layers write ``outputs += bias``, as they trace."""
    flags = found.flags
    return found if flags.writeable and flags.owndata else np.array(found)


@cache
def _prepared(op: str, kinds: tuple[Any, ...], attrs: tuple[Any, ...]) -> tuple[Any, Any, int]:
    """Full attributes, places of inputs and the number of outputs, for inputs of such dtypes."""
    b = Builder(Graph())
    given = [
        [b("Placeholder", dtype=k) for k in kind] if isinstance(kind, tuple)
        else b("Placeholder", dtype=kind)
        for kind in kinds
    ]  # fmt: skip
    named: dict[str, Any] = {name: list(v) if isinstance(v, tuple) else v for name, v in attrs}
    node = b.node(op, *given, **named)
    definition: OpDef = op_def(op)
    full = node.full_attrs()
    return full, definition.input_slices(full), len(output_dtypes(node) or ())
