"""``drystone.ops``: every op of the registry as a function.

``ops.matmul(a, b, transpose_a=True)``: arguments in the order of the op's definition, attributes by
name. In a function that is traced they take and give symbolic tensors; outside of one arrays, at
once. The functions are made when they are asked for; ``help()`` of one says what it takes.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from drystone_base.core.arguments import checked
from drystone_base.core.shown import shape_text
from drystone_base.ops.defs import ArgDef, AttrDef, OpDef, names, op_def
from drystone_base.tracing import calls

__all__ = ["described", "function_name", "functions"]


_RAISES = """Raises ``GraphError`` for dtypes and attributes that the op does not take, and
``ShapeError`` for shapes."""


@checked
def function_name(op: str) -> str:
    """The name of an op's function: ``matmul``, ``conv2d_backprop_input``, ``top_k_v2``."""
    text, _, version = re.sub("MatMul", "Matmul", op).partition("\n")
    found = re.fullmatch(r"(.*?)(V\d+)", text)
    text, version = (found[1], f"_{found[2]}") if found else (text, "")
    text = re.sub(
        r"(?<=[a-z])(?=[A-Z])|(?<=[0-9])(?=[A-Z][a-z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", text
    )
    name = (text + version).lower()
    return f"{name}_" if keyword.iskeyword(name) else name


def functions() -> dict[str, str]:
    """The op of each function; ops whose names are no identifiers are not for people."""
    return _functions(names())


@lru_cache(1)  # a plugin that is loaded brings more
def _functions(ops: tuple[str, ...]) -> dict[str, str]:
    return {function_name(op): op for op in ops if op.isidentifier() and op[0] != "_"}


@checked
def described(definition: OpDef) -> str:
    """What an op takes and gives, as the text of its function."""
    inputs = ", ".join(map(_argument, definition.inputs)) or "nothing"
    outputs = ", ".join(map(_argument, definition.outputs)) or "nothing"
    _, attrs = calls.parameters(definition)
    lines = [f"{definition.name}: {inputs} -> {outputs}.", ""]
    lines += [_attribute(definition.attrs[name]) for name in attrs]
    shown = [a for n, a in definition.attrs.items() if n not in attrs and a.type == "type"]
    lines += [f"    {a.name}: {_allowed(a)}" for a in shown if a.allowed]
    if definition.is_stateful:
        lines += ["", "Has an effect or a state: only in a function that is traced."]
    lines += ["", _RAISES]
    return "\n".join(lines).rstrip()


def _argument(arg: ArgDef) -> str:
    kind = arg.type.label if arg.type else arg.type_attr or arg.type_list_attr
    return f"{arg.name}: {f'list of {kind}' if arg.is_list else kind}"


def _attribute(attr: AttrDef) -> str:
    default = f" = {shown(attr.default)}" if attr.has_default else ""
    return f"    {attr.name}: {attr.type}{default}{f' ({_allowed(attr)})' if attr.allowed else ''}"


def _allowed(attr: AttrDef) -> str:
    return ", ".join(str(value) for value in attr.allowed or ())


def shown(value: Any) -> str:
    """A default as text."""
    if value is None or isinstance(value, tuple):
        return shape_text(value)
    return repr(value) if isinstance(value, str | int | float | bool | list) else str(value)


def _made(op: str) -> Callable[..., Any]:
    def function(*args: Any, **attrs: Any) -> Any:
        return calls.call(op, args, attrs)

    function.__name__ = function.__qualname__ = function_name(op)
    function.__doc__ = described(op_def(op))
    return function


def __getattr__(name: str) -> Callable[..., Any]:
    """The function of an op; kept, so that it is made once."""
    op = functions().get(name)
    if op is None:
        from drystone_base.core.errors import near_matches

        near = near_matches(name, functions())
        also = f"; did you mean {', '.join(near)}?" if near else ""
        raise AttributeError(f"drystone.ops has no function {name!r}{also}")
    found = globals()[name] = _made(op)
    return found


def __dir__() -> list[str]:
    return sorted(functions())
