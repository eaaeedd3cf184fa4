"""Optimizers of C plugins in this process, which may have to go on without them."""

from __future__ import annotations

import time
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from drystone_base.core.errors import HostError, PluginError

if TYPE_CHECKING:
    from drystone_base.plugins.isolation import OptimizerPlugin

__all__ = ["run_here"]


def run_here(
    plugin: OptimizerPlugin,
    graph: bytes,
    fetches: Sequence[str],
    feeds: Sequence[str],
    preserve: Collection[str],
    ends: float | None,
) -> bytes | None:
    """New GraphDef bytes, or None for no change; raises ``HostError``, and ``PluginError``.

    ``ends``: when the caller's time is over, as ``time.monotonic`` tells it. The optimizer
    is left then, on a thread of its own (``plugin-stuck``), and refused until it returns.
    """
    from drystone_base.host.optimizer import run

    library = plugin.path if plugin.ordered else ""
    seconds = None if ends is None else max(0.0, ends - time.monotonic())
    try:
        return run(plugin.device, graph, fetches, feeds, preserve, library=library, seconds=seconds)
    except HostError as error:
        if error.code != "plugin-stuck":
            raise
        raise _stuck(plugin, error) from error


def _stuck(plugin: OptimizerPlugin, error: HostError) -> PluginError:
    return PluginError(
        f"the {plugin.device} optimizer of plugin {plugin.name} ({plugin.path}) does not return",
        check="an optimizer must answer before the time for optimizing is over",
        found=error.found,
        needed="an answer in time (meta_optimizer_timeout_ms)",
        remedy="the graph runs without it, and it is not asked again until it returns; "
        "DRYSTONE_PLUGIN_ISOLATION=process runs optimizers where they can be ended, and "
        f"DRYSTONE_PLUGINS_DISABLE={plugin.name} leaves the plugin out",
        plugin=plugin.name,
        version=plugin.version,
        path=plugin.path,
        code="plugin-stuck",
        status=error.status,
        details=error.details,
    )
