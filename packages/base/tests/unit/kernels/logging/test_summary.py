"""Summaries and event files: pixels, records, queues, who may write where."""

from __future__ import annotations

import gc
import struct
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from stateful import Bench, f32, i32, i64, shapes

from drystone_abi.protos import Event, GraphDef, NodeDef, Summary
from drystone_base.core.errors import KernelError
from drystone_base.core.tensor import string_array
from drystone_base.files.access import Access
from drystone_base.kernels.io._records import read_records
from drystone_base.ops.attrs import TensorAttr
from drystone_base.state.runtime import Runtime

RED = np.array([255, 0, 0, 255], np.uint8)


def decoded(data: bytes) -> np.ndarray[Any, Any]:
    """The pixels of a PNG file whose rows are stored as differences."""
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    chunks, at = {}, 8
    while at < len(data):
        size, name = struct.unpack(">I4s", data[at : at + 8])
        body = data[at + 8 : at + 8 + size]
        (crc,) = struct.unpack(">I", data[at + 8 + size : at + 12 + size])
        assert crc == zlib.crc32(name + body)
        chunks[name] = body
        at += 12 + size
    width, height, *kind = struct.unpack(">IIBBBBB", chunks[b"IHDR"])
    rows = np.frombuffer(zlib.decompress(chunks[b"IDAT"]), np.uint8).reshape(height, -1)
    assert (rows[:, 0] == 2).all()
    whole = np.cumsum(rows[:, 1:], axis=0, dtype=np.uint8)
    assert [kind[0], *kind[2:]] == [8, 0, 0, 0]
    return whole.reshape(height, width, {0: 1, 2: 3, 6: 4}[kind[1]])


def images(values: Any, **attrs: Any) -> list[Any]:
    attrs.setdefault("bad_color", TensorAttr(array=RED))
    text = Bench()("ImageSummary", "tag", values, **attrs).item()
    return list(Summary.FromString(text).value)


def pixels(values: Any, **attrs: Any) -> Any:
    return decoded(images(values, **attrs)[0].image.encoded_image_string).tolist()


def test_images_are_scaled_to_bytes() -> None:
    ramp = f32([[[[0], [0.5], [2]]]])
    assert pixels(ramp) == [[[0], [63], [255]]]
    assert pixels(ramp - 1) == [[[1], [64], [255]]]
    assert pixels(ramp * 0) == pixels(ramp * f32(1e-7)) == [[[0], [0], [0]]]
    assert pixels(np.uint8([[[[7], [9]]]])) == [[[7], [9]]]
    assert pixels(np.float16([[[[1], [3]]]])) == [[[85], [255]]]
    rgb = np.ones((1, 1, 2, 3), np.float64)
    rgb[0, 0, 1, 2] = np.nan
    assert pixels(rgb) == [[[255, 255, 255], [255, 0, 0]]]
    assert pixels(rgb[:, :, 1:]) == [[[255, 0, 0]]]


def test_images_have_numbered_tags_and_sizes() -> None:
    values = images(np.zeros((4, 2, 5, 3), np.float32))
    assert [v.tag for v in values] == ["tag/image/0", "tag/image/1", "tag/image/2"]
    image = values[0].image
    assert (image.height, image.width, image.colorspace) == (2, 5, 3)
    assert [v.tag for v in images(np.zeros((4, 2, 5, 3), np.uint8), max_images=1)] == ["tag/image"]


@pytest.mark.parametrize(
    ("values", "attrs", "status", "text"),
    [
        (np.zeros((1, 2, 2, 2), np.float32), {}, "INVALID_ARGUMENT", "one, three or four"),
        (np.zeros((2, 2, 1), np.float32), {}, "INVALID_ARGUMENT", "one, three or four"),
        (np.zeros((1, 0, 2, 1), np.float32), {}, "INVALID_ARGUMENT", "must have pixels"),
        (
            np.zeros((1, 1, 2, 3), np.float32),
            {"bad_color": TensorAttr(array=RED[:2])},
            "INVALID_ARGUMENT",
            "bad_color must cover",
        ),
        (
            np.zeros((1, 1, 2, 3), np.float32),
            {"bad_color": TensorAttr(array=RED.reshape(2, 2))},
            "INVALID_ARGUMENT",
            "bad_color must be a vector",
        ),
    ],
)
def test_images_that_cannot_be_are_refused(
    values: Any, attrs: dict[str, Any], status: str, text: str
) -> None:
    given = {"bad_color": TensorAttr(array=RED)} | attrs
    Bench().fails(status, text, "ImageSummary", "tag", values, **given)


def test_tags_must_be_text() -> None:
    tag = string_array([b"\xff"], ())
    Bench().fails("INVALID_ARGUMENT", "must be UTF-8", "HistogramSummary", tag, f32([1]))


def test_first_audio_op_takes_the_rate_as_attribute() -> None:
    sound = f32([[0, 0.5]])
    first = Bench()("AudioSummary", "t", sound, sample_rate=8000.0).item()
    assert first == Bench()("AudioSummaryV2", "t", sound, f32(8000)).item()
    assert Summary.FromString(first).value[0].audio.sample_rate == 8000


def test_tensors_carry_the_name_of_the_node() -> None:
    (value,) = Summary.FromString(Bench()("TensorSummary", f32([1])).item()).value
    assert (value.node_name, value.tensor.tensor_content) == ("node", f32([1]).tobytes())


# ---- event files ---------------------------------------------------------------------------------


class Log(Bench):
    """A writer and what its files hold."""

    def __init__(self, folder: Path, queue: int = 10, suffix: str = ".v2") -> None:
        super().__init__()
        self.folder = folder
        self.writer = self("SummaryWriter", shared_name="w")
        self.settings = (str(folder), i32(queue), i32(10**6), suffix)
        self.all("CreateSummaryFileWriter", self.writer, *self.settings)

    def write(self, op: str, *inputs: Any, **attrs: Any) -> None:
        self.all(op, self.writer, *inputs, **attrs)

    def events(self) -> list[Event]:
        (path,) = self.folder.iterdir()
        with path.open("rb") as file:
            return [Event.FromString(record) for record in read_records(file)]


def test_every_kind_of_event_is_written(tmp_path: Path) -> None:
    log = Log(tmp_path / "new" / "run")
    step = i64(7)
    log.write("WriteScalarSummary", step, "loss", f32(0.5))
    log.write("WriteHistogramSummary", step, "h", f32([1, 2, 2]))
    log.write("WriteImageSummary", step, "i", np.ones((1, 2, 2, 1), np.uint8), RED)
    log.write("WriteAudioSummary", step, "a", f32([[0, 1]]), f32(8000), max_outputs=1)
    log.write("WriteSummary", step, ["x", "y"], "t", b"\x12\x01n")
    log.write("WriteSummary", step, f32([3]), "u", "")
    raw = Summary(value=[Summary.Value(tag="r", simple_value=1)]).SerializeToString()
    log.write("WriteRawProtoSummary", step, string_array([raw, raw], (2,)))
    graph = GraphDef(node=[NodeDef(name="n", op="NoOp")])
    log.write("WriteGraphSummary", step, string_array([graph.SerializeToString()], ()))
    log.write("ImportEvent", string_array([Event(wall_time=1, step=99).SerializeToString()], ()))
    assert len(log.events()) == 1  # all still wait
    log.write("FlushSummaryWriter")
    head, *events, imported = log.events()
    assert (head.file_version, head.source_metadata.writer) == ("brain.Event:2", "drystone")
    assert {e.step for e in events} == {7}
    assert (imported.wall_time, imported.step) == (1, 99)
    assert all(abs(e.wall_time - head.wall_time) < 60 for e in events)
    values = [[(v.tag, v.WhichOneof("value")) for v in e.summary.value] for e in events]
    assert values == [
        [("loss", "simple_value")], [("h", "histo")], [("i/image/0", "image")],
        [("a/audio", "audio")], [("t", "tensor")], [("u", "tensor")],
        [("r", "simple_value"), ("r", "simple_value")], [],
    ]  # fmt: skip
    assert events[4].summary.value[0].metadata.display_name == "n"
    assert not events[5].summary.value[0].HasField("metadata")
    assert events[7].graph_def == graph.SerializeToString()


def test_events_wait_until_there_are_enough(tmp_path: Path) -> None:
    log = Log(tmp_path, queue=2)
    counts = []
    for k in range(4):
        log.write("WriteScalarSummary", i64(k), "x", f32(k))
        counts.append(len(log.events()))
    assert counts == [1, 1, 4, 4]
    log.write("CloseSummaryWriter")
    assert [e.step for e in log.events()] == [0, 0, 1, 2, 3]


def test_events_are_written_when_their_time_has_come(tmp_path: Path) -> None:
    bench = Bench()
    writer = bench("SummaryWriter")
    bench.all("CreateSummaryFileWriter", writer, str(tmp_path), i32(99), i32(0), "")
    bench.all("WriteScalarSummary", writer, i64(1), "x", f32(1))
    (path,) = tmp_path.iterdir()
    with path.open("rb") as file:
        assert len(list(read_records(file))) == 2


def test_waiting_events_are_written_when_the_session_ends(tmp_path: Path) -> None:
    log = Log(tmp_path)
    log.write("WriteScalarSummary", i64(1), "x", f32(1))
    assert len(log.events()) == 1
    log.runtime.resources.clear()
    del log.writer
    gc.collect()
    assert len(log.events()) == 2


def test_files_have_names_of_their_own(tmp_path: Path) -> None:
    log = Log(tmp_path / "a", suffix="tail")
    log.all("CreateSummaryFileWriter", log.writer, str(tmp_path / "b"), *log.settings[1:])
    assert not (tmp_path / "b").exists()  # it had a file already
    (path,) = log.folder.iterdir()
    assert path.name.startswith("events.out.tfevents.")
    assert path.name.endswith(".tail")
    log.write("CloseSummaryWriter")
    log.all("CreateSummaryFileWriter", log.writer, *log.settings)
    assert len(list(log.folder.iterdir())) == 2


def test_a_writer_must_have_a_file(tmp_path: Path) -> None:
    bench = Bench()
    writer = bench("SummaryWriter")
    for op in ("FlushSummaryWriter", "CloseSummaryWriter"):
        bench.fails("NOT_FOUND", "must have a file", op, writer)
    bench.fails("NOT_FOUND", "must have a file", "ImportEvent", writer, b"\x01")
    names = ("f.db", "e", "r", "u")
    bench.fails("UNIMPLEMENTED", "written to databases", "CreateSummaryDbWriter", writer, *names)
    (tmp_path / "file").write_text("")
    settings = (i32(1), i32(1), "")
    for name in ("file", "file/below"):
        args = (writer, str(tmp_path / name), *settings)
        bench.fails("FAILED_PRECONDITION", "writable", "CreateSummaryFileWriter", *args)
    log = Log(tmp_path / "log")
    next(log.folder.iterdir()).unlink()
    log.fails("NOT_FOUND", "writable", "FlushSummaryWriter", log.writer)


@pytest.mark.parametrize(
    ("op", "inputs", "status", "text"),
    [
        ("WriteScalarSummary", (i64([1, 2]), "t", f32(1)), "INVALID_ARGUMENT", "scalar"),
        ("WriteScalarSummary", (i64(1), ["t", "u"], f32(1)), "INVALID_ARGUMENT", "tag must be"),
        ("WriteScalarSummary", (i64(1), "t", f32([])), "INVALID_ARGUMENT", "must be a value"),
        ("WriteHistogramSummary", (i64(1), "t", f32([np.inf])), "INVALID_ARGUMENT", "finite"),
        ("WriteImageSummary", (i64(1), "t", f32([1]), RED), "INVALID_ARGUMENT", "channels"),
        ("WriteImageSummary", (i64(1), "t", f32([1]), RED[0]), "INVALID_ARGUMENT", "vector"),
        ("WriteAudioSummary", (i64(1), "t", f32([[1]]), f32(0)), "INVALID_ARGUMENT", "positive"),
        ("WriteAudioSummary", (i64(1), "t", f32([1]), f32(1)), "INVALID_ARGUMENT", "rank 2 or 3"),
        ("WriteRawProtoSummary", (i64(1), [b"\x01"]), "DATA_LOSS", "serialized Summary"),
        ("WriteGraphSummary", (i64(1), b"\x01"), "DATA_LOSS", "serialized GraphDef"),
        ("ImportEvent", (b"\x01",), "DATA_LOSS", "serialized Event"),
    ],
)
def test_what_cannot_be_written_is_refused(
    tmp_path: Path, op: str, inputs: Any, status: str, text: str
) -> None:
    log = Log(tmp_path)
    log.fails(status, text, op, log.writer, *inputs)
    log.write("FlushSummaryWriter")
    assert len(log.events()) == 1


def test_only_an_open_folder_is_written_to(tmp_path: Path) -> None:
    bench = Bench()
    (tmp_path / "logs").mkdir()
    access = Access().with_write(tmp_path / "logs")
    bench.runtime = Runtime(bench.runtime.resources, bench._invoke, access=access)
    writer = bench("SummaryWriter")
    settings = (i32(1), i32(1))
    for folder, suffix in (("other", ".v2"), ("logs/../other", ".v2"), ("logs", "/../../x")):
        args = (writer, str(tmp_path / folder), *settings, suffix)
        with pytest.raises(KernelError, match="may not write") as caught:
            bench.all("CreateSummaryFileWriter", *args)
        assert caught.value.code == "access-denied"
        assert "with_write(" in caught.value.remedy
    assert [p.name for p in tmp_path.iterdir()] == ["logs"]
    bench.all("CreateSummaryFileWriter", writer, str(tmp_path / "logs"), *settings, ".v2")


def test_shapes() -> None:
    assert shapes("ScalarSummary", [None, (3,)])[0] == [()]
    assert shapes("SummaryWriter", [])[0] == [()]
    assert shapes("WriteScalarSummary", [(), (), (), ()])[0] == []
