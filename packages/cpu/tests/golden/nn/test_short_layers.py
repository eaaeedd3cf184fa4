"""Layers on floats of 16 bits, with oneDNN's own such kernels or widened, against float32 in NumPy.

Sums are held in 32 bits: what is left is the rounding of results, and of what lies between a layer
and a step that oneDNN does not do itself.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import native_ops
import numpy as np
import pytest

from drystone_base.api.session import Session, SessionConfig
from drystone_base.core.dtypes import BOOL, FLOAT32, as_dtype
from drystone_base.executor.testing import run_op
from drystone_base.graph import Graph
from drystone_base.ops.attrs import TensorAttr
from drystone_base.ops.own import ATTENTION, FUSED_CONVOLUTION

pytestmark = native_ops.needs_onednn()
Array = np.ndarray[Any, Any]
HERE = Path(__file__).parents[1]
ROUNDING = {"bfloat16": 2.0**-8, "float16": 2.0**-11}
STEPS: list[list[str]] = [
    [], ["BiasAdd"], ["BiasAdd", "Relu"], ["BiasAdd", "Relu6"], ["BiasAdd", "LeakyRelu"],
    ["BiasAdd", "Elu"], ["BiasAdd", "Selu"], ["BiasAdd", "Softplus"], ["BiasAdd", "Softsign"],
    ["BiasAdd", "Sigmoid"], ["BiasAdd", "Tanh"], ["BiasAdd", "GeluExact"],
    ["BiasAdd", "GeluApproximate"], ["BiasAdd", "Add", "Relu"], ["FusedBatchNorm", "Relu"],
    ["BiasAdd", "Selu", "Add"],
]  # fmt: skip
OURS = [["PRelu"], ["BiasAdd", "Swish", "Mul"], ["BiasAdd", "HardSwish"], ["Add", "PRelu", "Selu"]]
NEEDS = {"BiasAdd": 1, "PRelu": 1, "Add": 2, "Mul": 2}


def agrees(op: str, dtype: str, *inputs: Array, **attrs: Any) -> None:
    """The kernel gives, rounded, what the reference gives for the same numbers in float32."""
    short = as_dtype(dtype)
    held = [x if x.dtype == bool else x.astype(short.np) for x in inputs]
    wide = [x if x.dtype == bool else x.astype(np.float32) for x in held]
    if op == ATTENTION:  # masks stay in 32 bits
        held[3:] = wide[3:] = inputs[3:]
    (found,) = native_ops.run_native(op, *held, **attrs | {"T": short})
    (want,) = run_op(op, *wide, **attrs | {"T": FLOAT32})
    assert (found.dtype, found.shape) == (short.np, want.shape)
    room = 2 * ROUNDING[dtype]
    np.testing.assert_allclose(
        found.astype(np.float32), want, rtol=room,
        atol=room * float(np.abs(want[np.isfinite(want)]).max(initial=1)), err_msg=f"{op} {attrs}",
    )  # fmt: skip


def sides(rng: np.random.Generator, steps: list[str], shape: tuple[int, ...]) -> list[Array]:
    """What the steps take."""
    out: list[Array] = []
    for name in steps:
        if name == "FusedBatchNorm":
            out += [rng.normal(size=shape[-1]) for _ in range(3)] + [rng.random(shape[-1]) + 0.5]
        elif name in NEEDS:
            out.append(rng.normal(size=shape[-1:] if NEEDS[name] == 1 else shape))
    return out


def products(dtype: str) -> Iterator[tuple[str, tuple[Array, ...], dict[str, Any]]]:
    """Products, then those with something fused to them."""
    rng = np.random.default_rng(0)
    for m, k, n in ((1, 1, 1), (5, 33, 7), (40, 64, 48), (0, 3, 2), (2, 0, 3)):
        for flips in range(4):
            flip_a, flip_b = bool(flips & 1), bool(flips & 2)
            a = rng.normal(size=(k, m) if flip_a else (m, k))
            b = rng.normal(size=(n, k) if flip_b else (k, n))
            yield "MatMul", (a, b), {"transpose_a": flip_a, "transpose_b": flip_b}
    for lead_a, lead_b in (((2, 3), (2, 3)), ((3,), (2, 1)), ((), (4,))):
        a, b = rng.normal(size=(*lead_a, 5, 17)), rng.normal(size=(*lead_b, 17, 6))
        yield "BatchMatMulV2", (a, b), {"adj_x": False, "adj_y": False}
    for steps in STEPS:
        a, b, more = rng.normal(size=(9, 20)), rng.normal(size=(20, 16)), sides(rng, steps, (9, 16))
        attrs = {"num_args": len(more), "fused_ops": steps, "transpose_a": False,
                 "transpose_b": False}  # fmt: skip
        yield "_FusedMatMul", (a, b, *more), attrs


def convolutions(dtype: str) -> Iterator[tuple[str, tuple[Array, ...], dict[str, Any]]]:
    """Convolutions, depthwise or not, of few and of many channels."""
    rng = np.random.default_rng(1)
    for count, steps in enumerate([*STEPS, *OURS]):
        depthwise, stride = bool(count % 3 == 2), 1 + count % 2
        channels, times = (3, 8, 16, 17)[count % 4], (1, 2)[count // 4 % 2]
        x, window = rng.normal(size=(2, 8, 7, channels)), (1, 3)[count // 2 % 2]
        wide = times if depthwise else 8 * times
        w = rng.normal(size=(window, window, channels, wide)) / (window * 3)
        out = (2, -(-8 // stride), -(-7 // stride), channels * times if depthwise else wide)
        more = sides(rng, steps, out)
        yield (
            FUSED_CONVOLUTION,
            (x, w, *more),
            {"layer": "DepthwiseConv2dNative" if depthwise else "Conv2D", "padding": "SAME",
             "strides": [1, stride, stride, 1], "fused_ops": steps, "num_args": len(more),
             "hardswish_factor": 0.75},
        )  # fmt: skip
    image = rng.normal(size=(1, 6, 6, 12))
    attrs = {"strides": [1, 1, 1, 1], "padding": "VALID"}
    yield "Conv2D", (image, rng.normal(size=(3, 3, 12, 16))), attrs
    yield "Conv2D", (image, rng.normal(size=(3, 3, 4, 6))), attrs  # groups
    yield "DepthwiseConv2dNative", (image, rng.normal(size=(3, 3, 12, 2))), attrs
    if dtype == "bfloat16":
        volume, box = rng.normal(size=(1, 5, 5, 5, 3)), rng.normal(size=(2, 2, 2, 3, 4))
        yield "Conv3D", (volume, box), {"strides": [1] * 5, "padding": "SAME"}


def attentions(dtype: str) -> Iterator[tuple[str, tuple[Array, ...], dict[str, Any]]]:
    """Heads in two orders, with masks and without."""
    rng = np.random.default_rng(2)
    for sizes in (
        {"B": 2, "N": 3, "T": 5, "S": 7, "H": 4},
        {"B": 1, "N": 4, "T": 40, "S": 48, "H": 16},
    ):
        for orders in (("BNTH", "BNSH", "BNSH", "BNTH"), ("BTNH", "BSNH", "BSNH", "BTNH")):
            for masks in ([], ["Add"], ["Select"]):
                tensors = [rng.normal(size=[sizes[d] for d in order]) for order in orders[:3]]
                mask = rng.normal(size=(sizes["B"], 1, 1, sizes["S"])).astype(np.float32)
                more = [mask if name == "Add" else mask > -1 for name in masks]
                yield (
                    ATTENTION,
                    (*tensors, *more),
                    {"Targs": [FLOAT32 if name == "Add" else BOOL for name in masks],
                     "layouts": list(orders), "masks": masks, "scale": 0.5, "fill": -1e9},
                )  # fmt: skip


KINDS = {"products": products, "convolutions": convolutions, "attentions": attentions}


def check(kind: str, dtype: str) -> int:
    """Every case of a kind; how many they are."""
    count = 0
    for op, inputs, attrs in KINDS[kind](dtype):
        agrees(op, dtype, *inputs, **attrs)
        count += 1
    return count


@pytest.mark.parametrize("dtype", ROUNDING)
@pytest.mark.parametrize("kind", KINDS)
def test_as_in_32_bits(kind: str, dtype: str) -> None:
    assert check(kind, dtype) > 10


@pytest.mark.parametrize("dtype", ROUNDING)
@pytest.mark.parametrize("name", [steps[1] for steps in STEPS if len(steps) == 2])
def test_activations_far_out(name: str, dtype: str) -> None:
    """Infinities and NaN as in the reference; but oneDNN's Relu makes a NaN zero."""
    far = [np.inf, -np.inf, 0, -0.0, 60, -60, 3e4, -3e4, 1e-3]
    x = np.array([far if name.startswith("Relu") else [*far, np.nan]]).T
    attrs = {"num_args": 1, "fused_ops": ["BiasAdd", name], "transpose_a": False,
             "transpose_b": False}  # fmt: skip
    agrees("_FusedMatMul", dtype, x, np.ones((1, 1)), np.zeros(1), **attrs)


@pytest.mark.parametrize("isa", ["AVX2", "AVX512_CORE", "DEFAULT"])
def test_processors_that_lack_such_instructions(isa: str) -> None:
    """oneDNN is told that there are none: elements are widened then."""
    program = f"""
import sys
sys.path[:0] = {[str(HERE), str(Path(__file__).parent), *sys.path]!r}
import test_short_layers as tests
for kind in tests.KINDS:
    tests.check(kind, "bfloat16")
"""
    environment = {**os.environ, "ONEDNN_MAX_CPU_ISA": isa}
    subprocess.run([sys.executable, "-c", program], env=environment, check=True, timeout=300)


@pytest.mark.parametrize("rows", [1, 70])
def test_constant_weights_are_packed_once_and_right(rows: int) -> None:
    short = as_dtype("bfloat16")
    rng = np.random.default_rng(3)
    x = rng.normal(size=(rows, 96)).astype(short.np)
    w = rng.normal(size=(96, 40)).astype(short.np)
    graph = Graph()
    fed = graph.add("Placeholder", "x", attrs={"dtype": short, "shape": None})
    held = graph.add("Const", "w", attrs={"dtype": short, "value": TensorAttr(array=w)})
    graph.add("MatMul", "y", [fed, held], attrs={"T": short})
    native_ops.load()
    session = Session(graph, SessionConfig(optimizer="off", executor="native"))
    want = x.astype(np.float32) @ w.astype(np.float32)
    for _ in range(3):
        found = np.asarray(session.run("y:0", {"x:0": x}), np.float32)
        np.testing.assert_allclose(found, want, rtol=2**-7, atol=2**-7)
