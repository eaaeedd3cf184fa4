"""Shapes of images written to files."""

from __future__ import annotations

from drystone_base.inference.shapes._registry import Shape, ShapeCall, shape

__all__: list[str] = []


@shape("EncodePng")
def encode_png(c: ShapeCall) -> list[Shape]:
    """A file for each image of the batch."""
    given = c.with_rank_at_least(c.shape(0), 3)
    return [None if given is None else given[:-3]]


@shape("EncodeJpeg", "EncodeJpegVariableQuality")
def encode_jpeg(c: ShapeCall) -> list[Shape]:
    """A scalar."""
    c.with_rank(c.shape(0), 3)
    if c.op == "EncodeJpegVariableQuality":
        c.with_rank(c.shape(1), 0)
    return [()]
