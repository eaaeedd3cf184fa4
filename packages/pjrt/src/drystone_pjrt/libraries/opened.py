"""Plugins that are open, and one client of each.

drystone's loader opens them, as any plugin: audited, and tried in a child process first where they
are not trusted, so that one that crashes or hangs while it is opened costs this process nothing.
"""

from __future__ import annotations

import ctypes as c
import threading
from typing import Final

from drystone_base.core.errors import DrystoneError
from drystone_base.core.plugin_settings import Policy, current
from drystone_base.modules import Library
from drystone_base.plugins import load_library
from drystone_pjrt.api.client import Client
from drystone_pjrt.api.table import Table
from drystone_pjrt.libraries.found import chosen

__all__ = ["client", "initialise", "offered"]

_TABLES: Final[dict[str, Table]] = {}
_CLIENTS: Final[dict[str, Client]] = {}
_LOCK: Final = threading.RLock()


def initialise(library: Library, symbol: str) -> None:
    """Take the function table of a library; raises ``PluginError`` to refuse it."""
    address = library.symbol(symbol)
    table = Table(c.CFUNCTYPE(c.c_void_p)(address)() if address else None, library.name,
                  library.path)  # fmt: skip
    table.call("PJRT_Plugin_Initialize")
    _TABLES[library.path] = table


def offered(library: Library) -> list[str]:
    """The version of the interface that a library has."""
    table = _TABLES.get(library.path)
    return [] if table is None else ["PJRT {}.{}".format(*table.version)]


def client() -> Client:
    """The client that the backend uses; it is made when it is first asked for.

    Where no plugin was asked for, the first that can be used. Raises ``BadRequest`` as
    :func:`chosen`, and the first plugin's ``PluginError`` where none can be used.
    """
    first: DrystoneError | None = None
    with _LOCK:
        for one in chosen():
            try:
                return _client(one.path)
            except DrystoneError as error:
                first = first or error
    assert first is not None  # chosen() raises where there is none
    raise first


def _client(path: str) -> Client:
    if path not in _CLIENTS:
        # No compiler carries our marks; who asks for this backend has chosen to run one.
        policy: Policy = "strict" if current().policy == "strict" else "allow_unverified"
        plugin = load_library(path, policy=policy)
        _CLIENTS[path] = Client(_TABLES[plugin.path])
    return _CLIENTS[path]
