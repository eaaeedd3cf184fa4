"""Ops of StableHLO with NumPy: elements, shapes, products, control flow.

Source: openxla/stablehlo, its specification, op by op. Sums of 16 bits are made in 32.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from drystone_pjrt.portable.bytecode import Unreadable
from drystone_pjrt.portable.folding import divided, remainder
from drystone_pjrt.portable.inferred import whole
from drystone_pjrt.portable.static import ShapeMismatch
from drystone_pjrt.portable.vhlo import Attribute, Tensor, Text

__all__ = ["OPS", "Array", "Op", "Region", "wide"]

Array = np.ndarray[Any, Any]
Region = Callable[[Sequence[Array]], list[Array]]


class Op(NamedTuple):
    """An operation at hand. ``more``: what others have added to it."""

    given: list[Array]
    attrs: Mapping[str, Attribute]
    stated: list[Tensor]
    regions: Sequence[Region]
    more: Mapping[str, Attribute]

    def whole(self, name: str) -> list[int]:
        """An attribute of whole numbers."""
        return whole(self.attrs, name)

    def word(self, name: str) -> str:
        """An attribute that is a word."""
        value = self.attrs[name]
        return str(value.value) if isinstance(value, Text) else ""


def wide(x: Array) -> Array:
    """Numbers of 16 bits in 32; others as they are."""
    return x.astype(np.float32) if x.dtype.itemsize <= 2 and x.dtype.kind not in "iub" else x


# ---- elements ------------------------------------------------------------------------------------


def _each(function: Callable[..., Any]) -> Callable[[Op], Any]:
    return lambda op: function(*map(wide, op.given))


def _logical(of_truths: Callable[..., Any], of_numbers: Callable[..., Any]) -> Callable[[Op], Any]:
    def go(op: Op) -> Any:
        return (of_truths if op.given[0].dtype.kind == "b" else of_numbers)(*map(wide, op.given))

    return go


def _shift(function: Callable[..., Any], *, signed: bool) -> Callable[[Op], Any]:
    """Shifts; by more than there are bits nothing is left but the sign."""

    def go(op: Op) -> Any:
        x, by = op.given
        bits = 8 * x.dtype.itemsize
        plain = x if signed else x.view(f"u{x.dtype.itemsize}")
        count = np.asarray(by).astype(np.int64) & ((1 << 63) - 1)
        inside = (np.asarray(by) >= 0) & (count < bits)
        moved = function(plain, np.where(inside, count, bits - 1).astype(plain.dtype))
        beyond = np.where(x < 0, -1, 0).astype(plain.dtype) if signed else np.zeros_like(plain)
        return np.where(inside, moved, beyond).view(x.dtype)

    return go


def _half_away(x: Array) -> Any:
    return np.copysign(np.floor(np.abs(x) + 0.5), x)


def _power(x: Array, y: Array) -> Any:
    if x.dtype.kind not in "iu":
        return np.power(x, y)
    ones = np.where((x == 1) | ((x == -1) & (y % 2 == 0)), 1, np.where(x == -1, -1, 0))
    return np.where(y < 0, ones, np.power(x, np.where(y < 0, 0, y)))


def _logistic(x: Array) -> Any:
    return 1 / (1 + np.exp(-x))


def _bits_set(x: Array) -> Any:
    return np.bitwise_count(x.view(f"u{x.dtype.itemsize}"))


def _bits_before(x: Array) -> Any:
    """How many bits are 0 before the first that is set."""
    width = 8 * x.dtype.itemsize
    left = x.view(f"u{x.dtype.itemsize}").astype(np.uint64)
    found = np.full(x.shape, width)
    for bit in range(width):
        found = np.where(left >> np.uint64(bit) != 0, width - 1 - bit, found)
    return found


_COMPARED: Final = {"EQ": np.equal, "NE": np.not_equal, "GE": np.greater_equal,
                    "GT": np.greater, "LE": np.less_equal, "LT": np.less}  # fmt: skip


def _compare(op: Op) -> Any:
    x, y = op.given
    if op.word("compare_type") == "TOTALORDER":
        x, y = map(_ordered, (x, y))
    return _COMPARED[op.word("comparison_direction")](x, y)


def _ordered(x: Array) -> Array:
    """Whole numbers in the order of all values, NaN and both zeros among them."""
    bits = np.ascontiguousarray(x).view(f"i{x.dtype.itemsize}")
    return np.where(bits < 0, bits ^ np.iinfo(bits.dtype).max, bits)


def _convert(op: Op) -> Any:
    x, to = op.given[0], op.stated[0].dtype
    if x.dtype.kind == "c" and to.kind != "c":
        x = x.real
    return x != 0 if to.kind == "b" else x.astype(to)


def _bits(op: Op) -> Any:
    x, to = np.ascontiguousarray(op.given[0]), op.stated[0].dtype
    if to.itemsize == x.dtype.itemsize:
        return x.view(to)
    if to.itemsize < x.dtype.itemsize:
        return x[..., None].view(to)
    return x.view(to)[..., 0]


def _clamp(op: Op) -> Any:
    low, x, high = op.given
    return np.minimum(np.maximum(x, low), high)


def _precision(op: Op) -> Any:
    (exponent,), (mantissa,) = op.whole("exponent_bits"), op.whole("mantissa_bits")
    x = op.given[0]
    if (exponent, mantissa) == (5, 10):
        return x.astype(np.float16)
    if exponent != 8 or x.dtype != np.float32:
        raise Unreadable(f"precision of {exponent} and {mantissa} bits")
    drop = np.uint32(23 - mantissa)
    bits = x.view(np.uint32)
    half = (np.uint32(1) << drop >> np.uint32(1)) - np.uint32(drop > 0)
    rounded = bits + half + (bits >> drop & np.uint32(1)) * np.uint32(drop > 0)
    kept = rounded >> drop << drop
    return np.where(np.isfinite(x), kept, bits).view(np.float32)


# ---- shapes --------------------------------------------------------------------------------------


def _spread(op: Op) -> Any:
    x, shape = op.given[0], op.stated[0].shape
    if len(op.given) > 1:
        shape = tuple(map(int, op.given[1]))
    between = [1] * len(shape)
    for axis, n in zip(op.whole("broadcast_dimensions"), x.shape, strict=True):
        between[axis] = n
    return np.broadcast_to(x.reshape(between), shape)


def _reshape(op: Op) -> Any:
    return op.given[0].reshape(op.stated[0].shape if len(op.given) == 1 else tuple(op.given[1]))


def _iota(op: Op) -> Any:
    shape = tuple(map(int, op.given[0])) if op.given else op.stated[0].shape
    (axis,) = op.whole("iota_dimension")
    between = [n if k == axis else 1 for k, n in enumerate(shape)]
    return np.broadcast_to(np.arange(shape[axis]).reshape(between), shape)


def _slice(op: Op) -> Any:
    bounds = (op.whole(name) for name in ("start_indices", "limit_indices", "strides"))
    return op.given[0][tuple(slice(*row) for row in zip(*bounds, strict=True))]


def _real_slice(op: Op) -> Any:
    x, *bounds = op.given
    return x[tuple(slice(*map(int, row)) for row in zip(*bounds, strict=True))]


def _from_place(op: Op) -> Any:
    x, *places = op.given
    return x[_part(x, places, op.whole("slice_sizes"))]


def _part(x: Array, places: Sequence[Array], sizes: Sequence[int]) -> tuple[slice, ...]:
    """Where a part lies, which is moved so that it is within."""
    rows = zip(x.shape, places, sizes, strict=True)
    starts = [min(max(int(place), 0), n - size) for n, place, size in rows]
    return tuple(slice(a, a + size) for a, size in zip(starts, sizes, strict=True))


def _update(op: Op) -> Any:
    x, new, *places = op.given
    out = x.copy()
    out[_part(x, places, new.shape)] = new
    return out


def _pad(op: Op) -> Any:
    names = ("edge_padding_low", "edge_padding_high", "interior_padding")
    if len(op.given) > 2:
        return padded(op.given[0], op.given[1], *([int(n) for n in v] for v in op.given[2:]))
    return padded(op.given[0], op.given[1], *(op.whole(name) for name in names))


def padded(
    x: Array, value: Array, low: Sequence[int], high: Sequence[int], between: Sequence[int]
) -> Array:
    """With borders, which may be negative, and room between elements."""
    sizes = [max(n - 1, 0) * c + n for n, c in zip(x.shape, between, strict=True)]
    inner = np.full(sizes, value, x.dtype)
    inner[tuple(slice(None, None, c + 1) for c in between)] = x
    shape = [max(0, n + a + b) for n, a, b in zip(sizes, low, high, strict=True)]
    out = np.full(shape, value, x.dtype)
    to, of = [], []
    for n, a, end in zip(sizes, low, shape, strict=True):
        first, last = max(a, 0), min(a + n, end)
        to.append(slice(first, max(last, first)))
        of.append(slice(first - a, max(last, first) - a))
    out[tuple(to)] = inner[tuple(of)]
    return out


# ---- products, transforms ------------------------------------------------------------------------


def _dot(op: Op) -> Any:
    x, y = map(wide, op.given)
    sides = []
    for side, value in (("lhs", x), ("rhs", y)):
        batch = op.whole(f"{side}_batching_dimensions")
        summed = op.whole(f"{side}_contracting_dimensions")
        free = [k for k in range(value.ndim) if k not in (*batch, *summed)]
        sides.append((batch, free, summed))
    (b, m, k), (c, n, j) = sides
    shape = [x.shape[i] for i in (*b, *m)] + [y.shape[i] for i in n]
    count = [x.shape[i] for i in b]
    inner = int(np.prod([x.shape[i] for i in k], dtype=np.int64))
    rows = int(np.prod([x.shape[i] for i in m], dtype=np.int64))
    columns = int(np.prod([y.shape[i] for i in n], dtype=np.int64))
    left = x.transpose(*b, *m, *k).reshape(*count, rows, inner)
    right = y.transpose(*c, *j, *n).reshape(*count, inner, columns)
    kind = op.stated[0].dtype
    if kind.kind in "iub":  # sums are of the result's type
        left, right = left.astype(kind), right.astype(kind)
    return np.matmul(left, right).reshape(shape)


def _fft(op: Op) -> Any:
    axes = tuple(range(-len(op.whole("fft_length")), 0))
    sizes, kind = op.whole("fft_length"), op.word("fft_type")
    if kind in ("FFT", "IFFT"):
        return (np.fft.fftn if kind == "FFT" else np.fft.ifftn)(op.given[0], axes=axes)
    function = np.fft.rfftn if kind == "RFFT" else np.fft.irfftn
    return function(op.given[0], sizes, axes)


def _cholesky(op: Op) -> Any:
    x = op.given[0]
    is_lower = bool(op.whole("lower")[0])
    turned = x if is_lower else x.swapaxes(-1, -2).conj()
    found = np.linalg.cholesky(turned)
    return found if is_lower else found.swapaxes(-1, -2).conj()


def _norm(op: Op) -> Any:
    x, scale, offset, mean, variance = map(wide, op.given)
    (axis,) = op.whole("feature_index")
    (epsilon,) = (float(op.attrs["epsilon"].value),)  # type: ignore[union-attr]
    shape = [-1 if k == axis else 1 for k in range(x.ndim)]
    scale, offset, mean, variance = (v.reshape(shape) for v in (scale, offset, mean, variance))
    return (x - mean) / np.sqrt(variance + np.asarray(epsilon, x.dtype)) * scale + offset


# ---- control flow --------------------------------------------------------------------------------


def _while(op: Op) -> list[Array]:
    values = list(op.given)
    condition, body = op.regions
    while bool(condition(values)[0]):
        values = body(values)
    return values


def _case(op: Op) -> list[Array]:
    index = int(op.given[0])
    last = len(op.regions) - 1
    return op.regions[index if 0 <= index <= last else last]([])


def _if(op: Op) -> list[Array]:
    return op.regions[0 if bool(op.given[0]) else 1]([])


def _check(op: Op) -> list[Array]:
    """Whether the program accepts the shapes; what it says if not has numbers of operands."""
    if bool(op.given[0]):
        return []
    message = op.more.get("error_message")
    text = str(message.value) if isinstance(message, Text) else "the shapes do not fit"
    for k, value in enumerate(op.given[1:]):
        text = text.replace(f"{{{k}}}", str(value))
    raise ShapeMismatch(text)


def _as_is(op: Op) -> list[Array]:
    return op.given


OPS: Final[dict[str, Callable[[Op], Any]]] = {
    "abs": _each(np.abs), "add": _logical(np.logical_or, np.add), "and": _each(np.bitwise_and),
    "atan2": _each(np.arctan2), "bitcast_convert": _bits, "broadcast_in_dim": _spread,
    "case": _case, "cbrt": _each(np.cbrt), "ceil": _each(np.ceil), "cholesky": _cholesky,
    "clamp": _clamp, "compare": _compare, "complex": _each(lambda a, b: a + 1j * b),
    "batch_norm_inference": _norm,
    "concatenate": lambda op: np.concatenate(op.given, op.whole("dimension")[0]),
    "convert": _convert, "cosine": _each(np.cos), "count_leading_zeros": _each(_bits_before),
    "divide": _each(lambda a, b: divided(a, b) if a.dtype.kind in "iu" else np.divide(a, b)),
    "dot_general": _dot, "dynamic_broadcast_in_dim": _spread, "dynamic_iota": _iota,
    "dynamic_pad": _pad, "dynamic_reshape": _reshape, "dynamic_slice": _from_place,
    "dynamic_update_slice": _update, "exponential": _each(np.exp),
    "exponential_minus_one": _each(np.expm1), "fft": _fft, "floor": _each(np.floor),
    "get_dimension_size": lambda op: op.given[0].shape[op.whole("dimension")[0]], "if": _if,
    "imag": _each(np.imag), "iota": _iota, "is_finite": _each(np.isfinite), "log": _each(np.log),
    "log_plus_one": _each(np.log1p), "logistic": _each(_logistic), "maximum": _each(np.maximum),
    "minimum": _each(np.minimum), "multiply": _logical(np.logical_and, np.multiply),
    "negate": _each(np.negative), "not": _each(np.invert), "optimization_barrier": _as_is,
    "or": _each(np.bitwise_or), "pad": _pad, "popcnt": _each(_bits_set), "power": _each(_power),
    "real": _each(np.real), "real_dynamic_slice": _real_slice, "reduce_precision": _precision,
    "remainder": _each(lambda a, b: remainder(a, b) if a.dtype.kind in "iu" else np.fmod(a, b)),
    "reshape": _reshape, "reverse": lambda op: np.flip(op.given[0], tuple(op.whole("dimensions"))),
    "round_nearest_afz": _each(_half_away), "round_nearest_even": _each(np.rint),
    "rsqrt": _each(lambda x: 1 / np.sqrt(x)),
    "select": lambda op: np.where(op.given[0], op.given[1], op.given[2]),
    "shape_assertion": _check, "Sharding": _as_is,
    "shift_left": _shift(np.left_shift, signed=False),
    "shift_right_arithmetic": _shift(np.right_shift, signed=True),
    "shift_right_logical": _shift(np.right_shift, signed=False), "sign": _each(np.sign),
    "sine": _each(np.sin), "slice": _slice, "sqrt": _each(np.sqrt), "tan": _each(np.tan),
    "subtract": _each(np.subtract), "tanh": _each(np.tanh),
    "transpose": lambda op: op.given[0].transpose(op.whole("permutation")), "while": _while,
    "xor": _each(np.bitwise_xor),
}  # fmt: skip
"""By an op's name without dialect and version, or what a call is to: one result, or a list."""
