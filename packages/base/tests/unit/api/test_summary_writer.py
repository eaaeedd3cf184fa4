"""Event files and profiles for TensorBoard, read back record by record."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import drystone_base as ds
from drystone_abi.protos import Event, GraphDef, RunMetadata, XSpace
from drystone_base.core import dtypes
from drystone_base.kernels.io._records import read_records

FLOAT32 = dtypes.FLOAT32


def events(folder: Path) -> list[Event]:
    (file,) = (path for path in folder.iterdir() if path.is_file())
    with file.open("rb") as stream:
        return [Event.FromString(record) for record in read_records(stream)]


def small() -> ds.Graph:
    graph = ds.Graph()
    x = graph.add("Placeholder", "x", attrs={"dtype": FLOAT32})
    graph.add("Relu", "y", [x], attrs={"T": FLOAT32})
    return graph


def recorded(graph: ds.Graph, runs: int = 2) -> ds.Record:
    session = ds.Session(graph)
    with session.record() as record:
        for _ in range(runs):
            session.run("y:0", {"x:0": np.ones(3, np.float32)})
    return record


def test_values_are_read_back(tmp_path: Path) -> None:
    with ds.SummaryWriter(tmp_path, suffix=".train") as writer:
        writer.scalar("loss", 0.25, 3)
        writer.scalar("count", np.int64(7), 4)
        writer.histogram("weights", [[1.0, 2.0], [3.0, 4.0]], 3)
        writer.text("note", "*hello*", 5)
    assert writer.path.name.endswith(".train")
    first, loss, number, weights, note = events(tmp_path)
    assert first.file_version == "brain.Event:2"
    assert (loss.step, loss.summary.value[0].tag) == (3, "loss")
    assert loss.summary.value[0].simple_value == 0.25
    assert number.summary.value[0].simple_value == 7.0
    counts = weights.summary.value[0].histo
    assert (counts.num, counts.min, counts.max, counts.sum) == (4.0, 1.0, 4.0, 10.0)
    assert note.summary.value[0].metadata.plugin_data.plugin_name == "text"
    assert list(note.summary.value[0].tensor.string_val) == [b"*hello*"]


@pytest.mark.parametrize(
    ("images", "tags"),
    [
        (np.zeros((2, 5, 4, 3), np.uint8), ["i/image/0", "i/image/1"]),
        (np.linspace(-1, 1, 20).reshape(5, 4, 1), ["i/image/0"]),
        (np.full((1, 5, 4, 4), np.nan, np.float32), ["i/image/0"]),
    ],
)
def test_images_are_png_files(tmp_path: Path, images: Any, tags: list[str]) -> None:
    with ds.SummaryWriter(tmp_path) as writer:
        writer.image("i", images, 0)
    values = events(tmp_path)[-1].summary.value
    assert [value.tag for value in values] == tags
    for value in values:
        assert (value.image.width, value.image.height) == (4, 5)
        assert value.image.encoded_image_string.startswith(b"\x89PNG")


def test_graphs_and_runs(tmp_path: Path) -> None:
    graph = small()
    with ds.SummaryWriter(tmp_path) as writer:
        writer.graph(graph)
        writer.run_metadata("step 0", recorded(graph), 0)
    _, drawn, ran = events(tmp_path)
    assert {node.name for node in GraphDef.FromString(drawn.graph_def).node} == {"x", "y"}
    assert ran.tagged_run_metadata.tag == "step 0"
    metadata = RunMetadata.FromString(ran.tagged_run_metadata.run_metadata)
    assert "y" in {stats.node_name for stats in metadata.step_stats.dev_stats[0].node_stats}


def test_a_profile_has_a_line_for_each_thread(tmp_path: Path) -> None:
    path = recorded(small(), runs=3).write_profile(tmp_path)
    assert path.parent.parent == tmp_path / "plugins" / "profile"
    (plane,) = XSpace.FromString(path.read_bytes()).planes
    assert plane.name == "/host:CPU"
    lines = {line.name: line for line in plane.lines}
    assert len(lines["runs"].events) == 3
    names = [
        plane.event_metadata[event.metadata_id].name
        for name, line in lines.items()
        if name != "runs"
        for event in line.events
    ]
    assert names.count("y:Relu") == 3
    kernels = [
        stat.str_value
        for line in plane.lines
        for event in line.events
        for stat in event.stats
        if plane.stat_metadata[stat.metadata_id].name == "kernel"
    ]
    assert len(kernels) == len(names)
    assert all(kernels)


def test_events_are_there_when_they_are_due(tmp_path: Path) -> None:
    writer = ds.SummaryWriter(tmp_path, max_queue=3, flush_seconds=3600)
    for step in range(3):
        writer.scalar("x", step, step)
    assert len(events(tmp_path)) == 1
    writer.scalar("x", 3, 3)
    assert len(events(tmp_path)) == 5
    writer.scalar("x", 4, 4)
    writer.flush()
    assert len(events(tmp_path)) == 6


def test_threads_share_a_writer(tmp_path: Path) -> None:
    with ds.SummaryWriter(tmp_path, max_queue=2) as writer:

        def write(first: int) -> None:
            for step in range(first, first + 50):
                writer.scalar("x", step, step)

        threads = [threading.Thread(target=write, args=(k * 50,)) for k in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
    assert sorted(event.step for event in events(tmp_path)[1:]) == list(range(200))


def test_writers_of_one_folder_have_files_of_their_own(tmp_path: Path) -> None:
    writers = [ds.SummaryWriter(tmp_path / "a" / "b") for _ in range(3)]
    assert len({writer.path for writer in writers}) == 3
    assert all(writer.path.is_file() for writer in writers)


BAD: dict[str, tuple[Any, str]] = {
    "two numbers": (lambda w: w.scalar("t", [1, 2], 0), "a scalar must be one number"),
    "no number": (lambda w: w.scalar("t", [], 0), r"shape \[0\]"),
    "text as a number": (lambda w: w.scalar("t", "1", 0), "a summary takes real numbers"),
    "complex": (lambda w: w.histogram("t", [1j], 0), "dtype complex128"),
    "objects": (lambda w: w.histogram("t", [None], 0), "dtype object"),
    "NaN": (lambda w: w.histogram("t", [1, np.nan], 0), "takes finite values"),
    "two channels": (lambda w: w.image("t", np.zeros((1, 4, 4, 2)), 0), r"1 \| 3 \| 4"),
    "no pixels": (lambda w: w.image("t", np.zeros((1, 0, 4, 3)), 0), "must have this shape"),
    "no images": (lambda w: w.image("t", np.zeros((4, 4, 3)), 0, max_images=0), "max_images=0"),
    "a past step": (lambda w: w.scalar("t", 1, -1), "a step must be 0 or more"),
    "a far step": (lambda w: w.text("t", "x", 1 << 70), "64 bits"),
    "a surrogate": (lambda w: w.scalar("\udc80", 1, 0), "must be UTF-8"),
    "a surrogate text": (lambda w: w.text("t", "\udc80", 0), "must be UTF-8"),
    "a surrogate tag": (lambda w: w.text("\udc80", "t", 0), "must be UTF-8"),
}


@pytest.mark.parametrize("what", BAD)
def test_what_no_reader_would_take_is_refused(tmp_path: Path, what: str) -> None:
    write, told = BAD[what]
    writer = ds.SummaryWriter(tmp_path)
    with pytest.raises(ds.BadRequest, match=told) as error:
        write(writer)
    assert error.value.code == "bad-summary"
    writer.close()
    assert len(events(tmp_path)) == 1


def test_a_closed_writer_takes_nothing(tmp_path: Path) -> None:
    writer = ds.SummaryWriter(tmp_path)
    writer.close()
    writer.close()
    with pytest.raises(ds.BadRequest, match="make another writer") as error:
        writer.scalar("x", 1, 0)
    assert error.value.code == "writer-closed"


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ds.BadRequest) as error:
        ds.SummaryWriter(tmp_path / "file" / "logs")
    assert error.value.code == "cannot-write"
    with pytest.raises(ds.BadRequest, match="bad-argument"):
        ds.SummaryWriter(tmp_path).scalar(3, 1, 0)  # type: ignore[arg-type]
