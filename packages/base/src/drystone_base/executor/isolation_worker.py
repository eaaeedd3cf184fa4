"""The child process of an isolated plugin: opens one library and serves what it offers.

Started by ``drystone_base.plugins.isolation`` as ``python -m ... READ_FD WRITE_FD MEMORY``. It
talks over those two pipes only; what the plugin prints goes elsewhere. A keeper stands between it
and its parent: it ends with its parent, and all that the plugin has started ends with it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, NoReturn

from drystone_base.core.errors import DrystoneError
from drystone_base.core.payloads import json_ready
from drystone_base.plugins._keeper import keep
from drystone_base.plugins.isolation_channel import Channel, Closed

if TYPE_CHECKING:
    from drystone_base.host.library import HostLibrary

__all__ = ["PYTHON", "main"]

_LONGEST: Final = 1 << 40
PYTHON: Final = "python:"
"""What the path of an optimizer in Python begins with: ``python:MODULE:FUNCTION:ARGUMENT``, where
``FUNCTION(ARGUMENT)`` gives a callable of the graph's bytes and the request's header."""
_python: Callable[[bytes, dict[str, Any]], bytes | None] | None = None


def main(arguments: list[str]) -> NoReturn:
    """Serve requests until the parent closes the pipe."""
    source, target, memory = map(int, arguments)
    keep(lambda: _answer(source, target), memory, files=(source, target))


def _answer(source: int, target: int) -> NoReturn:
    for end in (source, target):
        os.set_inheritable(end, False)
    channel = Channel(source, target)
    channel.send({"ok": True, "process": os.getpid()})
    while True:
        try:
            header, blob = channel.receive(longest=_LONGEST)
        except Closed:
            os._exit(0)
        reply, data = _serve(header, blob)
        channel.send(reply, data)


def _serve(header: dict[str, Any], blob: bytes) -> tuple[dict[str, Any], bytes]:
    try:
        if header["call"] == "open" and header["path"].startswith(PYTHON):
            _open_python(header["path"])
            return {"ok": True}, b""
        if header["call"] == "open":
            return _open(header["path"], header["name"])
        if header["call"] == "optimize":
            return _optimize(header, blob)
        from drystone_base.executor.isolation_serve import serve

        return serve(header, blob)
    except DrystoneError as error:
        return {"ok": False, "error": error.fields() | {"details": json_ready(error.details)}}, b""
    except BaseException as error:
        what = f"plugin {header.get('name', '')} failed in its own process"
        fields = {"what": what, "found": f"{type(error).__name__}: {error}"}
        return {"ok": False, "error": fields}, b""


def _open_python(path: str) -> None:
    global _python
    module, function, argument = path.removeprefix(PYTHON).split(":", 2)
    _python = getattr(import_module(module), function)(argument)


def _open(path: str, name: str) -> tuple[dict[str, Any], bytes]:
    """Open the library and call its entry functions; what they registered.

    Those of modules whose work cannot be done for another process are left out. What does not hold
    is the error that it would be in the parent.
    """
    from drystone_base.executor.isolation_serve import offered
    from drystone_base.modules.wanted import load_no_others
    from drystone_base.plugins._open import initialise, open_plugin
    from drystone_base.plugins._record import Plugin

    load_no_others()
    plugin = Plugin(name, path, "a process of its own")
    opened = plugin.take(open_plugin(plugin))
    if not opened and plugin.error is not None and "undefined symbol" in plugin.error.found:
        from drystone_base.plugins.audit import undefined_functions

        # Whether it may lack some was decided where it was checked.
        plugin = Plugin(name, path, "a process of its own", without=undefined_functions(path))
        opened = plugin.take(open_plugin(plugin))
    if opened and plugin.library is not None:
        plugin.modules, left_out = _modules(plugin.library)
        if left_out and not plugin.modules:
            return offered(plugin, left_out)
        plugin.take(initialise(plugin))
    if plugin.error is not None:
        raise plugin.error
    if plugin.reason == "plugin-not-available":
        raise plugin.refuse(
            "is not available here",
            check="what a plugin drives must be there",
            found=plugin.text,
            needed="what it asks for",
            remedy=plugin.advice(),
            code=plugin.reason,
            status="UNAVAILABLE",
        )
    return offered(plugin, left_out)


def _modules(library: HostLibrary) -> tuple[tuple[str, ...], list[str]]:
    """The modules of a library that are called here, and those that are not."""
    from drystone_base.modules import entry_symbols
    from drystone_base.plugins.isolation_offered import MODULES

    wanted = entry_symbols()
    found = {
        module.name
        for symbol in wanted
        if symbol in library.entries() or library.symbol(symbol)
        for module in wanted[symbol]
    }
    return tuple(sorted(found & MODULES)), sorted(found - MODULES)


def _optimize(header: dict[str, Any], blob: bytes) -> tuple[dict[str, Any], bytes]:
    if _python is not None:
        changed = _python(blob, header)
        return {"ok": True, "changed": changed is not None}, changed or b""
    from drystone_base.host.optimizer import run

    found = run(header["device"], blob, header["fetches"], header["feeds"], header["preserve"])
    return {"ok": True, "changed": found is not None}, found or b""


if __name__ == "__main__":
    main(sys.argv[1:])
