"""Files on their way to a store: sent while they are written, and kept here until they are there.

What is kept is for trying again: a transfer that fails starts over with all that was written.
"""

from __future__ import annotations

import dataclasses
import os
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from typing import IO, Final

from drystone_base.core.arguments import explaining
from drystone_base.core.detached import LOOKS
from drystone_filesystem.store import Upload
from drystone_filesystem.transfer import Plan, plan, retried, tell

__all__ = ["Sending", "SpooledUpload"]

_IN_MEMORY: Final = 32 << 20
_EARLY: Final = 16 << 20
"""Bytes from which on sending begins before the file is closed."""
_PATIENCE: Final = 0.5
"""Seconds in which a store may hear that a file was given up before others go on."""


class _Abandoned(Exception):
    """The writer gave the file up."""

    status_name = "CANCELLED"


class _Kept:
    """Bytes that grow at their end, read by another thread meanwhile; on disk when they are many.

    Both places are given with each call, so that one file serves the two.
    """

    def __init__(self) -> None:
        self.size, self.ended, self.abandoned = 0, False, False
        self._memory = bytearray()
        self._disk: IO[bytes] | None = None
        self._changed = threading.Condition()

    def append(self, data: memoryview) -> None:
        """Add them."""
        if self._disk is None and self.size + len(data) <= _IN_MEMORY:
            with self._changed:
                self._memory += data
            self._grown(self.size + len(data))
            return
        disk = self._to_disk()
        for start in range(0, len(data), _EARLY):
            piece = data[start : start + _EARLY]
            self._write(disk, piece, self.size)
            self._grown(self.size + len(piece))

    def _to_disk(self) -> IO[bytes]:
        """The file on disk; what memory held has moved there."""
        if self._disk is None:
            disk = tempfile.TemporaryFile(prefix="drystone-")  # noqa: SIM115 - it outlives this
            self._write(disk, memoryview(self._memory), 0)
            with self._changed:
                self._disk, self._memory = disk, bytearray()
        return self._disk

    @staticmethod
    def _write(disk: IO[bytes], data: memoryview, place: int) -> None:
        while len(data):
            done = os.pwrite(disk.fileno(), data, place)
            data, place = data[done:], place + done

    def _grown(self, size: int) -> None:
        with self._changed:
            self.size = size
            self._changed.notify_all()

    def read(self, place: int, count: int) -> bytes:
        """That many from there, waiting for them; fewer at the end. Raises once abandoned."""
        with self._changed:
            while not (self.ended or self.abandoned or self.size >= place + count):
                self._changed.wait()
            if self.abandoned:
                raise _Abandoned("the file was given up")
            count = max(min(count, self.size - place), 0)
            if self._disk is None:
                return bytes(memoryview(self._memory)[place : place + count])
            disk = self._disk
        found = os.pread(disk.fileno(), count, place)
        while len(found) < count:
            more = os.pread(disk.fileno(), count - len(found), place + len(found))
            if not more:
                raise OSError("what was kept on disk to be sent is not there any more")
            found += more
        return found

    def end(self, *, abandoned: bool = False) -> None:
        """No more come."""
        with self._changed:
            self.ended, self.abandoned = True, abandoned
            self._changed.notify_all()

    def close(self) -> None:
        """Let go of all."""
        if self._disk is not None:
            self._disk.close()
        self._memory = bytearray()


@explaining("__init__")
class Sending:
    """A file to send from its first byte: ``size`` is None as long as more may come."""

    def __init__(self, kept: _Kept) -> None:
        self._kept, self._place = kept, 0
        self.size = kept.size if kept.ended else None

    def read(self, count: int) -> bytes:
        """The next bytes; fewer than ``count`` only at the end."""
        found = self._kept.read(self._place, count)
        self._place += len(found)
        return found

    def pieces(self, size: int) -> Iterator[bytes]:
        """All bytes, ``size`` at a time."""
        while piece := self.read(size):
            yield piece

    @property
    def sent(self) -> int:
        """How many were read."""
        return self._place


@explaining("__init__")
class SpooledUpload(Upload):
    """Bytes on their way to a store; on disk (``TMPDIR``) when they are many.

    ``send(sending)`` must make the file visible only once it has read all and all has arrived. It
    begins in a thread of its own when there is much to send, unless ``early`` is False. It is
    called again, up to ``attempts`` times in all (those of reads by default), while its failure may
    pass.
    """

    def __init__(
        self,
        path: str,
        send: Callable[[Sending], None],
        *,
        attempts: int | None = None,
        early: bool = True,
    ) -> None:
        self._path, self._send, self._attempts = path, send, attempts
        self._from = _EARLY if early else sys.maxsize
        self._kept = _Kept()
        self._early: threading.Thread | None = None
        self._failure: BaseException | None = None

    def append(self, data: memoryview) -> None:
        """Keep them, and have them sent if they are many."""
        if self._early is None and self._kept.size + len(data) >= self._from:
            self._early = threading.Thread(target=self._begin, name="drystone-upload", daemon=True)
            self._early.start()
        self._kept.append(data)

    def _begin(self) -> None:
        try:
            self._send(Sending(self._kept))
        except BaseException as error:  # the caller that closes the file hears of it
            self._failure = error

    def close(self) -> None:
        """Wait until all is there; the file appears whole, or stays what it was."""
        self._kept.end()
        try:
            retried(self._finish, self._how())
        except KeyboardInterrupt:  # a thread may still send it: what is on disk goes with that
            self._kept.end(abandoned=True)
            raise
        except BaseException:
            self._kept.close()
            raise
        self._kept.close()
        tell(self._path, self._kept.size, self._kept.size)

    def _how(self) -> Plan:
        how = plan()
        return how if self._attempts is None else dataclasses.replace(how, attempts=self._attempts)

    def _finish(self) -> None:
        """What began early is the first attempt."""
        if self._early is None:
            self._send(Sending(self._kept))
            return
        while self._early.is_alive():
            self._early.join(LOOKS)
        self._early, failure, self._failure = None, self._failure, None
        if failure is not None:
            raise failure

    def abandon(self) -> None:
        """What was sent becomes no file; who still sends it takes no more of it."""
        self._kept.end(abandoned=True)
        if self._early is not None:
            self._early.join(_PATIENCE)
            if self._early.is_alive():
                return  # and what is on disk goes with that
        self._kept.close()
