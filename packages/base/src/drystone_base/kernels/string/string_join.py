"""Joining strings: of several tensors, along axes, by segment."""

from __future__ import annotations

import itertools

import numpy as np

from drystone_base.core.tensor import string_array
from drystone_base.kernels._indices import only_scalar_int
from drystone_base.kernels._limits import check_size
from drystone_base.kernels._pieces import PIECE
from drystone_base.kernels._registry import Array, Call, kernel
from drystone_base.kernels._strings import attr_bytes, join_all


@kernel("StringJoin")
def string_join(call: Call, *values: Array) -> Array:
    """The strings at each position joined by ``separator``; scalars stand at every position."""
    shapes = {v.shape for v in values if v.ndim}
    call.require(
        len(shapes) <= 1,
        "inputs that are not scalars must have one shape",
        found=", ".join(str(list(s)) for s in sorted(shapes)),
        needed="equal shapes",
    )
    shape = shapes.pop() if shapes else ()
    columns = [np.broadcast_to(v, shape).ravel() for v in values]
    separator = attr_bytes(call, "separator")
    size = int(np.prod(shape))
    out = np.full(size, b"", object)
    for k in range(0, size if columns else 0, PIECE):
        rows = zip(*(column[k : k + PIECE].tolist() for column in columns), strict=True)
        out[k : k + PIECE] = [separator.join(row) for row in rows]
    return out.reshape(shape)


@kernel("ReduceJoin")
def reduce_join(call: Call, values: Array, reduction_indices: Array) -> Array:
    """Strings joined along axes, the first of ``reduction_indices`` varying fastest."""
    axes = []
    for axis in reduction_indices.ravel().tolist():
        call.require(
            -values.ndim <= axis < values.ndim,
            "an axis must be one of the input's",
            found=axis,
            needed=f"from {-values.ndim} to {values.ndim - 1}",
            status="OUT_OF_RANGE",
        )
        axes.append(axis % values.ndim)
    call.require(
        len(set(axes)) == len(axes), "axes must differ", found=axes, needed="each axis once"
    )
    if not axes:
        return values
    kept = [k for k in range(values.ndim) if k not in axes]
    count = int(np.prod([values.shape[k] for k in axes]))
    rows = values.transpose(kept + axes[::-1]).reshape(-1, count) if values.size else None
    shape = tuple(values.shape[k] for k in kept)
    separator = attr_bytes(call, "separator")
    if rows is None:
        joined = [b""] * int(np.prod(shape))
    else:
        joined = [join_all(separator, row) for row in rows]
    if call.attrs["keep_dims"]:
        shape = tuple(1 if k in axes else d for k, d in enumerate(values.shape))
    return string_array(joined, shape)


@kernel("UnsortedSegmentJoin")
def unsorted_segment_join(
    call: Call, values: Array, segment_ids: Array, num_segments: Array
) -> Array:
    """The strings of each segment joined in the order in which they come."""
    lead = segment_ids.ndim
    call.require(
        lead <= values.ndim,
        "segment ids must not have more dimensions than the input",
        found=f"ids {list(segment_ids.shape)}, input {list(values.shape)}",
        needed=f"at most {values.ndim}",
        status="OUT_OF_RANGE",
    )
    call.require(
        lead > 0 and values.shape[:lead] == segment_ids.shape,
        "segment ids must have a prefix of the input's shape",
        found=f"ids {list(segment_ids.shape)}, input {list(values.shape)}",
        needed="a prefix",
    )
    count = only_scalar_int(call, num_segments, "num_segments")
    call.require(count >= 0, "there must be no negative number of segments", found=count)
    rest = values.shape[lead:]
    check_size(call, (count, *rest), np.dtype(object))
    width = int(np.prod(rest))
    cells: list[list[bytes]] = [[] for _ in range(count * width)]
    for row, segment in zip(
        values.reshape(segment_ids.size, width).tolist(), segment_ids.ravel(), strict=True
    ):
        call.require(
            0 <= segment < count, "ids must name a segment", found=segment, needed=f"below {count}"
        )
        for column, text in enumerate(row):
            cells[int(segment) * width + column].append(text)
    separator = attr_bytes(call, "separator")
    # A segment begins with its first string that is not empty, without separators before it.
    texts = [separator.join(itertools.dropwhile(lambda text: not text, c)) for c in cells]
    return string_array(texts, (count, *rest))
