"""Transports by scheme: those that plugins registered, and those of this package."""

from __future__ import annotations

import ctypes as c
import re
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NoReturn

from drystone_base.core.errors import BadRequest, PluginError
from drystone_base.host.library import HostLibrary, open_library
from drystone_base.host.status import Status
from drystone_base.modules import Library, Registry
from drystone_network.transports.c_structs import VERSION, Fns, Params, known_part

__all__ = [
    "CAPABILITIES",
    "ENTRY",
    "Carrier",
    "find",
    "initialise",
    "offered",
    "open_own",
    "own_file",
    "schemes",
]

ENTRY: Final = "DS_InitNetwork"
CAPABILITIES: Final = ("ordered", "one-machine", "zero-copy", "remote-memory", "device-memory")
"""Names of the bits of a transport's capabilities."""

_LIBRARY: Final = "libdrystone_net.so"
_REQUIRED: Final = [field[0] for field in Fns._fields_[2:12]]
_OPTIONAL: Final = [field[0] for field in Fns._fields_[-4:]]
_SCHEME: Final = re.compile(r"[a-z][a-z0-9+.-]{0,63}")
_MOST: Final = 64
"""Transports of one library."""
_CARRIERS: Final[Registry[Carrier]] = Registry("transport")
_LOADING: Final = threading.Lock()
_OFFERED: Final[dict[str, list[str]]] = {}


@dataclass(frozen=True, eq=False)
class Carrier:
    """A transport: its scheme, its largest message (0: no bound), and what it can do."""

    scheme: str
    max_message: int
    capabilities: frozenset[str]
    library: str
    fns: Any
    struct: Any

    def __repr__(self) -> str:
        return f"<transport {self.scheme}:// of {self.library}>"


def initialise(library: Library, symbol: str) -> None:
    """Register the transports of a library; raises ``HostError`` and ``PluginError`` to refuse."""
    for carrier in _carriers(library, symbol):
        _CARRIERS.register(carrier.scheme, carrier, library.path)
        _OFFERED.setdefault(library.path, []).append(carrier.scheme)


def offered(library: Library) -> list[str]:
    """The schemes that a library registered."""
    return _OFFERED.get(library.path, [])


def own_file(name: str) -> Path:
    """Where a library of this package is: beside its modules."""
    import drystone_network

    places = [Path(folder, name) for folder in drystone_network.__path__]
    return next((place for place in places if place.exists()), places[0])


def open_own(name: str) -> HostLibrary:
    """A library of this package, called without guards where it is as our wheel brought it.

    Whoever can change it can change the modules beside it, so no policy asks for more.
    """
    from drystone_base.plugins.first_party import is_ours

    path = own_file(name)
    library = open_library(path)
    if is_ours(str(path)):
        library.vouch()
    return library


def _load_own() -> None:
    with _LOADING:
        if "tcp" not in _CARRIERS:
            initialise(open_own(_LIBRARY), ENTRY)


def schemes() -> dict[str, Carrier]:
    """Every transport by its scheme."""
    from drystone_base.plugins import ensure_loaded

    ensure_loaded()
    _load_own()
    return dict(_CARRIERS.items())


def find(address: str) -> Carrier:
    """The transport of an address; raises ``BadRequest`` (``unknown-transport``)."""
    known = schemes()
    scheme, colon, _ = address.partition("://")
    if not colon or scheme not in known:
        raise BadRequest(
            f"no transport carries messages to {address!r}",
            check="an address begins with the scheme of a transport that is installed",
            found=address,
            needed=", ".join(f"{name}://" for name in known),
            remedy="write the address with one of these, or install a plugin that offers another",
            code="unknown-transport",
            status="NOT_FOUND",
        )
    return known[scheme]


# ---- What a plugin says ------------------------------------------------------------------------


def _carriers(library: Library, symbol: str) -> list[Carrier]:
    params = Params(struct_size=c.sizeof(Params))
    params.major_version, params.minor_version, params.patch_version = VERSION
    entry = c.CFUNCTYPE(None, c.POINTER(Params), c.c_void_p)(library.symbol(symbol) or 0)
    with Status(f"{symbol} of {library.path} failed") as status:
        entry(c.byref(params), status.pointer)
    if params.major_version != VERSION[0]:
        _refuse(library, "the major version of the interface must be the host's",
                params.major_version, VERSION[0])  # fmt: skip
    if params.num_transports < 1 or not params.transports:
        _refuse(library, "a library offers at least one transport", params.num_transports, "one")
    if params.num_transports > _MOST:
        _refuse(library, "a library offers some transports", params.num_transports,
                f"{_MOST} at most")  # fmt: skip
    return [_carrier(library, params.transports[k]) for k in range(params.num_transports)]


def _carrier(library: Library, pointer: Any) -> Carrier:
    struct = known_part(pointer.contents) if pointer else None
    fns = known_part(struct.fns.contents) if struct is not None and struct.fns else None
    if struct is None or fns is None:
        _refuse(library, "a struct must state its size", "a transport without", "its size")
    scheme = (struct.scheme or b"").decode("utf-8", "replace")
    if not _SCHEME.fullmatch(scheme):
        found = repr(scheme[:64])
        _refuse(library, "a scheme is small letters and digits, 64 at most", found, "such as tcp")
    missing = [name for name in _REQUIRED if not getattr(fns, name)]
    if missing:
        _refuse(library, "every required function must be there", f"{scheme} without {missing}",
                ", ".join(_REQUIRED))  # fmt: skip
    given = [name for name in _OPTIONAL if getattr(fns, name)]
    if given and len(given) < len(_OPTIONAL):
        _refuse(library, "functions of remote memory are all there, or none", f"{given}",
                ", ".join(_OPTIONAL))  # fmt: skip
    if not struct.capabilities & 1:
        _refuse(library, "a transport keeps messages in order", f"{scheme} says it does not",
                "DS_NETWORK_ORDERED")  # fmt: skip
    can = frozenset(n for k, n in enumerate(CAPABILITIES) if struct.capabilities >> k & 1)
    return Carrier(scheme, struct.max_message, can, library.path, fns, pointer)


def _refuse(library: Library, check: str, found: object, needed: object) -> NoReturn:
    raise PluginError(
        "a network transport cannot be registered",
        check=check,
        found=found,
        needed=needed,
        remedy="report this to the plugin's author",
        plugin=getattr(library, "name", ""),
        path=library.path,
        code="bad-transport",
    )
