"""Golden cases of the layers over quantized tensors."""

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
from drawing import drawer, floats, ints
from oracle import Case, case

_draw = drawer(401, -128, 128)
_U8 = {"T1": "quint8", "T2": "quint8"}
_SPANS = [(0.0, 255.0), (-1.0, 1.0), (-3.7, 0.9), (0.0, 6.0), (-0.01, 1234.5)]
_WIDE = [(-1000.0, 1000.0), (0.0, 5e6), (-7.5, 3.25)]
_I32 = np.random.default_rng(402)


def _u8(*shape: int) -> Any:
    return np.random.default_rng(sum(shape) + 403).integers(0, 256, shape).astype(np.uint8)


def _i32(*shape: int) -> Any:
    return (_I32.integers(-(2**31), 2**31, shape) >> _I32.integers(0, 24, shape)).astype(np.int32)


def _span(low: float, high: float) -> tuple[Any, Any]:
    return floats(low), floats(high)


def _moves() -> Iterator[Case]:
    x = np.concatenate([_i32(40), ints(0, 1, -1, 2**31 - 1, -(2**31))]).astype(np.int32)
    for low, high in _WIDE:
        attrs = {"Tinput": "qint32", "out_type": "quint8"}
        yield case("QuantizeDownAndShrinkRange", x, *_span(low, high), **attrs)
        yield case("QuantizeDownAndShrinkRange", abs(x[:9]) + 5, *_span(low, high), **attrs)
        yield case("RequantizationRange", x, *_span(low, high), Tinput="qint32")
        yield case("RequantizationRange", abs(x[:9]), *_span(low, high), Tinput="qint32")
        for out, new in itertools.product(("quint8", "qint8"), [(-1.0, 1.0), (0.0, 6.0), (0, 0)]):
            more = {"Tinput": "qint32", "out_type": out}
            yield case("Requantize", x, *_span(low, high), *_span(*new), **more)
    attrs = {"Tinput": "qint32", "out_type": "quint8"}
    for new in [(0.5, 1.0), (-2.0, -1.0)]:
        yield case("Requantize", x, *_span(-1, 1), *_span(*new), **attrs, note="refused")
    yield case("QuantizeDownAndShrinkRange", x[:0], *_span(-1, 1), **attrs)
    yield case("RequantizationRange", x[:0], *_span(-1, 1), Tinput="qint32")
    image = _i32(2, 3, 2, 4)
    lows, highs = floats([-1, -2, -3, 0]), floats([1, 1, 9, 4])
    for out, new in itertools.product(("quint8", "qint8"), [(-1.0, 1.0), (-0.5, 6.0)]):
        more = {"T": "qint32", "out_type": out}
        yield case("RequantizePerChannel", image, lows, highs, *_span(*new), **more)
    for clip in (6.0, 0.5):
        for given in (image, abs(image)):
            more = {"T": "qint32", "clip_value_max": clip}
            yield case("RequantizationRangePerChannel", given, lows, highs, **more)
    yield case(
        "RequantizePerChannel", image, lows, highs, *_span(0, 1), T="qint32", out_type="qint8",
        note="refused",
    )  # fmt: skip
    more = {"T": "qint32", "clip_value_max": 1.0}
    yield case("RequantizationRangePerChannel", image[0], lows, highs, **more, note="refused")
    yield case("RequantizationRangePerChannel", image, lows[:3], highs, **more, note="refused")


def _sums() -> Iterator[Case]:
    shapes: list[tuple[Any, Any]] = [
        ((2, 3), (2, 3)), ((), (4,)), ((4,), ()), ((2, 5), (5,)), ((5,), (2, 5)), ((1,), (1,)),
    ]  # fmt: skip
    for op in ("QuantizedAdd", "QuantizedMul"):
        for (a, b), (x, y) in itertools.product(shapes, zip(_SPANS, _SPANS[::-1], strict=True)):
            ends = (*_span(*x), *_span(*y))
            yield case(op, _u8(*a), _u8(*b), *ends, **_U8, Toutput="qint32")
        ends = (*_span(1, 1), *_span(0, 1))
        yield case(op, _u8(2), _u8(2), *ends, **_U8, Toutput="qint32", note="refused")
        ends = (*_span(0, 1), *_span(0, 1))
        yield case(op, _u8(2), _u8(3), *ends, **_U8, Toutput="qint32", note="refused")
    for flip_a, flip_b, (x, y) in itertools.product(
        (False, True), (False, True), itertools.pairwise(_SPANS)
    ):
        flips = {"transpose_a": flip_a, "transpose_b": flip_b}
        a, b = _u8(*((4, 3) if flip_a else (3, 4))), _u8(*((5, 4) if flip_b else (4, 5)))
        ends = (*_span(*x), *_span(*y))
        yield case("QuantizedMatMul", a, b, *ends, **_U8, Toutput="qint32", **flips)
    ends = (*_span(0, 1), *_span(0, 1))
    yield case("QuantizedMatMul", _u8(2, 3), _u8(2, 3), *ends, **_U8, note="refused")
    for kind, (x, y) in itertools.product(("quint8", "qint8"), itertools.pairwise(_SPANS)):
        draw = "u1" if kind == "quint8" else "i1"
        types = {"T1": kind, "T2": kind, "out_type": "qint32"}
        ends = (*_span(*x), *_span(*y))
        for shape in [(3, 4), (2, 2, 3, 4)]:
            yield case("QuantizedBiasAdd", _draw(shape, draw), _draw((4,), draw), *ends, **types)
    types = {"T1": "quint8", "T2": "quint8", "out_type": "qint32"}
    yield case("QuantizedBiasAdd", _u8(3, 4), _u8(3), *ends, **types, note="refused")


def _activations() -> Iterator[Case]:
    for op, kind in itertools.product(("QuantizedRelu", "QuantizedRelu6"), ("quint8", "qint32")):
        x = _u8(30) if kind == "quint8" else _i32(30)
        for span in [*_SPANS, (1.0, 2.0), (-3.0, -1.0), (8.0, 9.0), (2.0, 2.0)]:
            yield case(op, x, *_span(*span), Tinput=kind, out_type=kind)
    for kind in ("quint8", "qint32"):
        x = _u8(2, 6) if kind == "quint8" else _i32(2, 6)
        yield case("QuantizedReshape", x, ints(3, -1), *_span(0, 1), T=kind, Tshape="int32")
        yield case("QuantizedReshape", x, ints(5, -1), *_span(0, 1), T=kind, note="refused")
    for op, kind, padding in itertools.product(
        ("QuantizedAvgPool", "QuantizedMaxPool"), ("quint8", "qint8"), ("SAME", "VALID")
    ):
        x = _draw((2, 5, 4, 3), "u1" if kind == "quint8" else "i1")
        for size, stride in [(2, 1), (3, 2), (1, 1)]:
            attrs = {"ksize": [1, size, size, 1], "strides": [1, stride, stride, 1]}
            yield case(op, x, *_span(-1, 1), T=kind, padding=padding, **attrs)
    attrs = {"ksize": [2, 1, 1, 1], "strides": [1, 1, 1, 1], "padding": "VALID"}
    yield case("QuantizedAvgPool", _u8(2, 2, 2, 1), *_span(0, 1), T="quint8", **attrs)


def _joined() -> Iterator[Case]:
    for kind, op in [
        ("quint8", "QuantizedConcat"), ("qint32", "QuantizedConcat"),
    ]:  # fmt: skip
        make = _u8 if kind == "quint8" else _i32
        parts = [make(2, 3), make(2, 3)]
        for axis, (x, y) in itertools.product((0, 1), itertools.pairwise(_SPANS)):
            ends = [floats(x[0]), floats(y[0]), floats(x[1]), floats(y[1])]
            yield case(op, np.int32(axis), *parts, *ends, T=kind, N=2)
    ends = [floats(0), floats(0), floats(1), floats(1)]
    wrong = [_u8(2, 3), _u8(2, 4)]
    yield case("QuantizedConcat", np.int32(0), *wrong, *ends, T="quint8", N=2, note="refused")
    yield case("QuantizedConcat", np.int32(5), *wrong, *ends, T="quint8", N=2, note="refused")


def _normed() -> Iterator[Case]:
    x = _u8(2, 3, 4, 5)
    for span in _SPANS:
        yield case("QuantizedInstanceNorm", x, *_span(*span), T="quint8")
        attrs = {"output_range_given": True, "given_y_min": -2.0, "given_y_max": 1.5}
        yield case("QuantizedInstanceNorm", x, *_span(*span), T="quint8", **attrs)
    attrs = {"min_separation": 9.0, "variance_epsilon": 0.1}
    yield case("QuantizedInstanceNorm", x, *_span(0, 1), T="quint8", **attrs)
    yield case("QuantizedInstanceNorm", x, *_span(1, 1), T="quint8", note="refused")
    vector = [_u8(5), _u8(5) | 64, _u8(5), _u8(5)]
    spans = [(-1.0, 1.0), (0.0, 9.0), (-2.0, 3.0), (0.5, 4.0)]
    pairs = zip(vector, spans, strict=True)
    rest = [item for v, span in pairs for item in (v, *_span(*span))]
    for scaled in (False, True):
        attrs = {
            "Tinput": "quint8", "out_type": "qint32", "variance_epsilon": 0.01,
            "scale_after_normalization": scaled,
        }  # fmt: skip
        op = "QuantizedBatchNormWithGlobalNormalization"
        yield case(op, x, *_span(-3, 3), *rest, **attrs)
    yield case(op, x[0], *_span(-3, 3), *rest, **attrs, note="refused")


def _resized() -> Iterator[Case]:
    for kind, channels in itertools.product(("quint8", "float32"), (1, 2, 3)):
        x = _u8(2, 3, 4, channels) if kind == "quint8" else _draw((2, 3, 4, channels))
        for corners, half in [(False, False), (True, False), (False, True)]:
            for size in (ints(5, 9), ints(2, 2), ints(3, 4)):
                attrs = {"T": kind, "align_corners": corners, "half_pixel_centers": half}
                yield case("QuantizedResizeBilinear", x, size, *_span(0, 1), **attrs)
    yield case("QuantizedResizeBilinear", x, ints(0, 2), *_span(0, 1), T=kind, note="refused")


def _convolved() -> Iterator[Case]:
    types = {"Tinput": "quint8", "Tfilter": "quint8", "out_type": "qint32"}
    x, filters = _u8(2, 5, 6, 3), _u8(3, 2, 3, 4)
    for padding, stride, (a, b) in itertools.product(
        ("SAME", "VALID"), (1, 2), itertools.pairwise(_SPANS)
    ):
        attrs = {"strides": [1, stride, stride, 1], "padding": padding, **types}
        yield case("QuantizedConv2D", x, filters, *_span(*a), *_span(*b), **attrs)
    attrs = {"strides": [1, 1, 1, 1], "padding": "SAME", **types}
    yield case("QuantizedConv2D", x, filters[:, :, :2], *_span(0, 1), *_span(0, 1), **attrs)
    yield case("QuantizedConv2D", x, filters, *_span(0, 1), floats([0]), floats(1), **attrs)


CASES = [
    *_moves(), *_sums(), *_activations(), *_joined(), *_normed(), *_resized(), *_convolved(),
]  # fmt: skip
