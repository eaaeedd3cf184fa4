"""Op definitions built through the host's C interface, and the specs that state a definition."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterable

from google.protobuf import text_encoding, text_format

from drystone_abi.protos import AttrValue, OpDef
from drystone_base.core.dtypes import from_number
from drystone_base.core.errors import HostError
from drystone_base.host._lib import declare
from drystone_base.host.status import Status
from drystone_base.inference import plugin_ops as ops

__all__ = ["FLAGS", "SHAPE_FUNCTION", "attr_spec", "define", "input_spec", "refusal", "specs_of"]

SHAPE_FUNCTION = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)
FLAGS = {
    "is_commutative": "SetIsCommutative",
    "is_aggregate": "SetIsAggregate",
    "is_stateful": "SetIsStateful",
    "allows_uninitialized_input": "SetAllowsUninitializedInput",
}
_SPEC_NAMES = {"float32": "float", "float64": "double", "float16": "half"}
_FIELDS = {"string": "s", "int": "i", "float": "f", "bool": "b"}

_new = declare("TF_NewOpDefinitionBuilder", ctypes.c_void_p, ctypes.c_char_p)
_register = declare("TF_RegisterOpDefinition", None, ctypes.c_void_p, ctypes.c_void_p)
_deprecated = declare(
    "TF_OpDefinitionBuilderDeprecated", None, ctypes.c_void_p, ctypes.c_int, ctypes.c_char_p
)
_set_shape = declare(
    "TF_OpDefinitionBuilderSetShapeInferenceFunction", None, ctypes.c_void_p, SHAPE_FUNCTION
)


def _builder(name: str, kind: type) -> Callable[..., None]:
    return declare(f"TF_OpDefinitionBuilder{name}", None, ctypes.c_void_p, kind)


_add = {kind: _builder(f"Add{kind}", ctypes.c_char_p) for kind in ("Attr", "Input", "Output")}
_flag = {flag: _builder(name, ctypes.c_bool) for flag, name in FLAGS.items()}


def define(
    name: str,
    attrs: Iterable[str | bytes] = (),
    inputs: Iterable[str | bytes] = (),
    outputs: Iterable[str | bytes] = (),
    *,
    flags: Iterable[str] = (),
    deprecated: tuple[int, str] | None = None,
    shape: object = None,
) -> OpDef:
    """Register an op as a plugin would; its definition as the host has it, or ``HostError``."""
    builder = _new(name.encode())
    for kind, specs in (("Attr", attrs), ("Input", inputs), ("Output", outputs)):
        for spec in specs:
            _add[kind](builder, spec.encode() if isinstance(spec, str) else spec)
    for flag in flags:
        _flag[flag](builder, False)
    if deprecated:
        _deprecated(builder, deprecated[0], deprecated[1].encode())
    if shape is not None:
        _set_shape(builder, shape)
    with Status(f"registering {name}") as status:
        _register(builder, status.pointer)
    return OpDef.FromString(ops.find(name))


def refusal(name: str, *specs: Iterable[str | bytes]) -> str:
    """Why the host refuses a definition."""
    try:
        define(name, *specs)
    except HostError as error:
        return error.found if error.status == "INVALID_ARGUMENT" else error.status
    raise AssertionError(f"{name} was not refused")


def attr_spec(attr: OpDef.AttrDef) -> str:
    """The spec that states an attribute."""
    inner = attr.type.removeprefix("list(").removesuffix(")")
    text = _allowed(attr.allowed_values) or inner
    text = f"list({text})" if attr.type != inner else text
    if attr.has_minimum:
        text += f" >= {attr.minimum}"
    if attr.HasField("default_value"):
        text += f" = {_value(attr.default_value, attr.type)}"
    return f"{attr.name}: {text}"


def _allowed(value: AttrValue) -> str:
    if value.list.s:
        return "{" + ", ".join(_quoted(s) for s in value.list.s) + "}"
    if value.list.type:
        return "{" + ", ".join(_type(t) for t in value.list.type) + "}"
    return ""


def _type(number: int) -> str:
    name = str(from_number(number))
    return _SPEC_NAMES.get(name, name)


def _quoted(text: bytes) -> str:
    escaped: str = text_encoding.CEscape(text, as_utf8=False)
    return f'"{escaped}"'


def _value(value: AttrValue, kind: str) -> str:
    """The value in text format, as it follows "=" in a spec."""
    if not kind.startswith("list("):
        text: str = text_format.MessageToString(value, as_one_line=True)
        return text[len(_FIELDS.get(kind, kind)) :].removeprefix(":").strip()
    inner = kind[5:-1]
    items = [AttrValue() for _ in getattr(value.list, _FIELDS.get(inner, inner))]
    for item, one in zip(items, getattr(value.list, _FIELDS.get(inner, inner)), strict=True):
        if inner in ("shape", "tensor", "func"):
            getattr(item, inner).CopyFrom(one)
        else:
            setattr(item, _FIELDS.get(inner, inner), one)
    return "[" + ", ".join(_value(item, inner) for item in items) + "]"


def input_spec(arg: OpDef.ArgDef) -> str:
    """The spec that states an input or output."""
    text = arg.type_attr or arg.type_list_attr or _type(arg.type)
    if arg.number_attr:
        text = f"{arg.number_attr} * {text}"
    return f"{arg.name}: Ref({text})" if arg.is_ref else f"{arg.name}: {text}"


def specs_of(op: OpDef) -> dict[str, object]:
    """Arguments for :func:`define` that state a definition."""
    return {
        "attrs": [attr_spec(a) for a in op.attr],
        "inputs": [input_spec(a) for a in op.input_arg],
        "outputs": [input_spec(a) for a in op.output_arg],
        "flags": [flag for flag in FLAGS if getattr(op, flag)],
        "deprecated": (op.deprecation.version, op.deprecation.explanation)
        if op.HasField("deprecation")
        else None,
    }
