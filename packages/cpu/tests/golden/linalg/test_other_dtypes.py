"""Products in every dtype, and optimizers and simulated quantization beside the reference.

Recorded answers are of few dtypes and small tensors: these are the others.
"""

from __future__ import annotations

from typing import Any

import native_ops
import numpy as np
import pytest

from drystone_base.core.dtypes import as_dtype, from_numpy
from drystone_base.executor.testing import run_op
from drystone_base.state.variables import ResourceHandle, Variable, handle_array

WIDE = ("float64", "int32", "int64", "complex64", "complex128")
NARROW = {"float16": 2e-3, "bfloat16": 2e-2}
Array = np.ndarray[Any, Any]


def numbers(shape: tuple[int, ...], dtype: str, seed: int = 0) -> Array:
    rng = np.random.default_rng(seed)
    out = rng.integers(-9, 9, shape).astype(as_dtype(dtype).np)
    if dtype.startswith("complex"):
        out = out + 1j * rng.integers(-9, 9, shape).astype(dtype)
    return np.asarray(out)


@pytest.mark.parametrize("dtype", WIDE)
def test_products(dtype: str) -> None:
    for m, k, n in ((1, 1, 1), (3, 5, 7), (70, 131, 33), (9, 4, 600), (2, 0, 3), (0, 3, 2)):
        a, b = numbers((m, k), dtype), numbers((k, n), dtype, 1)
        for flip_a in (False, True):
            for flip_b in (False, True):
                left = a.T.copy() if flip_a else a
                right = b.T.copy() if flip_b else b
                (found,) = native_ops.run_native(
                    "MatMul", left, right, transpose_a=flip_a, transpose_b=flip_b
                )
                np.testing.assert_array_equal(found, a @ b)  # whole numbers: exact


@pytest.mark.parametrize("dtype", WIDE)
def test_products_of_batches(dtype: str) -> None:
    for lead_a, lead_b in (((2, 3), (2, 3)), ((3,), (2, 1)), ((), (4,)), ((2, 1, 3), (5, 1))):
        a, b = numbers((*lead_a, 4, 5), dtype), numbers((*lead_b, 5, 6), dtype, 1)
        (found,) = native_ops.run_native("BatchMatMulV2", a, b)
        np.testing.assert_array_equal(found, a @ b)
        left, right = a.swapaxes(-1, -2).conj().copy(), b.swapaxes(-1, -2).conj().copy()
        (found,) = native_ops.run_native("BatchMatMulV2", left, right, adj_x=True, adj_y=True)
        np.testing.assert_array_equal(found, a @ b)


def test_integers_wrap_in_products() -> None:
    a = np.array([[2**31 - 1, 3]], np.int32)
    (found,) = native_ops.run_native("MatMul", a, a, transpose_b=True)
    np.testing.assert_array_equal(found, run_op("MatMul", a, a, transpose_b=True)[0])


@native_ops.needs_onednn()
@pytest.mark.parametrize("dtype", NARROW)
def test_products_of_16_bits(dtype: str) -> None:
    a, b = numbers((17, 40), dtype) / 8, numbers((40, 9), dtype, 1) / 8
    (found,) = native_ops.run_native("MatMul", a, b)
    (want,) = run_op("MatMul", a, b)
    assert found.dtype == want.dtype
    np.testing.assert_array_equal(found.astype(np.float32), want.astype(np.float32))


RULES: dict[str, tuple[int, list[float], int]] = {  # slots, hyper-parameters, place of the gradient
    "ResourceApplyGradientDescent": (1, [0.1], 1),
    "ResourceApplyMomentum": (2, [0.1, 0.9], 1),
    "ResourceApplyKerasMomentum": (2, [0.1, 0.9], 1),
    "ResourceApplyAdagradV2": (2, [0.1, 0.01], 2),
    "ResourceApplyAdadelta": (3, [0.1, 0.9, 0.01], 3),
    "ResourceApplyRMSProp": (3, [0.1, 0.9, 0.5, 0.01], 4),
    "ResourceApplyAdam": (3, [0.5, 0.5, 0.1, 0.9, 0.9, 0.01], 6),
    "ResourceApplyAddSign": (2, [0.1, 1, 0.5, 0.9], 4),
}


@pytest.mark.parametrize("dtype", NARROW)
@pytest.mark.parametrize("op", RULES)
def test_optimizers_of_16_bits(op: str, dtype: str) -> None:
    slots, hypers, place = RULES[op]
    np_type = as_dtype(dtype).np
    rng = np.random.default_rng(7)
    start = [np.abs(rng.normal(size=(3, 200))).astype(np_type) + np_type.type(1)] * slots
    gradient = rng.normal(size=(3, 200)).astype(np_type)
    settings = [np.array(h, np_type) for h in hypers]
    ends = []
    for run in (native_ops.run_native, run_op):
        variables = [Variable(f"v{k}", from_numpy(np_type), (3, 200)) for k in range(slots)]
        for variable, value in zip(variables, start, strict=True):
            variable.write(value)
        held = [handle_array(ResourceHandle("Variable", v.name, "", v)) for v in variables]
        run(op, *held, *settings[:place], gradient, *settings[place:], T=dtype)
        ends.append([np.asarray(v.read(), np.float32) for v in variables])
    for found, want in zip(*ends, strict=True):
        np.testing.assert_allclose(found, want, rtol=NARROW[dtype], atol=NARROW[dtype])


@pytest.mark.parametrize("bits", [2, 8, 16])
@pytest.mark.parametrize("narrow", [False, True])
def test_simulated_quantization(bits: int, narrow: bool) -> None:
    x = np.random.default_rng(0).normal(size=(50, 4)).astype(np.float32) * 4
    low, high = np.array([-3, -1, 0.5, 0], np.float32), np.array([2, 7, 3, 0], np.float32)
    attrs: dict[str, Any] = {"num_bits": bits, "narrow_range": narrow}
    scalars = np.asarray(low[0]), np.asarray(high[0])
    for name, given in {"Vars": scalars, "VarsPerChannel": (low, high)}.items():
        for inputs, end in (((x,), ""), ((x[::-1].copy(), x), "Gradient")):
            op = f"FakeQuantWithMinMax{name}{end}"
            found = native_ops.run_native(op, *inputs, *given, **attrs)
            for got, want in zip(found, run_op(op, *inputs, *given, **attrs), strict=True):
                np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)
