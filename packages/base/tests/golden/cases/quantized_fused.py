"""Golden cases of the quantized layers that oneDNN runs: TF_ENABLE_ONEDNN_OPTS=1."""

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
from drawing import drawer, floats
from oracle import Case, case

_draw = drawer(801, -128, 128)
_SPAN = [floats(-1.0), floats(1.5)]
_BIAS = floats([300, -40, 5, 0.25])


def _u8(*shape: int) -> Any:
    return np.random.default_rng(sum(shape)).integers(0, 256, shape).astype(np.uint8)


def _types(out: str, kind: str = "quint8", **more: Any) -> dict[str, Any]:
    return {"Tinput": kind, "Tfilter": "qint8", "out_type": out, **more}


def _plain() -> Iterator[Case]:
    filters = _draw((3, 2, 3, 4), "i1")
    deep = _draw((3, 2, 3, 1), "i1")
    given = [floats(0), floats(6), *_SPAN]
    # Of int32 outputs TensorFlow 2.21 scales those of narrower filters down, but not their ranges.
    vector = [floats(0), floats(6), floats([-2, -2, -0.5, 0]), floats([1, 2, 2, 2])]
    for padding, stride in (("SAME", 1), ("VALID", 2)):
        attrs = {"strides": [1, stride, stride, 1], "padding": padding, **_types("qint32")}
        x = _u8(2, 6, 5, 3)
        for op in ("QuantizedConv2D", "QuantizedConv2DAndRelu", "QuantizedConv2DPerChannel"):
            ends = vector if op.endswith("PerChannel") else given
            yield case(op, x, filters, *ends, **attrs)
        for relu in ("", "AndRelu"):
            yield case(f"QuantizedConv2DWithBias{relu}", x, filters, _BIAS, *given, **attrs)
            yield case(f"QuantizedConv2DWithBias{relu}", x, filters, _BIAS, *vector, **attrs)
        yield case("QuantizedDepthwiseConv2D", x, deep, *given, **attrs)
        for relu in ("", "AndRelu"):
            op = f"QuantizedDepthwiseConv2DWithBias{relu}"
            yield case(op, x, deep, _BIAS[:3], *given, **attrs)


def _requantized() -> Iterator[Case]:
    filters, x = _draw((3, 2, 3, 4), "i1"), _u8(2, 6, 5, 3)
    given, end = [floats(0), floats(6), *_SPAN], [floats(-900), floats(1100)]
    vector = [floats(0), floats(6), floats([-1, -2, -0.5, -1]), floats([1, 1, 0.75, 2])]
    base = {"strides": [1, 1, 1, 1], "padding": "SAME"}
    yield case("QuantizedConv2DAndRequantize", x, filters, *given, *end, **base, **_types("qint8"))
    op = "QuantizedConv2DAndReluAndRequantize"
    yield case(op, x, filters, *given, *end, **base, **_types("quint8"))
    whole = (_BIAS * 100).astype(np.int32)
    for kind, bias in (("float32", _BIAS), ("qint32", whole)):
        for ends in (given, vector):
            more = {**base, **_types("qint8", Tbias=kind)}
            op = "QuantizedConv2DWithBiasAndRequantize"
            yield case(op, x, filters, bias, *ends, *end, **more)
            more = {**base, **_types("quint8", Tbias=kind)}
            op = "QuantizedConv2DWithBiasAndReluAndRequantize"
            yield case(op, x, filters, bias, *ends, *end, **more)
    more = {**base, **_types("quint8", Tbias="float32")}
    op = "QuantizedDepthwiseConv2DWithBiasAndReluAndRequantize"
    yield case(op, x, _draw((3, 2, 3, 1), "i1"), _BIAS[:3], *given, *end, **more)


def _joined() -> Iterator[Case]:
    # Unsigned only in one range: TensorFlow 2.21 divides ranges as whole numbers there.
    spans = [(0.0, 255.0), (-1.0, 1.0), (-3.7, 0.9), (0.0, 6.0)]
    for kind, pairs in (
        ("qint8", list(itertools.pairwise(spans))),
        ("quint8", [(spans[3], spans[3])]),
    ):
        for axis, ((a, b), (c, d)) in itertools.product((0, 1), pairs):
            parts = [_draw((2, 3), "u1" if kind == "quint8" else "i1") for _ in range(2)]
            ends = [floats(a), floats(c), floats(b), floats(d)]
            attrs = {"T": kind, "N": 2, "Tidx": "int32"}
            yield case("QuantizedConcatV2", *parts, np.int32(axis), *ends, **attrs)


def _products() -> Iterator[Case]:
    a, b = _u8(3, 6), _draw((6, 4), "i1")
    types = {"T1": "quint8", "T2": "qint8"}
    end = [floats(-30), floats(40)]
    whole = (_BIAS * 100).astype(np.int32)
    # Ranges from 0 only: TensorFlow 2.21 scales the share of another lower end twice.
    given = [floats(0), floats(6), floats(-1), floats(1)]
    for mode in ("MIN_FIRST", "SCALED"):
        attrs = {**types, "input_quant_mode": mode}
        for relu in ("", "AndRelu"):
            op = f"QuantizedMatMulWithBias{relu}"
            more = {} if relu else {"Tbias": "float32"}
            yield case(op, a, b, _BIAS, *given, **attrs, **more, Toutput="qint32")
            for kind, bias in (("float32", _BIAS), ("qint32", whole)):
                more = {"Tbias": kind, "Toutput": "quint8"}
                yield case(f"{op}AndRequantize", a, b, bias, *given, *end, **attrs, **more)
        more = {"Tbias": "float32", "Toutput": "float32"}
        op = "QuantizedMatMulWithBiasAndDequantize"
        yield case(op, a, b, _BIAS, *given, *end, **attrs, **more)


CASES = [*_plain(), *_requantized(), *_joined(), *_products()]
