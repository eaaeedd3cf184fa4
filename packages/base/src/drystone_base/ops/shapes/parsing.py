"""Shapes of parsing ops."""

from __future__ import annotations

from collections.abc import Sequence

from drystone_base.ops.shapes._registry import UNKNOWN, Shape, ShapeCall, shape


@shape("ParseTensor")
def parse_tensor(_: ShapeCall) -> list[Shape]:
    """Unknown: the bytes say it."""
    return [None]


@shape("SerializeTensor")
def serialize_tensor(_: ShapeCall) -> list[Shape]:
    """A scalar."""
    return [()]


@shape("DecodeJSONExample")
def decode_json_example(c: ShapeCall) -> list[Shape]:
    """The input's shape."""
    return [c.shape(0)]


@shape("DecodeCSV")
def decode_csv(c: ShapeCall) -> list[Shape]:
    """Every column has the records' shape."""
    return [c.shape(0)] * c.output_count


def _sparse(count: int, rank: int) -> list[Shape]:
    triple: list[Shape] = [(UNKNOWN, rank), (UNKNOWN,), (rank,)]
    return [part for part in triple for _ in range(count)]


def _dense(shapes: Sequence[Shape], lead: tuple[int, ...]) -> list[Shape]:
    return [None if s is None else lead + s for s in shapes]


@shape("ParseExample")
def parse_example(c: ShapeCall) -> list[Shape]:
    """Sparse triples, then one row of each dense shape for each example."""
    lead = c.with_rank(c.shape(0), 1)
    return _sparse(len(c.attrs["sparse_types"]), 2) + _dense(c.attrs["dense_shapes"], lead)


@shape("ParseExampleV2")
def parse_example_v2(c: ShapeCall) -> list[Shape]:
    """As ParseExample for one example or many; then ragged values and splits."""
    lead, count = c.shape(0), len(c.attrs["sparse_types"])
    ragged = len(c.attrs["ragged_value_types"])
    if lead is None:
        return [None] * c.output_count
    rows = (lead[0] + 1 if lead[0] >= 0 else UNKNOWN) if lead else 0
    return [
        *_sparse(count, len(lead) + 1),
        *_dense(c.attrs["dense_shapes"], lead),
        *[(UNKNOWN,)] * ragged,
        *[(rows,)] * ragged,
    ]


@shape("ParseSingleExample")
def parse_single_example(c: ShapeCall) -> list[Shape]:
    """Sparse triples, then each dense shape."""
    return _sparse(len(c.attrs["sparse_types"]), 1) + _dense(c.attrs["dense_shapes"], ())
