"""Shapes of readers."""

from __future__ import annotations

from drystone_base.inference.shapes._registry import UNKNOWN, Shape, ShapeCall, shape


@shape(
    "WholeFileReader", "WholeFileReaderV2", "IdentityReader", "IdentityReaderV2", "TextLineReader",
    "TextLineReaderV2", "TFRecordReader", "TFRecordReaderV2", "FixedLengthRecordReader",
    "FixedLengthRecordReaderV2",
)  # fmt: skip
def reader(_: ShapeCall) -> list[Shape]:
    """A scalar handle."""
    return [()]


def _handles(c: ShapeCall, count: int) -> None:
    """Handles of the second generation are scalars."""
    if c.op.endswith("V2"):
        for k in range(count):
            c.with_rank(c.shape(k), 0)


@shape("ReaderRead", "ReaderReadV2")
def read(c: ShapeCall) -> list[Shape]:
    """Key and value."""
    _handles(c, 2)
    return [(), ()]


@shape("ReaderReadUpTo", "ReaderReadUpToV2")
def read_up_to(c: ShapeCall) -> list[Shape]:
    """Some keys and values."""
    _handles(c, 2)
    c.with_rank(c.shape(2), 0)
    return [(UNKNOWN,), (UNKNOWN,)]


@shape(
    "ReaderNumRecordsProduced", "ReaderNumRecordsProducedV2", "ReaderNumWorkUnitsCompleted",
    "ReaderNumWorkUnitsCompletedV2", "ReaderSerializeState", "ReaderSerializeStateV2",
)  # fmt: skip
def scalar(c: ShapeCall) -> list[Shape]:
    """A scalar."""
    _handles(c, 1)
    return [()]


@shape("ReaderReset", "ReaderResetV2")
def reset(c: ShapeCall) -> list[Shape]:
    """Nothing."""
    _handles(c, 1)
    return []


@shape("ReaderRestoreState", "ReaderRestoreStateV2")
def restore(c: ShapeCall) -> list[Shape]:
    """Nothing, from a scalar."""
    _handles(c, 1)
    c.with_rank(c.shape(1), 0)
    return []


@shape("RecordInput")
def record_input(_: ShapeCall) -> list[Shape]:
    """Unknown."""
    return [None]
