"""XLA's ops on tensors as graphs hold them: products, slices, padding, sorting, precision.

Source: TensorFlow ops Xla*; semantics are those of the OpenXLA operations of the same names.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from drystone_base.core.dtypes import BFLOAT16
from drystone_base.kernels._indices import int_vector, scalar_int
from drystone_base.kernels._limits import check_size
from drystone_base.kernels._registry import Array, Call, kernel
from drystone_base.kernels._widen import quiet, widen
from drystone_base.kernels.linalg.einsum import einsum
from drystone_base.kernels.nn._general_conv import make_plan, run_plan
from drystone_base.ops.dimension_numbers import conv_dims, parse_numbers

__all__: list[str] = []


@kernel("XlaOptimizationBarrier")
def barrier(_: Call, *values: Array) -> tuple[Array, ...]:
    """The inputs as they are; a compiler moves nothing across it."""
    return values


@kernel("XlaSharding", "XlaSpmdFullToShardShape", "XlaSpmdShardToFullShape")
def sharding(_: Call, x: Array) -> Array:
    """The input: there is one device, which holds everything."""
    return x


@kernel("XlaReplicaId")
def replica_id(_: Call) -> Array:
    """An int32 scalar, always 0: there is one replica."""
    return np.array(0, np.int32)


@kernel("XlaEinsum")
def xla_einsum(call: Call, a: Array, b: Array) -> Array:
    """Sums of products by index labels; as ``Einsum`` of two operands."""
    out: Array = einsum(call, a, b)
    return out


@kernel("XlaDot", "XlaDotV2")
@quiet
def xla_dot(call: Call, x: Array, y: Array) -> Array:
    """Products summed over the contracting dimensions: ``[*batch, *rest of x, *rest of y]``."""
    found = parse_numbers(call.attrs["dimension_numbers"])
    inner = found.get(1, []), found.get(2, [])
    batch = found.get(3, []), found.get(4, [])
    sides = []
    for k, side in enumerate((x, y)):
        named = [*batch[k], *inner[k]]
        call.require(
            len(set(named)) == len(named) and all(0 <= d < side.ndim for d in named),
            "dimension_numbers must name dimensions of the operand, each once",
            found=f"{named} for {list(side.shape)}",
            needed=f"numbers below {side.ndim}",
        )
        rest = [d for d in range(side.ndim) if d not in named]
        sides.append((batch[k], rest, inner[k]))
    shapes = [[[side.shape[d] for d in part] for part in order]
              for side, order in zip((x, y), sides, strict=True)]  # fmt: skip
    call.require(
        shapes[0][0] == shapes[1][0] and shapes[0][2] == shapes[1][2],
        "batch and contracting dimensions must be equal",
        found=f"{list(x.shape)} and {list(y.shape)} with {batch} and {inner}",
        needed="equal sizes",
    )
    out = call.attrs["preferred_element_type"].np if call.op == "XlaDotV2" else x.dtype
    kind = np.result_type(widen(x), widen(y), out) if out != x.dtype else widen(x).dtype
    first, last = (math.prod(shapes[k][1]) for k in (0, 1))
    lead, deep = shapes[0][0], math.prod(shapes[0][2])
    order = [*sides[0][0], *sides[0][1], *sides[0][2]]
    left = x.astype(kind).transpose(order).reshape(*lead, first, deep)
    order = [*sides[1][0], *sides[1][2], *sides[1][1]]
    right = y.astype(kind).transpose(order).reshape(*lead, deep, last)
    product = np.matmul(left, right).reshape(*lead, *shapes[0][1], *shapes[1][1])
    return np.asarray(product.astype(out, copy=False))


@kernel("XlaConv", "XlaConvV2")
@quiet
def xla_conv(call: Call, x: Array, y: Array, *rest: Array) -> Array:
    """A convolution in any layout, dilated on both sides, in groups.

    Strides and dilations without entries are ones.
    """
    pads, ones = rest[1], (1,) * (x.ndim - 2)
    strides, spread, rates = (
        int_vector(call, rest[k], "a window's size") or ones for k in (0, 2, 3)
    )
    call.require(rest[4].ndim == 0, "groups must be a scalar", found=list(rest[4].shape))
    call.require(
        pads.ndim == 2 and pads.shape[1] == 2, "padding must be pairs", found=list(pads.shape),
        needed="[spatial dimensions, 2]",
    )  # fmt: skip
    groups = (scalar_int(call, rest[4], "groups"), call.attrs.get("batch_group_count", 1))
    plan = make_plan(
        call,
        (x.shape, y.shape),
        conv_dims(call.attrs["dimension_numbers"], x.ndim),
        strides=strides,
        pads=[(int(a), int(b)) for a, b in pads],
        spread=spread,
        rates=rates,
        groups=groups,
    )
    out = call.attrs["preferred_element_type"].np if call.op == "XlaConvV2" else x.dtype
    kind = np.result_type(widen(x), widen(y), out) if out != x.dtype else widen(x).dtype
    first, second = plan.input_first(x).astype(kind), plan.kernel_first(y).astype(kind)
    return np.asarray(plan.output_back(run_plan(call, plan, first, second)).astype(out))


def _clamped(x: Array, start: Array, size: Sequence[int]) -> tuple[slice, ...]:
    """The slice of that size, moved to where it lies inside."""
    rows = zip(start.tolist(), size, x.shape, strict=True)
    places = [(min(max(s, 0), n - k), k) for s, k, n in rows]
    return tuple(slice(s, s + k) for s, k in places)


def _check_slice(call: Call, x: Array, start: Array, size: Sequence[int]) -> None:
    call.require(
        start.shape == (x.ndim,)
        and len(size) == x.ndim
        and all(0 <= k <= n for k, n in zip(size, x.shape, strict=True)),
        "a slice must fit the tensor, with one start for each dimension",
        found=f"{list(size)} from {list(start.shape)} starts",
        needed=f"at most {list(x.shape)}",
    )


@kernel("XlaDynamicSlice")
def dynamic_slice(call: Call, x: Array, start: Array, size: Array) -> Array:
    """The slice of that size from ``start`` on, moved inside where it reaches out."""
    dims = int_vector(call, size, "size_indices")
    _check_slice(call, x, start, dims)
    return x[_clamped(x, start, dims)]


@kernel("XlaDynamicUpdateSlice")
def dynamic_update_slice(call: Call, x: Array, update: Array, start: Array) -> Array:
    """The tensor with ``update`` from ``start`` on, moved inside where it reaches out."""
    _check_slice(call, x, start, update.shape)
    out = x.copy()
    out[_clamped(x, start, update.shape)] = update
    return out


@kernel("XlaPad")
def xla_pad(call: Call, x: Array, fill: Array, *rest: Array) -> Array:
    """Padding before, after (cut away where negative) and between the elements."""
    low, high, between = (int_vector(call, v, "a padding") for v in rest)
    call.require(
        fill.ndim == 0 and len(low) == len(high) == len(between) == x.ndim,
        "there must be one padding for each dimension, and a scalar to fill with",
        found=[len(low), len(high), len(between)],
        needed=x.ndim,
    )
    call.require(
        min(between, default=0) >= 0, "interior padding must not be negative", found=list(between)
    )
    spans = [(n - 1) * (b + 1) + 1 if n else 0 for n, b in zip(x.shape, between, strict=True)]
    shape = check_size(call, [s + a + b for s, a, b in zip(spans, low, high, strict=True)], x.dtype)
    out = np.full(shape, fill, x.dtype)
    into, kept = [], []
    for n, step, first, top in zip(x.shape, between, low, shape, strict=True):
        at = np.arange(n) * (step + 1) + first
        inside = (at >= 0) & (at < top)
        into.append(at[inside])
        kept.append(np.flatnonzero(inside))
    if x.ndim:
        out[np.ix_(*into)] = x[np.ix_(*kept)]
    else:
        out[()] = x
    return out


@kernel("XlaBroadcastHelper")
def broadcast_helper(call: Call, x: Array, y: Array, dims: Array) -> tuple[Array, Array]:
    """Both inputs with one rank: the smaller one gets dimensions of 1 where ``dims`` has gaps."""
    places = int_vector(call, dims, "broadcast_dims")
    if not places or x.ndim == y.ndim:
        call.require(
            not places or x.ndim != y.ndim or places == tuple(range(x.ndim)),
            "inputs of one rank need no broadcast_dims", found=list(places), needed="none",
        )  # fmt: skip
        call.require(
            x.ndim == y.ndim or 0 in (x.ndim, y.ndim), "ranks must be equal without broadcast_dims",
            found=f"{list(x.shape)} and {list(y.shape)}", needed="equal ranks, or a scalar",
        )  # fmt: skip
        return x, y
    small, large = (x, y) if x.ndim < y.ndim else (y, x)
    call.require(
        len(places) == small.ndim
        and list(places) == sorted(set(places))
        and all(0 <= d < large.ndim for d in places),
        "broadcast_dims must rise and name a dimension for each of the smaller input",
        found=list(places),
        needed=f"{small.ndim} numbers below {large.ndim}",
    )
    shape = [1] * large.ndim
    for place, n in zip(places, small.shape, strict=True):
        shape[place] = n
    wide = small.reshape(shape)
    return (wide, y) if small is x else (x, wide)


def _total_order(x: Array) -> Array:
    """Integers in the order of the floats: -NaN, -inf ... -0, 0 ... inf, NaN."""
    if x.dtype.kind not in "fV" and not x.dtype.name.startswith("bfloat"):
        return x
    bits = x.view(f"i{x.dtype.itemsize}")
    return np.where(bits < 0, bits ^ np.iinfo(bits.dtype).max, bits)


@kernel("XlaSort")
def xla_sort(call: Call, x: Array) -> Array:
    """The last dimension in rising order, NaN last."""
    call.require(x.ndim, "the input must have a dimension", found=list(x.shape), needed="rank 1+")
    return np.take_along_axis(x, np.argsort(_total_order(x), -1, kind="stable"), -1)


@kernel("XlaKeyValueSort")
def key_value_sort(call: Call, keys: Array, values: Array) -> tuple[Array, Array]:
    """Keys in rising order along the last dimension, and values in the order of their keys."""
    call.require(
        keys.ndim and keys.shape == values.shape, "keys and values must have one shape",
        found=f"{list(keys.shape)} and {list(values.shape)}", needed="equal shapes, rank 1+",
    )  # fmt: skip
    order = np.argsort(_total_order(keys), -1, kind="stable")
    return np.take_along_axis(keys, order, -1), np.take_along_axis(values, order, -1)


@kernel("XlaReducePrecision")
def reduce_precision(call: Call, x: Array) -> Array:
    """Floats rounded to fewer bits of exponent and mantissa, in their own type."""
    exponent, mantissa = call.attrs["exponent_bits"], call.attrs["mantissa_bits"]
    call.require(
        exponent >= 1 and mantissa >= 0, "there must be an exponent bit or more",
        found=f"{exponent} and {mantissa}", needed="at least 1 and 0",
    )  # fmt: skip
    size = x.dtype.itemsize * 8
    own = {"float16": 10, "bfloat16": 7, "float32": 23, "float64": 52}[x.dtype.name]
    kind = np.dtype(f"u{x.dtype.itemsize}")
    bits = x.view(kind).astype(np.uint64)
    if mantissa < own:
        last = np.uint64(1 << (own - mantissa))
        odd = (bits & last) >> np.uint64(own - mantissa)
        bits = (bits + odd + (last >> np.uint64(1)) - np.uint64(1)) & ~(last - np.uint64(1))
    sign = bits & np.uint64(1 << (size - 1))
    inf = np.uint64(((1 << (size - 1)) - 1) & ~((1 << own) - 1))
    if exponent < size - 1 - own:
        middle = (1 << (size - 2 - own)) - 1
        reach = (1 << (exponent - 1)) - 1
        power = bits & inf
        bits = np.where(power > np.uint64((middle + reach) << own), sign | inf, bits)
        bits = np.where(power <= np.uint64((middle - reach) << own), sign, bits)
    out: Any = bits.astype(kind).view(x.dtype)
    return np.asarray(np.where(np.isnan(x), x, out))


@kernel("XlaDequantize")
def xla_dequantize(call: Call, x: Array) -> Array:
    """Four 8-bit steps of a range out of each uint32, the high byte first, as bfloat16.

    The last dimension is four times as long; ``transpose_output`` turns all dimensions round.
    """
    attrs = call.attrs
    call.require(
        attrs["mode"] == "MIN_COMBINED" and x.ndim > 0,
        "packed tensors of rank 1 or more are dequantized in mode MIN_COMBINED only",
        found=f"{attrs['mode']}, {list(x.shape)}",
        needed="MIN_COMBINED, rank 1 or more",
    )
    low, high = (np.float32(attrs[f"{end}_range"]) for end in ("min", "max"))
    steps = x.astype(">u4").view(np.uint8)
    unit, start = (np.asarray(v).astype(BFLOAT16.np) for v in ((high - low) / np.float32(255), low))
    out = steps.astype(BFLOAT16.np) * unit + start  # each rounded to bfloat16
    return np.asarray(out.T if attrs["transpose_output"] else out)
