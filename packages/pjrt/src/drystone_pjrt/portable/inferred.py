"""Shapes of results that a program leaves open, from those of operands."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from drystone_pjrt.portable.bytecode import Unreadable
from drystone_pjrt.portable.vhlo import Attribute, Integers, Tensor, Type

__all__ = ["base_of", "is_open", "kinds", "whole"]

Shape = tuple[int, ...]
Attributes = Mapping[str, Attribute]
Rule = Callable[[Sequence[Shape], Attributes, Shape], Sequence[int]]

_LIKE: Final = dict.fromkeys(
    ("abs", "add", "and", "atan2", "batch_norm_grad", "batch_norm_inference",
     "batch_norm_training", "bitcast_convert", "cbrt", "ceil", "cholesky", "compare", "complex",
     "convert", "cosine", "count_leading_zeros", "divide", "dynamic_update_slice", "exponential",
     "exponential_minus_one", "floor", "imag", "is_finite", "log", "log_plus_one", "logistic",
     "map", "maximum", "minimum", "multiply", "negate", "not", "or", "popcnt", "power", "real",
     "reduce_precision", "remainder", "reverse", "round_nearest_afz", "round_nearest_even",
     "rsqrt", "select_and_scatter", "shift_left", "shift_right_arithmetic",
     "shift_right_logical", "sign", "sine", "sqrt", "subtract", "tan", "tanh", "xor"), 0,
) | {"clamp": 1, "select": 1, "triangular_solve": 1}  # fmt: skip
"""Ops whose results have the shape of this operand."""
_EACH: Final = frozenset({"optimization_barrier", "scatter", "sort", "while"})
"""Ops whose results have the shapes of the operands in the same places."""


def base_of(op: str) -> str:
    """An op's name without its dialect and version."""
    return op.removeprefix("vhlo.").rpartition("_v")[0]


def is_open(kind: Type) -> bool:
    """Whether a type leaves a size open."""
    return isinstance(kind, Tensor) and min(kind.shape, default=0) < 0


def whole(attrs: Attributes, name: str) -> list[int]:
    """An attribute of whole numbers, or of one."""
    value = attrs[name]
    if isinstance(value, Integers):
        return [int(n) for n in value.array.reshape(-1)]
    return [int(value.value)]


def kinds(op: str, given: Sequence[Type], attrs: Attributes, stated: Sequence[Type]) -> list[Type]:
    """The types of results; raises ``Unreadable`` for what is not said here."""
    if not any(map(is_open, stated)):
        return list(stated)
    base, shapes = base_of(op), [kind.shape if isinstance(kind, Tensor) else () for kind in given]
    found = list(stated)
    for k, kind in enumerate(stated):
        if not isinstance(kind, Tensor) or not is_open(kind):
            continue
        if base in _LIKE or base in _EACH:
            shape: Sequence[int] = shapes[_LIKE.get(base, k)]
        elif base in _RULES:
            shape = _RULES[base](shapes, attrs, kind.shape)
        else:
            raise Unreadable(f"the shape of {base} is not known")
        if len(shape) != len(kind.shape) or any(
            a != b for a, b in zip(shape, kind.shape, strict=True) if b >= 0
        ):
            raise Unreadable(f"{base} gives {list(shape)}, where {list(kind.shape)} is stated")
        found[k] = Tensor(tuple(shape), kind.element)
    return found


def _transpose(shapes: Sequence[Shape], attrs: Attributes, _: Shape) -> list[int]:
    return [shapes[0][k] for k in whole(attrs, "permutation")]


def _dot(shapes: Sequence[Shape], attrs: Attributes, _: Shape) -> list[int]:
    batch = whole(attrs, "lhs_batching_dimensions")
    found = [shapes[0][k] for k in batch]
    for side, shape in zip(("lhs", "rhs"), shapes, strict=False):
        gone = [k for part in ("batching", "contracting")
                for k in whole(attrs, f"{side}_{part}_dimensions")]  # fmt: skip
        found += [n for k, n in enumerate(shape) if k not in gone]
    return found


def _reduce(shapes: Sequence[Shape], attrs: Attributes, _: Shape) -> list[int]:
    return [n for k, n in enumerate(shapes[0]) if k not in whole(attrs, "dimensions")]


def _joined(shapes: Sequence[Shape], attrs: Attributes, _: Shape) -> list[int]:
    (axis,) = whole(attrs, "dimension")
    return [sum(s[k] for s in shapes) if k == axis else n for k, n in enumerate(shapes[0])]


def _slice(_: Sequence[Shape], attrs: Attributes, __: Shape) -> list[int]:
    bounds = (whole(attrs, name) for name in ("start_indices", "limit_indices", "strides"))
    return [-(-(high - low) // step) for low, high, step in zip(*bounds, strict=True)]


def _pad(shapes: Sequence[Shape], attrs: Attributes, _: Shape) -> list[int]:
    names = ("edge_padding_low", "edge_padding_high", "interior_padding")
    rows = zip(shapes[0], *(whole(attrs, name) for name in names), strict=True)
    return [n + low + high + max(n - 1, 0) * between for n, low, high, between in rows]


def _windows(
    sizes: Sequence[int], windows: Sequence[int], attrs: Attributes, spread: Sequence[str]
) -> list[int]:
    """How often windows fit; ``spread``: attributes of what is between elements, of both."""
    around, found = whole(attrs, "padding"), []
    steps, apart, wide = (whole(attrs, name) for name in ("window_strides", *spread))
    for k, (size, window) in enumerate(zip(sizes, windows, strict=True)):
        length = (size - 1) * apart[k] + 1 if size else 0
        reach = (window - 1) * wide[k] + 1
        room = length + around[2 * k] + around[2 * k + 1] - reach
        found.append(room // steps[k] + 1 if room >= 0 else 0)
    return found


def _reduce_window(shapes: Sequence[Shape], attrs: Attributes, _: Shape) -> list[int]:
    window = whole(attrs, "window_dimensions")
    return _windows(shapes[0], window, attrs, ("base_dilations", "window_dilations"))


def _convolution(shapes: Sequence[Shape], attrs: Attributes, stated: Shape) -> list[int]:
    def at(name: str) -> list[int]:
        return whole(attrs, name)

    image, kernel = shapes[:2]
    found = list(stated)
    (batch,), (groups,) = at("input_batch_dimension"), at("batch_group_count")
    found[at("output_batch_dimension")[0]] = image[batch] // groups
    found[at("output_feature_dimension")[0]] = kernel[at("kernel_output_feature_dimension")[0]]
    sizes = [image[k] for k in at("input_spatial_dimensions")]
    windows = [kernel[k] for k in at("kernel_spatial_dimensions")]
    made = _windows(sizes, windows, attrs, ("lhs_dilation", "rhs_dilation"))
    for k, n in zip(at("output_spatial_dimensions"), made, strict=True):
        found[k] = n
    return found


def _gather(shapes: Sequence[Shape], attrs: Attributes, stated: Shape) -> list[int]:
    apart, (vector,) = whole(attrs, "offset_dims"), whole(attrs, "index_vector_dim")
    gone = [k for name in ("collapsed_slice_dims", "operand_batching_dims") if name in attrs
            for k in whole(attrs, name)]  # fmt: skip
    inner = iter([n for k, n in enumerate(whole(attrs, "slice_sizes")) if k not in gone])
    outer = iter([n for k, n in enumerate(shapes[1]) if k != vector])
    return [next(inner if k in apart else outer) for k in range(len(stated))]


def _fft(shapes: Sequence[Shape], _: Attributes, stated: Shape) -> list[int]:
    return [a if b < 0 else b for a, b in zip(shapes[0], stated, strict=True)]


_RULES: Final[Mapping[str, Rule]] = {
    "concatenate": _joined, "convolution": _convolution, "dot_general": _dot, "fft": _fft,
    "gather": _gather, "pad": _pad, "reduce": _reduce, "reduce_window": _reduce_window,
    "slice": _slice, "transpose": _transpose,
}  # fmt: skip
