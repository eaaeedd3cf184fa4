"""Write the stub of `drystone.ops`, for editors and type checkers; `--check` only compares.

One function an op, from the registry's definitions: arguments, attributes with their types and
defaults, and a docstring of what goes in and comes out. Run from the repository root, with drystone
installed: `python -m ci.scripts.ops_stub [--check]`.
"""

from __future__ import annotations

import keyword
import sys
from pathlib import Path
from typing import Final

from ci.scripts.generated import settle
from ci.scripts.project import ROOT
from drystone_base.ops.defs import AttrDef, OpDef, op_def
from drystone_base.tracing.calls import parameters
from drystone_base.tracing.operations import functions

__all__ = ["STUB", "main", "render"]

STUB: Final = Path("packages/base/src/drystone_base/tracing/operations.pyi")
HEAD: Final = '''"""`python -m ci.scripts.ops_stub` writes it."""
from collections.abc import Sequence as S
from typing import Any
from numpy import generic, ndarray
from drystone_base.ops.defs import OpDef
from drystone_base.tracing.tensor import Tensor
from drystone_base.tracing.variable import Variable
X = Tensor | Variable | ndarray[Any, Any] | generic | S[Any] | float | str | bytes
def described(definition: OpDef) -> str: ...
def function_name(op: str) -> str: ...
def functions() -> dict[str, str]: ...
'''
TYPES: Final = {
    "int": "int", "float": "float", "bool": "bool", "string": "str", "type": "Any",
    "shape": "S[int | None] | None",
}  # fmt: skip


def render() -> str:
    """Text of the stub."""
    return HEAD + "".join(_function(name, op_def(op)) for name, op in sorted(functions().items()))


def _function(name: str, definition: OpDef) -> str:
    _, attrs = parameters(definition)
    inputs = [f"{_safe(a.name)}: {'S[X]' if a.is_list else 'X'}" for a in definition.inputs]
    taken = {a.name for a in definition.inputs}
    given = [_attribute(definition.attrs[n]) for n in attrs if n not in taken and n.isidentifier()]
    given = [*sorted(given, key=lambda text: "=" in text), "name: str = ..."]
    if "name" in definition.attrs or "name" in taken:
        given.pop()
    star = ["*"] if given else []
    outputs = ["S[Tensor]" if a.is_list else "Tensor" for a in definition.outputs]
    result = "None" if not outputs else outputs[0] if len(outputs) == 1 else (
        f"tuple[{', '.join(outputs)}]")  # fmt: skip
    return f"def {name}({', '.join([*inputs, *star, *given])}) -> {result}:\n{_text(definition)}"


def _safe(name: str) -> str:
    return f"{name}_" if keyword.iskeyword(name) else name


def _attribute(attr: AttrDef) -> str:
    kind = attr.type.removeprefix("list(").removesuffix(")")
    typed = TYPES.get(kind, "Any")
    if kind != attr.type:
        typed = f"S[{typed}]"
    return f"{_safe(attr.name)}: {typed}{' = ...' if attr.has_default else ''}"


def _text(definition: OpDef) -> str:
    outputs = ", ".join(
        f"{a.name}: {a.type.label if a.type else a.type_attr or a.type_list_attr}"
        for a in definition.outputs
    )
    inputs = ", ".join(
        f"{a.name}: {a.type.label if a.type else a.type_attr or a.type_list_attr}"
        for a in definition.inputs
    )
    return f'    """{definition.name}: {inputs} -> {outputs or "nothing"}."""\n'


def main() -> int:
    """Write the file, or with `--check` exit 1 where it is outdated."""
    file, text = ROOT / STUB, render()
    return settle(
        "stub of drystone.ops",
        "ops_stub",
        outdated=not file.exists() or file.read_text(encoding="utf-8") != text,
        check="--check" in sys.argv[1:],
        write=lambda: file.write_text(text, encoding="utf-8"),
    )


if __name__ == "__main__":
    sys.exit(main())
