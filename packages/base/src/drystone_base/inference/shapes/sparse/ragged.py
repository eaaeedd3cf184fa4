"""Shapes of the ops on ragged tensors."""

from __future__ import annotations

from drystone_base.inference.shapes._registry import UNKNOWN, Shape, ShapeCall, shape

__all__: list[str] = []


@shape("RaggedRange")
def ragged_range(c: ShapeCall) -> list[Shape]:
    """One split more than rows."""
    rows = 1
    for given in c.shapes:
        if given is None:
            rows = UNKNOWN if rows == 1 else rows
        elif given:
            rows = given[0]
            break
    return [(rows + 1 if rows >= 0 else UNKNOWN,), (UNKNOWN,)]


@shape("RaggedGather")
def ragged_gather(c: ShapeCall) -> list[Shape]:
    """Splits of unknown length, and rows like those of the values."""
    values = c.with_rank_at_least(c.shape(len(c.shapes) - 2), 1)
    last: Shape = None if values is None else (UNKNOWN, *values[1:])
    return [*[(UNKNOWN,)] * c.attrs["OUTPUT_RAGGED_RANK"], last]


@shape("RaggedTensorToTensor")
def ragged_to_tensor(c: ShapeCall) -> list[Shape]:
    """What ``shape`` asks for, then the values' inner dimensions."""
    values, kinds = c.with_rank_at_least(c.shape(1), 1), c.attrs["row_partition_types"]
    ragged = len(kinds) + (0 if kinds and kinds[0] == "FIRST_DIM_SIZE" else 1)
    known: Shape = None if values is None else (*(UNKNOWN,) * ragged, *values[1:])
    wanted = c.shape(0)
    return [c.merge(known, c.value_as_shape(0)) if wanted else known]


@shape("RaggedTensorToSparse")
def ragged_to_sparse(c: ShapeCall) -> list[Shape]:
    """Unknown counts; one dimension more than splits, then the values' inner ones."""
    values = c.with_rank_at_least(c.shape(len(c.shapes) - 1), 1)
    rank = UNKNOWN if values is None else len(c.shapes) - 1 + len(values)
    return [(UNKNOWN, rank), (UNKNOWN,), (rank,)]


@shape("RaggedFillEmptyRows")
def ragged_fill_empty_rows(c: ShapeCall) -> list[Shape]:
    """Unknown counts; one flag for each row."""
    rows = c.int_value(2)
    count = c.merge_dim(c.with_rank(c.shape(0), 1)[0], c.with_rank(c.shape(1), 1)[0])
    return [(UNKNOWN,), (UNKNOWN,), (UNKNOWN if rows is None else rows,), (count,)]
