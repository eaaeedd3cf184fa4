"""Fused nodes give what the chain of plain nodes gives."""

from typing import Any

import numpy as np
import pytest

from drystone_base.core.dtypes import FLOAT32
from drystone_base.core.errors import KernelError
from drystone_base.executor.testing import infer_shapes, run_op

RNG = np.random.default_rng(4)
ACTIVATIONS = ["Relu", "Relu6", "Elu", "LeakyRelu", "Tanh", "Sigmoid"]


def draw(*shape: int) -> Any:
    return RNG.normal(size=shape).astype(np.float32)


def chain(x: Any, bias: Any, names: list[str]) -> Any:
    for name in names:
        (x,) = run_op("BiasAdd", x, bias) if name == "BiasAdd" else run_op(name, x)
    return x


@pytest.mark.parametrize("names", [["BiasAdd"], *(["BiasAdd", a] for a in ACTIVATIONS)])
def test_bias_and_activation(names: list[str]) -> None:
    x, f, bias = draw(2, 5, 6, 3), draw(3, 3, 3, 4), draw(4)
    same = {"strides": [1, 2, 2, 1], "padding": "SAME"}
    fused: dict[str, Any] = {"fused_ops": names, "num_args": 1}
    (out,) = run_op("_FusedConv2D", x, f, bias, **same, **fused, TArgs=[FLOAT32])
    want = chain(run_op("Conv2D", x, f, **same)[0], bias, names)
    np.testing.assert_allclose(out, want, atol=1e-6)
    deep, wide = draw(3, 3, 3, 2), draw(6)
    (out,) = run_op("_FusedDepthwiseConv2dNative", x, deep, wide, **same, **fused)
    want = chain(run_op("DepthwiseConv2dNative", x, deep, **same)[0], wide, names)
    np.testing.assert_allclose(out, want, atol=1e-6)
    a, b = draw(3, 5), draw(4, 5)
    (out,) = run_op("_FusedMatMul", a, b, bias, transpose_b=True, **fused)
    want = chain(run_op("MatMul", a, b, transpose_b=True)[0], bias, names)
    np.testing.assert_allclose(out, want, atol=1e-6)


@pytest.mark.parametrize("layout", ["NHWC", "NCHW"])
def test_batch_norm_after_a_convolution(layout: str) -> None:
    first = layout == "NCHW"
    x, f = draw(2, 5, 6, 3), draw(3, 3, 3, 4)
    x = x.transpose(0, 3, 1, 2) if first else x
    scale, offset, mean, variance = draw(4), draw(4), draw(4), np.abs(draw(4))
    same: dict[str, Any] = {"strides": [1] * 4, "padding": "SAME", "data_format": layout}
    fused: dict[str, Any] = {"fused_ops": ["FusedBatchNorm", "Relu"], "epsilon": 0.01}
    args = (scale, offset, mean, variance)
    (out,) = run_op("_FusedConv2D", x, f, *args, **same, **fused, num_args=4, TArgs=[FLOAT32] * 4)
    (y,) = run_op("Conv2D", x, f, **same)
    norm = run_op(
        "FusedBatchNormV3", y, *args, is_training=False, epsilon=0.01, data_format=layout
    )[0]
    np.testing.assert_allclose(out, run_op("Relu", norm)[0], atol=1e-5)


def test_batch_norm_with_side_input() -> None:
    x, side, vectors = draw(2, 3, 3, 2), draw(2, 3, 3, 2), [draw(2), draw(2), draw(2)]
    inputs = (x, *vectors, np.abs(draw(2)))
    attrs: dict[str, Any] = {"is_training": False, "epsilon": 0.01}
    out, *_ = run_op("_FusedBatchNormEx", *inputs, side, num_side_inputs=1,
                     activation_mode="Relu", **attrs)  # fmt: skip
    want = run_op("FusedBatchNormV3", *inputs, **attrs)[0] + side
    np.testing.assert_array_equal(out, np.maximum(want, 0))


def test_an_unknown_step_is_refused() -> None:
    with pytest.raises(KernelError, match="Gelu with 0 inputs left"):
        run_op("_FusedMatMul", draw(2, 2), draw(2, 2), draw(2), fused_ops=["BiasAdd", "Gelu"],
               num_args=1)  # fmt: skip


def test_shapes_are_the_plain_ones() -> None:
    attrs: dict[str, Any] = {"strides": [1, 2, 2, 1], "padding": "SAME", "num_args": 1}
    shapes: list[Any] = [(-1, 7, 7, 3), (3, 3, 3, 8), (8,)]
    got = infer_shapes("_FusedConv2D", shapes, TArgs=[FLOAT32], num_host_args=0, **attrs)
    assert got == [(-1, 4, 4, 8)]
    assert infer_shapes("_FusedMatMul", [(-1, 3), (3, 4), (4,)], num_args=1) == [(-1, 4)]
