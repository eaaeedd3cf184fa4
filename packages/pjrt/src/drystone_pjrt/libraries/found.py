"""Finding PJRT plugins as JAX does: by a variable, by entry points, in namespace packages.

Nothing of a plugin is imported or opened here: JAX's modules would import JAX. The library is what
lies in the module's folder and exports ``GetPjrtApi``.
"""

from __future__ import annotations

import mmap
import os
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from pkgutil import iter_modules
from typing import Final, NamedTuple

from drystone_base.core.errors import BadRequest, near_matches
from drystone_base.modules import points
from drystone_pjrt.libraries.environment import PLUGIN, PLUGINS

__all__ = ["ENTRY", "Found", "chosen", "plugins"]

ENTRY: Final = "GetPjrtApi"
_SPACES: Final = ("jax_plugins", "xla_plugins")
"""Groups of entry points, and packages whose modules are plugins."""


class Found(NamedTuple):
    """A plugin: its name, its library, and who says so."""

    name: str
    path: str
    origin: str


def plugins() -> list[Found]:
    """Every plugin, those of the variable first; of one name, and of one file, the first counts."""
    rows: dict[str, Found] = {}
    files: set[str] = set()
    for one in (*_named(), *_installed()):
        real = os.path.realpath(one.path)
        if one.name not in rows and real not in files:
            rows[one.name] = one
            files.add(real)
    return list(rows.values())


def chosen() -> list[Found]:
    """Those that may be used, the first one first: the one that is asked for, or all.

    Raises ``BadRequest``: ``subgraph-package-missing`` where there is none,
    ``unknown-pjrt-plugin`` for a name that there is not.
    """
    rows, wish = plugins(), PLUGIN.value()
    if not rows:
        raise BadRequest(
            "subgraph backend 'pjrt' cannot be used",
            check="it compiles by a PJRT plugin, which must be installed",
            found=f"none in {PLUGINS.name}, in packages' entry points {' and '.join(_SPACES)}, or "
            "in packages of these names",
            needed="a library that exports GetPjrtApi",
            remedy="pip install xla-cpu-pjrt, or your device's plugin for JAX; or name a library: "
            f"{PLUGINS.name}=cpu:/path/to/plugin.so",
            code="subgraph-package-missing",
            status="FAILED_PRECONDITION",
        )
    if not wish:
        return rows
    named = [one for one in rows if one.name == wish]
    if not named:
        names = [one.name for one in rows]
        near = near_matches(wish, names)
        raise BadRequest(
            f"there is no PJRT plugin {wish!r}",
            check=f"{PLUGIN.name} names a plugin that is there",
            found=wish,
            needed=" or ".join(names),
            remedy=f"did you mean {near[0]}?" if near else f"unset {PLUGIN.name}",
            code="unknown-pjrt-plugin",
            status="NOT_FOUND",
        )
    return named


def _named() -> Iterator[Found]:
    """Those of the variable."""
    for text in PLUGINS.value():
        name, colon, path = text.partition(":")
        if not (name and colon and path):
            raise BadRequest(
                f"{text!r} is not a value of {PLUGINS.name}",
                check="a plugin is named, then comes a colon and the path of its library",
                found=text,
                needed="NAME:PATH, with commas between",
                remedy=f"{PLUGINS.name}=cpu:/path/to/plugin.so",
                code="bad-variable",
            )
        yield Found(name, path, PLUGINS.name)


def _installed() -> Iterator[Found]:
    """Those of packages."""
    for space in _SPACES:
        modules = {point.name: point.value.partition(":")[0].strip() for point in points(space)}
        parent = find_spec(space)
        places = list(parent.submodule_search_locations or ()) if parent else []
        modules |= {m.name: f"{space}.{m.name}" for m in iter_modules(places) if m.ispkg}
        for name, module in sorted(modules.items()):
            for library in _libraries(module):
                yield Found(name, library, module)


def _libraries(module: str) -> Iterator[str]:
    """Libraries in a module's folder that are plugins; an entry point may name what is gone."""
    try:
        spec = find_spec(module)
    except (ImportError, ValueError):
        return
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        for path in sorted(Path(folder).glob("*.so*")):
            if _exports(path):
                yield str(path)


def _exports(path: Path) -> bool:
    """Whether the name of the entry function is among a library's names."""
    try:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            return data.find(b"\0" + ENTRY.encode() + b"\0") >= 0
    except (OSError, ValueError):
        return False
