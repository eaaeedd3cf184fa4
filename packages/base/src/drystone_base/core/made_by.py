"""Which plugins' optimizers changed a graph on its way to a plan, and which nodes they made.

What fails at such a node later, when the graph is lowered or run, is said to be theirs.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final

from drystone_base.core.errors import DrystoneError

__all__ = ["NOBODY", "Makers", "makers", "name_makers", "note"]

_NODE: Final = r"node '([^']*)'( \([^)]*\))?"  # compiled by the first run that fails
_REMEDY: Final = "without optimizers of plugins: OptimizerConfig(use_plugin_optimizers=False)"


@dataclass
class Makers:
    """``plugins`` that changed a graph; ``nodes`` that one of them made, by name."""

    plugins: list[str] = field(default_factory=list)
    nodes: dict[str, str] = field(default_factory=dict)


NOBODY: Final[Mapping[str, str]] = {}


class _Noting(threading.local):
    makers: Makers | None = None


_NOTING: Final = _Noting()


@contextmanager
def makers() -> Iterator[Makers]:
    """Who changes a graph in the block, on this thread."""
    before, _NOTING.makers = _NOTING.makers, Makers()
    try:
        yield _NOTING.makers
    finally:
        _NOTING.makers = before


def note(plugin: str, nodes: Iterable[str]) -> None:
    """A plugin's optimizer changed the graph that is being prepared, and made these nodes."""
    found = _NOTING.makers
    if found is None:
        return
    if plugin not in found.plugins:
        found.plugins.append(plugin)
    found.nodes.update(dict.fromkeys(nodes, plugin))


def name_makers(error: DrystoneError, nodes: Mapping[str, str]) -> None:
    """Say in an error which plugin's optimizer made the node that it is about."""
    if not nodes or _REMEDY in error.remedy:
        return

    def named(match: re.Match[str]) -> str:
        plugin = nodes.get(match[1])
        return match[0] if plugin is None else f"{match[0]}, made by plugin {plugin}'s optimizer,"

    what = re.sub(_NODE, named, error.what)
    if what == error.what:
        return
    error.what = what.removesuffix(",")
    error.remedy = f"{error.remedy}; {_REMEDY}" if error.remedy else _REMEDY
    error.args = (error.render(),)
