"""Event files: records of ``Event`` protos, as TensorBoard reads them."""

from __future__ import annotations

import contextlib
import io
import threading
import time
import weakref
from pathlib import Path
from typing import Final

from drystone_abi.protos import Event, SourceMetadata
from drystone_base.files.uris import uri_of
from drystone_base.kernels.io._records import write_record

__all__ = ["EventFile"]

_VERSION: Final = "brain.Event:2"


class EventFile:
    """One file. Events wait until there are ``limit`` of them or ``seconds`` have passed.

    Those that still wait when the object goes are written then. Safe to use from threads.
    """

    def __init__(self, path: Path, limit: int, seconds: float, moment: int) -> None:
        self.path = path
        self._limit = limit
        self._seconds = seconds
        self._waiting: list[bytes] = []
        self._lock = threading.Lock()
        self._next = 0.0
        path.write_bytes(b"")
        self.add(Event(wall_time=moment, file_version=_VERSION, source_metadata=_SOURCE))
        self.flush()
        weakref.finalize(self, _append_if_possible, path, self._waiting)

    def add(self, event: Event) -> None:
        """Append an event, at the latest with the next :meth:`flush`."""
        with self._lock:
            self._waiting.append(event.SerializeToString())
            due = len(self._waiting) > self._limit or time.monotonic() > self._next
        if due:
            self.flush()

    def flush(self) -> None:
        """Write what waits. Raises ``OSError``, for one when the file has disappeared."""
        with self._lock:
            self._next = time.monotonic() + self._seconds
            _append(self.path, self._waiting)


_SOURCE: Final = SourceMetadata(writer="drystone")


def _append(path: Path, waiting: list[bytes]) -> None:
    events = waiting.copy()
    waiting.clear()
    there = uri_of(path)
    if there is not None:
        added = io.BytesIO()
        for event in events:
            write_record(added, event)
        there.append_bytes(added.getvalue())
        return
    with path.open("r+b") as file:
        file.seek(0, 2)
        for event in events:
            write_record(file, event)


def _append_if_possible(path: Path, waiting: list[bytes]) -> None:
    if waiting:
        with contextlib.suppress(OSError):
            _append(path, waiting)
