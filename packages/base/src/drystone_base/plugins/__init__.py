"""Plugins: finding them, deciding whether to load them, loading them, and saying what happened.

Nothing is searched or opened by importing this. ``load_library(path)`` loads one plugin now.
"""

from __future__ import annotations

import os

from drystone_base.errors import PluginError
from drystone_base.plugins._open import initialise, open_plugin
from drystone_base.plugins._record import Plugin, State, StepResult, plugin_name

__all__ = ["Plugin", "PluginError", "State", "StepResult", "load_library"]


def load_library(path: str | os.PathLike[str]) -> Plugin:
    """Load one plugin library now; raises ``PluginError`` where it is refused or fails."""
    real = os.path.realpath(path)
    plugin = Plugin(plugin_name(os.path.basename(real)), real, "load_library")
    for step in (open_plugin, initialise):
        if not plugin.take(step(plugin)):
            raise plugin.error or PluginError(plugin.text, code=plugin.reason)
    plugin.state, plugin.reason, plugin.text = "loaded", "", ""
    return plugin
