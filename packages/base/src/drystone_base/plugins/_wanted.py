"""Whether anything is installed that could be a plugin: asked often, so answered cheaply.

The loader itself is imported only where the answer is yes.
"""

from __future__ import annotations

import os
import sys
import threading
from typing import TYPE_CHECKING, Final

from drystone_base._entry_points import declared
from drystone_base.arguments import checked

if TYPE_CHECKING:
    from drystone_base.errors import PluginError
    from drystone_base.plugins._offers import Kind

__all__ = ["ensure_loaded", "installed", "load_no_others", "refused_offer"]

_MANAGER: Final = "drystone_base.plugins._manager"
_lock: Final = threading.Lock()
_nothing = False
_alone = False


def load_no_others() -> None:
    """From now on ``ensure_loaded()`` does nothing in this process, which tries one plugin.

    What that plugin's modules call could load all of them otherwise, and try each in a child that
    does the same.
    """
    global _alone
    _alone = True


def ensure_loaded() -> None:
    """Find and load every installed plugin, the first time; afterwards this costs nothing.

    A plugin that fails costs one ``PluginWarning``; under the policy ``strict`` it raises.
    """
    global _nothing
    if _alone or (_nothing and _MANAGER not in sys.modules):
        return
    if _MANAGER not in sys.modules:
        with _lock:
            _nothing = not installed()
        if _nothing:
            return
    from drystone_base.plugins._manager import manager

    manager.ensure_loaded()


@checked
def refused_offer(kind: Kind, name: str) -> PluginError | None:
    """Why the plugin that offers ``name`` is not there; None where no known plugin offers it.

    A plugin offers what its manifest lists; without such a list, the names in its file count.
    """
    if _MANAGER not in sys.modules:
        return None
    from drystone_base.plugins._offers import find_refused

    return find_refused(kind, name)


def installed() -> bool:
    """Whether some folder of ``sys.path`` has plugins, or a package that declares one."""
    from drystone_base.environment import TF_PLUGINS

    folders = ["drystone-plugins"]
    if TF_PLUGINS.value():
        folders.append("tensorflow-plugins")
    places = dict.fromkeys(filter(None, sys.path))
    if any(os.path.isdir(os.path.join(place, name)) for place in places for name in folders):
        return True
    return declared("drystone.plugins")
