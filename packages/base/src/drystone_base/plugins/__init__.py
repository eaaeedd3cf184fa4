"""Plugins: finding them, deciding whether to load them, loading them, and saying what happened.

Nothing is searched or opened by importing this. ``ensure_loaded()`` loads what is installed, the
first time that something needs a plugin; ``load_library(path)`` loads one now; ``report()`` says
what was found, loaded, skipped and refused, and why. docs/how-to/plugins.md is the guide.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from drystone_base.core.arguments import checked
from drystone_base.core.lazy_names import lazy_names
from drystone_base.modules.wanted import ensure_loaded, refused_offer

if TYPE_CHECKING:
    from drystone_base.core.errors import PluginError as PluginError
    from drystone_base.core.plugin_settings import Isolation, Policy
    from drystone_base.core.plugin_settings import Settings as Settings
    from drystone_base.core.plugin_settings import configure as configure
    from drystone_base.plugins._manager import PluginWarning as PluginWarning
    from drystone_base.plugins._record import Plugin as Plugin
    from drystone_base.plugins._record import State as State
    from drystone_base.plugins._record import StepResult as StepResult
    from drystone_base.plugins._report import Report as Report

# Modules are imported when a name is first asked for: a process without plugins pays nothing.
_HOME = {
    "Plugin": "._record",
    "PluginError": "..core.errors",
    "PluginWarning": "._manager",
    "Report": "._report",
    "Settings": "..core.plugin_settings",
    "State": "._record",
    "StepResult": "._record",
    "configure": "..core.plugin_settings",
}

__all__ = [
    "Plugin",
    "PluginError",
    "PluginWarning",
    "Report",
    "Settings",
    "State",
    "StepResult",
    "check",
    "configure",
    "ensure_loaded",
    "load_library",
    "refused_offer",
    "report",
]

__getattr__, __dir__ = lazy_names(__name__, _HOME, __all__)


@checked
def load_library(
    path: str | os.PathLike[str],
    *,
    policy: Policy | None = None,
    developer_mode: bool | None = None,
    isolation: Isolation | None = None,
) -> Plugin:
    """Load one plugin library now; raises ``PluginError`` where it is refused or fails.

    Of a folder every library is loaded, and the last one's record returned. A library that is
    loaded already is not loaded again: its record is returned. The arguments override the settings
    for this call.
    """
    from drystone_base.plugins._manager import manager, no_plugin

    plugins = manager.load(path, policy=policy, developer_mode=developer_mode, isolation=isolation)
    if not plugins:
        raise no_plugin(path)
    return plugins[-1]


@checked
def check(path: str | os.PathLike[str], *, policy: Policy | None = None) -> Plugin:
    """Run every check on a file, with a fresh trial in a child process; nothing is loaded here."""
    from drystone_base.core.plugin_settings import override
    from drystone_base.plugins._manager import check_file

    return check_file(os.fspath(path), override(policy=policy))


def report() -> Report:
    """What is known so far. Nothing is loaded by asking; ``ensure_loaded()`` does that."""
    from drystone_base.core.plugin_settings import current
    from drystone_base.plugins._manager import manager
    from drystone_base.plugins._report import Report

    found = manager.found
    settings = manager.settings or current()
    return Report(tuple(found.plugins), tuple(found.ignored), tuple(found.places), settings)
