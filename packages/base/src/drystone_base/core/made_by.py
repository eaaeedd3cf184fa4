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

__all__ = ["NOBODY", "Made", "Makers", "makers", "name_makers", "note"]

_NODE: Final = r"node '([^']*)'( \([^)]*\))?"  # compiled by the first run that fails
_REMEDY: Final = "without optimizers of plugins: OptimizerConfig(use_plugin_optimizers=False)"


Made = Mapping[tuple[str, str], str]
"""Plugins by the nodes that they made: the function ("" for the graph itself) and the name."""


@dataclass
class Makers:
    """``plugins`` that changed a graph; ``nodes`` that one of them made, as in ``Made``."""

    plugins: list[str] = field(default_factory=list)
    nodes: dict[tuple[str, str], str] = field(default_factory=dict)


NOBODY: Final[Made] = {}


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


def note(plugin: str, nodes: Iterable[str], function: str = "") -> None:
    """A plugin's optimizer changed the graph that is being prepared, and made these nodes.

    ``function``: the one in whose body they are.
    """
    found = _NOTING.makers
    if found is None:
        return
    if plugin not in found.plugins:
        found.plugins.append(plugin)
    found.nodes.update(((function, node), plugin) for node in nodes)


def name_makers(error: DrystoneError, nodes: Made) -> None:
    """Say in an error which plugin's optimizer made the node that it is about."""
    if not nodes or _REMEDY in error.remedy:
        return

    def named(match: re.Match[str]) -> str:
        plugin = _maker(nodes, match[1], error.calls[0][0] if error.calls else "")
        return match[0] if plugin is None else f"{match[0]}, made by plugin {plugin}'s optimizer,"

    what = re.sub(_NODE, named, error.what)
    if what == error.what:
        return
    error.what = what.removesuffix(",")
    error.remedy = f"{error.remedy}; {_REMEDY}" if error.remedy else _REMEDY
    error.args = (error.render(),)


def _maker(nodes: Made, name: str, function: str) -> str | None:
    """Who made a node. What was inlined is named after its call: ``call/node``.

    A kernel in Python fails before it is known which function called it ("").
    """
    found = nodes.get((function, name))
    if found is not None:
        return found
    others = (
        plugin
        for (body, node), plugin in nodes.items()
        if body and (name.endswith(f"/{node}") or (not function and name == node))
    )
    return next(others, None)
