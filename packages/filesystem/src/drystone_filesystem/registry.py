"""Which filesystem serves a scheme: chosen by configuration, registered, or offered by a package.

A path's scheme selects (implicitly) what is asked for, in this order: libraries of plugins that are
loaded already, here or in processes of their own, what ``DRYSTONE_FILESYSTEMS`` or :func:`select`
says, what :func:`register` was given, and packages that declare the scheme as an entry point in
``drystone.filesystems``.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from drystone_base.core.arguments import checked
from drystone_base.core.errors import BadRequest, DrystoneError, HostError
from drystone_base.modules import points
from drystone_base.plugins.isolation_files import offered as offered_apart
from drystone_filesystem.environment import FILESYSTEMS
from drystone_filesystem.store import Store

if TYPE_CHECKING:
    from fsspec import AbstractFileSystem

__all__ = ["GROUP", "register", "schemes", "select", "serve"]

GROUP: Final = "drystone.filesystems"
FSSPEC: Final = "fsspec"

Source: TypeAlias = "Made | Callable[[], Made]"
Made: TypeAlias = "Store | AbstractFileSystem | Path"

_lock: Final = threading.RLock()
_given: Final[dict[str, tuple[Any, str]]] = {}
_selected: Final[dict[str, str]] = {}


@checked
def register(scheme: str, filesystem: Source, origin: str = "the program") -> None:
    """Have ``filesystem`` serve ``scheme://`` from now on.

    It is a :class:`Store`, an fsspec filesystem, the ``Path`` of a plugin library, or a function
    that answers one of these when the scheme is first used. Raises ``HostError``
    (``ALREADY_EXISTS``) for a scheme that is being served.
    """
    from drystone_base.host.filesystem import filesystems

    with _lock:
        taken = {f["scheme"]: f["library"] or "drystone" for f in filesystems()}
        taken |= {name: by for name, (_, by) in _given.items()}
        if scheme in taken:
            raise HostError(
                f"{scheme}:// cannot be served by {origin}",
                check="a scheme has one filesystem",
                found=f"it is served by {taken[scheme]}",
                needed="another scheme, or only one of the two",
                remedy=f"select one: {FILESYSTEMS.name}={scheme}=WHERE",
                status="ALREADY_EXISTS",
            )
        _given[scheme] = (filesystem, origin)


@checked
def select(scheme: str, where: str) -> None:
    """Choose who serves a scheme: the path of a plugin library, a package's name, or ``fsspec``.

    ``fsspec`` is the filesystem that fsspec knows under that scheme; ``fsspec:NAME`` the one that
    it knows under another name. To be called before the scheme is first used; wins over
    ``DRYSTONE_FILESYSTEMS=SCHEME=WHERE,...``.
    """
    with _lock:
        _selected[scheme] = where


def schemes() -> dict[str, str]:
    """The schemes that can be served, with who does or would do so."""
    from drystone_base.host.filesystem import filesystems
    from drystone_base.plugins import ensure_loaded

    ensure_loaded()
    found = {point.name: point.package for point in points(GROUP)}
    found |= {scheme: origin for scheme, (_, origin) in _given.items()}
    found |= _choices()
    found |= {f["scheme"]: f["library"] or "drystone-base" for f in filesystems()}
    return dict(sorted(found.items()))


def serve(scheme: str) -> bool:
    """Register the filesystem of a scheme with the host; False where no package offers it."""
    with _lock:
        files = offered_apart(scheme)
        if files is not None:
            from drystone_filesystem.isolated import IsolatedStore

            _serve_made(scheme, IsolatedStore(files), files.path)
            return True
        where = _choices().get(scheme)
        if where is not None and _serve_chosen(scheme, where):
            return True
        given = _given.get(scheme)
        if given is not None:
            _serve_made(scheme, given[0], given[1])
            return True
        offered = [point for point in points(GROUP) if point.name == scheme]
        wanted = [point for point in offered if where in (None, point.package)]
        if not wanted:
            return False
        _serve_made(scheme, wanted[0].load(), wanted[0].package)
        return True


def _choices() -> dict[str, str]:
    """What the variable and :func:`select` say."""
    said = {}
    for part in filter(None, FILESYSTEMS.value().split(",")):
        scheme, equals, where = part.strip().partition("=")
        if not (scheme and equals and where):
            raise BadRequest(
                f"{FILESYSTEMS.name} cannot be understood",
                check="it must be a list of SCHEME=WHERE, separated by commas",
                found=part,
                needed="gs=/path/to/library.so, or abfs=fsspec",
                remedy=f"set {FILESYSTEMS.name} again, or unset it",
                code="bad-filesystem-setting",
            )
        said[scheme] = where
    return said | _selected


def _serve_chosen(scheme: str, where: str) -> bool:
    """Whether a choice is a library or fsspec, which then serves the scheme."""
    if where.partition(":")[0] == FSSPEC:
        import fsspec

        name = where.partition(":")[2] or scheme
        try:
            made = fsspec.filesystem(name)
        except Exception as error:  # each has its own
            raise _not_made(scheme, name, error) from error
        _serve_made(scheme, made, f"{FSSPEC}:{name}")
        return True
    if os.sep in where:
        from drystone_base.plugins import load_library

        load_library(where)
        return True
    return False


def _not_made(scheme: str, name: str, error: Exception) -> HostError:
    return HostError(
        f"fsspec cannot make the filesystem for {scheme}://",
        check="fsspec must have what the filesystem needs, without options",
        found=f"{type(error).__name__}: {error}",
        needed=f"what fsspec.filesystem({name!r}) asks for",
        remedy="install what it names, or give it its options: "
        f"drystone_filesystem.register({scheme!r}, fsspec.filesystem({name!r}, ...))",
        code="no-filesystem",
        status="FAILED_PRECONDITION",
        inner=error,
    )


def _serve_made(scheme: str, source: Any, origin: str) -> None:
    """Make the filesystem where ``source`` is a function, and put it behind the C tables."""
    made = _made(scheme, source) if callable(source) and not hasattr(source, "protocol") else source
    if isinstance(made, Path):
        from drystone_filesystem.native import serve_library

        serve_library(scheme, made)
        return
    from drystone_filesystem.bridge import register_store
    from drystone_filesystem.from_fsspec import store_of

    store = made if isinstance(made, Store) else store_of(made, scheme)
    register_store(scheme, store, origin)


def _made(scheme: str, function: Callable[[], Any]) -> Any:
    """What a function that was registered for a scheme makes."""
    try:
        return function()
    except DrystoneError:
        raise
    except Exception as error:  # each has its own
        raise HostError(
            f"the filesystem for {scheme}:// cannot be made",
            check="the function that was registered for a scheme must make its filesystem",
            found=f"{type(error).__name__}: {error}",
            needed="a store, a filesystem of fsspec or a library's path",
            remedy=f"ask who registered {scheme}://, or register another one: "
            f"drystone_filesystem.register({scheme!r}, ...)",
            code="no-filesystem",
            status="FAILED_PRECONDITION",
            inner=error,
        ) from error
