"""Pooling over windows of varying sizes, and its gradients.

Source: TensorFlow ops FractionalMaxPool, FractionalAvgPool, and their gradients; B. Graham,
"Fractional max-pooling" (2014). Equal seeds give TensorFlow's windows; only a
``deterministic`` node may have seeds, and then has the same windows in every run.
"""

from __future__ import annotations

import math

import numpy as np

from drystone_base.kernels._limits import check_size
from drystone_base.kernels._registry import Array, Call, kernel
from drystone_base.kernels._widen import quiet
from drystone_base.kernels.random import _distributions as draw
from drystone_base.kernels.random._philox import Stream, doubles
from drystone_base.kernels.random.random import reserve

__all__: list[str] = []


def _pseudo_random(size: int, out: int, stream: Stream) -> Array:
    """Where windows begin, by one random number."""
    alpha, least = size / out, size // out
    bound = min((least + 2) / alpha - 1, (size + 1 - least) / alpha - (out - 1))
    share = float(doubles(stream.blocks(1)[0, :2])) * bound
    inner = np.ceil(alpha * (np.arange(1, out) + share)).astype(np.int64)
    return np.concatenate([[0], inner - 1, [size]])


def _shuffled(size: int, out: int, stream: Stream) -> Array:
    """Where windows begin: the longer ones among the others at random."""
    sizes = np.full(out, size // out)
    sizes[: size % out] += 1
    return np.concatenate([[0], np.cumsum(sizes[draw.permutation(stream, out)])])


def _sequence(call: Call, size: int, out: int, stream: Stream) -> tuple[Array, Stream]:
    """Where the windows along one axis begin and the last one ends, and the rest of the stream."""
    if call.attrs["pseudo_random"]:
        return _pseudo_random(size, out, stream), stream.skip(1)
    return _shuffled(size, out, stream), stream.skip(-(-out // 4))


def _targets(call: Call, x: Array) -> list[int]:
    """The output's dimensions."""
    ratios = call.attrs["pooling_ratio"]
    call.require(
        len(ratios) == 4 and min(ratios) >= 1,
        "pooling_ratio must be four numbers of 1 or more",
        found=list(ratios),
    )
    call.require(
        ratios[0] == 1 and ratios[3] == 1,
        "pooling over batch or channels is not available",
        found=list(ratios),
        needed="1 as first and last ratio",
        status="UNIMPLEMENTED",
    )
    call.require(x.ndim == 4, "value must have rank 4", found=list(x.shape), needed="[N, H, W, C]")
    out = [math.floor(np.float32(d) / np.float32(r)) for d, r in zip(x.shape, ratios, strict=True)]
    call.require(
        min(out) > 0,
        "the output must not be empty",
        found=out,
        needed="pooling_ratio at most as large as each dimension",
    )
    return out


def _ends(call: Call, cuts: Array, size: int) -> tuple[Array, Array]:
    """First element and the one behind the last of each window along one axis."""
    more = 1 if call.attrs["overlapping"] else 0
    return cuts[:-1], np.minimum(cuts[1:], size - more) + more


def _members(call: Call, cuts: Array, size: int) -> Array:
    """Elements of each window ``[windows, longest]``, -1 behind its end."""
    first, after = _ends(call, cuts, size)
    reach = first[:, None] + np.arange(max(int((after - first).max(initial=1)), 1))
    return np.where(reach < after[:, None], reach, -1)


@kernel("FractionalMaxPool", "FractionalAvgPool")
@quiet
def fractional_pool(call: Call, x: Array) -> tuple[Array, Array, Array]:
    """The largest or mean value of each window, and where windows begin by row and column."""
    out = _targets(call, x)
    fixed, seeds = call.attrs["deterministic"], (call.attrs["seed"], call.attrs["seed2"])
    call.require(
        fixed or not any(seeds),
        "seeds must be 0 unless deterministic",
        found=list(seeds),
        needed="[0, 0]",
    )
    stream = reserve(call, 0)
    rows, rest = _sequence(call, x.shape[1], out[1], stream)
    columns, rest = _sequence(call, x.shape[2], out[2], rest)
    if not fixed:
        call.runtime.seeds[call.node] = rest
    y, x_at = _members(call, rows, x.shape[1]), _members(call, columns, x.shape[2])
    cells = x[:, y[:, :, None, None], x_at[None, None]]  # [N, h, taps, w, taps, C]
    there = (y >= 0)[:, :, None, None, None] & (x_at >= 0)[None, None, :, :, None]
    if call.op == "FractionalMaxPool":
        least = np.iinfo(x.dtype).min if x.dtype.kind == "i" else np.finfo(x.dtype).min
        pooled = np.where(there, cells, least).max((2, 4), initial=least)
    else:
        count = there.sum((1, 3)).astype(x.dtype)
        total = np.where(there, cells, 0).sum((2, 4), dtype=x.dtype)
        pooled = _truncated(total, count) if x.dtype.kind == "i" else total / count
    return np.asarray(pooled), rows, columns


def _truncated(total: Array, count: Array) -> Array:
    """Quotients of integers, rounded towards zero."""
    down = total // count
    return np.asarray(down + ((down < 0) & (down * count != total)))


def _check_cuts(call: Call, cuts: Array, out: int, size: int, name: str) -> None:
    call.require(
        cuts.shape == (out + 1,),
        f"{name} must have an entry for each window, and one more",
        found=list(cuts.shape),
        needed=[out + 1],
    )
    call.require(
        cuts.min() >= 0 and (np.diff(cuts) > 0).all() and cuts[:-1].max(initial=0) < size,
        f"{name} must rise within the input",
        found=cuts.tolist(),
        needed=f"0 ... {size}",
    )


def _largest(cells: Array) -> tuple[Array, Array]:
    """Places and values of the largest of ``[N, cells, C]``, each ``[N, C]``."""
    known = cells
    if cells.dtype.kind == "f":
        known = np.where(np.isnan(cells), -np.inf, cells)
        known[:, 0] = np.where(np.isnan(cells[:, 0]), np.inf, cells[:, 0])
    place = known.argmax(1)
    return place, np.take_along_axis(cells, place[:, None], 1)[:, 0]


@kernel("FractionalMaxPoolGrad")
@quiet
def fractional_max_pool_grad(
    call: Call, x: Array, pooled: Array, grad: Array, rows: Array, columns: Array
) -> Array:
    """Each gradient to the first largest element of its window.

    NaN is the largest if it comes first, and is passed over elsewhere.
    """
    call.require(
        x.ndim == 4 and pooled.ndim == 4 and pooled.shape == grad.shape and x.size > 0,
        "orig_input must have rank 4, and orig_output and out_backprop be alike",
        found=f"{list(x.shape)}, {list(pooled.shape)} and {list(grad.shape)}",
    )
    call.require(
        x.shape[::3] == pooled.shape[::3],
        "batch and channels of input and output must agree",
        found=f"{list(x.shape)} and {list(pooled.shape)}",
    )
    _check_cuts(call, rows, pooled.shape[1], x.shape[1], "row_pooling_sequence")
    _check_cuts(call, columns, pooled.shape[2], x.shape[2], "col_pooling_sequence")
    out = np.zeros_like(x)
    n, c = np.arange(x.shape[0])[:, None], np.arange(x.shape[3])
    for i, (top, bottom) in enumerate(zip(*_ends(call, rows, x.shape[1]), strict=True)):
        for j, (left, right) in enumerate(zip(*_ends(call, columns, x.shape[2]), strict=True)):
            cell = x[:, top:bottom, left:right]
            flat, largest = _largest(cell.reshape(len(x), -1, x.shape[3]))
            call.require(
                np.array_equal(largest, pooled[:, i, j]),
                "orig_output must be what orig_input pools to",
                found=f"orig_output[:, {i}, {j}] = {pooled[:, i, j].tolist()}",
                needed=largest.tolist(),
            )
            width = right - left
            np.add.at(out, (n, top + flat // width, left + flat % width, c), grad[:, i, j])
    return out


@kernel("FractionalAvgPoolGrad")
@quiet
def fractional_avg_pool_grad(
    call: Call, shape: Array, grad: Array, rows: Array, columns: Array
) -> Array:
    """Each gradient in equal parts to the elements of its window."""
    call.require(shape.shape == (4,), "the shape must be four numbers", found=list(shape.shape))
    dims = check_size(call, shape.tolist(), np.dtype(np.float64))
    call.require(
        grad.ndim == 4 and grad.size > 0 and grad.shape[0] <= dims[0] and grad.shape[3] == dims[3],
        "the shape must have the channels of out_backprop (not empty), and at least its batch",
        found=f"{list(dims)} and {list(grad.shape)}",
    )
    _check_cuts(call, rows, grad.shape[1], dims[1], "row_pooling_sequence")
    _check_cuts(call, columns, grad.shape[2], dims[2], "col_pooling_sequence")
    out = np.zeros(dims)
    across = list(zip(*_ends(call, columns, dims[2]), strict=True))
    for i, (top, bottom) in enumerate(zip(*_ends(call, rows, dims[1]), strict=True)):
        for j, (left, right) in enumerate(across):
            part = grad[:, i, j, None, None].astype(np.float64)
            part = part / ((bottom - top) * (right - left))
            out[: len(grad), top:bottom, left:right] += part
    whole = np.trunc(out) if grad.dtype.kind == "i" else out
    return np.asarray(whole).astype(grad.dtype)
