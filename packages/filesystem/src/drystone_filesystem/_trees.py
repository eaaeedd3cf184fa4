"""Directories of stores that move files only: copied file by file, then deleted."""

from __future__ import annotations

import errno
from contextlib import suppress
from typing import TYPE_CHECKING

from drystone_filesystem._failures import StoreFailure

if TYPE_CHECKING:
    from drystone_filesystem.store import Store

__all__ = ["move_tree"]


def move_tree(store: Store, source: str, target: str) -> None:
    """Move a directory with all in it to a path that is free, or to an empty directory.

    Nothing is deleted before all is copied, so that a failure on the way loses nothing; what was
    copied until then is deleted again. Raises ``ValueError`` for a target inside of the source,
    and ``OSError``.
    """
    if target == source or target.startswith(source + "/"):
        raise ValueError(f"{source} cannot be moved into itself, to {target}")
    _check_free(store, target)
    directories, files = _walk(store, source)
    done: list[str] = []
    try:
        for name in [] if store.implicit_directories else directories:
            with suppress(FileExistsError):
                store.make_directory(target + name)
        for name in files:
            store.copy(source + name, target + name)
            done.append(target + name)
    except BaseException:
        _delete(store, target, directories, done)
        raise
    _delete(store, source, directories, [source + name for name in files], strict=True)
    with suppress(FileNotFoundError):
        store.stat(source)
        text = f"all in {source} is in {target} now, but the store did not remove the directory"
        raise StoreFailure("FAILED_PRECONDITION", text)


def _check_free(store: Store, target: str) -> None:
    try:
        found = store.stat(target)
    except FileNotFoundError:
        return
    if not found.is_directory:
        raise FileExistsError(f"{target} is a file")
    if store.children(target):
        raise OSError(errno.ENOTEMPTY, f"{target} is a directory that is not empty")


def _walk(store: Store, top: str) -> tuple[list[str], list[str]]:
    """What is added to the path of ``top`` for each directory, from it down, and for each file."""
    directories = [""]
    files: list[str] = []
    for here in directories:
        for child in store.children(top + here):
            name = f"{here}/{child}"
            (directories if store.stat(top + name).is_directory else files).append(name)
    return directories, files


def _delete(
    store: Store, top: str, directories: list[str], files: list[str], *, strict: bool = False
) -> None:
    """Delete files, then directories from the deepest up; unless ``strict``, as far as it goes."""
    kept = () if strict else (Exception,)
    for path in files:
        with suppress(*kept):
            store.delete(path)
    for name in [] if store.implicit_directories else reversed(directories):
        with suppress(*kept):
            store.remove_directory(top + name)
