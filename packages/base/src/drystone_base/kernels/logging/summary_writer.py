"""Event files for TensorBoard, written by ops of the graph.

Source: TensorFlow ops SummaryWriter, CreateSummaryFileWriter, WriteScalarSummary, ...
"""

from __future__ import annotations

import itertools
import os
import platform
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final, TypeVar

from google.protobuf.message import DecodeError, Message

from drystone_abi.protos import Event, GraphDef, Summary
from drystone_base.files.uris import as_path
from drystone_base.kernels._indices import scalar_int
from drystone_base.kernels._registry import Array, Call, kernel
from drystone_base.kernels._strings import scalar_string
from drystone_base.kernels.io._event_file import EventFile
from drystone_base.kernels.logging._summaries import (
    add_audio,
    add_histogram,
    add_images,
    add_scalar,
    add_tensor,
    tag_text,
)
from drystone_base.state.variables import ResourceHandle, handle_array, resource_of

__all__: list[str] = []

M = TypeVar("M", bound=Message)

_KIND: Final = "SummaryWriter"
_files: Final = itertools.count()


class _Writer:
    """What a handle refers to: the event file, None until one is made and after it is closed."""

    def __init__(self) -> None:
        self.file: EventFile | None = None


@kernel("SummaryWriter")
def summary_writer(call: Call) -> Array:
    """A handle to a writer that has no file yet."""
    name, container = call.attrs["shared_name"] or call.node, call.attrs["container"]
    found = call.runtime.resources.get_or_create(container, _KIND, name, _Writer)
    return handle_array(ResourceHandle(_KIND, name, container, found))


@contextmanager
def _writing(call: Call, path: object) -> Iterator[None]:
    """Errors of the file system as this node's."""
    try:
        yield
    except (FileNotFoundError, NotADirectoryError, FileExistsError) as error:
        status = "NOT_FOUND" if isinstance(error, FileNotFoundError) else "FAILED_PRECONDITION"
        call.fail("an event file must be writable", found=path, status=status, inner=error)
    except (OSError, ValueError) as error:
        call.fail("an event file must be writable", found=path, status="UNKNOWN", inner=error)


@kernel("CreateSummaryFileWriter")
def create_summary_file_writer(
    call: Call, writer: Array, logdir: Array, max_queue: Array, flush_millis: Array, suffix: Array
) -> tuple[()]:
    """Make the writer's file in the folder ``logdir``; nothing if it has one."""
    target = resource_of(writer, _Writer)
    folder = as_path(os.fsdecode(scalar_string(call, logdir, "logdir")))
    end = os.fsdecode(scalar_string(call, suffix, "the suffix"))
    queue = scalar_int(call, max_queue, "max_queue")
    seconds = scalar_int(call, flush_millis, "flush_millis") / 1000
    if target.file is not None:
        return ()
    call.runtime.access.check_write(call, folder)
    moment = int(time.time())
    parts = f"events.out.tfevents.{moment:010d}.{platform.node()}.{os.getpid()}.{next(_files)}"
    path = folder / (parts + (end if end.startswith(".") else f".{end}"))
    call.runtime.access.check_write(call, path)
    with _writing(call, path):
        folder.mkdir(parents=True, exist_ok=True)
        target.file = EventFile(path, queue, seconds, moment)
    return ()


@kernel("CreateSummaryDbWriter")
def create_summary_db_writer(call: Call, *_: Array) -> tuple[()]:
    """Refused: events go to files."""
    call.fail(
        "summaries are not written to databases",
        found="a database",
        needed="an event file",
        remedy="use CreateSummaryFileWriter (tf.summary.create_file_writer)",
        status="UNIMPLEMENTED",
    )


def _file(call: Call, writer: Array) -> EventFile:
    found = resource_of(writer, _Writer).file
    if found is None:
        call.fail(
            "a summary writer must have a file",
            found="a writer without a file",
            needed="a file",
            remedy="run CreateSummaryFileWriter first",
            status="NOT_FOUND",
        )
    return found


@kernel("FlushSummaryWriter")
def flush_summary_writer(call: Call, writer: Array) -> tuple[()]:
    """Write the events that wait to the file; raises ``KernelError`` where it cannot be."""
    file = _file(call, writer)
    with _writing(call, file.path):
        file.flush()
    return ()


@kernel("CloseSummaryWriter")
def close_summary_writer(call: Call, writer: Array) -> tuple[()]:
    """Write what is waiting and forget the file."""
    file = _file(call, writer)
    resource_of(writer, _Writer).file = None
    with _writing(call, file.path):
        file.flush()
    return ()


def _add(call: Call, writer: Array, event: Event) -> tuple[()]:
    file = _file(call, writer)
    with _writing(call, file.path):
        file.add(event)
    return ()


def _begin(call: Call, writer: Array, step: Array) -> Event:
    """An event of now at a step; the writer is looked up first, as its lack is told first."""
    _file(call, writer)
    return Event(wall_time=time.time(), step=scalar_int(call, step, "the step"))


def _tag(call: Call, tag: Array) -> bytes:
    call.require(tag.size == 1, "the tag must be a scalar", found=list(tag.shape), needed="rank 0")
    return bytes(tag.reshape(-1)[0])


@kernel("WriteScalarSummary")
def write_scalar_summary(
    call: Call, writer: Array, step: Array, tag: Array, value: Array
) -> tuple[()]:
    """The first number of ``value``, as float32."""
    event = _begin(call, writer, step)
    call.require(value.size, "there must be a value", found=list(value.shape), needed="a scalar")
    _real(call, value)
    add_scalar(call, event.summary, _tag(call, tag), value.reshape(-1)[0])
    return _add(call, writer, event)


def _real(call: Call, value: Array) -> None:
    if value.dtype.kind not in "biuf":
        call.fail(
            "a writer takes common number types",
            found=value.dtype,
            needed="an integer or float16, float32, float64",
            status="UNIMPLEMENTED",
        )


@kernel("WriteHistogramSummary")
def write_histogram_summary(
    call: Call, writer: Array, step: Array, tag: Array, values: Array
) -> tuple[()]:
    """Counts of the values in buckets."""
    event = _begin(call, writer, step)
    if values.size:
        _real(call, values)
    add_histogram(call, event.summary, _tag(call, tag), values)
    return _add(call, writer, event)


@kernel("WriteImageSummary")
def write_image_summary(
    call: Call, writer: Array, step: Array, tag: Array, images: Array, bad_color: Array
) -> tuple[()]:
    """Write images as PNG: ``[n, height, width, 1, 3 or 4]`` of uint8 or floats.

    ``step``: int64; ``bad_color``: uint8, for pixels that are not finite. Raises ``KernelError``.
    """
    event = _begin(call, writer, step)
    call.require(
        bad_color.ndim == 1, "bad_color must be a vector", found=list(bad_color.shape), needed="1"
    )
    limit = call.attrs["max_images"]
    add_images(call, event.summary, _tag(call, tag), images, bad_color, limit)
    return _add(call, writer, event)


@kernel("WriteAudioSummary")
def write_audio_summary(
    call: Call, writer: Array, step: Array, tag: Array, sounds: Array, rate: Array
) -> tuple[()]:
    """Write sounds as WAV: float32 ``[n, frames]`` or ``[n, frames, channels]`` in [-1, 1].

    ``rate``: float32 in hertz. Raises ``KernelError``.
    """
    event = _begin(call, writer, step)
    call.require(rate.size == 1, "sample_rate must be one number", found=list(rate.shape))
    given, limit = float(rate.reshape(-1)[0]), call.attrs["max_outputs"]
    add_audio(call, event.summary, _tag(call, tag), sounds, given, limit)
    return _add(call, writer, event)


@kernel("WriteSummary")
def write_summary(
    call: Call, writer: Array, step: Array, tensor: Array, tag: Array, metadata: Array
) -> tuple[()]:
    """A tensor under a tag, with what a plugin of TensorBoard wants to know."""
    event = _begin(call, writer, step)
    name, about = tag_text(call, _tag(call, tag)), _tag(call, metadata)
    add_tensor(call, event.summary, tensor, about or None).tag = name
    return _add(call, writer, event)


def _parsed(call: Call, kind: type[M], text: bytes) -> M:
    try:
        return kind.FromString(text)
    except DecodeError as error:
        what = kind.DESCRIPTOR.name
        call.fail(
            f"the string must be a serialized {what}",
            found=f"{len(text)} bytes of something else",
            needed=what,
            status="DATA_LOSS",
            inner=error,
        )


@kernel("WriteRawProtoSummary")
def write_raw_proto_summary(call: Call, writer: Array, step: Array, texts: Array) -> tuple[()]:
    """The values of all serialized summaries, in one event."""
    event = _begin(call, writer, step)
    event.summary.SetInParent()
    for text in texts.reshape(-1).tolist():
        event.summary.MergeFrom(_parsed(call, Summary, text))
    return _add(call, writer, event)


@kernel("WriteGraphSummary")
def write_graph_summary(call: Call, writer: Array, step: Array, text: Array) -> tuple[()]:
    """Write an event with a graph: a scalar string that is a serialized GraphDef.

    Raises ``KernelError`` for other bytes.
    """
    event = _begin(call, writer, step)
    data: Any = _tag(call, text)
    _parsed(call, GraphDef, data)
    event.graph_def = data
    return _add(call, writer, event)


@kernel("ImportEvent")
def import_event(call: Call, writer: Array, text: Array) -> tuple[()]:
    """A serialized event, as it is."""
    _file(call, writer)
    return _add(call, writer, _parsed(call, Event, _tag(call, text)))
