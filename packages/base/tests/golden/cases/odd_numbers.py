"""Golden cases of NaN, infinities and integers at the end of their range, by what reads them."""

import itertools
from collections.abc import Iterator

import numpy as np
from drawing import floats, ints
from oracle import Case, case

NAN, INF = float("nan"), float("inf")
MAX = np.iinfo(np.int64).max


def _transforms() -> Iterator[Case]:
    """Coordinates that are not finite, or beyond 64 bits, in every mode."""
    image = np.arange(1, 13, dtype="f4").reshape(1, 3, 4, 1)
    plain = [1, 0, 0, 0, 1, 0, 0, 0]
    odd = [(0, NAN), (0, INF), (2, INF), (2, -INF), (5, NAN), (5, INF), (5, -INF), (6, NAN),
           (6, INF), (0, 1e9), (2, 1e20), (2, -1e20), (2, 3e38)]  # fmt: skip
    for mode, method in itertools.product(
        ("CONSTANT", "REFLECT", "WRAP", "NEAREST"), ("NEAREST", "BILINEAR")
    ):
        for place, value in odd:
            transform = floats([[value if k == place else v for k, v in enumerate(plain)]])
            for part in (image, image[:, :1, :1]):
                yield case("ImageProjectiveTransformV3", part, transform, ints(2, 3), floats(7),
                           fill_mode=mode, interpolation=method)  # fmt: skip


def _boxes() -> Iterator[Case]:
    canvas, color = np.zeros((1, 4, 5, 1), "f4"), floats([[2]])
    for place, value in itertools.product(range(4), (NAN, INF, -INF, 1e30, -1e30, 1e17)):
        box = floats([0, 0, 1, 1])
        box[place] = value
        yield case("DrawBoundingBoxesV2", canvas, box[None, None], color)
        yield case("DrawBoundingBoxes", canvas, box[None, None])


def _ranges() -> Iterator[Case]:
    steps = np.array([127, -128, 3], np.int8)
    ends = [(NAN, 2), (-2, NAN), (-INF, 2), (-2, INF), (INF, 2), (1, -INF)]
    for (low, high), mode in itertools.product(ends, ("SCALED", "MIN_FIRST", "MIN_COMBINED")):
        yield case("Dequantize", steps, floats(low), floats(high), T="qint8", mode=mode)


def _pools() -> Iterator[Case]:
    """The windows of fractional pooling, and what NaN does in each."""
    two = np.array([0, 2, 4])
    x = np.arange(16, dtype="f4").reshape(1, 4, 4, 1)
    slopes = floats([1, 2, 3, 4]).reshape(1, 2, 2, 1)
    for place, value in itertools.product((0, 1, 5), (NAN, INF, -INF)):
        odd = x.copy()
        odd[0, place // 4, place % 4] = value
        pooled = odd.reshape(2, 2, 2, 2).swapaxes(1, 2).reshape(4, 4)
        most = np.where(np.isnan(pooled), -INF, pooled).max(1).reshape(1, 2, 2, 1).astype("f4")
        yield case("FractionalMaxPoolGrad", odd, most, slopes, two, two)
    for value in (NAN, INF, -INF):
        odd = slopes.copy()
        odd[0, 0, 1] = value
        for overlapping in (False, True):
            yield case("FractionalAvgPoolGrad", ints(1, 4, 4, 1).astype("i8"), odd, two, two,
                       overlapping=overlapping)  # fmt: skip
    far = np.array([0, 2, MAX])
    for overlapping in (False, True):
        yield case("FractionalAvgPoolGrad", ints(1, 4, 4, 1).astype("i8"), slopes, two, far,
                   overlapping=overlapping)  # fmt: skip
    seeded = {"deterministic": True, "seed": 3, "seed2": 4, "pooling_ratio": [1.0, 1.5, 1.5, 1.0]}
    for kind in ("i4", "i8"):
        ends = np.iinfo(kind)
        whole = np.array([ends.max, ends.min, -7, 3, -1, 5, ends.max, 2, 9], kind)
        yield case("FractionalAvgPool", whole.reshape(1, 3, 3, 1), **seeded)
    yield case("FractionalMaxPool", np.full((1, 3, 3, 1), -INF, "f4"), **seeded)


def _paths() -> Iterator[Case]:
    """A loss of NaN has NaN in its whole gradient."""
    logits = np.random.default_rng(5).normal(size=(4, 2, 5)).astype("f4")
    logits[2, 0, 1] = NAN
    labels = [np.array([[0, 0], [0, 1], [1, 0]]), ints(0, 1, 1), ints(3, 4)]
    yield case("CTCLoss", logits, *labels, tol=1e-4)


def _dilations() -> Iterator[Case]:
    """Where no sum is above another the gradient goes to where the window begins."""
    x = np.random.default_rng(3).normal(size=(1, 5, 6, 2)).astype("f4")
    filters = np.zeros((3, 2, 2), "f4")
    for value, rates in itertools.product((NAN, -INF), (1, 2)):
        filters[..., 1] = value
        options = {"strides": [1, 2, 1, 1], "rates": [1, rates, rates, 1], "padding": "SAME"}
        y = np.random.default_rng(4).normal(size=(1, 3, 6, 2)).astype("f4")
        for op in ("Dilation2DBackpropInput", "Dilation2DBackpropFilter"):
            yield case(op, x, filters.copy(), y, **options)


def _channels() -> Iterator[Case]:
    """Layers without channels."""
    none, x = np.zeros(0, "f4"), np.zeros((1, 4, 4, 0), "f4")
    for op in ("FusedBatchNorm", "FusedBatchNormV3"):
        for training in (False, True):
            yield case(op, x, none, none, none, none, is_training=training)
    images, flat = np.ones((1, 6, 5, 2), "f4"), np.zeros((4, 2), "i4")
    options = {"mode": "REFLECT", "strides": [1, 1, 1, 1], "padding": "VALID"}
    for depth in (0, 1):
        filters = np.ones((3, 2, 2, depth), "f4")
        yield case("FusedPadConv2D", images, flat, filters, **options)
        yield case("FusedResizeAndPadConv2D", images, ints(6, 5), flat, filters, **options)


def _steps() -> Iterator[Case]:
    """Slots, gradients and hyper-parameters of optimizers that are not finite, or out of limits."""
    held = floats([[1, -2, 0.5], [3, -0.25, 2]])
    rates = [floats(v) for v in (0.9, 0.99)]
    for place, value in itertools.product((0, 1), (NAN, INF)):
        odd, kept = floats([[0.1, 2, -1], [0.3, 0.4, -5]]), np.abs(held)
        (odd if place == 0 else kept)[0, 1] = value
        yield case("ResourceApplyAdaMax", held, held, kept, rates[0], floats(0.1), *rates,
                   floats(1e-7), odd)  # fmt: skip
        yield case("ResourceApplyAdamWithAmsgrad", held, held, kept, np.abs(held), *rates,
                   floats(0.1), *rates, floats(1e-7), odd)  # fmt: skip
    at = ints(1, 0)
    for value, place in itertools.product((NAN, INF, -INF), range(4)):
        parts = [held.copy(), np.abs(held), held[::-1].copy(), held * 2]
        parts[place][1, 2] = value
        strengths = [floats(v) for v in (0.1, 0.01, 0.02, -0.5)]
        yield case("ResourceApplyFtrl", *parts, *strengths)
        yield case("ResourceSparseApplyFtrl", *parts, at, *strengths)
    for place, value in itertools.product(range(4), (-1, 0, NAN, INF)):
        numbers = [
            floats(value if k == place else v) for k, v in enumerate((0.1, 0.01, 0.02, -0.5))
        ]
        parts = [held, np.abs(held), held]
        yield case("ResourceApplyFtrl", *parts, held, *numbers)
        for linear in (False, True):
            yield case("ResourceSparseApplyFtrl", *parts, held, at, *numbers,
                       multiply_linear_by_lr=linear)  # fmt: skip
        if place < 3:
            yield case("ResourceApplyProximalAdagrad", *parts[:2], *numbers[:3], held)
            yield case("ResourceSparseApplyProximalAdagrad", *parts[:2], *numbers[:3], held, at)
    none = np.zeros((2, 0), "f4")
    yield case("ResourceSparseApplyAdagrad", none, none, floats(0.1), none, at)
    yield case("ResourceSparseApplyMomentum", none, none, floats(0.1), none, at, floats(0.9))
    yield case("ResourceSparseApplyProximalGradientDescent", none, *[floats(0.1)] * 3, none, at)


def _matrices() -> Iterator[Case]:
    lower = floats([[8, 0, 0], [0.9, 7, 0], [0.5, -0.2, 0]])
    slopes = floats([[1, -1, 1], [-2, 1, 0.5], [-1, -0.4, 0.6]])
    yield case("CholeskyGrad", lower, slopes)


def _gammas() -> Iterator[Case]:
    """Where an argument is at an end: below x = 0 there is nothing, below a = inf all of it."""
    ends = np.array([NAN, INF, -INF, 0, -0.0, 1, 5, -1], "f4")
    a, x = np.meshgrid(ends, ends, indexing="ij")
    for op in ("Igamma", "Igammac"):
        yield case(op, a, x)


def _limits() -> Iterator[Case]:
    """Shapes whose elements no index of the dtype can name."""
    for dims in ([65536, 65536], [65536, 32768], [2**31 - 1, 2], [2**31 - 1, 1]):
        yield case("UnravelIndex", ints(1, 5), np.array(dims, np.int32))
    for dims in ([2**62, 4], [MAX, 1], [2**32, 2**31], [2**32, 2**31 - 1]):
        yield case("UnravelIndex", np.array([1, 5]), np.array(dims))


CASES: list[Case] = [
    *_transforms(), *_boxes(), *_ranges(), *_pools(), *_paths(), *_dilations(),
    *_channels(), *_steps(), *_matrices(), *_gammas(), *_limits(),
]  # fmt: skip
