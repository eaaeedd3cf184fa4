"""What the child process of a probe does: open the plugin, call its entry functions, say so."""

from __future__ import annotations

import json
import os
from importlib import import_module
from typing import Any, Final

from drystone_base.plugins._open import initialise, open_plugin
from drystone_base.plugins._record import Plugin
from drystone_base.plugins._wanted import load_no_others

__all__ = ["main"]

# Of each text: a pipe must hold all of them, for the parent reads when the child has ended.
_LONGEST: Final = 1000


def main(request: dict[str, Any]) -> None:
    """Try the plugin and end at once: its destructors have no say in whether it loads.

    An orderly failure counts as finished, for it fails as orderly in the parent.
    """
    load_no_others()
    for module in request["imports"]:
        import_module(module)
    plugin = Plugin(request["name"], request["path"], "probe", modules=tuple(request["modules"]))
    if plugin.take(open_plugin(plugin)):
        plugin.take(initialise(plugin))
    steps = [step.as_json() for step in plugin.steps]
    os.write(request["answer"], b"finished" + json.dumps(_short(steps)).encode())
    os._exit(0)


def _short(value: Any) -> Any:
    """The value without facts, which have no bound, and with the beginnings of long texts."""
    if isinstance(value, list):
        return [_short(one) for one in value]
    if isinstance(value, dict):
        return {name: _short(one) for name, one in value.items() if name != "facts"}
    return value[:_LONGEST] if isinstance(value, str) else value
