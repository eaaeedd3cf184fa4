"""Writers of event files: what they refuse, and when. Their files are compared elsewhere."""

# ruff: noqa: D103 - scenarios are named by what they run

from __future__ import annotations

from typing import Any

import numpy as np
from stateful import f32, i32, i64

from drystone_base.graph import Node
from scenarios import Program, scenario

RED = np.array([255, 0, 0, 255], np.uint8)


def opened(p: Program, name: str = "w") -> Node:
    """A writer with a file."""
    writer = p("SummaryWriter", shared_name=name)
    folder = p.feed("string")
    made = p("CreateSummaryFileWriter", writer, folder, i32(9), i32(10**6), ".v2")
    p.step(made, feeds={folder: "{tmp}/logs"})
    return writer


@scenario()
def without_a_file(p: Program) -> None:
    writer = p("SummaryWriter", shared_name="w")
    p.step(p("WriteScalarSummary", writer, i64(1), "tag", f32(1)))
    for op in ("FlushSummaryWriter", "CloseSummaryWriter"):
        p.step(p(op, writer))


@scenario()
def written_and_closed(p: Program) -> None:
    writer = opened(p)
    write = p("WriteScalarSummary", writer, i64(1), "tag", f32(1))
    p.step(write)
    p.step(p("FlushSummaryWriter", writer))
    p.step(p("CloseSummaryWriter", writer))
    p.step(write)


@scenario()
def refused(p: Program) -> None:
    writer, step = opened(p), i64(3)

    def write(op: str, *more: Any, **attrs: Any) -> None:
        p.step(p(op, writer, *more, **attrs))

    write("WriteHistogramSummary", step, "t", f32([1, np.nan]))
    write("WriteHistogramSummary", step, "t", f32([np.inf]))
    write("WriteHistogramSummary", step, "t", f32([]))
    write("WriteImageSummary", step, "t", np.zeros((1, 2, 2, 2), "f4"), RED)
    write("WriteImageSummary", step, "t", np.zeros((1, 2, 2, 3), "f4"), RED[:2])
    write("WriteImageSummary", step, "t", np.zeros((1, 2, 2, 3), "f4"), RED[0])
    write("WriteImageSummary", step, "t", np.zeros((0, 2, 2, 3), "f4"), RED)
    write("WriteAudioSummary", step, "t", f32([[1]]), f32(0))
    write("WriteRawProtoSummary", step, np.array([b"\1"], object))
    write("WriteRawProtoSummary", step, np.array([b"", b""], object))
    write("WriteGraphSummary", step, np.array(b"\1", object))
    write("ImportEvent", np.array(b"\1", object))
    write("WriteSummary", step, f32([1]), "t", np.array(b"\1", object))
    write("FlushSummaryWriter")


@scenario()
def opened_where_it_cannot_be(p: Program) -> None:
    name = p.feed("string")
    p.step(p("WriteFile", name, "text"), feeds={name: "{tmp}/file"})
    writer = p("SummaryWriter", shared_name="x")
    made = p("CreateSummaryFileWriter", writer, name, i32(9), i32(9), "")
    p.step(made, feeds={name: "{tmp}/file"})
    p.step(made, feeds={name: "{tmp}/file/below"})


@scenario()
def pictures_that_cannot_be(p: Program) -> None:
    tall = np.zeros((1, 0, 2, 1), "f4")
    p.step(p("ImageSummary", "t", tall))
    p.step(p("ImageSummary", "t", tall.astype("u1")))
    p.step(p("ImageSummary", "t", tall[:0]))
    p.step(p("ImageSummary", "t", tall[..., :0]))
    p.step(p("ImageSummary", ["t"], np.zeros((1, 1, 1, 1), "f4")))
    p.step(p("ImageSummary", "t", np.zeros((1, 1, 1, 3), "f4"), bad_color=RED[:2]))
    p.step(p("ImageSummary", "t", np.zeros((0, 1, 1, 3), "f4")))
    p.step(p("TensorSummary", f32([1, 2]), name="named"), p("TensorSummary", ["a"], name="b"))
