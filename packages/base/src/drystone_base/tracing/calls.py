"""One call of an op: arguments become inputs and attributes, by the op's definition.

Inside a trace a call adds a node and gives symbolic tensors; outside it computes values at once,
by the reference kernel.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, Final

import numpy as np

from drystone_base.core.dtypes import BOOL, FLOAT32, INT32, STRING, DType, as_dtype, from_numpy
from drystone_base.core.errors import BadRequest, near_matches
from drystone_base.core.tensor import as_strings
from drystone_base.graph.node import Node, Output
from drystone_base.graph.validate import output_dtypes
from drystone_base.kernels.evaluate import evaluate
from drystone_base.ops.defs import ArgDef, OpDef, op_def
from drystone_base.tracing.nests import mapped
from drystone_base.tracing.trace import Trace

__all__ = ["as_array", "as_output", "call", "dtype_of", "parameters", "results", "usual_dtype"]

_WEAK: Final = {"f": FLOAT32, "i": INT32, "u": INT32, "b": BOOL, "U": STRING, "S": STRING}


def call(op: str, args: Sequence[Any], attrs: Mapping[str, Any]) -> Any:
    """What an op gives for arguments: tensors in a trace, else values. A ``name`` is the node's."""
    definition = op_def(op)
    given, attributes, name = _bound(definition, args, dict(attrs))
    trace = Trace.active()
    if trace is None:
        return _evaluated(definition, given, attributes)
    inputs = _inputs(trace, definition, given, attributes)
    return results(trace, definition, trace.emit(op, inputs, attributes, name))


def results(trace: Trace, definition: OpDef, node: Node) -> Any:
    """The outputs of a node as symbolic tensors."""
    from drystone_base.tracing.tensor import Tensor

    count = len(output_dtypes(node) or [])
    return _packed(definition, node, [Tensor(trace, (node, k)) for k in range(count)])


def parameters(definition: OpDef) -> tuple[list[str], list[str]]:
    """Names of arguments, and of attributes that a call may give: those not read off arguments."""
    read = {a for arg in definition.inputs for a in (arg.type_list_attr, arg.number_attr)}
    inferred = {arg.type_attr for arg in definition.inputs} | read
    return [a.name for a in definition.inputs], [n for n in definition.attrs if n not in inferred]


def _bound(
    definition: OpDef, args: Sequence[Any], attrs: dict[str, Any]
) -> tuple[list[Any], dict[str, Any], str]:
    """Arguments in order, attributes, and the name of the node."""
    names = [arg.name for arg in definition.inputs]
    name = attrs.pop("name", "") if "name" not in definition.attrs else ""
    found = dict(zip(names, args, strict=False))
    if len(args) > len(names):
        raise _wrong_call(definition, f"{len(args)} arguments")
    for key in names:
        if key in attrs and key not in definition.attrs:
            if key in found:
                raise _wrong_call(definition, f"{key!r} twice")
            found[key] = attrs.pop(key)
    missing = [key for key in names if key not in found]
    if missing:
        raise _wrong_call(definition, f"nothing for {', '.join(missing)}")
    for key in attrs:
        if key not in definition.attrs:
            near = near_matches(key, [*names, *definition.attrs])
            also = f"; did you mean {', '.join(near)}?" if near else ""
            raise _wrong_call(definition, f"an argument {key!r}{also}")
    return [found[key] for key in names], attrs, str(name)


def _wrong_call(definition: OpDef, found: str) -> BadRequest:
    names, attrs = parameters(definition)
    stated = [f"{n}=..." for n in attrs if not definition.attrs[n].has_default]
    optional = [n for n in attrs if definition.attrs[n].has_default]
    return BadRequest(
        f"{definition.name} was called with other arguments than it takes",
        check="a call must give each argument of the op once, and attributes by their names",
        found=found,
        needed=f"({', '.join([*names, *stated])})"
        + (f", and perhaps {', '.join(optional)}" if optional else ""),
        remedy="`help(drystone.ops.NAME)` says what each is",
        code="wrong-arguments",
    )


def _inputs(trace: Trace, definition: OpDef, given: list[Any], attrs: dict[str, Any]) -> list[Any]:
    """The inputs of a node; what is no tensor yet becomes a constant of the fitting dtype."""
    kinds = _kinds(definition, given, attrs)
    found: list[Any] = []
    for arg, value in zip(definition.inputs, given, strict=True):
        wanted = arg.type or kinds.get(arg.type_attr)
        if arg.is_list:
            found.append([as_output(trace, v, wanted) for v in _items(definition, arg, value)])
        else:
            found.append(as_output(trace, value, wanted))
    for name, kind in kinds.items():
        attrs.setdefault(name, kind)
    return found


def _items(definition: OpDef, arg: ArgDef, value: Any) -> list[Any]:
    if isinstance(value, list | tuple):
        return list(value)
    raise _wrong_call(definition, f"a {type(value).__name__} for {arg.name!r}, which is a list")


def _kinds(definition: OpDef, given: list[Any], attrs: Mapping[str, Any]) -> dict[str, DType]:
    """The dtype that each type attribute gets: stated, of a tensor or array, by default, or usual.

    The numbers of Python have no dtype of their own.
    """
    kinds = {
        name: as_dtype(attrs[name])
        for name, declared in definition.attrs.items()
        if declared.type == "type" and name in attrs
    }
    values = [
        (arg.type_attr, item)
        for arg, value in zip(definition.inputs, given, strict=True)
        if arg.type_attr
        for item in (value if arg.is_list and isinstance(value, list | tuple) else [value])
    ]
    for name, value in values:
        strong = dtype_of(value)
        if strong is not None:
            kinds.setdefault(name, strong)
    for name, value in values:
        if name in kinds:
            continue
        declared = definition.attrs[name]
        usual = declared.default if declared.has_default else usual_dtype(value)
        if usual is not None:
            kinds.setdefault(name, usual)
    return kinds


def dtype_of(value: Any) -> DType | None:
    """The dtype that a value has by itself; None for numbers of Python and lists of them."""
    dtype = getattr(value, "dtype", None)
    if isinstance(dtype, DType):
        return dtype
    return from_numpy(dtype) if isinstance(dtype, np.dtype) else None


def usual_dtype(value: Any) -> DType | None:
    """The dtype of a value that has none by itself."""
    try:
        return _WEAK.get(np.asarray(value).dtype.kind)
    except (TypeError, ValueError):
        return None


def as_output(trace: Trace, value: Any, wanted: DType | None = None) -> Output:
    """The output of a trace that an argument stands for."""
    from drystone_base.tracing.tensor import Tensor
    from drystone_base.tracing.variable import Variable

    if isinstance(value, Tensor):
        return trace.resolve(value)
    if isinstance(value, Variable):
        return trace.handle(value) if wanted is not None and wanted.is_object else value.read(trace)
    kind = dtype_of(value) or wanted or usual_dtype(value)
    return trace.b.const(as_array(value, wanted), kind)


def as_array(value: Any, wanted: DType | None) -> Any:
    """A value as an array of a dtype; raises ``BadRequest`` where a number would be another one."""
    strong = dtype_of(value)
    kind = strong or wanted or usual_dtype(value)
    if kind is None or kind.is_object:
        return as_strings(value) if kind is STRING else value
    try:
        array = np.asarray(value)
        cast = array if strong else array.astype(kind.np)
        same = strong is not None or array.dtype.kind == "f" or bool(np.all(cast == array))
        fits = same and (kind.is_floating or kind.is_complex or bool(np.all(cast == array)))
    except (TypeError, ValueError, OverflowError):
        fits = False
    if fits:
        return cast
    raise BadRequest(
        f"a value cannot be {kind} without becoming another one",
        check="a number must be one of the dtype that it is used as",
        found=f"{type(value).__name__}: {value!r:.80}",
        needed=f"a value of {kind}",
        remedy="cast the tensor that it meets: x.astype('float32')",
        code="bad-argument",
    )


def _evaluated(definition: OpDef, given: list[Any], attrs: dict[str, Any]) -> Any:
    """What an op computes for values, at once."""
    if definition.is_stateful:
        raise BadRequest(
            f"{definition.name} has an effect or a state, and there is no run that it belongs to",
            check="outside of a function only ops without state can be called",
            found="a call outside of a function",
            needed="a function that is traced",
            remedy="call it in a function with the decorator @drystone.function",
            code="no-run",
        )
    trace = Trace()
    with trace:
        inputs = _inputs(trace, definition, [mapped(v, _value) for v in given], attrs)
        node = trace.emit(definition.name, inputs, attrs)
    arrays = [output[0].attrs["value"].array for output in node.inputs]
    full = node.full_attrs()
    count = len(output_dtypes(node) or [])
    slices = definition.input_slices(full)
    values = evaluate(node.name, node.op, full, arrays, slices, count)
    return _packed(definition, node, values)


def _value(given: Any) -> Any:
    """An array for a variable; all else as it is."""
    from drystone_base.tracing.variable import Variable

    return given.value if isinstance(given, Variable) else given


def _packed(definition: OpDef, node: Node, values: list[Any]) -> Any:
    """Outputs as an op gives them: one, a list, or a named tuple of those; None for none."""
    slices = definition.output_slices(node.full_attrs())
    parts = [
        values[slices[arg.name]] if arg.is_list else values[slices[arg.name]][0]
        for arg in definition.outputs
    ]
    if not parts:
        return None
    return parts[0] if len(parts) == 1 else _tuple_of(definition.name)(*parts)


@cache
def _tuple_of(op: str) -> Any:
    names = [arg.name for arg in op_def(op).outputs]
    return namedtuple(op, names, rename=True)  # noqa: PYI024 — its fields are data
