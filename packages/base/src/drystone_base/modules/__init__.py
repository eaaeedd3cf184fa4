"""Modules: a C interface, a registry and a register function; the kit is public.

A module tells the loader which entry symbols it accepts and what to do with a library that exports
one; the loader knows none by name. A third party adds a module with :func:`register`, or with an
entry point in the group ``drystone.modules`` that names a :class:`Module`. Source: the Modular
TensorFlow RFC, "C++ modularity".
"""

from drystone_base.core.installed import EntryPoint, declared, points
from drystone_base.modules._registry import (
    Library,
    Module,
    Registry,
    commands,
    entry_symbols,
    find,
    is_own,
    modules,
    register,
    stage,
)

__all__ = [
    "EntryPoint",
    "Library",
    "Module",
    "Registry",
    "commands",
    "declared",
    "entry_symbols",
    "find",
    "is_own",
    "modules",
    "points",
    "register",
    "stage",
]
