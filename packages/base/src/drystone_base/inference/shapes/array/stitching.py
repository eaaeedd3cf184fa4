"""Shapes of the ops that deal rows out and put them together again."""

from __future__ import annotations

from drystone_base.inference.shapes._registry import UNKNOWN, Shape, ShapeCall, shape

__all__: list[str] = []


def _rows(c: ShapeCall, data: Shape, indices: Shape) -> Shape:
    """The shape of one row: what data has beyond the indices' dimensions."""
    if data is None or indices is None:
        return None
    if len(data) < len(indices):
        c.fail("data must not have a lower rank than its indices", found=data, needed=indices)
    c.merge(data[: len(indices)], indices)
    return data[len(indices) :]


@shape("DynamicPartition")
def dynamic_partition(c: ShapeCall) -> list[Shape]:
    """Unknown numbers of rows."""
    rows = _rows(c, c.shape(0), c.shape(1))
    one: Shape = None if rows is None else (UNKNOWN, *rows)
    return [one] * c.output_count


@shape("DynamicStitch", "ParallelDynamicStitch")
def dynamic_stitch(c: ShapeCall) -> list[Shape]:
    """Rows up to the highest index, where all indices are known."""
    at, of = c.input_slices["indices"], c.input_slices["data"]
    merged: Shape = None
    for k, j in zip(range(at.start, at.stop), range(of.start, of.stop), strict=True):
        merged = c.merge(merged, _rows(c, c.shape(j), c.shape(k)))
    if merged is None:
        return [None]
    values = [c.value(k) for k in range(at.start, at.stop)]
    known = [v for v in values if v is not None]
    whole = len(known) == len(values)
    size = 1 + max((int(v.max()) for v in known if v.size), default=-1) if whole else UNKNOWN
    return [(size, *merged)]
