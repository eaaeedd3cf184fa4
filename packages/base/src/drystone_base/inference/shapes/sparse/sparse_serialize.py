"""Shapes of sparse tensors packed into strings or variants."""

from __future__ import annotations

from drystone_base.inference.shapes._registry import UNKNOWN, Shape, ShapeCall, shape


@shape("SerializeSparse", "SerializeManySparse")
def serialize(c: ShapeCall) -> list[Shape]:
    """Three parts, of each row for many."""
    for k, rank in enumerate((2, 1, 1)):
        c.with_rank(c.shape(k), rank)
    return [(3,)] if c.op == "SerializeSparse" else [(UNKNOWN, 3)]


@shape("DeserializeSparse", "DeserializeManySparse")
def deserialize(c: ShapeCall) -> list[Shape]:
    """Indices, values and dense shape of unknown sizes."""
    given = c.with_rank_at_least(c.shape(0), 1)
    if c.op == "DeserializeManySparse":
        given = c.with_rank(given, 2)
    if given is not None:
        c.merge_dim(given[-1], 3)
    return [(UNKNOWN, UNKNOWN), (UNKNOWN,), (UNKNOWN,)]
