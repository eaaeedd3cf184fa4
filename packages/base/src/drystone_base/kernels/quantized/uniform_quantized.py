"""Uniform quantization: integers with scales and zero points, of a tensor or along an axis.

TensorFlow ops Uniform*. Products are scaled in fixed point: a multiplier of 31 bits and a shift.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from drystone_base.kernels._registry import Array, Call, kernel
from drystone_base.kernels._widen import quiet
from drystone_base.kernels.nn._general_conv import Plan, dilated_size, make_plan, run_plan
from drystone_base.kernels.quantized._quantized import exact_product, half_away, wrap_int32
from drystone_base.ops.dimension_numbers import conv_dims

__all__: list[str] = []

_LEAST: Final = -(2**31)
_MOST: Final = 2**31 - 1
_TINY: Final = np.finfo(np.float32).smallest_normal
_ANY_SCALES: Final = frozenset({"UniformQuantize", "UniformQuantizedClipByValue"})


def _along(array: Array, axis: int, rank: int) -> Array:
    """A vector shaped to broadcast along an axis; a scalar as it is."""
    return array if not array.ndim else array.reshape(-1, *[1] * (rank - axis - 1))


def _check(
    call: Call, shape: tuple[int, ...], scales: Array, zeros: Array, axis: int, what: str
) -> None:
    """Fail unless scales and zero points fit a tensor's shape and axis, and scales are positive.

    TensorFlow flushes subnormal scales to 0, and does not look at those of ``_ANY_SCALES``.
    """
    call.require(
        -1 <= axis < len(shape),
        f"the {what} quantization axis must be -1 or a dimension",
        found=axis,
        needed=f"-1 to {len(shape) - 1}",
    )
    needed = () if axis == -1 else (shape[axis],)
    call.require(
        scales.shape == zeros.shape == needed,
        f"the {what} scales and zero points must be scalars, or vectors along the axis",
        found=f"{list(scales.shape)} and {list(zeros.shape)}",
        needed=list(needed),
    )
    call.require(
        call.op in _ANY_SCALES or bool((scales >= _TINY).all()),
        f"the {what} scales must be positive",
        found=scales.ravel()[:8].tolist(),
        needed="normal numbers above 0",
    )


def _fixed(factor: Array) -> tuple[Array, Array]:
    """A positive float64 factor as ``multiplier * 2^(shift - 31)``, cut to what int32 holds."""
    share, shift = np.frexp(factor)
    multiplier = half_away(np.asarray(share * 2.0**31)).astype(np.int64)
    full = multiplier == 2**31
    multiplier, shift = np.where(full, multiplier // 2, multiplier), shift + full
    multiplier = np.where(shift < -31, 0, np.where(shift > 30, 2**31 - 1, multiplier))
    return multiplier, np.where(shift < -31, 0, np.minimum(shift, 30))


def _scaled(call: Call, x: Array, factor: Array) -> Array:
    """int32 numbers times a factor, in fixed point, rounded half up, cut to int32; as int64."""
    call.require(
        bool((np.isfinite(factor) & (factor > 0)).all()),
        "the quotient of scales must be positive and finite",
        found=np.ravel(factor)[:8].tolist(),
        needed="a finite number above 0",
    )
    multiplier, shift = _fixed(np.asarray(factor, np.float64))
    total = 31 - shift.astype(np.int64)
    product = x.astype(np.int64) * multiplier + (np.int64(1) << (total - 1))
    return np.asarray(np.clip(product >> total, _LEAST, _MOST))


def _limits(call: Call, prefix: str = "") -> tuple[int, int]:
    attrs = call.attrs
    return attrs[f"{prefix}quantization_min_val"], attrs[f"{prefix}quantization_max_val"]


def _cut(x: Array, limits: tuple[int, int]) -> Array:
    """int32 numbers within limits; the upper one counts first, as TensorFlow cuts."""
    return np.maximum(np.minimum(wrap_int32(x), limits[1]), limits[0])


@kernel("UniformQuantize")
@quiet
def uniform_quantize(call: Call, x: Array, scales: Array, zeros: Array) -> Array:
    """``floor(x / scale + 0.5) + zero_point`` within the limits; TF ``UniformQuantize``."""
    axis = call.attrs["quantization_axis"]
    _check(call, x.shape, scales, zeros, axis, "input")
    inverse = np.float32(1) / _along(scales, axis, x.ndim)
    whole = _to_int32(np.floor(x * inverse + np.float32(0.5)))
    return _cut(whole + _along(zeros, axis, x.ndim), _limits(call)).astype(call.attrs["Tout"].np)


def _to_int32(x: Array) -> Array:
    """Floats as int32, in int64; what does not fit becomes the least, as x86 converts."""
    fits = (x >= _LEAST) & (x < 2.0**31)
    return np.where(fits, x, _LEAST).astype(np.int64)


@kernel("UniformDequantize")
@quiet
def uniform_dequantize(call: Call, x: Array, scales: Array, zeros: Array) -> Array:
    """``(x - zero_point) * scale`` in float32; TF ``UniformDequantize``."""
    axis = call.attrs["quantization_axis"]
    _check(call, x.shape, scales, zeros, axis, "input")
    steps = wrap_int32(x.astype(np.int64) - _along(zeros, axis, x.ndim))
    return np.asarray(steps.astype(np.float32) * _along(scales, axis, x.ndim))


@kernel("UniformRequantize")
@quiet
def uniform_requantize(
    call: Call, x: Array, scales: Array, zeros: Array, new_scales: Array, new_zeros: Array
) -> Array:
    """Integers of one quantization as those of another; TF ``UniformRequantize``."""
    axis, new_axis = (call.attrs[f"{side}_quantization_axis"] for side in ("input", "output"))
    call.require(
        -1 in (axis, new_axis) or axis == new_axis,
        "both sides must be quantized along the same axis",
        found=f"{axis} and {new_axis}",
        needed="equal, or -1",
    )
    _check(call, x.shape, scales, zeros, axis, "input")
    _check(call, x.shape, new_scales, new_zeros, new_axis, "output")
    rank = x.ndim
    factor = _along(scales, axis, rank).astype(np.float64) / _along(new_scales, new_axis, rank)
    steps = wrap_int32(x.astype(np.int64) - _along(zeros, axis, rank))
    moved = _scaled(call, steps, factor) + _along(new_zeros, new_axis, rank)
    return _cut(moved, _limits(call, "output_")).astype(call.attrs["Tout"].np)


@kernel("UniformQuantizedAdd")
@quiet
def uniform_add(call: Call, x: Array, y: Array, *rest: Array) -> Array:
    """The sum, each side first moved to the output's scale; TF ``UniformQuantizedAdd``.

    Beyond 2^22 TensorFlow rounds the moved sides to float32; we keep every digit.
    """
    pairs = list(zip(x.shape[::-1], y.shape[::-1], strict=False))
    call.require(
        all(a == b or 1 in (a, b) for a, b in pairs),
        "shapes must broadcast",
        found=f"{list(x.shape)} and {list(y.shape)}",
        needed="equal dimensions, or 1",
    )
    shape = np.broadcast_shapes(x.shape, y.shape)
    axes = [call.attrs[f"{side}_quantization_axis"] for side in ("lhs", "rhs", "output")]
    for k, (name, dims) in enumerate((("lhs", x.shape), ("rhs", y.shape), ("output", shape))):
        _check(call, dims, rest[2 * k], rest[2 * k + 1], axes[k], name)
    for axis, side in zip(axes, (x, y), strict=False):
        call.require(
            -1 in (axis, axes[2]) or side.ndim - axis == len(shape) - axes[2],
            "sides and output must be quantized along the same axis",
            found=axes,
            needed="equal axes counted from the back, or -1",
        )
    scale = _along(rest[4], axes[2], len(shape))
    total = np.asarray(_along(rest[5], axes[2], len(shape)).astype(np.int64))
    for k, side in enumerate((x, y)):
        steps = wrap_int32(side.astype(np.int64) - _along(rest[2 * k + 1], axes[k], side.ndim))
        factor = _along(rest[2 * k], axes[k], side.ndim).astype(np.float64) / scale
        total = total + _scaled(call, steps, factor)
    return _cut(total, _limits(call, "output_")).astype(x.dtype)


@kernel("UniformQuantizedClipByValue")
def uniform_clip(
    call: Call, x: Array, least: Array, most: Array, scales: Array, zeros: Array
) -> Array:
    """Integers cut at ``min`` and ``max``, of the tensor or along its axis.

    TF ``UniformQuantizedClipByValue``.
    """
    axis = call.attrs["quantization_axis"]
    _check(call, x.shape, scales, zeros, axis, "input")
    call.require(
        least.shape == most.shape == scales.shape,
        "min and max must have the shape of the scales",
        found=f"{list(least.shape)} and {list(most.shape)}",
        needed=list(scales.shape),
    )
    low, high = _along(least, axis, x.ndim), _along(most, axis, x.ndim)
    return np.asarray(np.minimum(np.maximum(x, low), high))


def _quantize_rows(x: Array) -> tuple[Array, Array, Array]:
    """Rows of floats as 8-bit steps from their zero points, with scales and zero points.

    Each row has its own range, widened to hold 0.
    """
    low = np.minimum(x.min(1, initial=0), 0).astype(np.float64)
    high = np.maximum(x.max(1, initial=0), 0).astype(np.float64)
    empty = low == high
    scale = np.where(empty, 1, (high - low) / 255.0)
    from_low, from_high = -128 - low / scale, 127 - high / scale
    nearer = 128 + np.abs(low / scale) < 127 + np.abs(high / scale)
    zero = np.clip(half_away(np.where(nearer, from_low, from_high)), -128, 127).astype(np.int64)
    zero = np.where(empty, 0, zero)
    inverse = np.where(empty, 0, np.float32(1) / scale.astype(np.float32)).astype(np.float32)
    whole = np.floor(x * inverse[:, None] + np.float32(0.5)).astype(np.int64) + zero[:, None]
    return np.clip(whole, -128, 127), np.where(empty, 0, scale).astype(np.float32), zero


def _check_dot(call: Call, x: Array, y: Array) -> None:
    call.require(
        x.ndim == y.ndim == 2 and x.shape[1] == y.shape[0],
        "both sides must be matrices that fit",
        found=f"{list(x.shape)} times {list(y.shape)}",
        needed="[m, k] times [k, n]",
    )


@kernel("UniformQuantizedDot")
@quiet
def uniform_dot(call: Call, x: Array, y: Array, *rest: Array) -> Array:
    """A product of quantized matrices; TF ``UniformQuantizedDot``."""
    _check_dot(call, x, y)
    attrs = call.attrs
    axes = [attrs[f"{side}_quantization_axis"] for side in ("lhs", "rhs", "output")]
    _check_axes(call, axes, 1, 1)
    shapes = (x.shape, y.shape, (x.shape[0], y.shape[1]))
    for k, (name, shape) in enumerate(zip(("lhs", "rhs", "output"), shapes, strict=True)):
        _check(call, shape, rest[2 * k], rest[2 * k + 1], axes[k], name)
    sums = exact_product(x.astype(np.int64) - rest[1], y.astype(np.int64) - rest[3])
    return _rescaled(call, sums, rest)


def _check_axes(call: Call, axes: list[int], kernel_axis: int, output_axis: int) -> None:
    call.require(
        axes[0] == -1
        and axes[1] in (-1, kernel_axis)
        and axes[2] in (-1, output_axis)
        and (axes[1] != -1 or axes[2] == -1),
        "the left side is quantized as a whole, right side and output as a whole or by features",
        found=axes,
        needed=f"-1, {kernel_axis} or -1, {output_axis} or -1",
    )


def _rescaled(call: Call, sums: Array, rest: tuple[Array, ...]) -> Array:
    """int32 sums with features last in the output's quantization."""
    factor = rest[0].astype(np.float64) * rest[2] / rest[4]
    moved = _scaled(call, sums, factor) + rest[5]
    return _cut(moved, _limits(call, "output_")).astype(call.attrs["Tout"].np)


@kernel("UniformQuantizedDotHybrid")
@quiet
def uniform_dot_hybrid(call: Call, x: Array, y: Array, scales: Array, zeros: Array) -> Array:
    """Floats, quantized row by row, times a quantized matrix; TF ``UniformQuantizedDotHybrid``."""
    _check_dot(call, x, y)
    axis = call.attrs["rhs_quantization_axis"]
    _check_axes(call, [-1, axis, -1], 1, 1)
    _check(call, y.shape, scales, zeros, axis, "rhs")
    whole, row_scales, row_zeros = _quantize_rows(x)
    sums = exact_product(whole - row_zeros[:, None], y.astype(np.int64) - zeros)
    return np.asarray(sums.astype(np.float32) * row_scales[:, None] * scales)


def _plan(call: Call, x: Array, y: Array) -> Plan:
    attrs, rank = call.attrs, x.ndim
    call.require(
        rank > 2 and y.ndim == rank,
        "both sides of a convolution must have the same rank, 3 or more",
        found=f"{list(x.shape)} and {list(y.shape)}",
        needed="equal ranks",
    )
    dims = conv_dims(attrs["dimension_numbers"], rank, uniform=True)
    call.require(dims.fits(rank), "dimension_numbers must name each dimension once", found=dims)
    ones = [1] * (rank - 2)
    strides, spread, rates = (
        list(attrs[name]) or ones for name in ("window_strides", "lhs_dilation", "rhs_dilation")
    )
    kind, flat = attrs["padding"], list(attrs["explicit_padding"])
    call.require(
        kind in ("SAME", "VALID", "EXPLICIT")
        and (len(flat) == 2 * (rank - 2) and min(flat) >= 0 if kind == "EXPLICIT" else not flat),
        "padding must be SAME, VALID or EXPLICIT, with explicit_padding for the last only",
        found=f"{kind} and {flat}",
        needed=f"{2 * (rank - 2)} numbers of 0 or more for EXPLICIT",
    )
    pads = list(zip(flat[::2], flat[1::2], strict=True)) or [(0, 0)] * (rank - 2)
    if kind == "SAME":
        sizes = zip(dims.input[2:], dims.kernel[2:], strides, spread, rates, strict=False)
        pads = [
            _same(dilated_size(x.shape[a], s), dilated_size(y.shape[b], r), step)
            for a, b, step, s, r in sizes
        ]
    return make_plan(
        call, (x.shape, y.shape), dims, strides=strides, pads=pads, spread=spread, rates=rates,
        groups=(attrs["feature_group_count"], attrs["batch_group_count"]),
    )  # fmt: skip


def _same(size: int, window: int, step: int) -> tuple[int, int]:
    total = max((-(-size // step) - 1) * step + window - size, 0)
    return total // 2, total - total // 2


@kernel("UniformQuantizedConvolution")
@quiet
def uniform_convolution(call: Call, x: Array, y: Array, *rest: Array) -> Array:
    """A convolution of quantized tensors; TF ``UniformQuantizedConvolution``."""
    plan = _plan(call, x, y)
    axes = [call.attrs[f"{side}_quantization_axis"] for side in ("lhs", "rhs", "output")]
    _check_axes(call, axes, plan.dims.kernel[1], plan.dims.output[1])
    _check(call, x.shape, rest[0], rest[1], -1, "lhs")
    _check(call, y.shape, rest[2], rest[3], axes[1], "rhs")
    wide = plan.input_first(x).astype(np.float64) - rest[1]
    sums = run_plan(call, plan, wide, plan.kernel_first(y).astype(np.float64) - rest[3])
    out = plan.output_back(sums)
    _check(call, out.shape, rest[4], rest[5], axes[2], "output")
    return plan.output_back(_rescaled(call, wrap_int32(sums), rest))


@kernel("UniformQuantizedConvolutionHybrid")
@quiet
def uniform_convolution_hybrid(
    call: Call, x: Array, y: Array, scales: Array, zeros: Array
) -> Array:
    """Floats, quantized example by example, convolved with a quantized kernel.

    TF ``UniformQuantizedConvolutionHybrid``.
    """
    plan = _plan(call, x, y)
    axis = call.attrs["rhs_quantization_axis"]
    _check_axes(call, [-1, axis, -1], plan.dims.kernel[1], -1)
    _check(call, y.shape, scales, zeros, axis, "rhs")
    given = plan.input_first(x)
    whole, row_scales, row_zeros = _quantize_rows(given.reshape(len(given), -1))
    steps = (whole - row_zeros[:, None]).reshape(given.shape).astype(np.float64)
    sums = run_plan(call, plan, steps, plan.kernel_first(y).astype(np.float64) - zeros)
    return plan.output_back(wrap_int32(sums).astype(np.float32) * _by_example(
        row_scales, sums.shape, plan.batch_groups
    ) * scales)  # fmt: skip


def _by_example(row_scales: Array, shape: tuple[int, ...], groups: int) -> Any:
    """The scale of the example that each output element was made of: it differs by group."""
    parts = row_scales.reshape(groups, shape[0]).T
    return np.repeat(parts, shape[-1] // groups, 1).reshape(
        shape[0], *[1] * (len(shape) - 2), shape[-1]
    )
