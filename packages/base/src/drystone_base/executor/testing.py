"""Run one reference kernel or shape function by itself: for tests and experiments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from drystone_base.core import dtypes, tensor
from drystone_base.core.dtypes import DType, as_dtype, from_numpy
from drystone_base.core.errors import UnsupportedOp
from drystone_base.core.tensor import as_strings
from drystone_base.files.access import Access
from drystone_base.inference.shapes._registry import Shape, ShapeCall, find_shape_function
from drystone_base.kernels._registry import Array, Call, find_kernel
from drystone_base.ops.attrs import FunctionRef
from drystone_base.ops.defs import OpDef, op_def
from drystone_base.state.runtime import Runtime
from drystone_base.state.variables import ResourceManager, Variable

__all__ = ["as_array", "infer_shapes", "run_op", "with_dtypes"]


def as_array(value: Any) -> Any:
    """A run-time value from plain Python: strings become object arrays of bytes."""
    if isinstance(value, Variable):
        return value
    is_array = isinstance(value, np.ndarray)
    return as_strings(value) if _holds_text(value) else value if is_array else np.asarray(value)


def _holds_text(value: Any) -> bool:
    if isinstance(value, np.ndarray):
        return value.dtype.kind in "SUT"
    while isinstance(value, list | tuple) and value:
        value = value[0]
    return isinstance(value, str | bytes)


def _dtype_of(value: Any) -> DType:
    return value.dtype if isinstance(value, Variable) else from_numpy(value.dtype)


def with_dtypes(op: OpDef, attrs: Mapping[str, Any]) -> dict[str, Any]:
    """Attributes, with dtypes for labels of dtypes."""
    out = dict(attrs)
    for name in attrs.keys() & op.attrs.keys():
        if op.attrs[name].type == "type":
            out[name] = as_dtype(attrs[name])
        elif op.attrs[name].type == "list(type)":
            out[name] = [as_dtype(label) for label in attrs[name]]
    return out


def _list_length(op: OpDef, name: str, given: int) -> int:
    """How many of the ``given`` inputs each list from argument ``name`` on takes."""
    at = [arg.name for arg in op.inputs].index(name)
    shared = [arg for arg in op.inputs[at:] if arg.number_attr == op.inputs[at].number_attr]
    singles = len(op.inputs[at:]) - len(shared)
    return max(given - singles, 0) // len(shared)


def _infer_attrs(op: OpDef, inputs: Sequence[Any], given: dict[str, Any]) -> dict[str, Any]:
    """Given attributes, plus defaults, plus dtypes and counts read off the inputs."""
    attrs = {name: a.default for name, a in op.attrs.items() if a.has_default} | given
    position = 0
    for arg in op.inputs:
        rest = list(inputs[position:])
        if arg.type_list_attr:
            attrs.setdefault(arg.type_list_attr, [_dtype_of(v) for v in rest])
            position += len(attrs[arg.type_list_attr])
            continue
        if arg.number_attr:
            attrs.setdefault(arg.number_attr, _list_length(op, arg.name, len(rest)))
        if arg.type_attr and rest and arg.type_attr not in given:
            attrs[arg.type_attr] = _dtype_of(rest[0])
        position += attrs[arg.number_attr] if arg.number_attr else 1
    return attrs


def _refuse_invoke(_: Runtime, function: FunctionRef, __: Sequence[Array]) -> list[Array]:
    raise UnsupportedOp(f"function {function.name!r} cannot run outside a graph")


def run_op(
    op: str, *inputs: Any, runtime: Runtime | None = None, node: str = "node", **attrs: Any
) -> list[Any]:
    """Outputs of one op run by its reference kernel, as a list of arrays.

    ``inputs`` are flat; strings may be plain ``str`` or ``bytes``. Attributes left out are inferred
    from the inputs or take the op definition's defaults; dtype attributes may be labels. Files
    anywhere may be read and written.
    """
    definition = op_def(op)
    values = [as_array(v) for v in inputs]
    filled = _infer_attrs(definition, values, with_dtypes(definition, attrs))
    function = find_kernel(op)
    if function is None:
        raise UnsupportedOp(f"op {op!r} has no reference kernel")
    call = Call(
        node,
        op,
        filled,
        runtime or Runtime(ResourceManager(), _refuse_invoke, access=Access.anywhere()),
        definition.input_slices(filled),
        len(definition.output_types(filled)),
    )
    result = function(call, *values)
    outputs = list(result) if isinstance(result, tuple | list) else [result]
    return [v if isinstance(v, Variable) else tensor.as_array(v) for v in outputs]


def infer_shapes(
    op: str,
    shapes: Sequence[Shape],
    *,
    values: Sequence[Any] | None = None,
    dtypes_in: Sequence[DType | str] | None = None,
    **attrs: Any,
) -> list[Shape]:
    """Output shapes of one op from input shapes (and known values) by its shape function."""
    definition = op_def(op)
    given = [dtypes.as_dtype(d) for d in dtypes_in] if dtypes_in else [dtypes.FLOAT32] * len(shapes)
    stand_ins = [np.empty(0, d.np) for d in given]
    filled = _infer_attrs(definition, stand_ins, with_dtypes(definition, attrs))
    function = find_shape_function(op)
    if function is None:
        raise UnsupportedOp(f"op {op!r} has no shape function")
    call = ShapeCall(
        "node",
        op,
        filled,
        list(shapes),
        list(values) if values is not None else [None] * len(shapes),
        given,
        input_slices=definition.input_slices(filled),
        output_count=len(definition.output_types(filled)),
    )
    return list(function(call))
