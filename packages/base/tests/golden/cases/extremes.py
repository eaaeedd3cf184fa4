"""Golden cases of extreme inputs: of each kind that ``ci/scripts/extremes.py`` has found."""

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
from drawing import floats, ints
from oracle import Case, case

NAN, INF = float("nan"), float("inf")
ODD = [-7, -1, -0.3, -0.0, 0.4, 2, 9, NAN, INF, -INF]


def _boxes() -> Iterator[Case]:
    boxes = floats([[0, 0, 1, 1], [0, 0.1, 1, 1], [2, 2, 3, 3], [0.1, 0, 1, 1.1], [5, 5, 4, 4]])
    scores = floats([0.9, 0.8, 0.7, 0.6, 0.5])
    for value, (row, side) in itertools.product((NAN, INF, -INF), ((0, 0), (1, 3), (2, 2), (3, 1))):
        odd = boxes.copy()
        odd[row, side] = value
        for least in (-INF, 0.55):
            limits = [np.int32(9), np.float32(0.4), np.float32(least)]
            yield case("NonMaxSuppressionV3", odd, scores, *limits)
            yield case("NonMaxSuppressionV4", odd, scores, *limits)
            for sigma in (0.0, 0.5):
                yield case("NonMaxSuppressionV5", odd, scores, *limits, np.float32(sigma))
        yield case("NonMaxSuppression", odd, scores, np.int32(9))
        yield case("NonMaxSuppressionV2", odd, scores, np.int32(9), np.float32(0.4))
        yield case(
            "CombinedNonMaxSuppression", odd[None, :, None], scores[None, :, None], np.int32(9),
            np.int32(9), np.float32(0.4), np.float32(-INF),
        )  # fmt: skip
        yield case("CropAndResize", np.ones((1, 5, 5, 1), "f4"), odd, ints(*[0] * 5), ints(2, 2))
    every = np.full((5, 4), NAN, "f4")
    yield case("NonMaxSuppressionV3", every, scores, np.int32(9), np.float32(0.4), np.float32(-INF))
    overlaps = np.full((5, 5), 0.5, "f4")
    overlaps[0, 1] = overlaps[1, 0] = NAN
    for most in (3, 9, -1):
        limits = [np.int32(most), np.float32(0.6), np.float32(-INF)]
        yield case("NonMaxSuppressionWithOverlaps", overlaps, scores, *limits)
    for value in (INF, -INF):
        overlaps[0, 1] = overlaps[1, 0] = overlaps[3, 2] = value
        yield case("NonMaxSuppressionWithOverlaps", overlaps, scores, np.int32(9), *limits[1:])


def _ranges() -> Iterator[Case]:
    x, slopes = floats(ODD), np.arange(1, len(ODD) + 1, dtype="f4")
    ends = [(-1, 1), (1, -1), (3, 1), (2, 2), (0, 0), (NAN, 1), (-1, NAN), (-INF, 1), (-1, INF),
            (INF, 1)]  # fmt: skip
    for low, high in ends:
        one, row = [floats(low), floats(high)], [floats([low]), floats([high])]
        yield case("FakeQuantWithMinMaxVars", x, *one)
        yield case("FakeQuantWithMinMaxVarsGradient", slopes, x, *one)
        yield case("FakeQuantWithMinMaxVarsPerChannel", x[:, None], *row)
        yield case("FakeQuantWithMinMaxVarsPerChannelGradient", slopes[:, None], x[:, None], *row)
    odd = floats([NAN, INF, NAN, INF, 1])
    at = floats([-9, -9, 9, 0, NAN])
    yield case("FakeQuantWithMinMaxArgsGradient", odd, at, min=-1, max=1)
    yield case("FakeQuantWithMinMaxVarsGradient", odd, at, floats(-1), floats(1))
    for kind, first, last, count in itertools.product(
        ("f4", "f8"), (1, INF, NAN), (2, -INF, NAN), (1, 2, 5)
    ):
        yield case("LinSpace", floats(first, kind), floats(last, kind), np.int32(count))


def _paths() -> Iterator[Case]:
    logits = np.random.default_rng(5).normal(size=(4, 2, 3)).astype("f4")
    for value, at in itertools.product((NAN, INF, -INF), ((0, 0, 0), (1, 0, 1), (3, 1, 2))):
        odd = logits.copy()
        odd[at] = value
        labels = [np.array([[0, 0], [0, 1], [1, 0]]), ints(0, 1, 1), ints(4, 3)]
        yield case("CTCLoss", odd, *labels, tol=1e-4)
        yield case("CTCGreedyDecoder", odd, ints(4, 4))
        yield case("CTCGreedyDecoder", odd, ints(4, 4), merge_repeated=True)


def _updates() -> Iterator[Case]:
    held, at = floats([[1, NAN], [-INF, 3], [0, -0.0]]), ints(0, 1, 1)
    new = floats([[NAN, 2], [5, NAN], [INF, -INF]])
    for op in ("Min", "Max", "Add", "Mul"):
        yield case(f"ResourceScatter{op}", held, at, new)
    for op in ("Min", "Max", "Add"):
        yield case(f"ResourceScatterNd{op}", held, at[:, None], new)
        yield case(f"TensorScatter{op}", held, at[:, None], new)
    for by in (0, -0.0, 2):
        yield case("ResourceScatterDiv", held, at, floats(by))
    yield case("ResourceScatterDiv", ints(4, 6), ints(1), ints(0))


def _scalars() -> Iterator[Case]:
    """What must be a scalar is none as a vector of one."""
    x = floats([[3, 1, 2]])
    yield case("TopKV2", x, ints(2))
    yield case("TopKV2", x, np.int32(2))
    yield case("ConcatOffset", ints(1), ints(2, 3), ints(2, 4))
    yield case("DecodePaddedRaw", np.array([b"abcd"], object), ints(4), out_type="uint8")
    yield case("ClipByValue", x, floats([0]), floats(1))
    yield case("ClipByValue", x, floats(0), floats([1]))
    lines = np.array([b"1,2"], object)
    for default in (floats([[5]]), floats([5]), floats(5)):
        yield case("DecodeCSV", lines, default, floats([1]), OUT_TYPE=["float32", "float32"])


def _draws() -> Iterator[Case]:
    def draw(op: str, *values: Any, **attrs: Any) -> Case:
        return case(op, ints(4, 1), ints(3, 9), *(floats([v]) for v in values), tol=1e-4, **attrs)

    for alpha in (NAN, INF, -INF, -1, 0, -0.5):
        yield draw("StatelessRandomGammaV2", alpha)
    for rate, kind in itertools.product((INF, -INF, -1, 0), ("float32", "float64", "int32")):
        yield draw("StatelessRandomPoisson", rate, dtype=kind)
    for count, share in ((NAN, -1), (NAN, INF), (NAN, 0), (-1, 0.5), (-INF, 0.5), (5, NAN),
                         (5, INF), (5, -INF), (0, NAN), (INF, 0), (INF, 2)):  # fmt: skip
        yield draw("StatelessRandomBinomial", count, share, dtype="float32")


def _images() -> Iterator[Case]:
    """A pixel that is not finite reaches those that read it, and no others."""
    rng = np.random.default_rng(6)
    small, large = (rng.normal(size=(1, n, n, 1)).astype("f4") for n in (4, 7))
    for value, centers in itertools.product((NAN, INF), (False, True)):
        odd, slopes = small.copy(), large.copy()
        odd[0, 1, 2], slopes[0, 5, 1] = value, value
        aligned = {"half_pixel_centers": centers}
        for op in ("ResizeBilinear", "ResizeNearestNeighbor"):
            yield case(op, odd, ints(7, 5), **aligned)
        yield case("ResizeBilinearGrad", slopes, small, **aligned)
        yield case("ResizeArea", odd, ints(7, 5))
        yield case("ResizeArea", odd, ints(2, 3))
        for kind in ("triangle", "lanczos3"):
            scale = [ints(7, 5), floats([1.75, 1.25]), floats([0, 0])]
            yield case("ScaleAndTranslate", odd, *scale, kernel_type=kind, tol=1e-4)


def _indices() -> Iterator[Case]:
    at, shape = np.array([[0, 0], [0, 1], [0, 1]]), np.array([2, 3])
    for rows in (at, at[[0, 1]], at[[1, 0]]):
        values = np.arange(1, len(rows) + 1)
        one, dense = (rows, values, shape), np.array([[1, 2], [3, 4]])
        yield case("SparseToSparseSetOperation", *one, *one, set_operation="union")
        yield case("DenseToSparseSetOperation", dense, *one, set_operation="union")
        yield case("SetSize", *one)
    yield case("SparseAddGrad", floats([1, 2]), at[:1], at[:1], at[:2, :0])
    vast = np.array([1, 2**63 - 1])
    for op, dense in itertools.product(("Mul", "Add", "Div"), ([[12]], [12], 12)):
        values = np.int32([6])
        yield case(f"SparseDenseCwise{op}", at[:1], values, vast, np.array(dense, np.int32))
    for index, most in ((3, 9), (-1, 9), (5, 4)):
        key = np.array([1, 2, 3], np.uint32)
        yield case("RandomIndexShuffle", np.int64(index), key, np.int64(most))
    # Above a triangle of NaN TensorFlow writes nothing: a matrix of one number has none there.
    for matrix in ([[-1]], [[0]], [[4, 9], [2, 3]]):
        yield case("Cholesky", floats(matrix))
    for dtype in ("f4", "f8", "c8"):
        yield case("Qr", np.array([[-0.0, 1], [2, 3], [5, -0.0]], dtype))


CASES: list[Case] = [
    *_boxes(), *_ranges(), *_paths(), *_updates(), *_scalars(), *_draws(), *_images(), *_indices(),
]  # fmt: skip
