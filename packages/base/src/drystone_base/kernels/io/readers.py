"""Readers that live as long as the session, and RecordInput. Files: what the session opens."""

from __future__ import annotations

import glob
import itertools
import os
import random
import threading
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO

import numpy as np

from drystone_base.core.tensor import string_array
from drystone_base.files.uris import as_path
from drystone_base.kernels._handles import object_of, shared_handle
from drystone_base.kernels._registry import Array, Call, kernel
from drystone_base.kernels._strings import scalar_string
from drystone_base.kernels.data_flow._queues import Queue
from drystone_base.kernels.io._readers import (
    Open,
    Reader,
    fixed_records,
    identity,
    text_lines,
    tf_records,
    whole_file,
)
from drystone_base.kernels.io._records import read_records


def open_file(call: Call, name: bytes) -> BinaryIO:
    """A file that the session's access policy lets the node read."""
    path = as_path(os.fsdecode(name))
    call.runtime.access.check_read(call, path)
    try:
        return path.open("rb")
    except OSError as error:
        status = "FAILED_PRECONDITION" if isinstance(error, IsADirectoryError) else "NOT_FOUND"
        call.fail(
            "the file must be readable", found=path, needed="a file", status=status, inner=error
        )


def _handle(call: Call, create: Callable[[], Reader]) -> Any:
    kind = call.op.removesuffix("V2")
    reference = not call.op.endswith("V2")
    return shared_handle(call, kind, lambda _: create(), type, reference=reference)


@kernel("WholeFileReader", "WholeFileReaderV2")
def whole_file_reader(call: Call) -> Any:
    """A handle to a reader of whole files."""
    return _handle(call, lambda: Reader(whole_file(open_file), whole=True, keeps_state=True))


@kernel("IdentityReader", "IdentityReaderV2")
def identity_reader(call: Call) -> Any:
    """A handle to a reader whose records are the names of its work."""
    return _handle(call, lambda: Reader(identity, whole=True, keeps_state=True))


@kernel("TextLineReader", "TextLineReaderV2")
def text_line_reader(call: Call) -> Any:
    """A handle to a reader of lines."""
    skip = call.attrs["skip_header_lines"]
    call.require(
        skip >= 0, "a number of lines must not be negative", found=skip, needed="0 or more"
    )
    return _handle(call, lambda: Reader(text_lines(open_file, skip)))


@kernel("TFRecordReader", "TFRecordReaderV2")
def tf_record_reader(call: Call) -> Any:
    """A handle to a reader of TFRecord files."""
    return _handle(call, lambda: Reader(tf_records(open_file, call.attrs["compression_type"])))


@kernel("FixedLengthRecordReader", "FixedLengthRecordReaderV2")
def fixed_length_record_reader(call: Call) -> Any:
    """A handle to a reader of records of one length."""
    a = call.attrs
    sizes = [a[f"{part}_bytes"] for part in ("header", "record", "footer", "hop")]
    call.require(
        min(sizes) >= 0 and sizes[1] > 0,
        "header, record, footer and hop must have sizes",
        found=sizes,
        needed="none negative, the record's positive",
    )
    header, record, footer, hop = sizes
    records = fixed_records(open_file, header, record, footer, hop, a.get("encoding", ""))
    return _handle(call, lambda: Reader(records))


@kernel("ReaderRead", "ReaderReadV2")
def read(call: Call, handle: Any, queue: Any) -> list[Array]:
    """Key and value of the next record."""
    found = object_of(handle, Reader).read(call, object_of(queue, Queue))
    return [string_array([part], ()) for part in found]


@kernel("ReaderReadUpTo", "ReaderReadUpToV2")
def read_up_to(call: Call, handle: Any, queue: Any, num_records: Array) -> list[Array]:
    """Keys and values of up to ``num_records`` records, as many as one file has."""
    count = int(num_records.item())
    call.require(count >= 0, "the number must not be negative", found=count, needed="0 or more")
    found = object_of(handle, Reader).read_up_to(call, object_of(queue, Queue), count)
    keys, values = [key for key, _ in found], [value for _, value in found]
    return [string_array(keys, (len(keys),)), string_array(values, (len(values),))]


@kernel("ReaderNumRecordsProduced", "ReaderNumRecordsProducedV2")
def num_records_produced(_: Call, handle: Any) -> Array:
    """How many records were read, int64."""
    return np.array(object_of(handle, Reader).produced, np.int64)


@kernel("ReaderNumWorkUnitsCompleted", "ReaderNumWorkUnitsCompletedV2")
def num_work_units_completed(_: Call, handle: Any) -> Array:
    """How many files were read to their end, int64."""
    return np.array(object_of(handle, Reader).finished, np.int64)


@kernel("ReaderReset", "ReaderResetV2")
def reset(_: Call, handle: Any) -> tuple[()]:
    """Forget the current file and the counters."""
    object_of(handle, Reader).reset()
    return ()


def _with_state(call: Call, handle: Any) -> Reader:
    found = object_of(handle, Reader)
    call.require(
        found.keeps_state,
        "only a reader of whole files has a state that can be saved",
        found="a reader of parts of files",
        needed="a WholeFileReader or IdentityReader",
        status="UNIMPLEMENTED",
    )
    return found


@kernel("ReaderSerializeState", "ReaderSerializeStateV2")
def serialize_state(call: Call, handle: Any) -> Array:
    """The reader's counters as a string."""
    return string_array([_with_state(call, handle).state()], ())


@kernel("ReaderRestoreState", "ReaderRestoreStateV2")
def restore_state(call: Call, handle: Any, state: Array) -> tuple[()]:
    """Take the counters from such a string."""
    _with_state(call, handle).restore(call, scalar_string(call, state, "the state"))
    return ()


class Shuffled:
    """Records of the files that match patterns, epoch after epoch, in an order of chance.

    A buffer of ``size`` records is kept, of which any is given next. The order follows from the
    seed, and is not TensorFlow's, which depends on how fast its threads are.
    """

    def __init__(
        self, opened: Open, patterns: str, seed: int, shift: float, size: int, compression: str
    ) -> None:
        self._open = opened
        self._patterns = patterns.split(",")
        self._random = random.Random(seed)
        self._shift, self._size, self._compression = shift, max(size, 1), compression
        self._buffer: list[bytes] = []
        self._source: Iterator[bytes] = iter(())
        self._lock = threading.Lock()

    def take(self, call: Call, count: int) -> list[bytes]:
        """The next records."""
        with self._lock:
            return [self._one(call) for _ in range(count)]

    def _one(self, call: Call) -> bytes:
        self._fill()
        if not self._buffer:
            self._source = self._epoch(call)
            self._fill()
            call.require(
                self._buffer, "the files must have records", found=self._patterns, needed="a record"
            )
        chosen = self._random.randrange(len(self._buffer))
        self._buffer[chosen], self._buffer[-1] = self._buffer[-1], self._buffer[chosen]
        return self._buffer.pop()

    def _fill(self) -> None:
        missing = self._size - len(self._buffer)
        self._buffer += itertools.islice(self._source, missing)

    def _epoch(self, call: Call) -> Iterator[bytes]:
        """All records of one epoch: files in an order of chance, rotated by the shift."""
        names = sorted(name for one in self._patterns for name in glob.glob(one))
        call.require(
            names,
            "files must match the pattern",
            found=f"none at {','.join(self._patterns)}",
            needed="a file",
            status="NOT_FOUND",
        )
        self._random.shuffle(names)
        by = int(self._shift * len(names)) if 0 <= self._shift < 1 else 0
        for name in names[by:] + names[:by]:
            with self._open(call, os.fsencode(name)) as file:
                yield from read_records(file, self._compression, name)


@kernel("RecordInput")
def record_input(call: Call) -> Array:
    """A batch of records of TFRecord files, in an order of chance; never at an end."""
    a = call.attrs
    sizes = [a["file_buffer_size"], a["batch_size"]]
    call.require(min(sizes) > 0, "sizes must be positive", found=sizes, needed="> 0")
    values = a["file_random_seed"], a["file_shuffle_shift_ratio"], a["file_buffer_size"]
    found = call.runtime.resources.get_or_create(
        "",
        "RecordInput",
        call.node,
        lambda: Shuffled(open_file, a["file_pattern"], *values, a["compression_type"]),
    )
    records = found.take(call, a["batch_size"])
    return string_array(records, (len(records),))
