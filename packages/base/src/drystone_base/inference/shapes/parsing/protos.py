"""Shapes of fields of messages."""

from __future__ import annotations

from drystone_base.inference.shapes._registry import UNKNOWN, Shape, ShapeCall, shape


@shape("DecodeProtoV2")
def decode_proto(c: ShapeCall) -> list[Shape]:
    """The messages' shape, then as many sizes as fields, or some values."""
    given = c.shape(0)
    if given is None:
        return [None] * c.output_count
    count = len(c.attrs["field_names"])
    return [(*given, count), *[(*given, UNKNOWN)] * len(c.attrs["output_types"])]


@shape("EncodeProto")
def encode_proto(c: ShapeCall) -> list[Shape]:
    """The shape of sizes and values without the last dimension."""
    out: Shape = None
    for k in range(len(c.shapes)):
        given = c.with_rank_at_least(c.shape(k), 2 if k else 1)
        out = out if given is None else c.merge(out, given[:-1])
    return [out]
