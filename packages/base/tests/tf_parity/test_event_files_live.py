"""Event files that our ops write, read by TensorFlow, beside those that its ops write."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from stateful import Bench, f32, i32, i64

from drystone_base.executor.testing import run_op

tf = pytest.importorskip("tensorflow", reason="tensorflow is not installed; run nox -s tf_parity")

RNG = np.random.default_rng(3)
RED = np.array([255, 0, 0, 255], np.uint8)
META = b"\x0a\x06\x0a\x04text\x12\x01n"
PICTURES = RNG.normal(0, 2, (2, 4, 3, 3)).astype(np.float32)
INFINITE = np.where(PICTURES > 1, np.float32(np.inf), PICTURES)
TEXTS = np.array([b"x", b""], object)
GRAPH = tf.Graph().as_graph_def().SerializeToString()
WRITES: list[tuple[str, dict[str, Any]]] = [
    ("WriteScalarSummary", {"tag": "loss", "value": f32(0.1)}),
    ("WriteScalarSummary", {"tag": "count", "value": i64(2**40)}),
    ("WriteHistogramSummary", {"tag": "h", "values": RNG.normal(0, 1, 500).astype(np.float32)}),
    ("WriteHistogramSummary", {"tag": "e", "values": f32([])}),
    ("WriteImageSummary", {"tag": "i", "tensor": PICTURES, "bad_color": RED}),
    ("WriteImageSummary", {"tag": "p", "tensor": abs(PICTURES[..., :1]), "bad_color": RED}),
    ("WriteImageSummary", {"tag": "d", "tensor": PICTURES.astype("f8") ** 5, "bad_color": RED}),
    ("WriteImageSummary", {"tag": "g", "tensor": PICTURES.astype("f2"), "bad_color": RED}),
    ("WriteImageSummary", {"tag": "b", "tensor": INFINITE, "bad_color": RED}),
    ("WriteAudioSummary", {"tag": "a", "tensor": f32([[0, 1, -1]]), "sample_rate": f32(8000)}),
    ("WriteSummary", {"tensor": f32([[1, 2]]), "tag": "t", "summary_metadata": META}),
    ("WriteSummary", {"tensor": TEXTS, "tag": "s", "summary_metadata": b""}),
    ("WriteGraphSummary", {"tensor": np.array(GRAPH, object)}),
]  # fmt: skip


def write_ours(folder: Path) -> None:
    bench = Bench()
    writer = bench("SummaryWriter")
    bench.all("CreateSummaryFileWriter", writer, str(folder), i32(3), i32(10**6), ".v2")
    for step, (op, args) in enumerate(WRITES):
        bench.all(op, writer, i64(step), *args.values())
    bench.all("CloseSummaryWriter", writer)


def write_theirs(folder: Path) -> None:
    writer = tf.raw_ops.SummaryWriter(shared_name=str(folder), container="")
    tf.raw_ops.CreateSummaryFileWriter(
        writer=writer, logdir=str(folder), max_queue=3, flush_millis=10**6, filename_suffix=".v2"
    )
    for step, (op, args) in enumerate(WRITES):
        getattr(tf.raw_ops, op)(writer=writer, step=step, **args)
    tf.raw_ops.CloseSummaryWriter(writer=writer)


def events(folder: Path) -> list[Any]:
    (path,) = folder.iterdir()
    return list(tf.compat.v1.train.summary_iterator(str(path)))


def pixels(value: Any) -> Any:
    """The image of a value, taken out of it."""
    data = value.image.encoded_image_string
    value.image.ClearField("encoded_image_string")
    return tf.io.decode_png(data).numpy()


def test_tensorflow_reads_the_events_that_it_would_have_written(tmp_path: Path) -> None:
    write_ours(tmp_path / "ours")
    write_theirs(tmp_path / "theirs")
    (head, *got), (first, *want) = events(tmp_path / "ours"), events(tmp_path / "theirs")
    assert head.file_version == first.file_version
    assert len(got) == len(want) == len(WRITES)
    for mine, theirs in zip(got, want, strict=True):
        mine.wall_time = theirs.wall_time = 0
        for a, b in zip(mine.summary.value, theirs.summary.value, strict=True):
            if a.HasField("image"):
                np.testing.assert_array_equal(pixels(a), pixels(b), err_msg=a.tag)
        assert mine == theirs


def test_tensorflow_decodes_images_of_summaries() -> None:
    for dtype in (np.uint8, np.float16, np.float32):
        values = (PICTURES * 20).astype(dtype)
        with tf.Graph().as_default(), tf.compat.v1.Session() as session:
            want = session.run(tf.raw_ops.ImageSummary(tag="x", tensor=tf.constant(values)))
        (got,) = run_op("ImageSummary", "x", values)
        mine, theirs = (tf.compat.v1.Summary.FromString(text) for text in (got.item(), want))
        for a, b in zip(mine.value, theirs.value, strict=True):
            np.testing.assert_array_equal(pixels(a), pixels(b))
        assert mine == theirs
