"""Calls beside the functions that they call: as many values, of the same dtypes, both ways."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from drystone_base.core.dtypes import INT32, DType
from drystone_base.core.errors import DrystoneError
from drystone_base.graph.node import Node
from drystone_base.ops.attrs import FunctionRef

__all__ = ["Mismatch", "mismatch"]


class _Call(NamedTuple):
    """How an op calls: attributes of its functions, and of the dtypes that they take and give.

    ``before``: what the function is given before those. A function of ``asks`` only decides.
    """

    functions: tuple[str, ...]
    given: tuple[str, ...]
    taken: str
    before: tuple[DType, ...] = ()
    asks: str = ""


class Mismatch(NamedTuple):
    """What a call and its function do not agree on, in words."""

    found: str
    needed: str


_IF: Final = _Call(("then_branch", "else_branch"), ("Tin",), "Tout")
_WHILE: Final = _Call(("body",), ("T",), "T", asks="cond")
_PLAIN: Final = _Call(("f",), ("Tin",), "Tout")
_CASE: Final = _Call(("branches",), ("Tin",), "Tout")
_CALLS: Final[dict[str, _Call]] = {
    "PartitionedCall": _PLAIN,
    "StatefulPartitionedCall": _PLAIN,
    "TPUPartitionedCall": _PLAIN,
    "RemoteCall": _PLAIN,
    "If": _IF,
    "StatelessIf": _IF,
    "_If": _IF,
    "XlaIf": _IF,
    "Case": _CASE,
    "StatelessCase": _CASE,
    "While": _WHILE,
    "StatelessWhile": _WHILE,
    "_While": _WHILE,
    "XlaWhile": _WHILE,
    "For": _Call(("body",), ("T",), "T", (INT32,)),
    "MapDefun": _Call(("f",), ("Targuments", "Tcaptured"), "output_types"),
    "BatchFunction": _Call(("f",), ("Tin", "Tcaptured"), "Tout"),
}


def mismatch(node: Node) -> Mismatch | None:
    """What a call and one of its functions do not agree on; None for nothing, and for other nodes.

    Functions that are not there and attributes that are not given are others' to report.
    """
    call = _CALLS.get(node.op)
    if call is None:
        return None
    attrs = node.full_attrs()
    given = [*call.before, *(t for name in call.given for t in _types(attrs.get(name)))]
    taken = _types(attrs.get(call.taken))
    for ref in _functions(attrs, call.functions):
        found = _beside(node, ref, given, taken)
        if found is not None:
            return found
    for ref in _functions(attrs, (call.asks,)):
        found = _beside(node, ref, given, None)
        if found is not None:
            return found
    return None


def _types(value: Any) -> list[DType]:
    return [t for t in value if isinstance(t, DType)] if isinstance(value, list) else []


def _functions(attrs: dict[str, Any], names: tuple[str, ...]) -> Iterator[FunctionRef]:
    for name in names:
        value = attrs.get(name)
        for ref in value if isinstance(value, list) else [value]:
            if isinstance(ref, FunctionRef):
                yield ref


def _beside(
    node: Node, ref: FunctionRef, given: list[DType], taken: list[DType] | None
) -> Mismatch | None:
    """``taken``: None for a function that gives one value, whatever its dtype."""
    function = node.graph.functions.get(ref.name)
    if function is None:
        return None
    signature = function.signature
    attrs = {n: a.default for n, a in signature.attrs.items() if a.has_default} | dict(ref.attrs)
    try:
        takes, gives = signature.input_types(attrs), signature.output_types(attrs)
    except (DrystoneError, KeyError):
        return None
    if not _same(takes, given):
        return Mismatch(f"it is given {_shown(given)}", f"{ref.name!r} takes {_shown(takes)}")
    if taken is None and len(gives) != 1:
        return Mismatch("it asks for one value", f"{ref.name!r} gives {_shown(gives)}")
    if taken is not None and not _same(gives, taken):
        return Mismatch(f"it gives {_shown(taken)}", f"{ref.name!r} gives {_shown(gives)}")
    return None


def _same(a: list[DType], b: list[DType]) -> bool:
    return len(a) == len(b) and all(x.base is y.base for x, y in zip(a, b, strict=True))


def _shown(types: list[DType]) -> str:
    shown = ", ".join(t.label for t in types[:8])
    return f"({shown}, ... {len(types)} in all)" if len(types) > 8 else f"({shown})"
