"""Golden cases of uniform quantization."""

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
from drawing import drawer, floats, ints
from oracle import Case, case

_draw = drawer(501, -128, 128)
_LIMITS = {"quantization_min_val": -128, "quantization_max_val": 127}


def _i32(*shape: int) -> Any:
    return np.random.default_rng(sum(shape)).integers(-9999, 9999, shape).astype(np.int32)


def _attrs(*sides: str, least: int = -128, most: int = 127) -> dict[str, int]:
    return {
        f"{side}_quantization_{end}_val": value
        for side in sides
        for end, value in (("min", least), ("max", most))
    }


def _single() -> Iterator[Case]:
    x = floats([[0.4, -7.3, 1e9], [np.inf, -np.inf, np.nan], [0.25, -0.25, 3.75]])
    for kind in ("qint8", "qint32"):
        types = {"Tin": "float32", "Tout": kind, **_LIMITS}
        yield case("UniformQuantize", x, floats(0.5), np.int32(3), **types)
        scales, zeros = floats([0.1, 0.2, 3]), ints(1, -2, 0)
        for axis in (0, 1):
            attrs = {**types, "quantization_axis": axis}
            yield case("UniformQuantize", x, scales, zeros, **attrs)
        yield case("UniformQuantize", x, scales, zeros, **types, note="refused")
        yield case("UniformQuantize", x, floats(-0.5), np.int32(3), **types)
        whole = _draw((3, 3), "i1") if kind == "qint8" else _i32(3, 3)
        types = {"Tin": kind, "Tout": "float32", **_LIMITS}
        yield case("UniformDequantize", whole, floats(0.3), np.int32(7), **types)
        attrs = {**types, "quantization_axis": 1}
        yield case("UniformDequantize", whole, scales, zeros, **attrs)
        types = {"Tin": kind, "Tout": "qint8", **_attrs("input", "output")}
        one, zero = floats(0.7), np.int32(-4)
        yield case("UniformRequantize", whole, one, zero, floats(3.1), np.int32(9), **types)
        yield case("UniformRequantize", whole, one, zero, floats(1e-9), np.int32(9), **types)
        for a, b in ((1, -1), (-1, 1), (1, 1), (0, 1)):
            attrs = {**types, "input_quantization_axis": a, "output_quantization_axis": b}
            first = (scales, zeros) if a >= 0 else (one, zero)
            second = (scales * 3, zeros) if b >= 0 else (one, zero)
            yield case("UniformRequantize", whole, *first, *second, **attrs)


def _sums() -> Iterator[Case]:
    limits = _attrs("lhs", "rhs", "output", least=-(2**31), most=2**31 - 1)
    pairs = [(floats(0.5), np.int32(3)), (floats(0.25), np.int32(-2)), (floats(0.7), np.int32(5))]
    flat = [v for pair in pairs for v in pair]
    for a, b in [((2, 3), (2, 3)), ((3,), (2, 3)), ((2, 1), (1, 3)), ((), (4,)), ((2,), (3,))]:
        yield case("UniformQuantizedAdd", _i32(*a), _i32(*b), *flat, T="qint32", **limits)
    vector = [floats([0.5, 0.25, 2]), ints(1, 2, 3)]
    axes = {"lhs_quantization_axis": 1, "rhs_quantization_axis": 0, "output_quantization_axis": 1}
    given = [_i32(2, 3), _i32(3), *vector * 3]
    yield case("UniformQuantizedAdd", *given, T="qint32", **limits, **axes)
    limits = {"quantization_min_val": -(2**31), "quantization_max_val": 2**31 - 1}
    yield case(
        "UniformQuantizedClipByValue", _i32(4, 3), np.int32(-50), np.int32(90), floats(0.5),
        np.int32(0), T="qint32", **limits,
    )  # fmt: skip
    yield case(
        "UniformQuantizedClipByValue", _i32(4, 3), ints(-5, -6, -7), ints(5, 700, -9), *vector,
        T="qint32", quantization_axis=1, **limits,
    )  # fmt: skip


def _dots() -> Iterator[Case]:
    x, y = _draw((3, 4), "i1"), _draw((4, 5), "i1")
    limits = _attrs("lhs", "rhs") | _attrs("output", least=-(2**31), most=2**31 - 1)
    types = {"Tin": "qint8", "Tout": "qint32"}
    left, right = [floats(0.5), np.int32(3)], [floats(0.25), np.int32(-2)]
    out = [floats(0.1), np.int32(9)]
    yield case("UniformQuantizedDot", x, y, *left, *right, *out, **types, **limits)
    vector = [floats([0.5, 0.25, 2, 1, 0.1]), ints(1, 2, 3, 0, -4)]
    for axis, last in ((-1, out), (1, vector)):
        axes = {"rhs_quantization_axis": 1, "output_quantization_axis": axis}
        yield case("UniformQuantizedDot", x, y, *left, *vector, *last, **types, **limits, **axes)
    yield case("UniformQuantizedDot", x, x, *left, *right, *out, **types, **limits, note="refused")
    types = {"Tlhs": "float32", "Trhs": "qint8", "Tout": "float32", **_attrs("rhs")}
    real = _draw((3, 4), "f4", 5.0)
    real[1] = 0
    for given in (real, abs(real), -abs(real)):
        yield case("UniformQuantizedDotHybrid", given, y, *right, **types)
        yield case("UniformQuantizedDotHybrid", given, y, *vector, **types, rhs_quantization_axis=1)


def _convolutions() -> Iterator[Case]:
    left, right = [floats(0.5), np.int32(3)], [floats(0.25), np.int32(-2)]
    out = [floats(0.3), np.int32(9)]
    limits = _attrs("lhs", "rhs") | _attrs("output", least=-(2**31), most=2**31 - 1)
    types = {"Tin": "qint8", "Tout": "qint32", **limits}
    hybrid = {"Tlhs": "float32", "Trhs": "qint8", "Tout": "float32", **_attrs("rhs")}
    x, y = _draw((2, 4, 5, 6), "i1"), _draw((4, 2, 3, 2), "i1")
    real = _draw((2, 4, 5, 6), "f4", 5.0)
    shapes: list[dict[str, Any]] = [
        {"padding": "SAME"},
        {"padding": "VALID", "window_strides": [2, 1]},
        {"padding": "EXPLICIT", "explicit_padding": [1, 0, 2, 1]},
        {"padding": "SAME", "lhs_dilation": [2, 1], "rhs_dilation": [1, 2]},
    ]
    for attrs in shapes:
        more = {**attrs, "feature_group_count": 2}
        yield case("UniformQuantizedConvolution", x, y, *left, *right, *out, **types, **more)
        yield case("UniformQuantizedConvolutionHybrid", real, y, *right, **hybrid, **more)
    whole = _draw((4, 4, 3, 2), "i1")
    more = {"padding": "VALID", "batch_group_count": 2}
    yield case("UniformQuantizedConvolution", x, whole, *left, *right, *out, **types, **more)
    yield case("UniformQuantizedConvolutionHybrid", real, whole, *right, **hybrid, **more)
    vector = [floats([0.5, 0.25, 2, 1]), ints(1, 2, 3, 0)]
    for axis, last in ((-1, out), (1, vector)):
        axes = {"rhs_quantization_axis": 0, "output_quantization_axis": axis, "padding": "VALID"}
        yield case("UniformQuantizedConvolution", x, whole, *left, *vector, *last, **types, **axes)
    # NHWC and HWIO: field number and value in turn
    pairs = [(1, 0), (2, 3), (3, 1), (3, 2), (4, 2), (5, 3), (6, 0), (6, 1), (7, 0), (8, 3)]
    text = "".join(chr(n << 3) + chr(v) for n, v in [*pairs, (9, 1), (9, 2)])
    more = {"padding": "SAME", "dimension_numbers": text}
    last_x, last_y = x.transpose(0, 2, 3, 1).copy(), whole.transpose(2, 3, 1, 0).copy()
    yield case("UniformQuantizedConvolution", last_x, last_y, *left, *right, *out, **types, **more)
    yield case("UniformQuantizedConvolution", x, y, *left, *right, *out, **types, padding="ODD")


CASES = list(itertools.chain(_single(), _sums(), _dots(), _convolutions()))
