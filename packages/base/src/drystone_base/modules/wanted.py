"""Whether anything is installed that could be a plugin: asked often, so answered cheaply.

The loader itself is imported only where the answer is yes.
"""

from __future__ import annotations

import os
import sys
import threading
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from drystone_base.core.arguments import checked
from drystone_base.core.installed import declared
from drystone_base.core.registered import PLUGIN_SETTINGS, PLUGINS
from drystone_base.core.upcalls import FIND_REFUSED_OFFER, LOAD_PLUGINS

if TYPE_CHECKING:
    from drystone_base.core.errors import PluginError

__all__ = [
    "Kind",
    "ensure_loaded",
    "installed",
    "load_no_others",
    "refused_offer",
]

Kind: TypeAlias = Literal["ops", "kernels", "optimizers", "schemes", "devices"]

_lock: Final = threading.Lock()
_is_there: bool | None = None
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
    global _is_there
    if _alone:
        return
    if _is_there is None:
        with _lock:
            _is_there = installed()
    if _is_there or PLUGIN_SETTINGS:
        LOAD_PLUGINS()


@checked
def refused_offer(kind: Kind, name: str) -> PluginError | None:
    """Why the plugin that offers ``name`` is not there; None where no known plugin offers it.

    A plugin offers what its manifest lists; without such a list, the names in its file count.
    """
    return FIND_REFUSED_OFFER(kind, name) if PLUGINS else None


def installed() -> bool:
    """Whether some folder of ``sys.path`` has plugins, or a package that declares one."""
    from drystone_base.core.environment import TF_PLUGINS

    folders = ["drystone-plugins"]
    if TF_PLUGINS.value():
        folders.append("tensorflow-plugins")
    places = dict.fromkeys(filter(None, sys.path))
    if any(os.path.isdir(os.path.join(place, name)) for place in places for name in folders):
        return True
    return declared("drystone.plugins")
