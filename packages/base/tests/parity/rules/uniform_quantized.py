"""Uniform quantization: integers with scales and zero points, of a tensor or along an axis."""

from typing import Any

import numpy as np

from parity.draft import Draft, Drawer, Rule
from parity.drawers import choice, fixed, integers, shaped
from parity.rules.quantized import whole

_LIMITS = {"quantization_min_val": fixed(-128), "quantization_max_val": fixed(127)}
_WIDE = (-(2**31), 2**31 - 1)


def _limits(*sides: str) -> dict[str, Drawer]:
    ends = {"min": _WIDE[0], "max": _WIDE[1]}
    return {f"{s}_quantization_{e}_val": fixed(v) for s in sides for e, v in ends.items()}


def _scales(axis: str, other: str) -> Drawer:
    """Positive scales: one, or as many as another input has along an axis that is an attribute."""
    return lambda d: d.rng.uniform(0.01, 3, _length(d, axis, other)).astype(np.float32)


def _zeros(axis: str, other: str) -> Drawer:
    return lambda d: d.rng.integers(-20, 20, _length(d, axis, other)).astype(np.int32)


def _length(d: Draft, axis: str, other: str) -> tuple[int, ...]:
    place = d[axis]
    return () if place < 0 else (np.shape(d[other])[place],)


def _pair(side: str, other: str, prefix: str = "") -> dict[str, Drawer]:
    axis = f"{side}_quantization_axis" if side else "quantization_axis"
    start = prefix or (f"{side}_" if side else "")
    return {f"{start}scales": _scales(axis, other), f"{start}zero_points": _zeros(axis, other)}


def _padding(d: Draft) -> Any:
    return [d.size(0, 2) for _ in range(4)] if d["padding"] == "EXPLICIT" else []


_CONV: dict[str, Drawer] = {
    "padding": choice("SAME", "VALID", "EXPLICIT"),
    "explicit_padding": _padding,
    "window_strides": choice([], [1, 2], [2, 2]),
    "lhs_dilation": choice([], [1, 2]),
    "rhs_dilation": choice([], [2, 1]),
    "feature_group_count": choice(1, 2),
    "batch_group_count": fixed(1),
    "dimension_numbers": fixed(""),
    "rhs": lambda d: whole(f"4 {4 // d['feature_group_count']} i j")(d),
    "rhs_quantization_axis": choice(-1, 0),
}
_CONV_DIMS = {"b": (1, 2), "h": (4, 6), "w": (4, 6), "i": (1, 2), "j": (1, 2)}
_ONE: dict[str, Drawer] = {
    "lhs_scales": fixed(np.float32(0.3)),
    "lhs_zero_points": fixed(np.int32(-3)),
    "lhs_quantization_axis": fixed(-1),
    "output_quantization_axis": fixed(-1),
    "output_scales": fixed(np.float32(0.7)),
    "output_zero_points": fixed(np.int32(5)),
}
_INT = {"Tin": fixed("qint8"), "Tout": fixed("qint32")}
_FLOAT = {"Tlhs": fixed("float32"), "Trhs": fixed("qint8"), "Tout": fixed("float32")}

RULES: dict[str, Rule] = {
    "UniformQuantize": Rule(
        {
            "input": shaped("m n", False),
            "Tin": fixed("float32"),
            "Tout": choice("qint8", "qint32"),
            "quantization_axis": choice(-1, 0, 1),
        }
        | _LIMITS
        | _pair("", "input")
    ),
    "UniformDequantize": Rule(
        {
            "input": whole("m n"),
            "Tin": choice("qint8", "qint32"),
            "Tout": fixed("float32"),
            "quantization_axis": choice(-1, 0, 1),
        }
        | _LIMITS
        | _pair("", "input")
    ),
    "UniformRequantize": Rule(
        {
            "input": whole("m n"),
            "Tin": choice("qint8", "qint32"),
            "Tout": fixed("qint8"),
            "input_quantization_axis": choice(-1, 1),
            "output_quantization_axis": choice(-1, 1),
        }
        | {k: v for k, v in _limits("input", "output").items() if "input" in k}
        | {"output_quantization_min_val": fixed(-128), "output_quantization_max_val": fixed(127)}
        | _pair("input", "input")
        | _pair("output", "input"),
    ),
    "UniformQuantizedAdd": Rule(
        # beyond 2^22 TensorFlow rounds to float32
        {"lhs": integers("m n", -9999, 9999), "rhs": integers("n", -9999, 9999)}
        | {"T": fixed("qint32")}
        | {f"{s}_quantization_axis": fixed(-1) for s in ("lhs", "rhs", "output")}
        | _limits("lhs", "rhs", "output")
        | _pair("lhs", "lhs")
        | _pair("rhs", "rhs")
        | _pair("output", "lhs")
    ),
    "UniformQuantizedClipByValue": Rule(
        {
            "operand": whole("m n"),
            "T": fixed("qint32"),
            "quantization_axis": choice(-1, 0, 1),
            "min": lambda d: _zeros("quantization_axis", "operand")(d) - np.int32(30),
            "max": lambda d: _zeros("quantization_axis", "operand")(d) + np.int32(30),
            "quantization_min_val": fixed(_WIDE[0]),
            "quantization_max_val": fixed(_WIDE[1]),
        }
        | _pair("", "operand")
    ),
    "UniformQuantizedDot": Rule(
        {"lhs": whole("m k"), "rhs": whole("k n"), "rhs_quantization_axis": choice(-1, 1)}
        | _INT
        | _ONE
        | _limits("lhs", "rhs", "output")
        | _pair("rhs", "rhs")
    ),
    "UniformQuantizedDotHybrid": Rule(
        {"lhs": shaped("m k", False), "rhs": whole("k n"), "rhs_quantization_axis": choice(-1, 1)}
        | _FLOAT
        | _limits("rhs")
        | _pair("rhs", "rhs"),
        dims={"k": (1, 5)},
    ),
    "UniformQuantizedConvolution": Rule(
        _CONV
        | _INT
        | _ONE
        | {"lhs": whole("b 4 h w")}
        | _limits("lhs", "rhs", "output")
        | _pair("rhs", "rhs"),
        dims=_CONV_DIMS,
    ),
    "UniformQuantizedConvolutionHybrid": Rule(
        _CONV | _FLOAT | {"lhs": shaped("b 4 h w", False)} | _limits("rhs") | _pair("rhs", "rhs"),
        dims=_CONV_DIMS,
    ),
}
