"""A convolution adds into the memory of what is added, where nothing else reads that any more."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from native_ops import load, needs_onednn

from drystone_base.api.session import Session, SessionConfig
from drystone_base.core.dtypes import DType, as_dtype
from drystone_base.executor.testing import run_op
from drystone_base.graph import Graph
from drystone_base.ops.attrs import TensorAttr
from drystone_base.ops.own import FUSED_CONVOLUTION

pytestmark = needs_onednn()

STEPS = (["Add"], ["Add", "Relu"], ["BiasAdd", "Add", "Relu"], ["BiasAdd", "Relu", "Add"],
         ["BiasAdd", "Add", "Add"])  # fmt: skip
IN_PLACE = [steps for steps in STEPS if "Add" in steps[:1] or steps[:2] == ["BiasAdd", "Add"]]
SHAPES = ((1, 1, 64, 256), (2, 3, 24, 40), (1, 1, 300, 17))
"""Batch, window, channels, outputs."""


def layer(steps: list[str], kind: DType, shape: tuple[int, ...], depthwise: bool) -> Any:
    """A convolution of ``x`` with its constants; attributes, and arrays of its inputs."""
    batch, window, channels, count = shape
    rng = np.random.default_rng(7)
    x = rng.normal(size=(batch, 6, 7, channels)).astype(kind.np)
    w = (rng.normal(size=(window, window, channels, 1 if depthwise else count)) / 9).astype(kind.np)
    wide = channels if depthwise else count
    bias = rng.normal(size=(wide,)).astype(kind.np)
    adds = [rng.normal(size=(batch, 6, 7, wide)).astype(kind.np) for step in steps if step == "Add"]
    more = [bias, *adds] if "BiasAdd" in steps else adds
    attrs = {
        "T": kind, "layer": "DepthwiseConv2dNative" if depthwise else "Conv2D",
        "strides": [1, 1, 1, 1], "padding": "SAME", "explicit_paddings": [], "fused_ops": steps,
        "num_args": len(more), "leakyrelu_alpha": 0.25, "hardswish_factor": 1.0,
    }  # fmt: skip
    return attrs, [x, w, *more]


def run(attrs: dict[str, Any], arrays: list[Any], *more: str) -> tuple[list[Any], dict[str, int]]:
    """What a session gives for the layer and ``more``; the number of each node's memory.

    What is added is computed (``-(-a)``); filters and biases are constants.
    """
    load()
    graph, kind = Graph(), attrs["T"]
    inputs, feeds = [], {}
    for k, array in enumerate(arrays):
        if k == 1 or array.ndim == 1:
            value = TensorAttr(array=array)
            inputs.append(graph.add("Const", f"c{k}", attrs={"dtype": kind, "value": value}))
            continue
        fed = graph.add("Placeholder", f"in{k}", attrs={"dtype": kind, "shape": None})
        feeds[f"in{k}:0"] = -array
        inputs.append(graph.add("Neg", f"a{k}", [fed], attrs={"T": kind}))
    graph.add(FUSED_CONVOLUTION, "y", inputs, attrs=attrs)
    session = Session(graph, SessionConfig(executor="native", optimizer="off"))
    fetches = ["y:0", *more]
    session.run(fetches, feeds)
    with session.record() as record:
        found = session.run(fetches, feeds)
    return found, {ran.node: ran.outputs[0][1] for ran in record.nodes}


def assert_near(found: Any, expected: Any, kind: DType) -> None:
    slack = 2e-5 if kind.np == np.float32 else 4e-2
    np.testing.assert_allclose(
        found.astype(np.float32), expected.astype(np.float32), rtol=slack, atol=slack
    )


@pytest.mark.parametrize("steps", STEPS, ids="-".join)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("depthwise", [False, True])
@pytest.mark.parametrize("kind", [as_dtype("float32"), as_dtype("bfloat16")], ids=str)
def test_the_sum_is_the_same(
    steps: list[str], shape: tuple[int, ...], depthwise: bool, kind: DType
) -> None:
    """Into the memory of what is added, and beside it where that is fetched as well."""
    attrs, arrays = layer(steps, kind, shape, depthwise)
    (expected,) = run_op(FUSED_CONVOLUTION, *arrays, **attrs)
    added = 3 if "BiasAdd" in steps else 2
    (found,), memory = run(attrs, arrays)
    assert_near(found, expected, kind)
    assert (memory["y"] == memory[f"a{added}"]) == (steps in IN_PLACE)
    (beside, read), memory = run(attrs, arrays, f"a{added}:0")
    assert memory["y"] != memory[f"a{added}"]
    np.testing.assert_array_equal(read, arrays[added])
    assert_near(beside, expected, kind)


@pytest.mark.parametrize("place", [0, 15, 16, 4095, 4096, 5459])
@pytest.mark.parametrize("kind", [as_dtype("float32"), as_dtype("bfloat16")], ids=str)
def test_nan_is_found_wherever_it_is_in_what_is_added(kind: DType, place: int) -> None:
    """The first and the last elements of registers and of blocks that are looked at."""
    steps = ["BiasAdd", "Add", "Relu"]
    attrs, arrays = layer(steps, kind, (1, 1, 16, 130), False)
    for value in (np.nan, np.inf):
        arrays[3].flat[place] = value
        (found,), memory = run(attrs, arrays)
        assert memory["y"] == memory["a3"]
        got = found.astype(np.float32).ravel()
        assert np.flatnonzero(~np.isfinite(got)).tolist() == [place]
        np.testing.assert_array_equal(got[place], np.float32(value))


def test_what_is_added_is_the_image() -> None:
    """It is read to the end: the sum goes elsewhere."""
    kind = as_dtype("float32")
    attrs, (x, w, _) = layer(["Add"], kind, (1, 3, 16, 16), False)
    load()
    graph = Graph()
    fed = graph.add("Placeholder", "in", attrs={"dtype": kind, "shape": None})
    image = graph.add("Neg", "x", [fed], attrs={"T": kind})
    value = graph.add("Const", "w", attrs={"dtype": kind, "value": TensorAttr(array=w)})
    graph.add(FUSED_CONVOLUTION, "y", [image, value, image], attrs=attrs)
    session = Session(graph, SessionConfig(executor="native", optimizer="off"))
    (found,) = session.run(["y:0"], {"in:0": -x})
    (expected,) = run_op(FUSED_CONVOLUTION, x, w, x, **attrs)
    assert_near(found, expected, kind)
