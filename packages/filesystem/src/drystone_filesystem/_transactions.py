"""Transactions of stores in Python: files that are closed in one show when it ends, or never.

They are the same for all stores, as files show when they are closed: that waits for the end. Then
they show one after the other, each whole. Reading, listing and deleting know nothing of it.
"""

from __future__ import annotations

import ctypes
import itertools
import threading
from collections.abc import Callable
from typing import Any, Final, Protocol

from drystone_base.host.filesystem_options import ABANDON
from drystone_base.host.option_layouts import OptionStruct, OptionValue, OptionValues
from drystone_filesystem import _tables as t
from drystone_filesystem._failures import StoreFailure

__all__ = ["Special", "Transactions"]

_OK: Final = 0


class _File(Protocol):
    """A file whose bytes are all there."""

    def show(self) -> None:
        """Send it."""

    def forget(self) -> None:
        """Give it up."""


class _One:
    """A transaction that has begun; ``token`` is what C knows it by."""

    def __init__(self, owner: int) -> None:
        self.token = t.Token(None, owner)
        self.token.token = self.address
        self.paths: set[str] = set()
        self.files: list[_File] = []

    @property
    def address(self) -> int:
        """Of the token."""
        return ctypes.addressof(self.token)


class Transactions:
    """Those of one store, by number."""

    def __init__(self) -> None:
        self._open: dict[int, _One] = {}
        self._numbers = itertools.count(1)
        self._lock = threading.RLock()

    def start(self, owner: int) -> int:
        """A new one: the address of its token."""
        made = _One(owner)
        with self._lock:
            self._open[next(self._numbers)] = made
        return made.address

    def _number(self, token: int) -> int:
        """By the address alone: what it points to may be gone."""
        found = next((k for k, one in self._open.items() if one.address == token), None)
        if found is None:
            raise StoreFailure("INVALID_ARGUMENT", "there is no such transaction")
        return found

    def add(self, path: str, token: int) -> None:
        """Make a path, and what is below it, part of it."""
        with self._lock:
            self._open[self._number(token)].paths.add(path)

    def _of(self, path: str) -> int | None:
        """The number of the one whose path is nearest above."""
        near = [
            (len(added), number)
            for number, one in self._open.items()
            for added in one.paths
            if path == added or not added or path.startswith(f"{added}/")
        ]
        return max(near)[1] if near else None

    def of_path(self, path: str) -> int:
        """The token of a path's; ``NOT_FOUND`` where it is part of none."""
        with self._lock:
            number = self._of(path)
            if number is None:
                raise StoreFailure("NOT_FOUND", f"{path} is part of no transaction")
            return self._open[number].address

    def of_path_or_new(self, path: str, owner: int) -> int:
        """The same, or that of a new one."""
        with self._lock:
            if self._of(path) is not None:
                return self.of_path(path)
            token = self.start(owner)
            self.add(path, token)
            return token

    def keep(self, path: str, file: _File) -> bool:
        """Whether the file now waits for the end of a transaction."""
        with self._lock:
            number = self._of(path)
            if number is not None:
                self._open[number].files.append(file)
        return number is not None

    def end(self, token: int) -> None:
        """Show all files; those after a failure, too, which is then raised."""
        with self._lock:
            ended = self._open.pop(self._number(token))
        failures: list[Exception] = []
        left = list(reversed(ended.files))
        try:
            while left:
                try:
                    left.pop().show()
                except Exception as error:  # raised below; the others are to be shown as well
                    failures.append(error)
        finally:  # Ctrl-C: those that do not show yet never will
            _forget(left)
        if failures:
            raise failures[0]

    def abandon(self, number: int) -> None:
        """End one with nothing shown."""
        with self._lock:
            gone = self._open.pop(number, None)
        if gone is None:
            raise StoreFailure("NOT_FOUND", f"there is no transaction {number}")
        _forget(gone.files)

    def described(self, token: int) -> str:
        """One in words, with its number."""
        with self._lock:
            number = self._number(token)
            one = self._open[number]
            return (
                f"transaction {number}: {len(one.paths)} paths, {len(one.files)} files kept aside"
            )


def _forget(files: list[_File]) -> None:
    """Give up all, whatever comes in between."""
    while files:
        try:
            files.pop().forget()
        except BaseException:
            _forget(files)
            raise


class Special:
    """The functions of the tables; ``text`` copies a string for C, ``plain`` reads a path."""

    def __init__(self, text: Callable[[str], int], plain: Callable[[bytes], str]) -> None:
        self.transactions = Transactions()
        self._text, self._plain = text, plain
        number = (OptionValue * 1)()
        self._values = OptionValues(0, 1, number)
        said = b"set it to the number of a transaction to end that with nothing shown"
        self._option = OptionStruct(ABANDON.encode(), said, 0, ctypes.pointer(self._values))

    def functions(self) -> dict[str, Callable[..., Any]]:
        """By the names of the members; each has a status last, and answers as the contract says."""
        return {
            "start_transaction": self._start,
            "end_transaction": self._end,
            "add_to_transaction": self._add,
            "get_transaction_for_path": self._of_path,
            "get_or_start_transaction_for_path": self._of_path_or_new,
            "get_filesystem_configuration": self._all,
            "set_filesystem_configuration": self._set,
            "get_filesystem_configuration_option": self._one,
            "set_filesystem_configuration_option": lambda fs, given: self._set(fs, given, 1),
            "get_filesystem_configuration_keys": self._keys,
        }

    def decode(self, _fs: Any, token: int) -> int:
        """``decode_transaction_token``, which has no status."""
        try:
            return self._text(self.transactions.described(token))
        except StoreFailure as error:
            return self._text(str(error))

    def _end(self, _fs: Any, token: int) -> int:
        self.transactions.end(token)
        return _OK

    def _add(self, _fs: Any, path: bytes, token: int) -> int:
        self.transactions.add(self._plain(path), token)
        return _OK

    def _start(self, fs: int, out: Any) -> int:
        out[0] = self.transactions.start(fs)
        return _OK

    def _of_path(self, _fs: Any, path: bytes, out: Any) -> int:
        out[0] = self.transactions.of_path(self._plain(path))
        return _OK

    def _of_path_or_new(self, fs: int, path: bytes, out: Any) -> int:
        out[0] = self.transactions.of_path_or_new(self._plain(path), fs)
        return _OK

    def _all(self, _fs: Any, out: Any, count: Any) -> None:
        out[0], count[0] = ctypes.addressof(self._option), 1

    def _one(self, _fs: Any, key: bytes, out: Any) -> None:
        self._check(key)
        out[0] = ctypes.addressof(self._option)

    def _keys(self, _fs: Any, out: Any, count: Any) -> None:
        out[0], count[0] = self._text(ABANDON), 1

    def _set(self, _fs: Any, given: Any, count: int) -> None:
        wanted = []
        for option in given[:count]:
            self._check(option.name)
            values = option.value.contents if option.value else None
            if values is None or values.type_tag != 0 or values.count != 1:
                raise ValueError(f"{ABANDON} is one whole number")
            wanted.append(values.values[0].integer)
        for number in wanted:
            self.transactions.abandon(number)

    @staticmethod
    def _check(name: bytes) -> None:
        if name != ABANDON.encode():
            raise StoreFailure("NOT_FOUND", f"there is no option {name.decode(errors='replace')}")
