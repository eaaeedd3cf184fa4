"""Golden cases of quantization."""

import itertools
from collections.abc import Iterator

import numpy as np
from drawing import drawer, floats
from oracle import Case, case

_draw = drawer(118, -120, 120)
_TYPES = {"qint8": "i1", "quint8": "u1", "qint16": "i2", "quint16": "u2", "qint32": "i4"}


def _integers() -> Iterator[Case]:
    x = np.concatenate([_draw((40,), scale=2.0), floats([0, 0.5, -0.5, 1.5, 100, -100])])
    for name, mode in itertools.product(_TYPES, ("MIN_COMBINED", "MIN_FIRST", "SCALED")):
        if name == "qint32" and mode != "SCALED":
            continue
        for low, high in [(-3.0, 5.0), (0.0, 6.0), (1.0, 4.0), (-2.0, -1.0)]:
            span = floats(low), floats(high)
            if name != "qint32":  # where TensorFlow's float32 steps overflow the integers
                yield case("QuantizeV2", x, *span, T=name, mode=mode)
            whole = _draw((30,), _TYPES[name])
            yield case("Dequantize", whole, *span, T=name, mode=mode)
    for even, narrow in itertools.product((False, True), (False, True)):
        rounding = "HALF_TO_EVEN" if even else "HALF_AWAY_FROM_ZERO"
        attrs = {"mode": "SCALED", "round_mode": rounding, "narrow_range": narrow}
        yield case("QuantizeV2", x, floats(-2), floats(2), T="qint8", **attrs)
        more = {"mode": "SCALED", "narrow_range": narrow}
        yield case("Dequantize", _draw((9,), "i1"), floats(-2), floats(2), T="qint8", **more)
    grid, low, high = _draw((2, 3, 4)), floats([-1, -2, -3]), floats([1, 3, 2])
    for mode in ("MIN_COMBINED", "SCALED"):
        yield case("QuantizeV2", grid, low, high, T="qint8", mode=mode, axis=1)
        whole = _draw((2, 3, 4), "i1")
        yield case("Dequantize", whole, low, high, T="qint8", mode=mode, axis=1)
    yield case("QuantizeV2", x, floats(3), floats(1), T="qint8", note="refused")
    yield case("QuantizeV2", grid, low, high, T="qint8", note="refused")


def _simulated() -> Iterator[Case]:
    x = _draw((3, 4), scale=2.0)
    for op, signed, given, narrow in itertools.product(
        ("V2", "V3", "V4"), (True, False), (True, False), (True, False)
    ):
        attrs = {"signed_input": signed, "range_given": given, "narrow_range": narrow}
        for bits in (2, 8, 16):
            inputs = [x, floats(-1.5), floats(2.5)]
            if op == "V3":
                inputs.append(np.asarray(bits, np.int32))
            else:
                attrs["num_bits"] = bits
            yield case(f"QuantizeAndDequantize{op}", *inputs, **attrs)
    for rounding in ("HALF_TO_EVEN", "HALF_UP"):
        attrs = {"round_mode": rounding, "range_given": True, "num_bits": 3}
        yield case("QuantizeAndDequantizeV2", x, floats(-2), floats(2), **attrs)
    wide = [x.astype("f8"), floats(-2, "f8"), floats(2, "f8")]
    yield case("QuantizeAndDequantizeV2", *wide, range_given=True)
    yield case("QuantizeAndDequantizeV4Grad", x * 2, x, floats(-2), floats(1))
    spans = floats([-1, -2, -3]), floats([1, 3, 2])
    yield case("QuantizeAndDequantizeV2", x, *spans, axis=0, range_given=False)
    yield case("QuantizeAndDequantizeV2", x, floats(2), floats(1), range_given=True, note="refused")


def _fake() -> Iterator[Case]:
    x, dy = _draw((5, 3), scale=4.0), _draw((5, 3))
    for low, high in [(-6.0, 6.0), (0.0, 1.0), (-0.1, 5.0), (1.0, 3.0), (-4.0, -1.0)]:
        for bits, narrow in itertools.product((2, 8, 16), (False, True)):
            attrs = {"num_bits": bits, "narrow_range": narrow}
            span = floats(low), floats(high)
            yield case("FakeQuantWithMinMaxArgs", x, min=low, max=high, **attrs)
            yield case("FakeQuantWithMinMaxArgsGradient", dy, x, min=low, max=high, **attrs)
            yield case("FakeQuantWithMinMaxVars", x, *span, **attrs)
            yield case("FakeQuantWithMinMaxVarsGradient", dy, x, *span, **attrs)
    lows, highs = floats([-1, -2, 0]), floats([1, 4, 0])
    yield case("FakeQuantWithMinMaxVarsPerChannel", x, lows, highs)
    yield case("FakeQuantWithMinMaxVarsPerChannelGradient", dy, x, lows, highs)
    yield case("FakeQuantWithMinMaxVars", x, floats(0), floats(0))
    yield case("FakeQuantWithMinMaxVarsGradient", dy, x, floats(0), floats(0))
    yield case("FakeQuantWithMinMaxVarsPerChannel", x, lows[:2], highs[:2], note="refused")
    yield case("FakeQuantWithMinMaxVarsGradient", dy[:2], x, floats(0), floats(1), note="refused")


CASES: list[Case] = [*_integers(), *_simulated(), *_fake()]
