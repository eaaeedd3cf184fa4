"""Random parts of images run after run, ops of old graphs, files that are written and read."""

# ruff: noqa: D103 - scenarios are named by what they run

from __future__ import annotations

from typing import Any

import numpy as np
from stateful import f32, i32, i64

from scenarios import Program, scenario

BOXES = f32([[[0.1, 0.2, 0.6, 0.9], [0.3, 0.3, 0.4, 0.4]]])


def _seeds(rng: np.random.Generator) -> dict[str, Any]:
    first, second = (int(v) for v in rng.integers(1, 2**31, 2))
    return {"seed": first, "seed2": second}


@scenario(draws=12)
def random_crops(p: Program, rng: np.random.Generator) -> None:
    p.written_by(7)
    kind = str(rng.choice(["uint8", "int8", "int16", "int32", "int64", "float32", "float64"]))
    image = rng.integers(0, 99, (*rng.integers(4, 12, 2), 2)).astype(kind)
    size = np.array([rng.integers(1, d + 1) for d in image.shape[:2]], np.int64)
    crop = p("RandomCrop", image, size, **_seeds(rng))
    for _ in range(4):
        p.step(crop)


@scenario()
def refused_crops(p: Program) -> None:
    p.written_by(7)
    image = np.zeros((4, 5, 2), np.float32)
    size = p.feed("int64")
    crop = p("RandomCrop", image, size, seed=1)
    for wrong in ([5, 5], [4, 6]):  # TensorFlow aborts on negative ones
        p.step(crop, feeds={size: i64(wrong)})


@scenario(draws=12)
def sampled_boxes(p: Program, rng: np.random.Generator) -> None:
    size = np.array([*rng.integers(1, 120, 2), 3])
    kind = str(rng.choice(["uint8", "int8", "int16", "int32", "int64"]))
    options: dict[str, Any] = {
        "aspect_ratio_range": [[0.75, 1.33], [1.0, 1.0], [0.3, 3.0]][int(rng.integers(3))],
        "area_range": [[0.05, 1.0], [0.4, 0.5]][int(rng.integers(2))],
        "max_attempts": int(rng.choice([1, 10, 100])),
    }
    least = float(np.float32(rng.uniform()))
    for box in (
        p("SampleDistortedBoundingBox", size.astype(kind), BOXES, min_object_covered=least,
          **_seeds(rng), **options),
        p("SampleDistortedBoundingBoxV2", size.astype(kind), BOXES, f32(least), **_seeds(rng),
          **options),
    ):  # fmt: skip
        for _ in range(4):
            p.step(box, (box, 1), (box, 2))


@scenario(draws=8)
def fractional_windows(p: Program, rng: np.random.Generator) -> None:
    x = rng.normal(size=(2, *rng.integers(6, 14, 2), 2)).astype(np.float32)
    ratios = [1.0, *(float(np.float32(rng.uniform(1, 3))) for _ in range(2)), 1.0]
    options: dict[str, Any] = {
        "pooling_ratio": ratios,
        "deterministic": True,
        "overlapping": bool(rng.integers(2)),
        "pseudo_random": bool(rng.integers(2)),
    }
    largest = p("FractionalMaxPool", x, **options, **_seeds(rng))
    means = p("FractionalAvgPool", x, **options, **_seeds(rng))
    overlapping = options["overlapping"]
    by_largest = p("FractionalMaxPoolGrad", x, largest, largest, (largest, 1), (largest, 2),
                   overlapping=overlapping)  # fmt: skip
    by_means = p("FractionalAvgPoolGrad", i64(x.shape), means, (means, 1), (means, 2),
                 overlapping=overlapping)  # fmt: skip
    for _ in range(2):
        p.step(largest, (largest, 1), (largest, 2), by_largest)
        p.step(means, (means, 1), (means, 2), by_means)


@scenario(draws=7)
def old_contrasts(p: Program, rng: np.random.Generator) -> None:
    p.written_by(1)
    kind = str(rng.choice(["uint8", "int8", "int16", "int32", "float32", "float64"]))
    images = rng.integers(0, 99, (2, 3, 4, 2)).astype(kind)
    bounds = (f32(rng.uniform(0, 2)), f32(rng.uniform(0, 30)), f32(rng.uniform(60, 90)))
    p.step(p("AdjustContrast", images, *bounds))


@scenario(draws=6)
def old_norm_gradients(p: Program, rng: np.random.Generator) -> None:
    p.written_by(8)
    kind = str(rng.choice(["float32", "float64"]))
    t, grad = rng.normal(size=(2, 2, 3, 2, 4)).astype(kind)
    m, v, gamma = rng.uniform(0.5, 2, (3, 4)).astype(kind)
    node = p("BatchNormWithGlobalNormalizationGrad", t, m, v, gamma, grad, variance_epsilon=0.125,
             scale_after_normalization=bool(rng.integers(2)))  # fmt: skip
    p.step(*((node, k) for k in range(5)))


@scenario(draws=10)
def files_written_and_read(p: Program, rng: np.random.Generator) -> None:
    kind = str(rng.choice(["uint8", "uint16"]))
    shape = (*rng.integers(1, 12, 2), rng.integers(1, 5))
    image = rng.integers(0, np.iinfo(kind).max + 1, shape).astype(kind)
    p.step(p("DecodePng", p("EncodePng", image), dtype=kind))
    y, x = np.mgrid[: rng.integers(2, 30), : rng.integers(2, 30)]
    slope = np.stack([x * 7, y * 6, x + y], -1).astype(np.uint8)
    options: dict[str, Any] = {
        "quality": int(rng.integers(0, 101)),
        "progressive": bool(rng.integers(2)),
        "optimize_size": bool(rng.integers(2)),
        "chroma_downsampling": bool(rng.integers(2)),
    }
    for pixels in (slope, slope[..., :1]):
        for file in (
            p("EncodeJpeg", pixels, **options),
            p("EncodeJpegVariableQuality", pixels, i32(options["quality"])),
        ):
            p.step(p("DecodeJpeg", file), p("ExtractJpegShape", file))
            p.step(p("DecodeImage", file, dtype="float32", channels=3))
