"""Ops that move elements without computing any."""

from __future__ import annotations

import math
from typing import Final

from drystone_base.inference.batch_rules._registry import (
    SHARED,
    SIZES,
    BatchRuleCall,
    Rows,
    axis_of,
    common,
    number,
    rows,
)

__all__: list[str] = []

_ALL: Final = 2**31 - 1


@rows("Reshape")
def reshape(c: BatchRuleCall) -> Rows | None:
    """As many as the elements of an example fill, where the new first dimension is left open."""
    given, made = c.shapes[0], c.outputs[0]
    if c.rows[0] <= 0 or not given or not made:
        return None
    if c.rows[1] == SHARED:
        target = c.value(1)
        if target is None or target.reshape(-1)[0] != -1:
            return None
    elif c.rows[1] != SIZES:
        return None
    elements, row = c.rows[0] * math.prod(given[1:]), math.prod(made[1:])
    return elements // row if row > 0 and elements > 0 and elements % row == 0 else None


@rows("ExpandDims")
def expand_dims(c: BatchRuleCall) -> Rows | None:
    """Those of the input, where the new dimension is not the first."""
    return c.rows[0] if c.only(0) and axis_of(c, 1, c.rank() + 1) else None


@rows("Squeeze")
def squeeze(c: BatchRuleCall) -> Rows | None:
    """Those of the input, where it is said which dimensions go, and the first stays."""
    gone = [int(d) % c.rank() for d in c.attrs["squeeze_dims"]]
    return c.rows[0] if gone and 0 not in gone else None


@rows("Transpose")
def transpose(c: BatchRuleCall) -> Rows | None:
    """Those of the input, where the first dimension stays the first."""
    order = c.value(1)
    return c.rows[0] if c.only(0) and order is not None and order.reshape(-1)[0] == 0 else None


@rows("ConcatV2")
def concat(c: BatchRuleCall) -> Rows | None:
    """Those that all parts have, which are joined along another dimension."""
    return common(c.rows[:-1]) if axis_of(c, len(c.rows) - 1, c.rank()) else None


@rows("Pack")
def pack(c: BatchRuleCall) -> Rows | None:
    """Those that all parts have; the new dimension is not the first."""
    return common(c.rows) if c.attrs["axis"] % (c.rank() + 1) else None


@rows("Unpack")
def unpack(c: BatchRuleCall) -> Rows | None:
    """Those of the input, which is cut along another dimension."""
    return c.rows[0] if c.attrs["axis"] % c.rank() else None


@rows("Split")
def split(c: BatchRuleCall) -> Rows | None:
    """Likewise; the axis is the first input."""
    return c.rows[1] if c.only(1) and axis_of(c, 0, c.rank(1)) else None


@rows("SplitV")
def split_v(c: BatchRuleCall) -> Rows | None:
    """Likewise; the axis is the last input."""
    return c.rows[0] if c.only(0) and axis_of(c, 2, c.rank()) else None


@rows("MirrorPad", "Pad", "PadV2")
def pad(c: BatchRuleCall) -> Rows | None:
    """Those of the input, to which no examples are added."""
    paddings = c.value(1)
    return c.rows[0] if c.only(0) and paddings is not None and not paddings[:1].any() else None


@rows("Tile")
def tile(c: BatchRuleCall) -> Rows | None:
    """Those of the input, which is repeated along other dimensions."""
    times = c.value(1)
    return c.rows[0] if c.only(0) and times is not None and times.reshape(-1)[0] == 1 else None


@rows("Slice")
def slice_(c: BatchRuleCall) -> Rows | None:
    """Those of the input, of which all examples are taken."""
    begin, size = c.value(1), c.value(2)
    if not c.only(0) or begin is None or size is None:
        return None
    return c.rows[0] if begin.reshape(-1)[0] == 0 and size.reshape(-1)[0] == -1 else None


@rows("StridedSlice")
def strided_slice(c: BatchRuleCall) -> Rows | None:
    """Likewise; what comes first is all of the first dimension, or dots that stand for it."""
    places = [c.value(k) for k in (1, 2, 3)]
    if not c.only(0) or any(v is None or not v.size for v in places):
        return None
    begin, end, stride = (int(v.reshape(-1)[0]) for v in places if v is not None)
    if _bit(c, "new_axis_mask") or _bit(c, "shrink_axis_mask"):
        return None
    if _bit(c, "ellipsis_mask"):
        count = sum(v.size for v in places if v is not None) // len(places)
        return c.rows[0] if count - 1 < c.rank() else None
    starts = begin == 0 or _bit(c, "begin_mask")
    ends = end >= _ALL or _bit(c, "end_mask")
    return c.rows[0] if starts and ends and stride == 1 else None


def _bit(c: BatchRuleCall, mask: str) -> bool:
    """Whether a mask is set for what comes first."""
    return bool(c.attrs[mask] & 1)


@rows("Gather", "GatherV2")
def gather(c: BatchRuleCall) -> Rows | None:
    """Those of the indices into what is shared, or of what is taken from, along another axis."""
    axis = 0 if c.op == "Gather" else number(c, 2)
    batch_dims = int(c.attrs.get("batch_dims", 0))
    if axis is None or any(r != SHARED for r in c.rows[2:]):
        return None
    if c.rows[0] == SHARED:
        return c.rows[1] if axis == batch_dims == 0 and c.rows[1] > 0 else None
    if axis % c.rank() == 0:
        return None
    if batch_dims == 0:
        return c.rows[0] if c.only(0) else None
    return c.rows[0] if batch_dims > 0 and c.rows[0] == c.rows[1] else None


@rows("OneHot")
def one_hot(c: BatchRuleCall) -> Rows | None:
    """Those of the indices, each spread over a dimension that is not the first."""
    return c.rows[0] if c.only(0) and c.attrs["axis"] % (c.rank() + 1) else None
