"""Shapes of the ops that move blocks between space, depth and batch."""

from __future__ import annotations

import math
from typing import Any, TypeAlias

import numpy as np

from drystone_base.inference.shapes._registry import UNKNOWN, Shape, ShapeCall, shape

__all__: list[str] = []

Vector: TypeAlias = np.ndarray[Any, Any] | None


def _times(dim: int, factor: int) -> int:
    return dim * factor if dim >= 0 else dim if factor == 1 else UNKNOWN


def _divided(c: ShapeCall, dim: int, factor: int) -> int:
    if dim >= 0 and dim % factor:
        c.fail("a dimension must be a multiple of the block", found=dim, needed=factor)
    return dim // factor if dim >= 0 else dim if factor == 1 else UNKNOWN


def _blocks(c: ShapeCall, block: Vector, borders: Vector) -> Shape:
    dims = c.shape(0)
    if dims is None:
        return None
    if block is None:
        return (UNKNOWN,) * len(dims)
    sizes = [int(b) for b in block.reshape(-1)]
    if len(dims) <= len(sizes) or any(b < 1 for b in sizes):
        c.fail("block_shape must fit the dimensions after the batch", found=sizes, needed=dims)
    cells, count = math.prod(sizes), len(sizes)
    if borders is not None and borders.shape != (count, 2):
        c.fail("borders must hold two numbers for each", found=borders.shape, needed=[count, 2])
    spatial = dims[1 : 1 + count]
    edges = [UNKNOWN] * count if borders is None else [int(e) for e in borders.sum(axis=1)]
    if c.op.startswith("SpaceToBatch"):
        batch = _times(dims[0], cells)
        out = [
            _divided(c, d + e if d >= 0 else d if not e else UNKNOWN, b) if e >= 0 else UNKNOWN
            for d, e, b in zip(spatial, edges, sizes, strict=True)
        ]
    else:
        batch = _divided(c, dims[0], cells)
        out = [_cropped(c, _times(d, b), e) for d, e, b in zip(spatial, edges, sizes, strict=True)]
    return (batch, *out, *dims[1 + count :])


def _cropped(c: ShapeCall, dim: int, crop: int) -> int:
    if dim < 0 or crop <= 0:
        return dim if crop == 0 else UNKNOWN
    if crop > dim:
        c.fail("crops must not exceed the dimension", found=crop, needed=f"at most {dim}")
    return dim - crop


@shape("SpaceToBatchND", "BatchToSpaceND")
def blocks_nd(c: ShapeCall) -> list[Shape]:
    """Batch and space multiplied and divided by the block."""
    return [_blocks(c, c.value(1), c.value(2))]


@shape("SpaceToBatch", "BatchToSpace")
def blocks(c: ShapeCall) -> list[Shape]:
    """Batch and space multiplied and divided by the block size."""
    c.with_rank(c.shape(0), 4)
    return [_blocks(c, np.full(2, c.attrs["block_size"]), c.value(1))]


@shape("SpaceToDepth", "DepthToSpace")
def depth(c: ShapeCall) -> list[Shape]:
    """Space and depth divided and multiplied by the block size."""
    dims, size = c.with_rank(c.shape(0), 4), c.attrs["block_size"]
    last = c.attrs["data_format"] == "NHWC"
    n, h, w, channels = dims if last else (dims[0], dims[2], dims[3], dims[1])
    if c.op == "SpaceToDepth":
        h, w, channels = _divided(c, h, size), _divided(c, w, size), _times(channels, size * size)
    else:
        h, w, channels = _times(h, size), _times(w, size), _divided(c, channels, size * size)
    return [(n, h, w, channels) if last else (n, channels, h, w)]
