"""Quantization: to and from small integers, and its simulation in floating point."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from drystone_base.kernels._registry import Array, Call, kernel
from drystone_base.kernels._widen import quiet, widen

__all__: list[str] = []


def _half_away(x: Array) -> Array:
    """Rounding with halves away from zero."""
    return np.asarray(np.where(x < 0, np.ceil(x - 0.5), np.floor(x + 0.5)))


def _along(call: Call, value: Array, x: Array) -> Array:
    """A range input shaped to broadcast with ``x``: a scalar, or a vector along ``axis``."""
    axis = call.attrs["axis"]
    if axis == -1:
        call.require(
            value.size == 1, "ranges must be scalars without an axis",
            found=list(value.shape), needed="a scalar",
        )  # fmt: skip
        return value.reshape(())
    call.require(
        0 <= axis < x.ndim and value.shape == (x.shape[axis],),
        "axis must be one of the input's, with a range for each of its slices",
        found=f"axis {axis}, ranges {list(value.shape)}, input {list(x.shape)}",
        needed="a vector as long as the dimension",
    )
    return value.reshape(-1, *[1] * (x.ndim - axis - 1))


def _bounds(dtype: np.dtype[Any], narrow: bool = False) -> tuple[int, int]:
    info = np.iinfo(dtype)
    return int(info.min) + int(narrow), int(info.max)


@kernel("QuantizeV2")
@quiet
def quantize(call: Call, x: Array, low: Array, high: Array) -> tuple[Array, Array, Array]:
    """Integers, and the ranges that they stand for (widened to hold 0); TF ``QuantizeV2``."""
    mode, dtype = call.attrs["mode"], call.attrs["T"].np
    even = call.attrs["round_mode"] == "HALF_TO_EVEN"
    call.require(
        not even or mode == "SCALED",
        "round mode HALF_TO_EVEN is for mode SCALED",
        found=mode,
        needed="SCALED",
    )
    low, high = _along(call, low, x), _along(call, high, x)
    call.require(
        np.all(low <= high), "min_range must not be above max_range",
        found=f"{low.tolist()} and {high.tolist()}", needed="min <= max",
    )  # fmt: skip
    low = np.minimum(np.float32(0), low)
    least = np.maximum(1, np.maximum(np.abs(low), np.abs(high)))
    gap = least * np.float32(call.attrs["ensure_minimum_range"])
    # An end that is NaN is passed over.
    high = np.maximum(np.float32(0), np.where(high < low + gap, low + gap, high))
    if mode == "SCALED":
        scale, low, high = _scaled_range(low, high, _bounds(dtype, call.attrs["narrow_range"]))
        steps = np.clip(x, low, high) * scale
        whole = np.rint(steps) if even else _half_away(steps)
    elif mode == "MIN_FIRST":
        whole = _min_first(x, low, high, dtype)
    else:
        first, last = _bounds(dtype)
        scale = np.float32(last - first) / (high - low)
        shift = (last - first + 1) // 2 if first < 0 else 0
        whole = _half_away((np.clip(x, low, high) - low) * scale - np.float32(shift))
    shape = () if call.attrs["axis"] == -1 else (-1,)
    return _to_integer(whole, dtype), low.reshape(shape), high.reshape(shape)


def _to_integer(x: Array, dtype: np.dtype[Any]) -> Array:
    """``x`` cut to the type's range: in float64, where the limits of all types are exact."""
    return np.clip(x.astype(np.float64), *_bounds(dtype)).astype(dtype)


def _scaled_range(low: Array, high: Array, bounds: tuple[int, int]) -> tuple[Array, Array, Array]:
    """Integers per unit, and the range that the integers then reach."""
    largest = np.finfo(np.float32).max
    first, last = np.float32(bounds[0]), np.float32(bounds[1])
    from_low = np.where(first * low > 0, first / low, largest)
    from_high = np.where(last * high > 0, last / high, largest)
    scale = np.minimum(from_low, from_high).astype(np.float32)
    return scale, np.asarray(first / scale), np.asarray(last / scale)


def _min_first(x: Array, low: Array, high: Array, dtype: np.dtype[Any]) -> Array:
    """Steps from the lowest integer up, with 0.0 on a step exactly."""
    steps = float(2 ** (8 * dtype.itemsize))
    spread = (high.astype(np.float64) - low) * (steps / (steps - 1))
    scale = np.where(spread == 0, 0, steps / np.where(spread == 0, 1, spread))
    offset = _half_away(low * scale) - _bounds(dtype)[0]
    return np.asarray(_half_away(x * scale) - offset)


@kernel("Dequantize")
@quiet
def dequantize(call: Call, x: Array, low: Array, high: Array) -> Array:
    """Floats for integers that stand for a range; TF ``Dequantize``."""
    low, high = _along(call, low, x), _along(call, high, x)
    first, last = _bounds(x.dtype)
    wide = x.astype(np.float32)
    match call.attrs["mode"]:
        case "MIN_COMBINED":
            shift = (last - first + 1) // 2 if first < 0 else 0
            scale = (high - low) / np.float32(last - first)
            out = (wide + np.float32(shift)) * scale + low
        case "MIN_FIRST":
            out = _from_min_first(x, low, high)
        case _:
            least = np.float32(first + call.attrs["narrow_range"])
            top = high / np.float32(last)
            bottom = low / least
            # The larger one; NaN as the end of the range, but not as its start, is passed over.
            out = wide * (top if first == 0 else np.where(bottom < top, top, bottom))
    return np.asarray(out).astype(call.attrs["dtype"].np)


def _from_min_first(x: Array, low: Array, high: Array) -> Array:
    steps = float(2 ** (8 * x.dtype.itemsize))
    scale = (high.astype(np.float64) - low) * (steps / (steps - 1)) / steps
    rounded = np.where(scale == 0, low, _half_away(low / np.where(scale == 0, 1, scale)) * scale)
    return np.asarray(rounded + (x.astype(np.float64) - _bounds(x.dtype)[0]) * scale)


@kernel("QuantizeAndDequantizeV2", "QuantizeAndDequantizeV3", "QuantizeAndDequantizeV4")
@quiet
def quantize_and_dequantize(call: Call, x: Array, low: Array, high: Array, *bits: Array) -> Array:
    """``x`` on the grid of ``num_bits`` integers; the range is the input's unless it is given.

    TF ``QuantizeAndDequantizeV2`` to ``V4``; ``V3`` takes ``num_bits`` as an input.
    """
    attrs = call.attrs
    call.require(
        all(b.ndim == 0 for b in bits), "num_bits must be a scalar", found=[b.shape for b in bits]
    )
    call.require(
        attrs["axis"] != -1 or not attrs["range_given"] or low.ndim == high.ndim == 0,
        "without an axis the range must be two scalars",
        found=f"{list(low.shape)} and {list(high.shape)}",
        needed="rank 0",
    )
    width = int(bits[0]) if bits else attrs["num_bits"]
    signed = attrs["signed_input"]
    call.require(
        (2 if signed else 1) <= width < 63 - signed,
        "num_bits is out of range",
        found=width,
        needed=f"{2 if signed else 1} to {62 - signed}",
    )
    wide = widen(x)
    if attrs["range_given"]:
        low, high = _along(call, widen(low), x), _along(call, widen(high), x)
        call.require(
            np.all(low <= high), "input_min must not be above input_max",
            found=f"{low.tolist()} and {high.tolist()}", needed="min <= max",
        )  # fmt: skip
    elif x.size:
        low, high = _range_of(call, wide)
    else:
        return x
    first = -(2 ** (width - 1)) + int(attrs["narrow_range"]) if signed else 0
    last = 2 ** (width - 1) - 1 if signed else 2**width - 1
    scale, unit, low, high = _grid(wide.dtype, (low, high), (first, last))
    steps = (np.clip(wide, low, high) if attrs["range_given"] else wide) * scale
    up = attrs.get("round_mode", "HALF_TO_EVEN") == "HALF_UP"
    whole = np.floor(steps + wide.dtype.type(0.5)) if up else np.rint(steps)
    return np.asarray(whole * unit).astype(x.dtype, copy=False)


@kernel("QuantizeAndDequantize")
def quantize_and_dequantize_v1(call: Call, x: Array) -> Array:
    """The same with the range in attributes; TF ``QuantizeAndDequantize``."""
    attrs = {"axis": -1, "narrow_range": False, **call.attrs}
    inner = Call(call.node, call.op, attrs, call.runtime)
    span = (np.asarray(attrs[name]).astype(x.dtype) for name in ("input_min", "input_max"))
    out: Array = quantize_and_dequantize(inner, x, *span)
    return out


@kernel("QuantizeAndDequantizeV4Grad")
@quiet
def quantize_and_dequantize_grad(
    call: Call, dy: Array, x: Array, low: Array, high: Array
) -> tuple[Array, Array, Array]:
    """The gradient inside the range, zeros for its ends; TF ``QuantizeAndDequantizeV4Grad``."""
    call.require(
        dy.shape == x.shape, "gradients and input must have the same shape",
        found=f"{list(dy.shape)} and {list(x.shape)}", needed="equal shapes",
    )  # fmt: skip
    call.require(
        call.attrs["axis"] != -1 or low.ndim == high.ndim == 0,
        "without an axis the range must be two scalars",
        found=f"{list(low.shape)} and {list(high.shape)}", needed="rank 0",
    )  # fmt: skip
    inside = (x >= _along(call, low, x)) & (x <= _along(call, high, x))
    return np.where(inside, dy, dy.dtype.type(0)), np.zeros_like(low), np.zeros_like(high)


def _range_of(call: Call, x: Array) -> tuple[Array, Array]:
    axis = call.attrs["axis"]
    others: tuple[int, ...] | None = None
    if axis != -1:
        call.require(0 <= axis < x.ndim, "axis must exist", found=axis, needed=f"below {x.ndim}")
        others = tuple(a for a in range(x.ndim) if a != axis)
    keep = axis != -1
    return x.min(others, keepdims=keep), x.max(others, keepdims=keep)


def _grid(
    dtype: np.dtype[Any], span: tuple[Array, Array], bounds: tuple[int, int]
) -> tuple[Array, Array, Array, Array]:
    """Integers per unit, its inverse, and the range that the integers then reach."""
    largest = np.finfo(dtype).max
    first, last = (dtype.type(b) for b in bounds)
    low, high = span
    from_low = np.where(first * low > 0, first / low, largest)
    from_high = np.where(last * high > 0, last / high, largest)
    by_low = from_low < from_high
    scale = np.where(by_low, from_low, from_high)
    unit = np.where(by_low, low / first, high / last)
    return scale, unit, np.where(by_low, low, first * unit), np.where(by_low, last * unit, high)


def _nudged(call: Call, low: Array, high: Array) -> tuple[Array, Array, Array]:
    """The range moved so that 0.0 falls on a step, and the size of a step; float32."""
    bits = call.attrs["num_bits"]
    call.require(2 <= bits <= 16, "num_bits must be 2 to 16", found=bits, needed="2 to 16")
    first = np.float32(int(call.attrs["narrow_range"]))
    last = np.float32(2**bits - 1)
    scale = (high - low) / (last - first)
    zero = first - low / scale
    zero = np.where(zero < first, first, np.where(zero > last, last, _half_away(zero)))
    zero = np.where(np.isnan(zero), np.float32(0), zero)  # an integer in TensorFlow
    return ((first - zero) * scale).astype("f4"), ((last - zero) * scale).astype("f4"), scale


def _fake_range(call: Call, x: Array, given: Sequence[Array]) -> tuple[Array, Array]:
    """The range of a FakeQuant node: attributes, scalars, or vectors over the last dimension."""
    if not given:
        low, high = np.float32(call.attrs["min"]), np.float32(call.attrs["max"])
        call.require(low < high, "min must be below max", found=[low, high], needed="min < max")
        return np.asarray(low), np.asarray(high)
    channels = "PerChannel" in call.op
    needed = x.shape[-1:] if channels else ()
    call.require(
        (not channels or x.ndim >= 1) and all(g.shape == needed for g in given),
        "min and max must fit the input",
        found=f"{[list(g.shape) for g in given]} for {list(x.shape)}",
        needed=list(needed),
    )
    return given[0], given[1]


@kernel("FakeQuantWithMinMaxArgs", "FakeQuantWithMinMaxVars", "FakeQuantWithMinMaxVarsPerChannel")
@quiet
def fake_quant(call: Call, x: Array, *given: Array) -> Array:
    """``x`` rounded to ``num_bits`` steps between min and max; TF ``FakeQuantWithMinMaxVars``.

    As in TensorFlow, a range that is not finite makes NaN, and one the wrong way round a constant.
    """
    low, high = _fake_range(call, x, given)
    least, most, scale = _nudged(call, low, high)
    inverse = np.float32(1) / scale
    zero = np.floor(-least * inverse + np.float32(0.5))
    shifted = np.maximum(np.minimum(x, most), least) - least
    out = np.floor(shifted * inverse - zero + np.float32(0.5)) * scale
    return np.asarray(np.where((low == 0) & (high == 0), np.float32(0), out))


@kernel(
    "FakeQuantWithMinMaxArgsGradient",
    "FakeQuantWithMinMaxVarsGradient",
    "FakeQuantWithMinMaxVarsPerChannelGradient",
)
@quiet
def fake_quant_grad(call: Call, dy: Array, x: Array, *given: Array) -> Any:
    """Gradients for the input and, where they are inputs, for min and max."""
    call.require(
        dy.shape == x.shape, "gradients and inputs must have the same shape",
        found=f"{list(dy.shape)} and {list(x.shape)}", needed="equal shapes",
    )  # fmt: skip
    low, high = _fake_range(call, x, given)
    least, most, _ = _nudged(call, low, high)
    empty = (low == 0) & (high == 0)
    # Gradients that are not finite make NaN where they are multiplied by 0.
    inner = np.where(empty, dy, dy * ((x >= least) & (x <= most)).astype(np.float32))
    if not given:
        return inner
    axes = tuple(range(x.ndim - low.ndim))
    outer = (np.where(empty, np.float32(0), dy * part) for part in (x < least, x > most))
    sums = (part.sum(axes) for part in outer)
    return (inner, *(np.asarray(s, np.float32) for s in sums))
