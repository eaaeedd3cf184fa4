"""What the child process of a probe does: open the plugin, call its entry functions, say so."""

from __future__ import annotations

import os
from importlib import import_module
from typing import Any

from drystone_base.plugins._open import initialise, open_plugin
from drystone_base.plugins._record import Plugin

__all__ = ["main"]


def main(request: dict[str, Any]) -> None:
    """Try the plugin and end at once: its destructors have no say in whether it loads.

    An orderly failure counts as finished, for it fails as orderly in the parent.
    """
    for module in request["imports"]:
        import_module(module)
    plugin = Plugin(request["name"], request["path"], "probe", modules=tuple(request["modules"]))
    if plugin.take(open_plugin(plugin)):
        initialise(plugin)
    os.write(request["answer"], b"finished")
    os._exit(0)
