"""Shapes of summaries: a serialized proto, or nothing where one is written."""

from __future__ import annotations

from drystone_base.inference.shapes._registry import Shape, ShapeCall, shape

__all__: list[str] = []


@shape(
    "ScalarSummary", "HistogramSummary", "ImageSummary", "AudioSummary", "AudioSummaryV2",
    "TensorSummary", "TensorSummaryV2", "MergeSummary", "SummaryWriter",
)  # fmt: skip
def scalar(_: ShapeCall) -> list[Shape]:
    """A scalar."""
    return [()]


@shape(
    "CreateSummaryFileWriter", "CreateSummaryDbWriter", "FlushSummaryWriter", "CloseSummaryWriter",
    "WriteSummary", "WriteScalarSummary", "WriteHistogramSummary", "WriteImageSummary",
    "WriteAudioSummary", "WriteRawProtoSummary", "WriteGraphSummary", "ImportEvent",
)  # fmt: skip
def nothing(_: ShapeCall) -> list[Shape]:
    """No outputs."""
    return []
