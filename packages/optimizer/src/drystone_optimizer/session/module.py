"""What this package adds to ``drystone_base.modules``: the ``optimize`` stage of a session.

It is imported by every process that has this package installed, so it imports next to nothing: the
rest is imported when a graph is to be optimized.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from drystone_base.modules import Module
from drystone_optimizer.core.process_state import EXPERIMENTAL_OPTIONS, LEFT_OUT
from drystone_optimizer.plugins.presence import may_have_plugins

if TYPE_CHECKING:
    from drystone_base.graph import Graph

__all__ = ["MODULE"]


def _stage(graph: Graph, fetches: Sequence[str], feeds: Sequence[str], config: Any) -> Graph:
    """Optimize what the fetches reach; ``config`` is what ``SessionConfig.optimizer`` says."""
    if config == "off":
        return graph
    from drystone_optimizer.session.stage import optimize_for_session

    return optimize_for_session(graph, fetches, feeds, config)


def _simplify(graph: Graph, fetches: Sequence[str], feeds: Sequence[str], config: Any) -> Graph:
    """The same without what only the host executor knows."""
    if config == "off":
        return graph
    from drystone_optimizer.session.stage import simplify_for_session

    return simplify_for_session(graph, fetches, feeds, config)


def _fuse(graph: Graph, fetches: Sequence[str], feeds: Sequence[str], config: Any) -> Graph:
    """The rest of it."""
    if config == "off":
        return graph
    from drystone_optimizer.session.stage import fuse_for_session

    return fuse_for_session(graph, fetches, feeds, config)


def _lower(config: Any, precision: str) -> Any:
    """The config with the pass on that computes layers in bfloat16 or float16."""
    from drystone_optimizer.session.stage import with_precision

    return with_precision(config, precision)


def _unplug(config: Any) -> Any:
    """The config without optimizers of plugins."""
    from drystone_optimizer.session.stage import without_plugins

    return without_plugins(config)


def _lasts(config: Any) -> bool:
    """Whether the stage makes the same of the same graph, in every process with these packages.

    It may not where optimizers of plugins run, options were set by the program, or a pass of this
    process failed or came too late.
    """
    if config != "default" or may_have_plugins():
        return False
    return not EXPERIMENTAL_OPTIONS and not LEFT_OUT


def _listed() -> list[dict[str, str]]:
    """The optimizers in Python, for ``drystone plugins list``."""
    if not may_have_plugins():
        return []
    from drystone_optimizer.plugins.sources import listed

    return listed()


MODULE: Final = Module(
    "optimizer",
    (),
    lambda _library, _symbol: None,
    stages={
        "optimize": _stage,
        "simplify": _simplify,
        "fuse": _fuse,
        "precision": _lower,
        "unplugged": _unplug,
        "lasting": _lasts,
        "listed": _listed,
    },
    commands={
        "bisect": "drystone_optimizer.session.bisect_command:bisect_model",
        "optimize": "drystone_optimizer.session.command:optimize",
    },
    variables="drystone_optimizer.core.options:VARIABLES",
)
