"""Readers: what is behind a reader's handle. A reader takes names of files and gives their records.

Sources: TensorFlow ``reader_base.h`` and the readers' op definitions.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from typing import BinaryIO, Final

from drystone_base.core.dtypes import STRING
from drystone_base.core.errors import BadModelFile
from drystone_base.core.wire import fields, read_varint, write_varint
from drystone_base.kernels._registry import Call
from drystone_base.kernels.data_flow._queues import Queue
from drystone_base.kernels.io._records import RECORD_OVERHEAD, decompressed, read_records

__all__ = [
    "Open",
    "Reader",
    "Record",
    "Records",
    "fixed_records",
    "identity",
    "text_lines",
    "tf_records",
    "whole_file",
]

Record = tuple[bytes, bytes]
"""Key and value."""

Open = Callable[[Call, bytes], BinaryIO]
"""How a file is opened by its name: raises for one that may not, or cannot, be read."""

Records = Callable[[Call, bytes], Iterator[Record]]
"""The records of one piece of work, by its name; raises at once where it cannot be opened."""

_PIECE: Final = 1 << 18
_LIMIT: Final = 1 << 63


class Reader:
    """Gives the records of its work, one piece after the other. Safe to use from several threads.

    ``whole``: a piece of work is one record, and is done with it. ``keeps_state``: its counters can
    be saved.
    """

    def __init__(self, records: Records, *, whole: bool = False, keeps_state: bool = False) -> None:
        self._records, self._whole = records, whole
        self.keeps_state = keeps_state
        self.lock = threading.RLock()
        self.reset()

    def reset(self) -> None:
        """Forget all work and start counting again."""
        with self.lock:
            self.started = self.finished = self.produced = 0
            self.work = b""
            self._current: Iterator[Record] = iter(())
            self._error: Exception | None = None

    def read(self, call: Call, queue: Queue) -> Record:
        """The next record; names of further work come from the queue."""
        with self.lock:
            while True:
                found = self._next(call, queue)
                if found is not None:
                    self.produced += 1
                    return found

    def read_up_to(self, call: Call, queue: Queue, count: int) -> list[Record]:
        """Up to ``count`` records, not more than one piece of work has; one at least."""
        found: list[Record] = []
        with self.lock:
            while len(found) < count:
                record = self._next(call, queue)
                if record is not None:
                    self.produced += 1
                    found.append(record)
                if found and self.started == self.finished:
                    break
        return found

    def _next(self, call: Call, queue: Queue) -> Record | None:
        """A record of the current work, or None at its end."""
        if self.started == self.finished:
            self._start(call, queue)
        if self._error is not None:
            raise self._error
        try:
            found = next(self._current, None)
        except Exception as error:
            self._error = error  # it stays where it failed, as in TensorFlow
            raise
        if found is None or self._whole:
            self.finished = self.started
        return found

    def _start(self, call: Call, queue: Queue) -> None:
        call.require(
            queue.types == [STRING],
            "a reader's queue must hold single strings",
            found=queue.types,
            needed=[STRING],
        )
        (name,) = queue.dequeue(call, 1)[0]
        call.require(
            name.size == 1,
            "a reader's queue must hold single strings",
            found=list(name.shape),
            needed="one element",
        )
        self.work = name.item()
        self._current = self._records(call, self.work)
        self.started += 1

    # ---- state ---------------------------------------------------------------------------------

    def state(self) -> bytes:
        """The counters and the current work, as a serialized ``ReaderBaseState``."""
        with self.lock:
            counters = (self.started, self.finished, self.produced)
            out = b"".join(
                bytes([number << 3]) + write_varint(value)
                for number, value in enumerate(counters, 1)
                if value
            )
            return out + (b"\x22" + write_varint(len(self.work)) + self.work if self.work else b"")

    def restore(self, call: Call, state: bytes) -> None:
        """Take up counters and work from a state; a wrong one resets the reader."""
        with self.lock:
            self.reset()
            counters, work = _parse_state(call, state)
            started, finished, produced = counters
            call.require(
                min(counters) >= 0 and started <= finished,
                "the counters of a reader's state must fit together",
                found=f"{started} started, {finished} finished, {produced} records",
                needed="none negative, no more started than finished",
            )
            self.started, self.finished, self.produced, self.work = *counters, work


def _parse_state(call: Call, state: bytes) -> tuple[list[int], bytes]:
    counters, work, data = [0, 0, 0], b"", memoryview(state)
    try:
        for tag, _, start, stop in fields(data):
            if tag in (8, 16, 24):
                value = read_varint(data, start)[0] % (1 << 64)
                counters[(tag >> 3) - 1] = value - (1 << 64) if value >= _LIMIT else value
            elif tag == 34:
                work = bytes(data[start:stop])
    except BadModelFile as error:
        call.fail(
            "a reader's state must be a ReaderBaseState",
            found=repr(state[:32]),
            needed="what ReaderSerializeState gives",
            inner=error,
        )
    return counters, work


# ---- kinds of work ---------------------------------------------------------------------------


def identity(_: Call, work: bytes) -> Iterator[Record]:
    """The work's name itself."""
    yield work, work


def whole_file(opened: Open) -> Records:
    """The bytes of a file."""

    def records(call: Call, work: bytes) -> Iterator[Record]:
        with opened(call, work) as file:
            yield work, file.read()

    return records


def text_lines(opened: Open, skip: int) -> Records:
    """The lines of a file after the first ``skip``, without their ends; keys count from 1."""

    def records(call: Call, work: bytes) -> Iterator[Record]:
        return _lines(opened(call, work), work, skip)

    return records


def _lines(file: BinaryIO, work: bytes, skip: int) -> Iterator[Record]:
    with file:
        for number, line in enumerate(file, 1):
            text = line.removesuffix(b"\n").removesuffix(b"\r")
            if number > skip and (text or line.endswith(b"\n")):
                yield work + b":%d" % number, text


def tf_records(opened: Open, compression: str) -> Records:
    """The records of a TFRecord file; keys are their offsets."""

    def records(call: Call, work: bytes) -> Iterator[Record]:
        return _by_offset(opened(call, work), work, compression)

    return records


def _by_offset(file: BinaryIO, work: bytes, compression: str) -> Iterator[Record]:
    offset = 0
    with file:
        for record in read_records(file, compression, os.fsdecode(work)):
            yield work + b":%d" % offset, record
            offset += len(record) + RECORD_OVERHEAD


def fixed_records(
    opened: Open, header: int, record: int, footer: int, hop: int, encoding: str
) -> Records:
    """Records of one length between header and footer; the next begins ``hop`` bytes further."""

    def records(call: Call, work: bytes) -> Iterator[Record]:
        return _by_number(opened(call, work), work)

    def _by_number(file: BinaryIO, work: bytes) -> Iterator[Record]:
        with file:
            data = decompressed(file, encoding, os.fsdecode(work)).read()
        last = len(data) - footer - record
        for number, start in enumerate(range(header, last + 1, hop or record)):
            yield work + b":%d" % number, data[start : start + record]

    return records
