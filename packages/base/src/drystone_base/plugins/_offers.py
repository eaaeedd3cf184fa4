"""Who would have offered what is missing: the stored reason of a plugin that is not loaded."""

from __future__ import annotations

import mmap
import os

from drystone_base.core.errors import PluginError
from drystone_base.modules.wanted import Kind
from drystone_base.plugins._manager import manager
from drystone_base.plugins._record import Plugin

__all__ = ["find_refused"]


def find_refused(kind: Kind, name: str) -> PluginError | None:
    """Why the plugin that offers ``name`` is not there; None where no known plugin offers it.

    A plugin offers what its manifest lists; without such a list, the names in its file count.
    """
    for plugin in manager.found.plugins:
        if plugin.state != "loaded" and _offers(plugin, kind, name):
            return _reason(plugin, kind, name)
    return None


def _offers(plugin: Plugin, kind: Kind, name: str) -> bool:
    listed = plugin.offers.get("ops" if kind == "kernels" else kind)
    return name in listed if listed is not None else _named_in(plugin.path, name)


def _named_in(path: str, name: str) -> bool:
    """Whether the file holds the name as a text of its own."""
    wanted = b"\0" + os.fsencode(name) + b"\0"
    try:
        with (
            open(path, "rb") as file,
            mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data,
        ):
            return data.find(wanted) >= 0
    except (OSError, ValueError):
        return False


def _reason(plugin: Plugin, kind: Kind, name: str) -> PluginError:
    error = plugin.error
    what = {"ops": "op", "kernels": "a kernel for", "optimizers": "the optimizer for"}
    noun = what.get(kind, kind.rstrip("s"))
    if error is None:
        return plugin.refuse(
            f"is not loaded, so {noun} {name} is not there",
            check="what a plugin offers is there once it is loaded",
            found=plugin.text,
            needed="the plugin loaded",
            remedy=f"drystone plugins explain {plugin.name}",
            code=plugin.reason,
        )
    return plugin.refuse(
        f"is not loaded, so {noun} {name} is not there",
        check=error.check,
        found=error.found,
        needed=error.needed,
        remedy=error.remedy,
        code=error.code,
        status=error.status,
    )
