"""Which plugins' optimizers changed a graph on its way to a plan, and which nodes they made.

What fails at such a node later, when the graph is lowered or run, is said to be theirs.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Final

from drystone_base.core.errors import DrystoneError
from drystone_base.core.payloads import MADE_BY, NODE

__all__ = ["NOBODY", "Made", "Makers", "makers", "name_makers", "note"]

_REMEDY: Final = "without optimizers of plugins: OptimizerConfig(use_plugin_optimizers=False)"


Made = Mapping[tuple[str, str], str]
"""Plugins by the nodes that they made: the function ("" for the graph itself) and the name."""


class Makers:
    """``plugins`` that changed a graph; ``nodes`` that one of them made, as in ``Made``."""

    def __init__(self) -> None:
        self.plugins: list[str] = []
        self.nodes: dict[tuple[str, str], str] = {}


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
    name = str(error.details.get(NODE, ""))
    plugin = _maker(nodes, name, error.calls[0][0] if error.calls else "") if name else None
    if plugin is None or MADE_BY in error.details:
        return
    error.details[MADE_BY] = plugin
    error.what = f"{error.what}; plugin {plugin}'s optimizer made the node"
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
