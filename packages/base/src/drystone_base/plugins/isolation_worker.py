"""The child process of an isolated plugin: opens one library and runs its optimizers.

Started by ``drystone_base.plugins.isolation`` as ``python -m ... READ_FD WRITE_FD MEMORY``. It
talks over those two pipes only; what the plugin prints goes elsewhere. It ends with its parent.
"""

from __future__ import annotations

import os
import resource
import sys
import threading
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from drystone_base.errors import DrystoneError
from drystone_base.plugins.isolation_channel import Channel, Closed

__all__ = ["PYTHON", "main"]

_LONGEST: Final = 1 << 40
PYTHON: Final = "python:"
"""What the path of an optimizer in Python begins with: ``python:MODULE:FUNCTION:ARGUMENT``, where
``FUNCTION(ARGUMENT)`` gives a callable of the graph's bytes and the request's header."""
_python: Callable[[bytes, dict[str, Any]], bytes | None] | None = None


def main(arguments: list[str]) -> int:
    """Serve requests until the parent closes the pipe."""
    source, target, memory = map(int, arguments)
    channel = Channel(source, target)
    _follow_parent()
    _limit(memory)
    channel.send({"ok": True})
    while True:
        try:
            header, blob = channel.receive(longest=_LONGEST)
        except Closed:
            return 0
        reply, data = _serve(header, blob)
        channel.send(reply, data)


def _follow_parent() -> None:
    """End at once when the parent is gone, even while a plugin hangs."""
    parent = os.getppid()

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1)
        os._exit(1)

    threading.Thread(target=watch, daemon=True, name="follow-parent").start()


def _limit(memory: int) -> None:
    """Cap address space; the parent watches resident memory and is stricter."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if memory:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
        cap = pages * resource.getpagesize() + 2 * memory
        resource.setrlimit(resource.RLIMIT_AS, (cap, cap))


def _serve(header: dict[str, Any], blob: bytes) -> tuple[dict[str, Any], bytes]:
    try:
        if header["call"] == "open" and header["path"].startswith(PYTHON):
            _open_python(header["path"])
            return {"ok": True, "optimizers": []}, b""
        if header["call"] == "open":
            return {"ok": True, "optimizers": _open(header["path"])}, b""
        return _optimize(header, blob)
    except DrystoneError as error:
        return {"ok": False, "error": error.fields()}, b""
    except BaseException as error:
        fields = {"what": "an isolated plugin failed", "found": f"{type(error).__name__}: {error}"}
        return {"ok": False, "error": fields}, b""


def _open_python(path: str) -> None:
    global _python
    module, function, argument = path.removeprefix(PYTHON).split(":", 2)
    _python = getattr(import_module(module), function)(argument)


def _open(path: str) -> list[dict[str, Any]]:
    """Open the library; what optimizers its entry functions register, if it has one for that."""
    from drystone_base.host.library import open_library
    from drystone_base.host.optimizer import optimizers
    from drystone_base.modules import find

    library = open_library(path)
    if not any(symbol.startswith("TF_InitGraph") for symbol in library.entries()):
        return []
    failed: DrystoneError | None = None
    kernels = find("kernels")
    for symbol in library.entries():
        try:
            if symbol == "TF_InitKernel" and kernels is not None:
                kernels.initialise(library, symbol)
            else:
                library.initialise(symbol)
        except DrystoneError as error:
            failed = error
    found = [vars(o) for o in optimizers() if o.library == library.path]
    if failed is not None and not found:
        raise failed
    return found


def _optimize(header: dict[str, Any], blob: bytes) -> tuple[dict[str, Any], bytes]:
    if _python is not None:
        changed = _python(blob, header)
        return {"ok": True, "changed": changed is not None}, changed or b""
    from drystone_base.host.optimizer import run

    found = run(header["device"], blob, header["fetches"], header["feeds"], header["preserve"])
    return {"ok": True, "changed": found is not None}, found or b""


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
