"""Image files, boxes, glimpses, transforms, random parts, fused nodes, fractional pooling."""

from typing import Any

import numpy as np
from image_files import FRAMES, bmp, gif, jpeg, png, webp

from parity.draft import Draft, Drawer, Rule
from parity.drawers import choice, integers, shaped, unit

_FORMS = ((0, 1), (0, 2), (0, 4), (0, 8), (0, 16), (2, 8), (2, 16), (3, 1), (3, 2), (3, 4), (3, 8),
          (4, 8), (4, 16), (6, 8), (6, 16))  # fmt: skip


def _made(d: Draft, kind: str) -> bytes:
    """A file of a format; JPEG and WebP ones are few."""
    if kind == "png":
        color, depth = d.pick(*_FORMS)
        return png(d.size(1, 12), d.size(1, 12), depth, color, interlace=d.chance(0.3))
    if kind == "gif":
        return gif(FRAMES[: d.size(1, 4)])
    if kind == "bmp":
        return bmp(d.pick(-3, 1, 5), d.size(1, 9), d.pick(8, 24, 32))
    return jpeg(d.pick("rgb", "full", "gray", "cmyk")) if kind == "jpeg" else webp("rgba")


def _file(*kinds: str) -> Drawer:
    """The bytes of a file of one of these formats, sometimes cut."""

    def draw(d: Draft) -> Any:
        kind = d.pick(*kinds)
        data = _made(d, kind)
        if kind in ("png", "bmp") and d.chance(0.1):
            data = data[: d.size(0, len(data))]
        out = np.empty((), object)
        out[()] = data
        return out

    return draw


def _matrices(d: Draft) -> Any:
    base = np.array([1, 0, 0, 0, 1, 0, 0, 0])
    spread = np.array([0.5, 0.5, 3, 0.5, 0.5, 3, 0.02, 0.02])
    shape = (d.pick(1, d.dim("b")), 8)
    return (base + d.rng.normal(size=shape) * spread).astype(np.float32)


def _paddings(d: Draft) -> Any:
    out = np.zeros((4, 2), np.int32)
    out[1:3] = d.rng.integers(0, 3, (2, 2))
    return out


def _cuts(d: Draft) -> Any:
    """Where windows begin, and the last ends: a rising sequence within 6 elements."""
    windows = d.dim("u" if d.making.startswith("row") else "v")
    inner = np.sort(d.rng.permutation(np.arange(1, 6))[: windows - 1])
    return np.concatenate([[0], inner, [6]]).astype(np.int64)


def _pooled(d: Draft) -> Any:
    """What ``orig_input`` pools to; now and then not."""
    x, last = d["orig_input"], int(d["overlapping"])
    rows, columns = d["row_pooling_sequence"], d["col_pooling_sequence"]
    out = d.tensor("orig_output", (len(x), d.dim("u"), d.dim("v"), x.shape[3])).copy()
    if not d.chance(0.05):
        for i, j in np.ndindex(*out.shape[1:3]):
            cell = x[:, rows[i] : rows[i + 1] + last, columns[j] : columns[j + 1] + last]
            out[:, i, j] = cell.max((1, 2))
    return out


def _ratio(d: Draft) -> Any:
    return [1.0, *(float(np.float32(d.rng.uniform(1, 3))) for _ in range(2)), 1.0]


def _seed(d: Draft) -> Any:
    return d.rng.integers(0, 2**31 - 1, 2).astype(d.dtype("seed").np)


def _corners(d: Draft) -> Any:
    low = d.rng.uniform(0, 0.6, (1, d.dim("n"), 2))
    high = low + d.rng.uniform(0, 0.4, low.shape)
    return np.concatenate([low, high], -1).astype(np.float32)


_CHANNELS = {"channels": choice(0, 0, 1, 3, 4)}
_CONV = {
    "paddings": _paddings,
    "filter": shaped("p q c o"),
    "mode": choice("REFLECT", "SYMMETRIC"),
    "strides": lambda d: [1, d.size(1, 3), d.size(1, 3), 1],
}
_CONV_DIMS = {"h": (3, 6), "w": (3, 6), "c": (1, 3), "p": (1, 3), "q": (1, 3), "o": (1, 3)}
_POOLED = {"b": (1, 2), "h": (6, 9), "w": (6, 9), "c": (1, 3)}
_GRADS = {
    "orig_input": shaped("b 6 6 c"),
    "orig_output": _pooled,
    "out_backprop": shaped("b u v c"),
    "orig_input_tensor_shape": lambda d: np.array([d.dim("b"), 6, 6, d.dim("c")], np.int64),
    "row_pooling_sequence": _cuts,
    "col_pooling_sequence": _cuts,
}
_GRAD_DIMS = {"b": (1, 2), "c": (1, 3), "u": (1, 5), "v": (1, 5)}

RULES: dict[str, Rule] = {
    "DecodePng": Rule(_CHANNELS | {"contents": _file("png", "png", "png", "gif", "bmp")}),
    "DecodeImage": Rule(_CHANNELS | {"contents": _file("png", "gif", "bmp", "jpeg")}),
    "DecodeBmp": Rule(_CHANNELS | {"contents": _file("bmp", "bmp", "bmp", "png")}),
    "DecodeGif": Rule({"contents": _file("gif", "gif", "png", "jpeg")}),
    "DecodeWebP": Rule(_CHANNELS | {"contents": _file("webp")}),
    "DecodeJpeg": Rule(
        {
            "contents": _file("jpeg"),
            "channels": choice(0, 1, 3),
            "ratio": choice(1, 2, 4),
            "dct_method": choice("", "INTEGER_FAST", "INTEGER_ACCURATE"),
            "acceptable_fraction": choice(1.0),
        }
    ),
    "ExtractJpegShape": Rule({"contents": _file("jpeg")}),
    "DrawBoundingBoxes DrawBoundingBoxesV2": Rule(
        {
            "images": shaped("b h w c"),
            "boxes": unit("b n 4", -0.3, 1.3),
            "colors": shaped("k 4"),
        },
        dims={"b": (0, 2), "h": (1, 9), "w": (1, 9), "c": (3, 4), "n": (0, 4), "k": (0, 3)},
    ),
    "ExtractGlimpse ExtractGlimpseV2": Rule(
        {
            "input": shaped("b h w c"),
            "size": integers("2", 1, 7),
            "offsets": lambda d: unit("b 2", -1, 1)(d) * np.float32(d.pick(1, 1, 6)),
            "uniform_noise": choice(False),
            "noise": choice("zero"),
        },
        dims={"b": (0, 2), "h": (1, 7), "w": (1, 7), "c": (1, 3)},
    ),
    "ImageProjectiveTransformV2 ImageProjectiveTransformV3": Rule(
        {
            "images": shaped("b h w c"),
            "transforms": _matrices,
            "output_shape": integers("2", 1, 8),
            "fill_value": unit("", 0, 9),
            "fill_mode": choice("CONSTANT", "REFLECT", "WRAP", "NEAREST"),
            "interpolation": choice("NEAREST", "BILINEAR"),
        },
        dims={"b": (1, 3), "h": (1, 7), "w": (1, 7), "c": (1, 3)},
        special=False,
        tol=100,
        why="coordinates are rounded elsewhere, and lie far outside where rays are parallel",
    ),
    "StatelessSampleDistortedBoundingBox": Rule(
        {
            "image_size": integers("3", 1, 120),
            "bounding_boxes": _corners,
            "min_object_covered": unit("", 0, 1),
            "seed": _seed,
            "aspect_ratio_range": choice([0.75, 1.33], [1.0, 1.0], [0.5, 2.0]),
            "area_range": choice([0.05, 1.0], [0.3, 0.6]),
            "max_attempts": choice(1, 20, 100),
        },
        dims={"n": (0, 3)},
    ),
    "FusedPadConv2D": Rule(
        _CONV | {"input": shaped("1 h w c")},
        dims=_CONV_DIMS,
        special=False,
        tol=10,
        why="sums in another order",
    ),
    "FusedResizeAndPadConv2D": Rule(
        _CONV | {"input": shaped("1 h w c"), "size": integers("2", 3, 8)},
        dims=_CONV_DIMS,
        special=False,
        tol={"float32": 50, "float64": 1e5, "float16": 3},
        why="sums in another order; coordinates are rounded elsewhere",
    ),
    "FractionalMaxPool FractionalAvgPool": Rule(
        {
            "value": shaped("b h w c"),
            "pooling_ratio": _ratio,
            "deterministic": choice(True),
            "seed": lambda d: d.size(1, 10**9),
            "seed2": lambda d: d.size(1, 10**9),
        },
        dims=_POOLED,
        special=False,
    ),
    "FractionalMaxPoolGrad": Rule(_GRADS, dims=_GRAD_DIMS, special=False),
    "FractionalAvgPoolGrad": Rule(_GRADS, dims=_GRAD_DIMS, special=False),
}
