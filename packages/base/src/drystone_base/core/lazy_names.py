"""Packages whose names are imported when they are first asked for (PEP 562)."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any

__all__ = ["lazy_names"]


def lazy_names(
    package: str, homes: Mapping[str, str], public: Sequence[str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """The ``__getattr__`` and ``__dir__`` of a package.

    ``homes`` says of each name which module has it, as ``import_module`` takes it from the package:
    "" for a name that is itself a module of the package; with ``:attribute`` behind where it has
    another name there. ``public`` is the package's ``__all__``.

    A name whose module needs a package that is not installed raises ``MissingPackage``, and one
    that needs what the installed release of another package has not, ``OutOfStep``.
    """

    def find(name: str) -> Any:
        home = homes.get(name)
        if home is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        place, _, attribute = home.partition(":")
        try:
            value: Any = import_module(place or f".{name}", package)
        except (ImportError, AttributeError) as error:
            raise _told(package, name, error) from error
        if place:
            value = getattr(value, attribute or name)
        setattr(sys.modules[package], name, value)
        return value

    return find, lambda: sorted(public)


def _told(package: str, name: str, error: ImportError | AttributeError) -> Exception:
    """The error with the command that helps; as it is where a module of the package is missing."""
    from drystone_base.core.errors import DrystoneError
    from drystone_base.core.missing import missing
    from drystone_base.core.out_of_step import out_of_step

    if isinstance(error, DrystoneError):
        return error
    unfit = out_of_step(error)
    if unfit is not None or not isinstance(error, ModuleNotFoundError):
        return unfit or error
    module = error.name or ""
    if module.partition(".")[0] in ("", package):
        return error
    return missing(f"{package}.{name}", module, error)
