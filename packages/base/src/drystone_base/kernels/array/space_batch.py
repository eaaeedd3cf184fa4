"""Ops that move blocks between space, depth and batch."""

from __future__ import annotations

import math

import numpy as np

from drystone_base.kernels._indices import int_vector
from drystone_base.kernels._limits import check_size
from drystone_base.kernels._registry import Array, Call, kernel

__all__: list[str] = []


def _block(call: Call, x: Array, block_shape: Array) -> tuple[int, ...]:
    block = int_vector(call, block_shape, "block_shape")
    call.require(
        x.ndim > len(block) and all(b >= 1 for b in block),
        "block_shape must hold numbers of 1 or more for dimensions after the batch",
        found=f"{list(block)} for shape {list(x.shape)}",
        needed=f"at most {x.ndim - 1} numbers of 1 or more",
    )
    return block


def _borders(call: Call, given: Array, count: int, what: str) -> list[tuple[int, int]]:
    call.require(
        given.shape == (count, 2) and not (given < 0).any(),
        f"{what} must hold two numbers of 0 or more for each block dimension",
        found=f"shape {list(given.shape)}",
        needed=[count, 2],
    )
    return [(int(a), int(b)) for a, b in given]


def _to_batch(
    call: Call, x: Array, block: tuple[int, ...], borders: list[tuple[int, int]]
) -> Array:
    count = len(block)
    spatial = x.shape[1 : 1 + count]
    padded = [a + d + b for d, (a, b) in zip(spatial, borders, strict=True)]
    call.require(
        all(d % b == 0 for d, b in zip(padded, block, strict=True)),
        "padded dimensions must be multiples of the block",
        found=padded,
        needed=f"multiples of {list(block)}",
    )
    rest = x.shape[1 + count :]
    whole = np.zeros(check_size(call, (x.shape[0], *padded, *rest), x.dtype), x.dtype)
    if x.dtype == object:
        whole[...] = b""
    inside = (slice(a, a + d) for d, (a, _) in zip(spatial, borders, strict=True))
    whole[(slice(None), *inside)] = x
    outer = [d // b for d, b in zip(padded, block, strict=True)]
    split = whole.reshape(
        x.shape[0], *(n for pair in zip(outer, block, strict=True) for n in pair), *rest
    )
    order = [*range(2, 2 + 2 * count, 2), 0, *range(1, 1 + 2 * count, 2)]
    order += range(1 + 2 * count, split.ndim)
    return split.transpose(order).reshape(x.shape[0] * math.prod(block), *outer, *rest)


def _from_batch(
    call: Call, x: Array, block: tuple[int, ...], borders: list[tuple[int, int]]
) -> Array:
    count, cells = len(block), math.prod(block)
    call.require(
        x.shape[0] % cells == 0,
        "the batch must be a multiple of the block's cells",
        found=x.shape[0],
        needed=f"a multiple of {cells}",
    )
    spatial, rest = x.shape[1 : 1 + count], x.shape[1 + count :]
    whole = [d * b for d, b in zip(spatial, block, strict=True)]
    call.require(
        all(a + b <= d for d, (a, b) in zip(whole, borders, strict=True)),
        "crops must not exceed the dimensions",
        found=borders,
        needed=f"sums of at most {whole}",
    )
    split = x.reshape(*block, x.shape[0] // cells, *spatial, *rest)
    order = [count]
    for k in range(count):
        order += [count + 1 + k, k]
    order += range(2 * count + 1, split.ndim)
    merged = split.transpose(order).reshape(x.shape[0] // cells, *whole, *rest)
    inside = (slice(a, d - b) for d, (a, b) in zip(whole, borders, strict=True))
    cut: Array = merged[(slice(None), *inside)]
    return cut


@kernel("SpaceToBatchND")
def space_to_batch_nd(call: Call, x: Array, block_shape: Array, paddings: Array) -> Array:
    """The cells of each block of the padded space as batch entries."""
    block = _block(call, x, block_shape)
    return _to_batch(call, x, block, _borders(call, paddings, len(block), "paddings"))


@kernel("BatchToSpaceND")
def batch_to_space_nd(call: Call, x: Array, block_shape: Array, crops: Array) -> Array:
    """Batch entries as cells of blocks in space, then cropped."""
    block = _block(call, x, block_shape)
    return _from_batch(call, x, block, _borders(call, crops, len(block), "crops"))


def _square(call: Call, x: Array) -> tuple[int, int]:
    call.require(x.ndim == 4, "the input must have rank 4", found=list(x.shape), needed="rank 4")
    size = call.attrs["block_size"]
    call.require(size >= 2, "block_size must be 2 or more", found=size, needed="2 or more")
    return size, size


@kernel("SpaceToBatch")
def space_to_batch(call: Call, x: Array, paddings: Array) -> Array:
    """``SpaceToBatchND`` of height and width with one block size."""
    return _to_batch(call, x, _square(call, x), _borders(call, paddings, 2, "paddings"))


@kernel("BatchToSpace")
def batch_to_space(call: Call, x: Array, crops: Array) -> Array:
    """``BatchToSpaceND`` of height and width with one block size."""
    return _from_batch(call, x, _square(call, x), _borders(call, crops, 2, "crops"))


def _channels_last(call: Call, x: Array) -> Array:
    layout = call.attrs["data_format"]
    call.require(
        layout in ("NHWC", "NCHW"),
        "data_format must be one that this op is defined for",
        found=layout,
        needed="NHWC or NCHW",
    )
    return x if layout == "NHWC" else x.transpose(0, 2, 3, 1)


def _as_given(call: Call, x: Array) -> Array:
    return x if call.attrs["data_format"] == "NHWC" else x.transpose(0, 3, 1, 2)


@kernel("SpaceToDepth")
def space_to_depth(call: Call, x: Array) -> Array:
    """The cells of each block of height and width as channels."""
    size, _ = _square(call, x)
    n, h, w, c = (last := _channels_last(call, x)).shape
    call.require(
        h % size == 0 and w % size == 0,
        "height and width must be multiples of block_size",
        found=[h, w],
        needed=f"multiples of {size}",
    )
    split = last.reshape(n, h // size, size, w // size, size, c).transpose(0, 1, 3, 2, 4, 5)
    return _as_given(call, split.reshape(n, h // size, w // size, size * size * c))


@kernel("DepthToSpace")
def depth_to_space(call: Call, x: Array) -> Array:
    """Channels as the cells of blocks of height and width."""
    size, _ = _square(call, x)
    n, h, w, c = (last := _channels_last(call, x)).shape
    call.require(
        c % (size * size) == 0,
        "the depth must be a multiple of block_size squared",
        found=c,
        needed=f"a multiple of {size * size}",
    )
    depth = c // (size * size)
    split = last.reshape(n, h, w, size, size, depth).transpose(0, 1, 3, 2, 4, 5)
    return _as_given(call, split.reshape(n, h * size, w * size, depth))
