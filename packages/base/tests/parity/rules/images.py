"""Images, boxes, quantization, random numbers, audio."""

from typing import Any

import numpy as np

from parity.draft import Draft, Drawer, Rule
from parity.drawers import below, choice, fixed, integers, like, shaped, some, unit

_IMAGE = {"b": (0, 2), "h": (1, 6), "w": (1, 6), "c": (1, 4)}
_CORNERS = {
    "align_corners": lambda d: d.chance(0.3),
    "half_pixel_centers": lambda d: not d["align_corners"] and d.chance(0.4),
    "size": integers("2", 1, 8),
}
_RESIZE_TYPES = (
    "float32",
    "uint8",
    "int32",
    "float64",
    "float16",
    "bfloat16",
    "int8",
    "int64",
    "uint16",
    "int16",
)


def _boxes(spec: str) -> Drawer:
    """Corners in order, sometimes swapped."""

    def draw(d: Draft) -> Any:
        low = d.rng.uniform(0, 1, (*d.shape(spec), 2))
        high = low + d.rng.uniform(0, 1, low.shape)
        out = np.concatenate([low, high] if not d.chance(0.1) else [high, low], -1)
        return out.astype(d.dtype(d.making).np)

    return draw


def _rgb(low: float, high: float) -> Drawer:
    def draw(d: Draft) -> Any:
        shape = (*d.any_shape(3), 3)
        return d.rng.uniform(low, high, shape).astype(d.dtype(d.making).np)

    return draw


_RANGES = {
    "min_range": unit("", -9, 0),
    "max_range": unit("", 0, 9),
    "min": unit("", -9, 0),
    "max": unit("", 0, 9),
    "input_min": unit("", -9, 0),
    "input_max": unit("", 0, 9),
}
_FAKE = {"num_bits": choice(8, 8, 2, 4, 16), "min": unit("", -9, 0), "max": unit("", 0, 9)}
_FAKE_ARGS = {"num_bits": choice(8, 2, 16), "min": choice(-6.0, -1.0, 0.0), "max": choice(6.0, 1.0)}
_CHANNEL = {
    "inputs": shaped("... c", False),
    "gradients": shaped("... c", False),
    "min": unit("c", -9, 0),
    "max": unit("c", 0.1, 9),
    "num_bits": choice(8, 2, 16),
}


def _codes(d: Draft) -> Any:
    kind = {"qint8": "i1", "quint8": "u1", "qint16": "i2", "quint16": "u2", "qint32": "i4"}[d["T"]]
    bounds = np.iinfo(kind)
    low, high = (bounds.min, bounds.max) if kind[1] != "4" else (-1000, 1000)
    return d.rng.integers(low, high, d.any_shape(3), endpoint=True).astype(kind)


_QUANTIZED = choice("qint8", "quint8", "qint16", "quint16")


def seed(d: Draft) -> Any:
    """Two seeds."""
    return d.rng.integers(0, 2**31 - 1, 2).astype(d.dtype("seed").np)


_SHAPE = {"shape": lambda d: np.array(d.any_shape(3), np.int64).astype(d.dtype("shape").np)}
_STATELESS = _SHAPE | {"seed": seed}
KEYED = _SHAPE | {
    "key": lambda d: d.rng.integers(0, 2**63, 1).astype(np.uint64),
    "counter": lambda d: d.rng.integers(0, 2**63, 2).astype(np.uint64),
    "alg": lambda d: np.array(d.pick(1, 1, 1, 2), np.int32),
}
_BETWEEN = {"minval": integers("", 0, 3), "maxval": integers("", 4, 99)}

RULES: dict[str, Rule] = {
    "ResizeBilinear ResizeBicubic ResizeArea ResizeNearestNeighbor": Rule(
        _CORNERS | {"images": shaped("b h w c")},
        dims=_IMAGE,
        special=False,
        types=_RESIZE_TYPES,
        tol=10,
        why="coordinates are rounded elsewhere",
    ),
    "ResizeBilinearGrad ResizeBicubicGrad": Rule(
        _CORNERS | {"original_image": shaped("b h w c"), "grads": shaped("b u v c")},
        dims=_IMAGE | {"u": (1, 6), "v": (1, 6)},
        special=False,
        tol={"float32": 10, "float64": 1e4},
        why="sums in another order; weights in float32",
    ),
    "ResizeNearestNeighborGrad": Rule(
        _CORNERS | {"grads": shaped("b h w c")}, dims=_IMAGE, special=False, tol=10
    ),
    "CropAndResize": Rule(
        {
            "image": shaped("b h w c"),
            "boxes": _boxes("n"),
            "box_ind": below("b", "n"),
            "crop_size": integers("2", 1, 5),
        },
        dims=_IMAGE | {"b": (1, 2), "n": (0, 3)},
        special=False,
        tol=10,
        why="coordinates are rounded elsewhere",
        types=("float32", "uint8", "float64", "float16"),
    ),
    "CropAndResizeGradImage": Rule(
        {
            "grads": shaped("n h w c"),
            "boxes": _boxes("n"),
            "box_ind": below(2, "n"),
            "image_size": lambda d: np.array([2, 4, 5, d.dim("c")], np.int32),
        },
        dims=_IMAGE | {"n": (0, 3)},
        special=False,
        tol=10,
        why="sums in another order",
    ),
    "CropAndResizeGradBoxes": Rule(
        {
            "grads": shaped("n h w c"),
            "image": shaped("2 4 5 c"),
            "boxes": _boxes("n"),
            "box_ind": below(2, "n"),
        },
        dims=_IMAGE | {"n": (0, 3)},
        special=False,
        tol=20,
        why="sums in another order",
        types=("float32", "uint8", "float64"),
    ),
    "RGBToHSV HSVToRGB": Rule({"images": _rgb(0, 1)}, tol=20, why="hue from differences"),
    "AdjustHue AdjustSaturation": Rule(
        {"images": _rgb(0, 1), "delta": unit("", -1, 1), "scale": unit("", 0, 2)},
        tol=50,
        why="hue from differences",
    ),
    "AdjustContrastv2": Rule(
        {"images": some(4, 3), "contrast_factor": unit("", -1, 2)}, special=False, tol=10
    ),
    "NonMaxSuppression NonMaxSuppressionV2 NonMaxSuppressionV3 NonMaxSuppressionV4 "
    "NonMaxSuppressionV5": Rule(
        {
            "boxes": _boxes("n"),
            "scores": unit("n"),
            "max_output_size": integers("", 0, 5),
            "iou_threshold": lambda d: _threshold(d),
            "score_threshold": unit("", 0, 0.7),
            "soft_nms_sigma": unit("", 0, 0.6),
        },
        dims={"n": (0, 7)},
        special=False,
    ),
    "NonMaxSuppressionWithOverlaps": Rule(
        {
            "overlaps": unit("n n"),
            "scores": unit("n"),
            "max_output_size": integers("", 0, 5),
            "overlap_threshold": unit("", 0, 1),
            "score_threshold": unit("", 0, 0.7),
        },
        dims={"n": (0, 7)},
    ),
    "FakeQuantWithMinMaxArgs FakeQuantWithMinMaxArgsGradient": Rule(
        _FAKE_ARGS | {"inputs": lambda d: like("gradients")(d) if "gradients" in d else some(3)(d)},
        special=False,
    ),
    "FakeQuantWithMinMaxVars": Rule(_FAKE, special=False),
    "FakeQuantWithMinMaxVarsGradient": Rule(_FAKE | {"inputs": like("gradients")}, special=False),
    "FakeQuantWithMinMaxVarsPerChannel FakeQuantWithMinMaxVarsPerChannelGradient": Rule(
        _CHANNEL, special=False, dims={"c": (1, 4)}
    ),
    "QuantizeAndDequantizeV2 QuantizeAndDequantizeV3 QuantizeAndDequantizeV4": Rule(
        {
            "input_min": unit("", -9, 0),
            "input_max": unit("", 0.5, 9),
            "num_bits": lambda d: _bits(d),
            "axis": fixed(-1),
        },
        special=False,
    ),
    "QuantizeV2": Rule(_RANGES | {"T": _QUANTIZED, "axis": fixed(-1)}, special=False),
    "Dequantize": Rule(_RANGES | {"T": _QUANTIZED, "input": _codes, "axis": fixed(-1)}),
    "StatelessRandomNormal StatelessRandomUniform StatelessTruncatedNormal "
    "StatelessRandomUniformFullInt": Rule(_STATELESS),
    "StatelessRandomUniformInt": Rule(_STATELESS | _BETWEEN),
    "StatelessRandomNormalV2 StatelessRandomUniformV2 StatelessTruncatedNormalV2 "
    "StatelessRandomUniformFullIntV2": Rule(KEYED),
    "StatelessRandomUniformIntV2": Rule(KEYED | _BETWEEN),
    "StatelessShuffle": Rule({k: v for k, v in KEYED.items() if k != "shape"}),
    "StatelessMultinomial": Rule(
        {"logits": shaped("n c", False), "num_samples": integers("", 0, 5), "seed": seed},
        dims={"c": (1, 5), "n": (0, 3)},
    ),
    "StatelessRandomGetKeyCounter StatelessRandomGetKeyCounterAlg": Rule({"seed": seed}),
}


def _threshold(d: Draft) -> Any:
    if "iou_threshold" in d.op.attrs:
        return d.pick(0.0, 0.3, 0.5, 1.0)
    return unit("", 0, 1)(d)


def _bits(d: Draft) -> Any:
    bits = d.pick(8, 8, 4, 12)
    return bits if "num_bits" in d.op.attrs else np.array(bits, np.int32)
