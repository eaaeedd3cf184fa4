"""Functions registered by op in the modules of a package, which are imported when first needed.

Importing every module of a package takes longer than running a small model, so the package's
``_index`` says which module registers which op. ``ci/scripts/families_index.py`` writes it from
what the modules register, and a test compares the two.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from functools import cached_property
from typing import Generic, TypeVar

__all__ = ["Families"]

F = TypeVar("F", bound=Callable[..., object])


class Families(Generic[F]):
    """The functions that the public modules of ``package`` register, each for one or more ops."""

    def __init__(self, package: str, what: str) -> None:
        self.package, self.what = package, what
        self.modules: dict[str, str] = {}
        self._functions: dict[str, F] = {}
        self._ready: dict[str, F] = {}
        self._complete = False

    def register(self, *ops: str) -> Callable[[F], F]:
        """A decorator that registers a function for ``ops``; ``ValueError`` if one has one."""
        module = sys._getframe(2).f_globals.get("__name__", "")  # who called kernel() or shape()

        def decorate(function: F) -> F:
            for op in ops:
                if op in self._functions:
                    raise ValueError(f"op {op!r} already has {self.what} {self._functions[op]!r}")
                self._functions[op] = function
                self.modules[op] = module
            return function

        return decorate

    def find(self, op: str) -> F | None:
        """The function of ``op``, or None. Imports its module, or all where the index lacks it."""
        found = self._ready.get(op)
        if found is None:
            module = self.index.get(op)
            if module is not None:
                importlib.import_module(module)
            if op not in self._functions:
                self.load_all()
            found = self._functions.get(op)
            if found is not None:
                self._ready[op] = found  # only now: another thread may be importing the module
        return found

    def load_all(self) -> dict[str, F]:
        """Import every public module of the package; all functions by op."""
        if not self._complete:
            self._load(self.package)
            self._complete = True
        return self._functions

    def _load(self, package: str) -> None:
        """Import every public module of a folder of the package, and of those inside it."""
        import pkgutil

        found = pkgutil.iter_modules(importlib.import_module(package).__path__)
        for module in sorted(found, key=lambda module: module.name):
            if module.name.startswith("_"):
                continue
            if module.ispkg:
                self._load(f"{package}.{module.name}")
            else:
                importlib.import_module(f"{package}.{module.name}")

    @cached_property
    def index(self) -> dict[str, str]:
        """Module of each op, as the package's ``_index`` says."""
        text: str = importlib.import_module(f"{self.package}._index").INDEX
        found = {}
        for line in text.splitlines():
            words = line.split()
            if words and not line.startswith(" "):
                module = f"{self.package}.{words.pop(0)}"
            found.update(dict.fromkeys(words, module) if words else {})
        return found

    def registered(self) -> dict[str, str]:
        """Module of each op, as the modules of the package themselves register them."""
        self.load_all()
        inside = f"{self.package}."
        return {op: module for op, module in self.modules.items() if module.startswith(inside)}
