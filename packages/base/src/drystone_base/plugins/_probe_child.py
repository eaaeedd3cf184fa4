"""What the child process of a probe does: open the plugin, call its entry functions, say so."""

from __future__ import annotations

import base64  # noqa: F401  # errors need it, and a plugin may become a user that cannot read it
import json
import os
from importlib import import_module
from typing import Any, Final

from drystone_base.modules.wanted import load_no_others
from drystone_base.plugins._keeper import keep
from drystone_base.plugins._open import initialise, open_plugin
from drystone_base.plugins._record import Plugin, failed

__all__ = ["main"]

# Of each text: a pipe must hold all of them, for the parent reads when the child has ended.
_LONGEST: Final = 1000


def main(request: dict[str, Any]) -> None:
    """Try the plugin in a child of this process, which ends as that does."""

    def tell(facts: dict[str, Any]) -> None:
        os.write(request["answer"], f"\n{request['nonce']} {json.dumps(facts)}\n".encode())

    keep(lambda: _try(request, tell), request["memory"], lambda held: tell({"held": held}))


def _try(request: dict[str, Any], tell: Any) -> None:
    """Try the plugin and end at once: its destructors have no say in whether it loads.

    An orderly failure counts as finished, for it fails as orderly in the loader.
    """
    load_no_others()
    for module in request["imports"]:
        import_module(module)
    plugin = Plugin(request["name"], request["path"], "probe")
    plugin.modules, plugin.without = tuple(request["modules"]), tuple(request["without"])
    before = _files()
    if plugin.take(open_plugin(plugin)):
        plugin.take(initialise(plugin))
    if gone := before - _files():
        plugin.take(failed("entry", _closed(plugin, gone)))
    steps = [step.as_json() for step in plugin.steps]
    tell({"steps": _short(steps)})
    os._exit(0)


def _files() -> set[tuple[int, int, int]]:
    """The open files: their numbers, and which they are."""
    found = set()
    for name in os.listdir("/proc/self/fd"):
        try:
            facts = os.fstat(int(name))
        except OSError:
            continue  # the folder that was just read
        found.add((int(name), facts.st_dev, facts.st_ino))
    return found


def _closed(plugin: Plugin, gone: set[tuple[int, int, int]]) -> Any:
    return plugin.refuse(
        "closes files that are not its own",
        check="a plugin leaves open what was open before",
        found=f"file {', '.join(map(str, sorted(number for number, _, _ in gone)))} closed or "
        "another one after its entry functions",
        needed="entry functions and constructors that close what they have opened, nothing else",
        remedy="report this to the plugin's author, and disable the plugin meanwhile: "
        f"DRYSTONE_PLUGINS_DISABLE={plugin.name}",
        code="plugin-changed-host",
    )


def _short(value: Any) -> Any:
    """The value without facts, which have no bound, and with the beginnings of long texts."""
    if isinstance(value, list):
        return [_short(one) for one in value]
    if isinstance(value, dict):
        return {name: _short(one) for name, one in value.items() if name != "facts"}
    return value[:_LONGEST] if isinstance(value, str) else value
