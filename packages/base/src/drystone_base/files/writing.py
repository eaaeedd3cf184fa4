"""Writing files: each is written beside its target, and moved there whole.

A draft is locked as long as its writer lives. So the next writer of the same target knows which
abandoned drafts, such as those of a process that was killed, and removes them.
"""

from __future__ import annotations

import errno
import os
import re
import shutil
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Final, Self

from drystone_base.core.errors import BadRequest
from drystone_base.files.uris import as_path, uri_of

__all__ = ["Draft", "copy_file", "draft_folder", "replace_file", "writing"]

_SUFFIX: Final = ".tmp"
_RANDOM: Final = 6  # bytes in a draft's name
_LONGEST_NAME: Final = 255  # bytes, in nearly all filesystems
_PATIENCE: Final = 10.0
"""Seconds for which a pipe may have no reader."""


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turn what the system says while ``path`` is written into ``BadRequest``."""
    try:
        yield
    except OSError as error:
        raise BadRequest(
            f"{path} cannot be written",
            check="the folder must exist, be writable and have room",
            found=str(error),
            needed="a path that can be written",
            remedy="check the folder, its permissions and the free space",
            code="cannot-write",
            status="FAILED_PRECONDITION",
            inner=error,
        ) from error


def copy_file(source: Path, target: Path) -> None:
    """Copy a local file to anywhere, or a file from anywhere to a local path."""
    there = uri_of(target)
    if there is not None:
        there.upload(source)
    elif uri_of(source) is not None:
        target.write_bytes(source.read_bytes())
    else:
        shutil.copyfile(source, target)


def replace_file(path: Path, pieces: Iterable[bytes]) -> None:
    """Write a file whole: no reader ever sees half of it.

    Links are followed. Devices and pipes, such as ``/dev/stdout``, are written to as they are.
    What is behind a scheme is written by its filesystem's own means, which are as good where it
    shows files only when they are closed. Raises ``BadRequest`` (``cannot-write``).
    """
    there = uri_of(path)
    with writing(path):
        if there is not None:
            there.write_pieces(pieces)
        elif path.exists() and not (path.is_file() or path.is_dir()):
            with _opened(path) as file:  # a file in its place would end the device for all
                file.writelines(pieces)
        else:
            with Draft(as_path(os.path.realpath(path))) as draft:
                draft.file.writelines(pieces)
                draft.put_in_place()


def _opened(path: Path) -> BinaryIO:
    """A device or pipe to write to; who waits for a pipe's reader waits for some seconds only."""
    end = time.monotonic() + _PATIENCE
    while True:
        try:
            handle = os.open(path, os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError as error:
            if error.errno != errno.ENXIO or time.monotonic() > end:
                raise
            time.sleep(0.02)
        else:
            os.set_blocking(handle, True)
            return os.fdopen(handle, "wb")


class Draft:
    """A file to write, which is not seen under ``target`` before :meth:`put_in_place`.

    Leaving the block by an exception discards it. Where the target is behind a scheme, the draft
    lies among the temporary files of this machine and is uploaded. Raises ``OSError``.
    """

    def __init__(self, target: Path) -> None:
        self.target = target
        if uri_of(target) is None:
            _remove_abandoned(target)
            self.path, self.file = _new_file(target)
        else:
            handle, name = tempfile.mkstemp(prefix="drystone-")
            self.path, self.file = as_path(name), os.fdopen(handle, "wb")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, _: BaseException | None, __: TracebackType | None
    ) -> None:
        if kind is not None:
            self.discard()

    def put_in_place(self) -> None:
        """Let the target be what was written; it survives a loss of power from here on."""
        try:
            self.file.flush()
            os.fsync(self.file.fileno())
            if uri_of(self.target) is None:
                self.path.replace(self.target)
                _sync_folder(self.target.parent)
            else:
                copy_file(self.path, self.target)
        finally:
            self.discard()

    def discard(self) -> None:
        """Let go of what was written, unless it is in its place."""
        with suppress(OSError):
            self.file.close()
        self.path.unlink(missing_ok=True)


@contextmanager
def draft_folder(target: Path) -> Iterator[Path]:
    """A folder to fill that becomes ``target``, a path that is free or an empty folder.

    Raises ``BadRequest`` (``cannot-write``); then, and when the block raises, nothing is left.
    """
    with writing(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        _remove_abandoned(target)
        staging = _draft_name(target)
        staging.mkdir()
        lock = os.open(staging, os.O_RDONLY)
    try:
        _lock(lock)
        yield staging
        with writing(target):
            if target.exists():
                target.rmdir()
            staging.replace(target)
    finally:
        os.close(lock)
        shutil.rmtree(staging, ignore_errors=True)


def _new_file(target: Path) -> tuple[Path, BinaryIO]:
    """A locked file; another writer may take it for abandoned before it is locked."""
    while True:
        path = _draft_name(target)
        file = path.open("xb")
        _lock(file.fileno())
        with suppress(FileNotFoundError):
            if path.stat().st_ino == os.fstat(file.fileno()).st_ino:
                return path, file
        file.close()


def _draft_name(target: Path) -> Path:
    return target.with_name(f"{_draft_stem(target)}.{os.urandom(_RANDOM).hex()}{_SUFFIX}")


def _draft_stem(target: Path) -> str:
    """How the names of a target's drafts begin: as its own, if that leaves room for the rest."""
    name = os.fsencode(target.name)
    if len(name) + 1 + 2 * _RANDOM + len(_SUFFIX) <= _LONGEST_NAME:
        return target.name
    import hashlib

    return f"drystone-{hashlib.sha256(name).hexdigest()[:32]}"


def _remove_abandoned(target: Path) -> None:
    """Remove the drafts of a target whose writers are gone."""
    ending = rf"\.[0-9a-f]{{{2 * _RANDOM}}}{re.escape(_SUFFIX)}"
    draft = re.compile(re.escape(_draft_stem(target)) + ending)
    try:
        names = os.listdir(target.parent)
    except OSError:  # a folder to write to, not to list
        return
    for path in (target.parent / name for name in names if draft.fullmatch(name)):
        with suppress(OSError):
            _remove_if_unlocked(path)


def _remove_if_unlocked(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        if not _lock(handle):
            return
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink()
    finally:
        os.close(handle)


def _lock(handle: int) -> bool:
    """Whether an open file is locked by this now; not where its filesystem knows no locks."""
    try:
        import fcntl

        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (ImportError, OSError):
        return False
    return True


def _sync_folder(folder: Path) -> None:
    """Have the names in a folder survive a loss of power, where the system can."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
