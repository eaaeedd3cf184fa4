"""Layers over quantized tensors: integers, and the ranges that they stand for."""

from typing import Any

import numpy as np

from parity.draft import Draft, Drawer, Rule
from parity.drawers import choice, fixed, shaped


def whole(spec: str) -> Drawer:
    """Integers over the whole range of the type, of a shape."""

    def draw(d: Draft) -> Any:
        kind = np.iinfo(d.dtype(d.making).np)
        shape = d.shape(spec)
        if kind.bits == 8:
            return d.rng.integers(kind.min, kind.max + 1, shape).astype(kind.dtype)
        wide = d.rng.integers(-(2**31), 2**31, shape) >> d.rng.integers(0, 20, shape)
        return wide.astype(kind.dtype)

    return draw


def low(d: Draft) -> Any:
    """The lower end of a range, at most 0."""
    return np.float32(d.pick(0.0, -1.0, -abs(d.rng.normal()) * d.pick(0.1, 1, 100)))


def high(d: Draft) -> Any:
    """The upper end of a range, above 0."""
    return np.float32(d.pick(1.0, 6.0, 0.01 + abs(d.rng.normal()) * d.pick(0.1, 1, 100)))


def _ends(*names: str) -> dict[str, Drawer]:
    """Drawers for pairs of range inputs, named in turn."""
    return {name: (high if k % 2 else low) for k, name in enumerate(names)}


_X = _ends("min_x", "max_x", "min_y", "max_y")
_INPUT = _ends("input_min", "input_max")
_FEATURES = _ends("min_features", "max_features")
_U8 = {"T1": fixed("quint8"), "T2": fixed("quint8"), "Toutput": fixed("qint32")}
_EITHER = choice("quint8", "qint8")


def _pooled(d: Draft) -> Any:
    size = d.size(1, 3)
    return [1, size, size, 1]


def _strides(d: Draft) -> Any:
    step = d.size(1, 2)
    return [1, step, step, 1]


def _matrix(rows: str, columns: str, flag: str) -> Drawer:
    return lambda d: whole(f"{columns} {rows}" if d[flag] else f"{rows} {columns}")(d)


def _kind_like(other: str) -> Drawer:
    return lambda d: d[other]


_BATCH_NORM = {
    f"{name}{end}": draw
    for name, channels in (("t", ""), ("m", "c"), ("v", "c"), ("beta", "c"), ("gamma", "c"))
    for end, draw in (
        ("", whole(channels or "b h w c")),
        ("_min", fixed(np.float32(0)) if name == "v" else low),
        ("_max", high),
    )
}

RULES: dict[str, Rule] = {
    "QuantizedAdd QuantizedMul": Rule(
        _U8 | _X | {"x": whole("b c"), "y": whole("c")}, dims={"b": (1, 4), "c": (1, 9)}
    ),
    "QuantizedMatMul": Rule(
        _U8
        | _ends("min_a", "max_a", "min_b", "max_b")
        | {"a": _matrix("m", "k", "transpose_a"), "b": _matrix("k", "n", "transpose_b")}
        | {"Tactivation": fixed("quint8")},
        dims={"k": (1, 9)},  # of empty rows TensorFlow leaves the sums uninitialised
    ),
    "QuantizedBiasAdd": Rule(
        _ends("min_input", "max_input", "min_bias", "max_bias")
        | {"T1": _EITHER, "T2": _kind_like("T1"), "out_type": fixed("qint32")}
        | {"input": whole("b h c"), "bias": whole("c")},
        dims={"c": (1, 5)},
    ),
    "QuantizedRelu QuantizedRelu6": Rule(
        _FEATURES
        | {
            "features": whole("b h c"),
            "Tinput": choice("quint8", "qint32"),
            "out_type": _kind_like("Tinput"),
        }
    ),
    "QuantizedMaxPool QuantizedAvgPool": Rule(
        _ends("min_input", "max_input")
        | {"input": whole("b h w c"), "T": _EITHER, "ksize": _pooled, "strides": _strides},
        dims={"b": (1, 2), "h": (3, 6), "w": (3, 6), "c": (1, 3)},
    ),
    "QuantizedReshape": Rule(
        _ends("input_min", "input_max")
        | {
            "tensor": whole("2 6"),
            "T": choice("quint8", "qint32"),
            "shape": lambda d: np.array(d.pick([3, 4], [-1], [12, 1], [5, -1]), d["Tshape"]),
        }
    ),
    "QuantizedConcat": Rule(
        {
            "N": fixed(2),
            "T": choice("quint8", "qint32"),
            "concat_dim": lambda d: np.int32(d.pick(0, 1, 1, 2)),
            "values": lambda d: [whole("b c")(d), whole("b c")(d)],
            "input_mins": lambda d: [low(d), low(d)],
            "input_maxes": lambda d: [high(d), high(d)],
        },
        dims={"b": (1, 3), "c": (1, 3)},
    ),
    "QuantizedInstanceNorm": Rule(
        _ends("x_min", "x_max")
        | {"x": whole("b h w c"), "T": fixed("quint8")}
        | {"variance_epsilon": choice(1e-5, 0.1), "min_separation": choice(1e-3, 0.5)},
        dims={"b": (1, 2), "h": (2, 5), "w": (2, 5), "c": (1, 3)},
        why="means in another order",
        spoil=False,
    ),
    "QuantizedBatchNormWithGlobalNormalization": Rule(
        _BATCH_NORM
        | {
            "Tinput": fixed("quint8"),
            "out_type": fixed("qint32"),
            "variance_epsilon": fixed(0.01),
        },
        dims={"b": (1, 2), "h": (1, 3), "w": (1, 3), "c": (1, 4)},
        spoil=False,
    ),
    "QuantizedResizeBilinear": Rule(
        _ends("min", "max")
        | {
            "images": lambda d: (
                d.tensor("images", d.shape("b h w c"), False)
                if d["T"] == "float32"
                else whole("b h w c")(d)
            ),
            "T": choice("quint8", "float32"),
            "size": lambda d: np.array([d.size(1, 8), d.size(1, 8)], np.int32),
            "half_pixel_centers": lambda d: not d["align_corners"] and d.chance(0.5),
        },
        dims={"b": (1, 2), "h": (1, 5), "w": (1, 5), "c": (1, 4)},
    ),
    "QuantizedConv2D": Rule(
        _ends("min_input", "max_input", "min_filter", "max_filter")
        | {
            "Tinput": fixed("quint8"),
            "Tfilter": fixed("quint8"),
            "out_type": fixed("qint32"),
            "input": whole("b h w c"),
            "filter": whole("i j c d"),
            "strides": _strides,
            "dilations": fixed([1, 1, 1, 1]),
        },
        dims={"b": (1, 2), "h": (3, 6), "w": (3, 6), "c": (1, 3)}
        | {"i": (1, 3), "j": (1, 3), "d": (1, 3)},
    ),
    "QuantizeDownAndShrinkRange Requantize": Rule(
        _INPUT
        | _ends("requested_output_min", "requested_output_max")
        | {
            "Tinput": fixed("qint32"),
            "out_type": lambda d: (
                "quint8" if d.op.name != "Requantize" else d.pick("quint8", "qint8")
            ),
            "input": whole("b c"),
        }
    ),
    "RequantizationRange": Rule(_INPUT | {"Tinput": fixed("qint32"), "input": whole("b c")}),
    "RequantizationRangePerChannel": Rule(
        {
            "T": fixed("qint32"),
            "input": whole("b h w c"),
            "input_min": shaped("c", False),
            "input_max": shaped("c", False),
            "clip_value_max": choice(0.5, 6.0),
        },
        dims={"b": (1, 2), "h": (1, 3), "w": (1, 3), "c": (1, 4)},
    ),
    "RequantizePerChannel": Rule(
        _ends("requested_output_min", "requested_output_max")
        | {
            "T": fixed("qint32"),
            "out_type": _EITHER,
            "input": whole("b h w c"),
            "input_min": shaped("c", False),
            "input_max": shaped("c", False),
        },
        dims={"b": (1, 2), "h": (1, 3), "w": (1, 3), "c": (1, 4)},
    ),
}
