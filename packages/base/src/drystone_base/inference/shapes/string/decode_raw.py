"""Shapes of ops that read bytes as numbers."""

from __future__ import annotations

from drystone_base.inference.shapes._registry import UNKNOWN, Shape, ShapeCall, shape


@shape("DecodeRaw")
def decode_raw(c: ShapeCall) -> list[Shape]:
    """The input's shape and an unknown number of numbers."""
    given = c.shape(0)
    return [None if given is None else (*given, UNKNOWN)]


@shape("DecodePaddedRaw")
def decode_padded_raw(c: ShapeCall) -> list[Shape]:
    """The input's shape and as many numbers as the fixed length holds."""
    given, length = c.shape(0), c.int_value(1)
    count = UNKNOWN if length is None else length // c.attrs["out_type"].np.itemsize
    return [None if given is None else (*given, count)]


@shape("DecodeCompressed")
def decode_compressed(c: ShapeCall) -> list[Shape]:
    """The input's shape; inference must not unpack what may be huge."""
    c.output_values = [None]
    return [c.shape(0)]
