"""Finding and opening the host library, and prototypes of its functions."""

from __future__ import annotations

import ctypes
import os
import threading
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from drystone_base.core.environment import HOST_LIBRARY
from drystone_base.core.errors import HostError

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["available", "declare", "get_include", "is_left_out", "library", "path", "version"]

_FILE: Final = "libdrystone_host.so"
_HERE: Final = os.path.dirname(__file__)
# The collector may run here and end a file or a tensor, which asks for the library again.
_LOCK: Final = threading.RLock()


def path() -> Path:
    """File of the host library: ``$DRYSTONE_HOST_LIBRARY`` if set, else the one of this package."""
    from pathlib import Path

    return Path(_file())


def _file() -> str:
    return HOST_LIBRARY.value() or os.path.join(_HERE, _FILE)


def get_include() -> Path:
    """Folder with ``drystone_host/*.h``, for programs that embed the host library."""
    from pathlib import Path

    beside = Path(_HERE, "include")
    return beside if beside.is_dir() else Path(_HERE).parents[2] / "host" / "include"


def available() -> bool:
    """Whether the host library is there: a wheel for this platform is installed."""
    return os.path.isfile(_file())


def is_left_out() -> bool:
    """Whether this package came without a host library, and none is named in its place."""
    return not HOST_LIBRARY.value() and not _is_shipped()


@cache
def _is_shipped() -> bool:
    return os.path.isfile(os.path.join(_HERE, _FILE))


@cache
def _open(file: str, kind: type[ctypes.CDLL] = ctypes.CDLL) -> ctypes.CDLL:
    try:
        return kind(file, mode=os.RTLD_NOW | os.RTLD_LOCAL)
    except OSError as error:
        raise HostError(
            f"the host library {file} cannot be opened",
            check="plugins and the native executor need the host library of drystone-base",
            found="the file is there" if os.path.exists(file) else "no such file",
            needed=f"{_FILE} for this platform",
            remedy=_remedy(),
            code="host-library-missing",
            status="UNAVAILABLE",
            inner=error,
        ) from error


def _remedy() -> str:
    if is_left_out():
        return (
            "install drystone-base where there is a wheel of it with the library "
            "(Linux on x86-64), or run graphs with executor='reference'"
        )
    return "install a wheel of drystone-base, or build it: python -m ci.scripts.host_build"


def library(*, brief: bool = False) -> ctypes.CDLL:
    """The open host library; raises ``HostError`` (``host-library-missing``).

    Functions of a ``brief`` one keep the interpreter's lock: theirs are calls that never wait. To
    let go of it costs more than they do, and where several threads are about, another turn of each.
    """
    with _LOCK:
        return _open(_file(), ctypes.PyDLL) if brief else _open(_file())


def declare(name: str, result: Any, *arguments: Any, brief: bool = False) -> Callable[..., Any]:
    """The host's function ``name`` as a callable; the library is opened at the first call.

    ``result`` and ``arguments`` are ctypes types; a result of None is ``void``. ``brief`` is as of
    ``library``: for functions that neither wait nor call back.
    """
    bound: list[Callable[..., Any]] = []

    def call(*values: Any) -> Any:
        if not bound:
            function = getattr(library(brief=brief), name)
            function.restype, function.argtypes = result, list(arguments)
            bound.append(function)
        try:
            return bound[0](*values)
        except ctypes.ArgumentError as error:  # which is no TypeError, and says no name
            raise TypeError(f"{name}: {error}") from error

    call.__name__ = call.__qualname__ = name
    return call


_version = declare("DS_HostVersion", ctypes.c_char_p)


def version() -> str:
    """Release of the host library."""
    return str(_version().decode())
