"""Payloads of statuses: what the host library and plugins say of a failure, for programs.

The keys are those of the header ``drystone/payloads.h``, which describes them. What has a field of
its own in :class:`~drystone_base.core.errors.DrystoneError` is put there; the others, and those of
plugins, are ``error.details``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any, Final, TypeAlias

__all__ = [
    "AWAITED", "BACKEND", "CALLS", "CHECK", "CODE", "DEVICE", "FIELDS", "FOUND", "FUNCTION",
    "KERNEL", "LEFT_OUT", "LIBRARY", "MADE_BY", "MOST", "MOST_KEY", "MOST_VALUE", "NEEDED", "NODE",
    "OP", "PREFIX", "TENSOR", "VARIABLE", "WHAT", "Value", "at_node", "bounded_details",
    "from_json", "json_ready", "read_calls", "read_payloads", "written_payloads",
]  # fmt: skip

PREFIX: Final = "drystone/"
CODE: Final = "drystone/code"
FUNCTION: Final = "drystone/function"
NODE: Final = "drystone/node"
OP: Final = "drystone/op"
KERNEL: Final = "drystone/kernel"
BACKEND: Final = "drystone/backend"
DEVICE: Final = "drystone/device"
LIBRARY: Final = "drystone/library"
CALLS: Final = "drystone/calls"
TENSOR: Final = "drystone/tensor"
VARIABLE: Final = "drystone/variable"
AWAITED: Final = "drystone/awaited"
WHAT: Final = "drystone/what"
CHECK: Final = "drystone/check"
FOUND: Final = "drystone/found"
NEEDED: Final = "drystone/needed"
MADE_BY: Final = "drystone/made-by"
LEFT_OUT: Final = "drystone/left-out"
MOST: Final = 32
MOST_KEY: Final = 128
MOST_VALUE: Final = 4096

FIELDS: Final = frozenset({CODE, CALLS, WHAT, CHECK, FOUND, NEEDED})
"""What errors have fields for."""

Value: TypeAlias = "str | bytes"


def read_payloads(pairs: Iterable[tuple[bytes, bytes]]) -> dict[str, Value]:
    """Payloads by key: text where a value is UTF-8, else its bytes."""
    return {key.decode("utf-8", "backslashreplace"): _value(value) for key, value in pairs}


def written_payloads(payloads: Mapping[str, Value]) -> list[tuple[bytes, bytes]]:
    """The same for C, which ends a text at its first NUL."""
    return [(_bytes(key), _bytes(value)) for key, value in payloads.items()]


def _bytes(value: Value) -> bytes:
    data = value if isinstance(value, bytes) else value.encode("utf-8", "surrogatepass")
    return data.replace(b"\0", b" ")


def _value(value: bytes) -> Value:
    try:
        return value.decode("utf-8")
    except UnicodeDecodeError:
        return value


def read_calls(encoded: Value) -> list[tuple[str, str]]:
    """The functions of ``CALLS``, the innermost first, each with the node that called it.

    None where it does not say any: a plugin may have written it.
    """
    import json  # only for what failed

    try:
        return [(str(function), str(node)) for function, node in json.loads(encoded)]
    except (TypeError, ValueError, RecursionError):
        return []


def bounded_details(given: Mapping[str, Value]) -> dict[str, Value]:
    """The details, those of plugins within the bounds that the host has for them, too."""
    made = {key: value for key, value in given.items() if key.startswith(PREFIX)}
    others = sorted(key for key in given if not key.startswith(PREFIX))
    kept = [k for k in others if _size(k) <= MOST_KEY and _size(given[k]) <= MOST_VALUE]
    made |= {key: given[key] for key in kept[:MOST]}
    if left_out := len(others) - len(kept[:MOST]):
        made[LEFT_OUT] = str(left_out)
    return made


def _size(value: Value) -> int:
    return len(_bytes(value))


def json_ready(details: Mapping[str, Value]) -> dict[str, Any]:
    """The details for a JSON document: bytes as ``{"base64": ...}``."""
    from base64 import b64encode  # only for what failed

    return {
        key: value if isinstance(value, str) else {"base64": b64encode(value).decode("ascii")}
        for key, value in details.items()
    }


def from_json(document: object) -> dict[str, Value]:
    """The details of :func:`json_ready`, from another process: what is none is left out."""
    from base64 import b64decode

    made: dict[str, Value] = {}
    for key, value in document.items() if isinstance(document, Mapping) else ():
        if isinstance(value, str):
            made[str(key)] = value
        elif isinstance(value, Mapping) and isinstance(value.get("base64"), str):
            with suppress(ValueError):
                made[str(key)] = b64decode(value["base64"], validate=True)
    return bounded_details(made)


def at_node(name: str, op: str = "") -> dict[str, Value]:
    """The details of an error that is about a node."""
    return {NODE: name, OP: op} if op else {NODE: name}
