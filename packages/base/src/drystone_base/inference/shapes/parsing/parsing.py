"""Shapes of parsing ops."""

from __future__ import annotations

from collections.abc import Sequence

from drystone_base.inference.shapes._registry import UNKNOWN, Shape, ShapeCall, shape


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


def _prefixed(shapes: Sequence[Shape], lead: Shape) -> list[Shape]:
    return [None if s is None or lead is None else lead + s for s in shapes]


def _sequence(c: ShapeCall, lead: Shape) -> tuple[list[Shape], list[Shape]]:
    """Context and lists without ragged ones; None where the batch is not known."""
    a = c.attrs
    rank = None if lead is None else len(lead)
    context, lists = len(a["context_sparse_types"]), len(a["feature_list_sparse_types"])

    def sparse(count: int, more: int) -> list[Shape]:
        width = UNKNOWN if rank is None else rank + more
        return _sparse(count, width)

    steps = None if lead is None else (*lead, UNKNOWN)
    return (
        sparse(context, 1) + _prefixed(a["context_dense_shapes"], lead),
        sparse(lists, 2) + _prefixed(a["feature_list_dense_shapes"], steps),
    )


@shape("ParseSequenceExample")
def parse_sequence_example(c: ShapeCall) -> list[Shape]:
    """Sparse triples and dense rows of the context, then of the lists, with lengths."""
    lead = c.with_rank(c.shape(0), 1)
    context, lists = _sequence(c, lead)
    return context + lists + [lead] * len(c.attrs["feature_list_dense_types"])


@shape("ParseSequenceExampleV2")
def parse_sequence_example_v2(c: ShapeCall) -> list[Shape]:
    """As ParseSequenceExample for one example or many; after each part ragged values and splits."""
    lead, a = c.shape(0), c.attrs
    if lead is not None and len(lead) > 1:
        c.fail("examples must be a scalar or a vector", found=list(lead), needed="rank 0 or 1")
    context, lists = _sequence(c, lead)
    ragged, more = len(a["context_ragged_value_types"]), len(a["feature_list_ragged_value_types"])
    rows: Shape
    if lead is None:
        rows = None
    elif lead:
        rows = (lead[0] + 1 if lead[0] >= 0 else UNKNOWN,)
    else:
        rows = ()  # TensorFlow infers a vector, but its kernel gives a scalar
    return [
        *context, *[(UNKNOWN,)] * ragged, *[rows] * ragged,
        *lists, *[lead] * len(a["feature_list_dense_types"]),
        *[(UNKNOWN,)] * more, *[rows] * more, *[(UNKNOWN,)] * more,
    ]  # fmt: skip


@shape("ParseSingleSequenceExample")
def parse_single_sequence_example(c: ShapeCall) -> list[Shape]:
    """Sparse triples and dense tensors of the context, then of the lists."""
    context, lists = _sequence(c, c.with_rank(c.shape(0), 0))
    return context + lists
