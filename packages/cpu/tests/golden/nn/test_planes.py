"""Depthwise convolutions and pooling with the channels first, against NumPy."""

from __future__ import annotations

from typing import Any

import native_ops
import numpy as np
import pytest
from agreement import assert_agrees
from native_ops import run_native

from drystone_base.core.dtypes import as_dtype
from drystone_base.executor.testing import run_op

OP = "DepthwiseConv2dNative"
SAME, VALID = {"padding": "SAME"}, {"padding": "VALID"}
WIDER = {"padding": "EXPLICIT", "explicit_paddings": [0, 0, 0, 0, 3, 2, 4, 4]}
# Image, filter, stride, dilation, multiplier, padding: in strips of rows, with edges and without;
# of narrow rows, which lie in one vector; and what moves by three, whose planes are split.
CASES = (
    ((14, 14), (3, 3), 1, 1, 1, SAME), ((13, 40), (3, 3), 1, 1, 2, VALID),
    ((9, 30), (3, 3), 2, 1, 1, SAME), ((12, 29), (3, 3), 2, 1, 2, WIDER),
    ((8, 16), (5, 5), 1, 1, 1, WIDER), ((31, 33), (5, 5), 2, 1, 1, SAME),
    ((3, 15), (5, 5), 1, 1, 1, SAME), ((7, 7), (3, 3), 1, 1, 1, SAME),
    ((7, 7), (3, 3), 2, 1, 2, SAME), ((14, 14), (3, 3), 1, 2, 1, SAME),
    ((14, 14), (3, 3), 1, 3, 2, VALID), ((6, 5), (2, 4), 1, 1, 1, WIDER),
    ((200, 1), (3, 1), 1, 1, 1, SAME), ((1, 90), (1, 5), 2, 1, 1, SAME),
    ((20, 17), (3, 3), 3, 1, 1, SAME), ((1, 1), (1, 1), 1, 1, 3, SAME),
    ((90, 1), (65, 1), 1, 1, 1, SAME), ((2, 3), (7, 7), 1, 1, 1, SAME),
)  # fmt: skip


def _inputs(case: Any, channels: int = 5) -> tuple[Any, Any, dict[str, Any]]:
    image, size, stride, dilation, times, padding = case
    rng = np.random.default_rng(0)
    x = rng.normal(size=(2, channels, *image)).astype(np.float32)
    w = rng.normal(size=(*size, channels, times)).astype(np.float32)
    moves = {"strides": [1, 1, stride, stride], "dilations": [1, 1, dilation, dilation]}
    return x, w, {**moves, **padding, "data_format": "NCHW"}


@native_ops.needs_onednn()
@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_depthwise_layer_and_its_gradients_are_right(case: Any) -> None:
    x, w, attrs = _inputs(case)
    (y,) = run_op(OP, x, w, **attrs)
    sizes = [np.array(value.shape, np.int32) for value in (x, w)]
    for op, args in (
        (OP, (x, w)),
        (f"{OP}BackpropInput", (sizes[0], w, y)),
        (f"{OP}BackpropFilter", (x, sizes[1], y)),
    ):
        (want,), (got,) = run_op(op, *args, **attrs), run_native(op, *args, **attrs)
        scale = max(float(np.abs(want).max(initial=0)), 1e-6)
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5 * scale)


@native_ops.needs_onednn()
@pytest.mark.parametrize("case", [c for c in CASES[:9] if c[-1] is not WIDER], ids=str)
@pytest.mark.parametrize(
    "steps",
    [
        ["BiasAdd"],
        ["BiasAdd", "Relu"],
        ["BiasAdd", "Relu6"],
        ["Relu"],
        ["BiasAdd", "Relu", "BiasAdd"],
        ["BiasAdd", "Add", "Relu"],
        ["FusedBatchNorm", "Relu"],
    ],
    ids="-".join,
)
def test_what_is_fused_to_it_is_done_as_well(case: Any, steps: list[str]) -> None:
    rng = np.random.default_rng(1)
    x, w, attrs = _inputs(case)
    (y,) = run_op(OP, x, w, **attrs)
    args: list[Any] = []
    for step in steps:
        if step == "BiasAdd":
            args.append(rng.normal(size=y.shape[1]).astype(np.float32))
        elif step == "Add":
            args.append(rng.normal(size=y.shape).astype(np.float32))
        elif step == "FusedBatchNorm":
            args += [rng.random(y.shape[1]).astype(np.float32) + 0.5 for _ in range(4)]
    more = {"num_args": len(args), "fused_ops": steps, "epsilon": 0.01, "leakyrelu_alpha": 0.2}
    assert_agrees(f"_Fused{OP}", x, w, *args, exact=False, **attrs, **more)


@native_ops.needs_onednn()
@pytest.mark.parametrize("case", [CASES[0], CASES[2], CASES[7]], ids=str)
def test_what_is_not_finite_stays_where_it_is(case: Any) -> None:
    x, w, attrs = _inputs(case)
    x[0, 1, 3, 4], x[1, 2, 0, 0] = np.nan, np.inf
    (want,), (got,) = run_op(OP, x, w, **attrs), run_native(OP, x, w, **attrs)
    np.testing.assert_array_equal(np.isnan(got), np.isnan(want))
    np.testing.assert_array_equal(np.isinf(got), np.isinf(want))
    more = {"num_args": 1, "fused_ops": ["BiasAdd", "Relu6"], "epsilon": 0.01}
    more["leakyrelu_alpha"] = 0.2
    bias = np.zeros(want.shape[1], np.float32)
    (got,) = run_native(f"_Fused{OP}", x, w, bias, **attrs, **more)
    np.testing.assert_array_equal(np.isnan(got), np.isnan(want))


@pytest.mark.parametrize("kind", ["float32", "float64", "bfloat16", "int8"])
@pytest.mark.parametrize("planes", [(1, 1), (2, 5), (3, 50)])
@pytest.mark.parametrize("padding", ["SAME", "VALID"])
def test_pooling_is_right(kind: str, planes: tuple[int, int], padding: str) -> None:
    dtype = as_dtype(kind)
    rng = np.random.default_rng(2)
    for image, stride in (((7, 7), (1, 1)), ((40, 3), (2, 1)), ((9, 14), (2, 3))):
        x = rng.integers(-9, 9, (*planes, *image)).astype(dtype.np)  # with ties
        attrs: dict[str, Any] = {"ksize": [1, 1, 3, 2], "strides": [1, 1, *stride],
                                 "padding": padding, "data_format": "NCHW"}  # fmt: skip
        (y,) = run_op("MaxPool", x, **attrs)
        dy = rng.integers(-9, 9, y.shape).astype(dtype.np)
        runs: list[tuple[str, tuple[Any, ...]]] = [("MaxPool", (x,)), ("MaxPoolGrad", (x, y, dy))]
        if kind != "int8":
            runs.append(("AvgPool", (x,)))
        if kind.startswith("float"):
            runs.append(("AvgPoolGrad", (np.array(x.shape, np.int32), dy)))
        for op, args in runs:
            (want,), (got,) = run_op(op, *args, **attrs), run_native(op, *args, **attrs)
            slack = 0.05 if kind == "bfloat16" else 1e-5
            found, wanted = (np.asarray(value).astype(np.float64) for value in (got, want))
            np.testing.assert_allclose(found, wanted, rtol=slack, atol=slack)
