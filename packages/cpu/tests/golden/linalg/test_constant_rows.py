"""One row times a constant matrix, as a product or a convolution at one place, and its steps."""

from __future__ import annotations

from typing import Any

import native_ops
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drystone_base.api.session import Session, SessionConfig
from drystone_base.core.dtypes import FLOAT32
from drystone_base.executor.testing import run_op
from drystone_base.graph import Graph
from drystone_base.ops.attrs import TensorAttr
from drystone_base.ops.own import FUSED_CONVOLUTION

pytestmark = native_ops.needs_onednn()
Array = np.ndarray[Any, Any]
STEPS: list[list[str]] = [
    [], ["BiasAdd"], ["Relu"], ["BiasAdd", "Relu6"], ["BiasAdd", "LeakyRelu"], ["BiasAdd", "Elu"],
    ["BiasAdd", "Sigmoid"], ["BiasAdd", "Tanh"], ["BiasAdd", "Add"], ["Add", "Relu"],
]  # fmt: skip
OURS = [["BiasAdd", "Swish"], ["BiasAdd", "HardSwish"], ["PRelu"], ["BiasAdd", "Swish", "Mul"]]
SIZES = {"depth": st.sampled_from([1, 3, 16, 17, 100]),
         "width": st.sampled_from([1, 15, 48, 64, 65, 128, 129, 200])}  # fmt: skip


def drawn(steps: list[str], shape: tuple[int, ...], filters: tuple[int, ...]) -> list[Array]:
    """A row, a matrix, and what the steps take."""
    random = np.random.default_rng(sum(filters))
    result = (*shape[:-1], filters[-1])
    sides = {"BiasAdd": result[-1:], "PRelu": result[-1:], "Add": result, "Mul": result}
    shapes = [shape, filters, *(sides[step] for step in steps if step in sides)]
    return [random.standard_normal(one).astype(np.float32) for one in shapes]


def with_constants(op: str, arrays: list[Array], attrs: dict[str, Any], threads: int = 1) -> Array:
    """What the native kernel gives where all but the first input are constants; several runs."""
    native_ops.load()
    graph = Graph()
    inputs = [graph.add("Placeholder", "x", attrs={"dtype": FLOAT32, "shape": None})]
    for k, value in enumerate(arrays[1:]):
        held = {"dtype": FLOAT32, "value": TensorAttr(array=value)}
        inputs.append(graph.add("Const", f"c{k}", attrs=held))
    graph.add(op, "y", inputs, attrs=attrs)
    config = SessionConfig(executor="native", optimizer="off", intra_op_threads=threads)
    session = Session(graph, config)
    (block,) = session.describe(["y:0"], ["x:0"])["blocks"]
    (library,) = (row["library"] for row in block["instructions"] if row["node"] == "y")
    assert "drystone_cpu" in library, "what runs is the kernel in question"
    first, *others = (session.run("y:0", {"x:0": arrays[0]}) for _ in range(3))
    for other in others:
        np.testing.assert_array_equal(other, first)
    return np.asarray(first)


def fused(steps: list[str]) -> dict[str, Any]:
    needed = sum(step in {"BiasAdd", "Add", "Mul", "PRelu"} for step in steps)
    return {"T": FLOAT32, "fused_ops": steps, "num_args": needed, "leakyrelu_alpha": 0.25}


def assert_as_numpy(op: str, arrays: list[Array], attrs: dict[str, Any]) -> None:
    """The native kernel gives what the reference does."""
    (want,) = run_op(op, *arrays, **attrs)
    found = with_constants(op, arrays, attrs)
    assert found.shape == want.shape
    np.testing.assert_allclose(found, want, rtol=1e-4, atol=1e-4)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(steps=st.sampled_from(STEPS[1:]), rows=st.integers(1, 2), **SIZES)
def test_products(steps: list[str], rows: int, depth: int, width: int) -> None:
    attrs = fused(steps) | {"transpose_a": False, "transpose_b": False, "epsilon": 1e-4}
    assert_as_numpy("_FusedMatMul", drawn(steps, (rows, depth), (depth, width)), attrs)


@settings(max_examples=80, deadline=None, derandomize=True)
@given(
    steps=st.sampled_from([*STEPS, *OURS]), batch=st.integers(1, 2),
    padding=st.sampled_from(["SAME", "VALID"]), stride=st.integers(1, 2), **SIZES,
)  # fmt: skip
def test_convolutions_at_one_place(
    steps: list[str], batch: int, padding: str, stride: int, depth: int, width: int
) -> None:
    attrs = fused(steps) | {"layer": "Conv2D", "strides": [1, stride, stride, 1],
                            "padding": padding, "explicit_paddings": [],
                            "hardswish_factor": 0.75}  # fmt: skip
    arrays = drawn(steps, (batch, 1, 1, depth), (1, 1, depth, width))
    assert_as_numpy(FUSED_CONVOLUTION, arrays, attrs)


def around(before: int, after: int, stride: int) -> dict[str, Any]:
    sides = [0, 0, before, after, before, after, 0, 0]
    return {"T": FLOAT32, "strides": [1, stride, stride, 1], "padding": "EXPLICIT",
            "explicit_paddings": sides}  # fmt: skip


@pytest.mark.parametrize(
    ("before", "after", "stride"), [(1, 1, 3), (0, 1, 2), (1, 0, 2), (1, 1, 1)]
)
def test_zeros_around_the_place(before: int, after: int, stride: int) -> None:
    """The one result may be of zeros alone."""
    arrays = drawn([], (1, 1, 1, 20), (1, 1, 20, 70))
    assert_as_numpy("Conv2D", arrays, around(before, after, stride))


def test_groups_of_channels_stay_apart() -> None:
    arrays = drawn([], (1, 1, 1, 20), (1, 1, 10, 70))
    attrs = {"T": FLOAT32, "strides": [1, 1, 1, 1], "padding": "VALID"}
    assert_as_numpy("Conv2D", arrays, attrs)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 3e38, 1e-42])
@pytest.mark.parametrize("width", [100, 133])
def test_values_at_the_edge(width: int, value: float) -> None:
    """Not Relu of NaN, for which oneDNN, where there are no registers for rows, gives zero."""
    for which in (0, 1, 2):
        for steps in (["BiasAdd"], ["BiasAdd", "Swish"]):
            arrays = drawn(steps, (1, 1, 1, 7), (1, 1, 7, width))
            arrays[which][..., -1] = value
            arrays[1][..., 2, 3] = 0
            attrs = fused(steps) | {"layer": "Conv2D", "strides": [1, 1, 1, 1], "padding": "VALID",
                                    "explicit_paddings": []}  # fmt: skip
            assert_as_numpy(FUSED_CONVOLUTION, arrays, attrs)


def test_threads_that_share_strips_give_the_same_bits() -> None:
    arrays = drawn(["BiasAdd"], (1, 900), (900, 1003))
    attrs = fused(["BiasAdd", "Relu"]) | {"transpose_a": False, "transpose_b": False}
    alone = with_constants("_FusedMatMul", arrays, attrs)
    np.testing.assert_array_equal(with_constants("_FusedMatMul", arrays, attrs, threads=2), alone)
    x, m, bias = arrays
    np.testing.assert_allclose(alone, np.maximum(x @ m + bias, 0), rtol=1e-4, atol=1e-4)
