"""More of ``gradient_cases``: layers, linear algebra, images and lists."""

from __future__ import annotations

from typing import Any

import numpy as np
from gradient_cases import Case, Rng, apart, case, floats, ints

__all__: list[str] = []

LAYOUT = {"strides": [1, 1, 1, 1], "padding": "SAME"}


@case("MatMul")
def matmul(rng: Rng, _: str) -> Case:
    a, b = bool(rng.random() < 0.5), bool(rng.random() < 0.5)
    x, y = floats(rng, 2, 3), floats(rng, 3, 4)
    return Case([x.T if a else x, y.T if b else y], {"transpose_a": a, "transpose_b": b})


@case("BatchMatMul")
def batch_matmul(rng: Rng, _: str) -> Case:
    return Case([floats(rng, 2, 3, 2), floats(rng, 2, 2, 4)])


@case("BatchMatMulV2")
def batch_matmul_v2(rng: Rng, _: str) -> Case:
    a, b = bool(rng.random() < 0.5), bool(rng.random() < 0.5)
    x, y = floats(rng, 1, 2, 2, 3), floats(rng, 3, 1, 3, 4)
    turned = [np.swapaxes(v, -1, -2) if t else v for v, t in ((x, a), (y, b))]
    return Case(turned, {"adj_x": a, "adj_y": b})


EQUATIONS = [
    ("ij,jk->ik", (2, 3), (3, 4)), ("bij,bjk->bki", (2, 2, 3), (2, 3, 4)), ("ij->", (2, 3)),
    ("ij->j", (2, 3)), ("ii->i", (3, 3)), ("ii->", (3, 3)), ("ij,k->j", (2, 3), (2,)),
    ("...ij,...jk->...ik", (2, 2, 3), (2, 3, 4)), ("...ij,jk->...ik", (2, 2, 3), (3, 4)),
    ("...i,...i->...", (2, 1, 3), (4, 3)), ("i...,ij->j...", (2, 3), (2, 4)),
    ("a...bc,c->...", (2, 4, 2, 3), (3,)), ("iij,jk->ik", (2, 2, 3), (3, 2)),
    ("ij,...j->...", (2, 3), (4, 2, 3)),
]  # fmt: skip


@case("Einsum")
def einsum(rng: Rng, _: str) -> Case:
    equation, *shapes = EQUATIONS[int(rng.integers(0, len(EQUATIONS)))]
    return Case([[floats(rng, *shape) for shape in shapes]], {"equation": equation})


def well(rng: Rng, *batch: int) -> Any:
    """Matrices that are far from singular."""
    return floats(rng, *batch, 3, 3) * 0.3 + np.eye(3) * 2


@case("MatrixInverse")
def inverse(rng: Rng, _: str) -> Case:
    return Case([well(rng, 2)], {"adjoint": bool(rng.random() < 0.5)})


@case("MatrixDeterminant")
def determinant(rng: Rng, _: str) -> Case:
    return Case([well(rng, 2)])


@case("LogMatrixDeterminant")
def log_determinant(rng: Rng, _: str) -> Case:
    return Case([well(rng, 2)], of=[1])


@case("MatrixSolve")
def solve(rng: Rng, _: str) -> Case:
    return Case([well(rng, 2), floats(rng, 2, 3, 2)], {"adjoint": bool(rng.random() < 0.5)})


@case("MatrixTriangularSolve")
def triangular(rng: Rng, _: str) -> Case:
    attrs = {k: bool(rng.random() < 0.5) for k in ("lower", "adjoint")}
    return Case([well(rng), floats(rng, 2, 3, 2)], attrs)


@case("Cholesky")
def cholesky(rng: Rng, _: str) -> Case:
    """Differences are those of a symmetric matrix: see the test."""
    half = well(rng, 2)
    return Case([half @ np.swapaxes(half, -1, -2)])


# ---- layers ----------------------------------------------------------------------------------


@case("BiasAdd")
def bias_add(rng: Rng, _: str) -> Case:
    if rng.random() < 0.5:
        return Case([floats(rng, 2, 3, 4), floats(rng, 4)])
    return Case([floats(rng, 2, 3, 2, 2), floats(rng, 3)], {"data_format": "NCHW"})


@case("BiasAddV1")
def bias_add_v1(rng: Rng, _: str) -> Case:
    return Case([floats(rng, 2, 3), floats(rng, 3)])


@case("BiasAddGrad")
def bias_add_grad(rng: Rng, _: str) -> Case:
    layout = "NCHW" if rng.random() < 0.5 else "NHWC"
    return Case([floats(rng, 2, 3, 2, 2)], {"data_format": layout})


def windows(rng: Rng) -> dict[str, Any]:
    """Attributes of a convolution of images."""
    step = int(rng.integers(1, 3))
    dilation = 1 if step > 1 else int(rng.integers(1, 3))
    return {
        "strides": [1, step, step, 1], "padding": "SAME" if rng.random() < 0.5 else "VALID",
        "dilations": [1, dilation, dilation, 1],
    }  # fmt: skip


@case("Conv2D")
def conv(rng: Rng, _: str) -> Case:
    return Case([floats(rng, 1, 6, 5, 2), floats(rng, 2, 3, 2, 3)], windows(rng))


@case("Conv2DBackpropInput")
def conv_input(rng: Rng, _: str) -> Case:
    return Case([ints(1, 4, 4, 2), floats(rng, 2, 2, 2, 3), floats(rng, 1, 4, 4, 3)], LAYOUT)


@case("Conv2DBackpropFilter")
def conv_filter(rng: Rng, _: str) -> Case:
    return Case([floats(rng, 1, 4, 4, 2), ints(2, 2, 2, 3), floats(rng, 1, 4, 4, 3)], LAYOUT)


@case("DepthwiseConv2dNative")
def depthwise(rng: Rng, _: str) -> Case:
    return Case([floats(rng, 1, 5, 4, 2), floats(rng, 2, 2, 2, 2)], LAYOUT)


@case("DepthwiseConv2dNativeBackpropInput")
def depthwise_input(rng: Rng, _: str) -> Case:
    return Case([ints(1, 4, 4, 2), floats(rng, 2, 2, 2, 1), floats(rng, 1, 4, 4, 2)], LAYOUT)


@case("DepthwiseConv2dNativeBackpropFilter")
def depthwise_filter(rng: Rng, _: str) -> Case:
    return Case([floats(rng, 1, 4, 4, 2), ints(2, 2, 2, 1), floats(rng, 1, 4, 4, 2)], LAYOUT)


VOLUME = {"strides": [1, 1, 1, 1, 1], "padding": "VALID"}


@case("Conv3D")
def conv_3d(rng: Rng, _: str) -> Case:
    return Case([floats(rng, 1, 3, 3, 3, 2), floats(rng, 2, 2, 2, 2, 2)], VOLUME)


@case("Conv3DBackpropInputV2")
def conv_3d_input(rng: Rng, _: str) -> Case:
    sizes = ints(1, 3, 3, 3, 1)
    return Case([sizes, floats(rng, 2, 2, 2, 1, 2), floats(rng, 1, 2, 2, 2, 2)], VOLUME)


@case("Conv3DBackpropFilterV2")
def conv_3d_filter(rng: Rng, _: str) -> Case:
    sizes = ints(2, 2, 2, 1, 2)
    return Case([floats(rng, 1, 3, 3, 3, 1), sizes, floats(rng, 1, 2, 2, 2, 2)], VOLUME)


@case("Dilation2D")
def dilation(rng: Rng, _: str) -> Case:
    attrs = {"strides": [1, 1, 1, 1], "rates": [1, 1, 1, 1], "padding": "VALID"}
    return Case([apart(rng, 1, 4, 4, 1), apart(rng, 2, 2, 1) * 0.11], attrs)


POOL = {"ksize": [1, 2, 2, 1], "strides": [1, 2, 2, 1], "padding": "SAME"}
POOL_3D = {"ksize": [1, 2, 2, 2, 1], "strides": [1, 1, 1, 1, 1], "padding": "VALID"}


@case("MaxPool", "AvgPool", "MaxPoolWithArgmax")
def pool(rng: Rng, _: str) -> Case:
    return Case([apart(rng, 1, 5, 4, 2)], POOL)


@case("MaxPoolV2")
def pool_v2(rng: Rng, _: str) -> Case:
    return Case([apart(rng, 1, 4, 4, 2), ints(1, 2, 2, 1), ints(1, 2, 2, 1)], {"padding": "SAME"})


@case("MaxPool3D", "AvgPool3D")
def pool_3d(rng: Rng, _: str) -> Case:
    return Case([apart(rng, 1, 3, 3, 3, 1)], POOL_3D, loose=True)


@case("AvgPoolGrad")
def avg_pool_grad(rng: Rng, _: str) -> Case:
    return Case([ints(1, 4, 4, 2), floats(rng, 1, 2, 2, 2)], POOL)


@case("AvgPool3DGrad")
def avg_pool_3d_grad(rng: Rng, _: str) -> Case:
    return Case([ints(1, 3, 3, 3, 1), floats(rng, 1, 2, 2, 2, 1)], POOL_3D)


def pooled(x: Any) -> Any:
    """Maxima of blocks of two by two."""
    n, h, w, c = x.shape
    return x.reshape(n, h // 2, 2, w // 2, 2, c).max(axis=(2, 4))


@case("MaxPoolGrad")
def max_pool_grad(rng: Rng, _: str) -> Case:
    x = apart(rng, 1, 4, 4, 1)
    return Case([x, pooled(x), floats(rng, 1, 2, 2, 1)], POOL, by=[2])


@case("MaxPoolGradGrad")
def max_pool_grad_grad(rng: Rng, _: str) -> Case:
    x = apart(rng, 1, 4, 4, 1)
    return Case([x, pooled(x), floats(rng, 1, 4, 4, 1)], POOL, by=[2])


def cubes(rng: Rng) -> tuple[Any, Any, dict[str, Any]]:
    """A volume, its maximum, and a window over all of it."""
    x = apart(rng, 1, 2, 2, 2, 1)
    return x, x.max().reshape(1, 1, 1, 1, 1), POOL_3D


@case("MaxPool3DGrad")
def max_pool_3d_grad(rng: Rng, _: str) -> Case:
    x, y, attrs = cubes(rng)
    return Case([x, y, floats(rng, 1, 1, 1, 1, 1)], attrs, by=[2], loose=True)


@case("MaxPool3DGradGrad")
def max_pool_3d_grad_grad(rng: Rng, _: str) -> Case:
    x, y, attrs = cubes(rng)
    return Case([x, y, floats(rng, 1, 2, 2, 2, 1)], attrs, by=[2], loose=True)


@case("FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3")
def batch_norm(rng: Rng, _: str) -> Case:
    trained = bool(rng.random() < 0.5)
    layout = "NCHW" if rng.random() < 0.5 else "NHWC"
    size = 2 if layout == "NHWC" else 3
    statistics = [floats(rng, size), floats(rng, size, low=0.5)]
    if trained:
        statistics = [np.zeros(0), np.zeros(0)]
    inputs = [floats(rng, 2, 3, 4, 2), floats(rng, size), floats(rng, size), *statistics]
    attrs = {"is_training": trained, "epsilon": 0.01, "data_format": layout}
    by = [0, 1, 2] if trained else None
    return Case(inputs, attrs, by=by, of=[0], loose=True)


@case("FusedBatchNormGrad", "FusedBatchNormGradV2", "FusedBatchNormGradV3")
def batch_norm_grad(rng: Rng, op: str) -> Case:
    """Without training: there the statistics are of the input, and differences would move them."""
    x, y = floats(rng, 2, 3, 4, 2), floats(rng, 2, 3, 4, 2)
    inputs = [y, x, floats(rng, 2), floats(rng, 2), floats(rng, 2, low=0.5)]
    if op.endswith("V3"):
        inputs.append(np.zeros(0))
    attrs = {"is_training": False, "epsilon": 0.01}
    return Case(inputs, attrs, by=[0, 1, 2], of=[0, 1, 2], loose=True)


@case("LRN")
def lrn(rng: Rng, _: str) -> Case:
    return Case([floats(rng, 1, 2, 2, 6)], {"depth_radius": 2}, loose=True)


@case("SoftmaxCrossEntropyWithLogits")
def cross_entropy(rng: Rng, _: str) -> Case:
    labels = rng.dirichlet(np.ones(4), 3)
    of = [0] if rng.random() < 0.5 else [0, 1]
    return Case([floats(rng, 3, 4), labels], of=of, by=[0, 1] if of == [0] else [0])


@case("SparseSoftmaxCrossEntropyWithLogits")
def sparse_cross_entropy(rng: Rng, _: str) -> Case:
    return Case([floats(rng, 3, 4), ints(1, 3, 0)], of=[0] if rng.random() < 0.5 else [0, 1])


@case("CTCLoss")
def ctc(rng: Rng, _: str) -> Case:
    indices = np.array([[0, 0], [0, 1], [1, 0]], np.int64)
    return Case([floats(rng, 5, 2, 4), indices, ints(1, 2, 0), ints(5, 4)], of=[0], loose=True)


# ---- images ----------------------------------------------------------------------------------


@case("ResizeBilinear", "ResizeBicubic")
def resize(rng: Rng, _: str) -> Case:
    return Case([floats(rng, 1, 3, 4, 2), ints(5, 3)], {"half_pixel_centers": True}, loose=True)


@case("ResizeNearestNeighbor")
def nearest(rng: Rng, _: str) -> Case:
    return Case([floats(rng, 1, 3, 4, 2), ints(5, 3)])


@case("ResizeNearestNeighborGrad")
def nearest_grad(rng: Rng, _: str) -> Case:
    return Case([floats(rng, 1, 5, 3, 2), ints(3, 4)])


@case("ResizeBilinearGrad")
def resize_grad(rng: Rng, _: str) -> Case:
    images = floats(rng, 1, 3, 4, 2)
    return Case([floats(rng, 1, 5, 3, 2), images], by=[0], loose=True)


@case("CropAndResize")
def crop(rng: Rng, _: str) -> Case:
    boxes = np.array([[0.11, 0.13, 0.82, 0.91], [0.2, 0.17, 0.6, 0.7]], np.float32)
    inputs = [floats(rng, 2, 5, 5, 1), boxes, ints(0, 1), ints(3, 3)]
    return Case(inputs, by=[0], loose=True)
