"""Writing what TensorBoard shows: numbers, histograms, images, text, graphs and runs by step."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Callable, Mapping, Sequence
from itertools import count
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, NoReturn, Self

import numpy as np

from drystone_abi.protos import Event, Summary, SummaryMetadata
from drystone_base.core.arguments import checked
from drystone_base.core.dtypes import as_dtype
from drystone_base.core.errors import BadRequest, DrystoneError
from drystone_base.core.tensor import string_array, to_proto
from drystone_base.files.uris import as_path
from drystone_base.files.writing import writing
from drystone_base.kernels.evaluate import evaluate
from drystone_base.kernels.io._event_file import EventFile
from drystone_base.ops.attrs import TensorAttr

if TYPE_CHECKING:
    from drystone_base.executor.record import Record
    from drystone_base.graph import Graph

__all__ = ["SummaryWriter"]

_files: Final = count()
_BAD_COLOR: Final = TensorAttr(array=np.array([255, 0, 0, 255], np.uint8))
"""Of pixels that are not finite, as TensorFlow's ``ImageSummary`` has it."""
_PLUGIN: Final = SummaryMetadata.PluginData(plugin_name="text")
_MOST: Final = (1 << 63) - 1


class SummaryWriter:
    """An event file that TensorBoard reads while it is written.

    ``folder`` is made if it does not exist; each writer has a file of its own in it, whose name
    ends in ``suffix``. Events wait until there are ``max_queue`` of them or ``flush_seconds`` have
    passed, and are written at the latest by :meth:`close`, which the end of a ``with`` block calls.
    Threads may share a writer. ::

        with ds.SummaryWriter("logs") as writer:
            for step in range(100):
                writer.scalar("loss", model.run("loss:0", feeds), step)

    Each method takes the ``tag`` under which values are shown and the ``step`` that they belong
    to, 0 or more. Raises ``BadRequest`` (``cannot-write``, ``bad-summary``, ``writer-closed``,
    ``bad-argument``). Source: TensorFlow's ``event.proto`` and ``summary.proto``.
    """

    @checked
    def __init__(
        self,
        folder: str | os.PathLike[str],
        *,
        suffix: str = "",
        max_queue: int = 10,
        flush_seconds: float = 120.0,
    ) -> None:
        moment = int(time.time())
        name = f"events.out.tfevents.{moment:010d}.{platform.node()}.{os.getpid()}.{next(_files)}"
        self.path: Path = as_path(folder) / (name + suffix)
        with writing(self.path):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            file = EventFile(self.path, max_queue, flush_seconds, moment)
        self._file: EventFile | None = file

    def __repr__(self) -> str:
        return f"<SummaryWriter: {self.path}{'' if self._file else ', closed'}>"

    @checked
    def scalar(self, tag: str, value: Any, step: int) -> None:
        """One number, kept as float32."""
        number = _numbers(tag, value)
        if number.size != 1:
            _refuse(tag, "a scalar must be one number", f"shape {list(number.shape)}", "one number")
        self._compute("ScalarSummary", tag, step, [_text(tag).reshape(1), number.reshape(1)])

    @checked
    def histogram(self, tag: str, values: Any, step: int) -> None:
        """How many of the values, of any shape, lie in each of the buckets, which grow by a tenth.

        NaN and infinities are refused (``bad-summary``).
        """
        numbers = _numbers(tag, values)
        if not np.isfinite(numbers.astype(np.float64)).all():
            _refuse(tag, "a histogram takes finite values", "NaN or infinity", "finite values")
        self._compute("HistogramSummary", tag, step, [_text(tag), numbers])

    @checked
    def image(self, tag: str, images: Any, step: int, *, max_images: int = 3) -> None:
        """Images ``[batch, height, width, channels]``, or one without the batch, as PNG files.

        One, three or four channels. uint8 is kept as it is; floats are scaled to 0 ... 255 by the
        largest of each image, around 128 where there are negative ones; pixels that are not finite
        are red.
        """
        given = _numbers(tag, images)
        given = given[np.newaxis] if given.ndim == 3 else given
        if given.dtype != np.uint8:
            given = given.astype(np.float32)
        if given.ndim != 4 or given.shape[3] not in (1, 3, 4) or not given[:1].size:
            needed = "[batch, height, width, 1 | 3 | 4], or without the batch"
            _refuse(tag, "images must have this shape", f"shape {list(np.shape(images))}", needed)
        if max_images < 1:
            _refuse(tag, "max_images must be positive", f"max_images={max_images}", "1 or more")
        attrs = {"max_images": max_images, "bad_color": _BAD_COLOR}
        self._compute("ImageSummary", tag, step, [_text(tag), given], attrs)

    @checked
    def text(self, tag: str, text: str, step: int) -> None:
        """Text, which TensorBoard shows as Markdown."""
        summary = Summary()
        _text(tag)
        value = summary.value.add(tag=tag, tensor=to_proto(_text(text)))
        value.metadata.plugin_data.CopyFrom(_PLUGIN)
        self._add(step, lambda event: event.summary.CopyFrom(summary))

    @checked
    def graph(self, graph: Graph, step: int = 0) -> None:
        """A graph, for the page Graphs: one for each file."""
        data = graph.to_bytes()
        self._add(step, lambda event: setattr(event, "graph_def", data))

    @checked
    def run_metadata(self, tag: str, record: Record, step: int) -> None:
        """What each node of recorded runs took, to be shown on the graph under ``tag``.

        ``record`` comes from :meth:`Session.record`.
        """
        from drystone_base.executor.record_events import run_metadata

        _text(tag)
        data = run_metadata(record.nodes).SerializeToString()

        def fill(event: Event) -> None:
            event.tagged_run_metadata.tag = tag
            event.tagged_run_metadata.run_metadata = data

        self._add(step, fill)

    def flush(self) -> None:
        """Write what waits. Raises ``BadRequest`` (``cannot-write``, ``writer-closed``)."""
        with writing(self.path):
            self._open().flush()

    def close(self) -> None:
        """Write what waits; nothing can be added afterwards. To close it again does nothing."""
        if self._file is not None:
            self.flush()
            self._file = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def _compute(
        self, op: str, tag: str, step: int, inputs: Sequence[Any], attrs: Mapping[str, Any] = {}
    ) -> None:
        """Add the summary that an op's kernel makes."""
        (made,) = evaluate(tag, op, attrs, inputs, {}, 1)
        summary = Summary.FromString(made.item())
        self._add(step, lambda event: event.summary.CopyFrom(summary))

    def _add(self, step: int, fill: Callable[[Event], object]) -> None:
        if not 0 <= step <= _MOST:
            _refuse("step", "a step must be 0 or more", str(step), "an int of 64 bits, 0 or more")
        event = Event(wall_time=time.time(), step=step)
        fill(event)
        file = self._open()
        with writing(self.path):
            file.add(event)

    def _open(self) -> EventFile:
        if self._file is not None:
            return self._file
        raise BadRequest(
            f"{self.path} takes no more events",
            check="a SummaryWriter must be open",
            found="one that was closed",
            needed="one that is open",
            remedy="add events before close(), or inside the with block; or make another writer",
            code="writer-closed",
        )


def _text(text: str) -> Any:
    try:
        return string_array([text.encode()], ())
    except UnicodeEncodeError:
        _refuse("text", "tags and texts must be UTF-8", ascii(text[:40]), "text without surrogates")


def _numbers(tag: str, value: Any) -> Any:
    """Values as an array of real numbers; floats that NumPy has not as float32."""
    found = np.asarray(value)
    if found.dtype.kind in "biuf":
        return found
    try:
        is_float = as_dtype(found.dtype).is_floating
    except DrystoneError:
        is_float = False
    if not is_float:
        needed = "ints, floats or bools"
        _refuse(tag, "a summary takes real numbers", f"dtype {found.dtype}", needed)
    return found.astype(np.float32)


def _refuse(what: str, check: str, found: str, needed: str) -> NoReturn:
    raise BadRequest(
        f"{what!r} cannot be written to an event file",
        check=check,
        found=found,
        needed=needed,
        remedy="give the method what it needs; help(ds.SummaryWriter) says what each takes",
        code="bad-summary",
    )
