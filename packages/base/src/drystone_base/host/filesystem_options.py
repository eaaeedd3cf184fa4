"""Options and transactions of a scheme's filesystem, where it has them.

A filesystem that has none answers ``UNIMPLEMENTED``, as ``status`` of the ``HostError``; so do
local paths.
"""

from __future__ import annotations

import ctypes
import json
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from ctypes import c_char_p, c_int, c_void_p
from typing import Any, Final, NamedTuple

from drystone_base.core.arguments import checked, explaining
from drystone_base.core.errors import HostError
from drystone_base.host._lib import declare
from drystone_base.host.buffer import answer
from drystone_base.host.filesystem import checked_uri
from drystone_base.host.option_layouts import OptionBytes, OptionStruct, OptionValue, OptionValues
from drystone_base.host.status import Status

__all__ = [
    "ABANDON",
    "Option",
    "Transaction",
    "get_option",
    "option_names",
    "options",
    "set_option",
    "set_options",
    "transaction",
    "transaction_of",
]

Value = int | float | str | bytes

ABANDON: Final = "abandon_transaction"
"""An option by which a filesystem ends a transaction with nothing shown: the contract has no other
way. Its value is the first number in what ``decode_transaction_token`` says."""


class Option(NamedTuple):
    """One option: its values (numbers, or texts), and whether it is one of single files."""

    name: str
    description: str
    per_file: bool
    values: tuple[int | float | str | None, ...]


_all = declare("DS_GetFilesystemOptions", None, c_char_p, c_void_p, c_void_p)
_one = declare("DS_GetFilesystemOption", None, c_char_p, c_char_p, c_void_p, c_void_p)
_keys = declare("DS_ListFilesystemOptions", None, c_char_p, c_void_p, c_void_p)
_set_one = declare("DS_SetFilesystemOption", None, c_char_p, ctypes.POINTER(OptionStruct), c_void_p)
_set_all = declare(
    "DS_SetFilesystemOptions", None, c_char_p, ctypes.POINTER(OptionStruct), c_int, c_void_p
)
_start = declare("DS_StartTransaction", c_void_p, c_char_p, c_void_p)
_end = declare("DS_EndTransaction", None, c_char_p, c_void_p, c_void_p)
_add = declare("DS_AddToTransaction", None, c_char_p, c_void_p, c_void_p)
_of_path = declare("DS_TransactionOfPath", c_void_p, c_char_p, c_int, c_void_p)
_describe = declare("DS_DescribeTransaction", None, c_char_p, c_void_p, c_void_p, c_void_p)


def _scheme(scheme: str) -> bytes:
    """The scheme as the host takes it; the package that offers it is loaded first."""
    return checked_uri(f"{scheme}://").removesuffix(b"://")


def _option(found: Mapping[str, Any]) -> Option:
    return Option(found["name"], found["description"], found["per_file"], tuple(found["values"]))


@checked
def options(scheme: str) -> list[Option]:
    """All options of a scheme's filesystem."""
    raw = _scheme(scheme)
    text = answer(f"{scheme}:// has no options", lambda out, status: _all(raw, out, status))
    return [_option(found) for found in json.loads(text)]


@checked
def option_names(scheme: str) -> list[str]:
    """The names of them."""
    raw = _scheme(scheme)
    names: list[str] = json.loads(
        answer(f"{scheme}:// has no options", lambda out, status: _keys(raw, out, status))
    )
    return names


@checked
def get_option(scheme: str, name: str) -> Option:
    """One option; ``NOT_FOUND`` for a name that there is not."""
    raw, key = _scheme(scheme), name.encode()
    what = f"option {name} of {scheme}:// cannot be read"
    return _option(json.loads(answer(what, lambda out, status: _one(raw, key, out, status))))


def _filled(name: str, value: Value | list[Value]) -> OptionStruct:
    """An option as the contract has it; it keeps what it points to."""
    given = value if isinstance(value, list) else [value]
    numbers = (OptionValue * len(given))()
    tag = 2
    for place, one in zip(numbers, given, strict=True):
        if isinstance(one, str | bytes):
            raw = one.encode() if isinstance(one, str) else one
            place.buffer = OptionBytes(raw, len(raw))
        elif isinstance(one, float):
            place.real, tag = one, 1
        else:
            place.integer, tag = int(one), 0
    values = OptionValues(tag, len(given), numbers)
    return OptionStruct(name.encode(), b"", 0, ctypes.pointer(values))


@checked
def set_option(scheme: str, name: str, value: Value | list[Value]) -> None:
    """Set one option to a value, or to a list of values of one type."""
    raw, option = _scheme(scheme), _filled(name, value)
    with Status(f"option {name} of {scheme}:// cannot be set") as status:
        _set_one(raw, ctypes.byref(option), status.pointer)


@checked
def set_options(scheme: str, values: Mapping[str, Value | list[Value]]) -> None:
    """Set several; all or none."""
    raw = _scheme(scheme)
    given = (OptionStruct * len(values))(*[_filled(name, value) for name, value in values.items()])
    with Status(f"options {', '.join(values)} of {scheme}:// cannot be set") as status:
        _set_all(raw, given, len(values), status.pointer)


@explaining("__init__")
class Transaction:
    """A transaction that has begun: files written to its paths show when it ends."""

    def __init__(self, scheme: str, token: int) -> None:
        self.scheme = scheme
        self._raw = scheme.encode()
        self._token = token

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Transaction) and self._token == other._token

    def __hash__(self) -> int:
        return hash(self._token)

    def __str__(self) -> str:
        """The filesystem's own words."""
        what = f"a transaction of {self.scheme}:// cannot be described"
        text: bytes = answer(what, lambda out, s: _describe(self._raw, self._token, out, s))
        return text.decode("utf-8", "replace")

    def add(self, path: str | os.PathLike[str]) -> None:
        """Make a path, and what is below it, part of this transaction."""
        raw = checked_uri(path)
        with Status(f"{os.fspath(path)} cannot be made part of a transaction") as status:
            _add(raw, self._token, status.pointer)

    def end(self) -> None:
        """Show what was written."""
        with Status(f"a transaction of {self.scheme}:// cannot be ended") as status:
            _end(self._raw, self._token, status.pointer)

    def abandon(self) -> None:
        """End it with nothing shown; ``NOT_FOUND`` where the filesystem has no such option."""
        number = re.search(r"\d+", str(self))
        set_option(self.scheme, ABANDON, int(number[0]) if number else 0)


@checked
def transaction_of(path: str | os.PathLike[str], *, start: bool = False) -> Transaction:
    """The transaction that a path is part of; with ``start`` a new one where there is none."""
    raw = checked_uri(path)
    scheme = os.fsdecode(raw.partition(b"://")[0])
    with Status(f"{os.fspath(path)} is part of no transaction") as status:
        token = _of_path(raw, int(start), status.pointer)
    return Transaction(scheme, token)


@checked
@contextmanager
def transaction(*paths: str | os.PathLike[str]) -> Iterator[Transaction]:
    """Have what a block writes to these paths, and below them, show when it ends, all of it then.

    All paths have one scheme. A block that is left by an exception abandons what it wrote where
    the filesystem can (``ABANDON``), and else shows it. ``UNIMPLEMENTED`` where it has no
    transactions.
    """
    scheme = os.fsdecode(checked_uri(paths[0]).partition(b"://")[0])
    raw = scheme.encode()
    with Status(f"{scheme}:// has no transactions") as status:
        token = _start(raw, status.pointer)
    begun = Transaction(scheme, token)
    try:
        for path in paths:
            begun.add(path)
        yield begun
    except BaseException:
        try:
            begun.abandon()
        except HostError:
            begun.end()
        raise
    begun.end()
