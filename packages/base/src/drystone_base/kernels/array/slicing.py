"""Ops that cut a region out of a tensor, or write one."""

from __future__ import annotations

from typing import Any

import numpy as np

from drystone_base.kernels._indices import at, int_vector
from drystone_base.kernels._limits import check_size
from drystone_base.kernels._registry import Array, Call, kernel
from drystone_base.ops.strided import entries, interval
from drystone_base.state.variables import Variable, resource_of

__all__: list[str] = []


@kernel("Slice")
def slice_(call: Call, x: Array, begin: Array, size: Array) -> Array:
    """The region of ``size`` at ``begin``; a size of -1 reaches to the end."""
    starts, counts = int_vector(call, begin, "begin"), int_vector(call, size, "size")
    call.require(
        len(starts) == len(counts) == x.ndim,
        "begin and size must hold one number for each dimension",
        found=f"{len(starts)} and {len(counts)}",
        needed=x.ndim,
    )
    index = []
    for k, (b, n, d) in enumerate(zip(starts, counts, x.shape, strict=True)):
        taken = d - b if n == -1 else n
        call.require(
            0 <= b <= d and 0 <= taken <= d - b,
            f"a slice must lie inside dimension {k}",
            found=f"begin {b}, size {n}",
            needed=f"begin in [0, {d}], size in [0, {d - b}] or -1",
        )
        index.append(slice(b, b + taken))
    return at(x, *index)


def _as_slice(taken: range) -> slice:
    """The Python slice of a range of positions (a stop of -1 would count from the end)."""
    if not taken:
        return slice(0, 0)
    return slice(taken.start, None if taken.stop < 0 else taken.stop, taken.step)


def _index(
    call: Call, shape: tuple[int, ...], begin: Array, end: Array, strides: Array
) -> tuple[Any, ...]:
    """The NumPy index of a strided slice."""
    lows, highs, steps = (
        int_vector(call, v, name)
        for v, name in ((begin, "begin"), (end, "end"), (strides, "strides"))
    )
    call.require(
        len(lows) == len(highs) == len(steps),
        "begin, end and strides must be of one length",
        found=f"{len(lows)}, {len(highs)} and {len(steps)}",
        needed="equal lengths",
    )
    walk = entries(len(shape), len(lows), call.attrs, call.fail)
    index: list[Any] = []
    for e in walk:
        if e.kind == "new":
            index.append(None)
            continue
        spec = (0, 0, 1) if e.at is None else (lows[e.at], highs[e.at], steps[e.at])
        taken = interval(e, shape[e.dim], *spec, call.fail)
        index.append(taken.start if e.kind == "index" else _as_slice(taken))
    return tuple(index)


@kernel("StridedSlice")
def strided_slice(call: Call, x: Array, begin: Array, end: Array, strides: Array) -> Array:
    """``x[begin:end:strides]`` with the five masks; a view."""
    return at(x, *_index(call, x.shape, begin, end, strides))


@kernel("StridedSliceGrad")
def strided_slice_grad(
    call: Call, shape: Array, begin: Array, end: Array, strides: Array, dy: Array
) -> Array:
    """Zeros of ``shape`` with ``dy`` written where ``StridedSlice`` would read."""
    dims = check_size(call, int_vector(call, shape, "shape"), dy.dtype)
    return _written(call, np.zeros(dims, dy.dtype), begin, end, strides, dy, exact=True)


def _written(
    call: Call, out: Array, begin: Array, end: Array, strides: Array, value: Array, *, exact: bool
) -> Array:
    """``out`` (owned by the caller) with ``value`` written into the region."""
    index = _index(call, out.shape, begin, end, strides)
    region = at(out, *index)
    fits = value.shape == region.shape
    if not exact and not fits:
        try:
            fits = np.broadcast_shapes(value.shape, region.shape) == region.shape
        except ValueError:
            fits = False
    call.require(
        fits,
        "the value must have the shape of the region",
        found=list(value.shape),
        needed=list(region.shape),
    )
    region[...] = value
    return out


@kernel("TensorStridedSliceUpdate")
def tensor_strided_slice_update(
    call: Call, x: Array, begin: Array, end: Array, strides: Array, value: Array
) -> Array:
    """A copy of ``x`` with ``value`` (broadcast) in the region."""
    return _written(call, x.copy(), begin, end, strides, value, exact=False)


@kernel("StridedSliceAssign")
def strided_slice_assign(
    call: Call, ref: Variable, begin: Array, end: Array, strides: Array, value: Array
) -> Variable:
    """Write ``value`` (broadcast) into a region of a reference variable."""
    with ref.lock:
        ref.write(_written(call, ref.read().copy(), begin, end, strides, value, exact=False))
    return ref


@kernel("ResourceStridedSliceAssign")
def resource_strided_slice_assign(
    call: Call, handle: Array, begin: Array, end: Array, strides: Array, value: Array
) -> tuple[()]:
    """Write ``value`` (broadcast) into a region of a resource variable."""
    strided_slice_assign(call, resource_of(handle, Variable), begin, end, strides, value)
    return ()
