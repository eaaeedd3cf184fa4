"""Row C6: constant folding, a factor that goes into the weights of the layer before it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pass_checks import Maker, assert_same_values, assert_unchanged, run_pass

from drystone_base.core.dtypes import FLOAT32
from drystone_base.loaders.graphdef import read_graph, write_graph
from drystone_base.ops.scaled import ScaledTensor

F = {"T": FLOAT32}
FOLD = "constant_folding"

Make = Callable[[Maker], Any]


def made(make: Make, shape: Any = (-1, 3), dtype: Any = FLOAT32) -> Maker:
    m = Maker()
    m.x(shape=shape, dtype=dtype)
    make(m)
    return m


def layer(
    op: str, c: Any, weights: Any = (1, 1, 3, 2), shape: Any = (1, 2, 2, 3), **more: Any
) -> Make:
    def make(m: Maker) -> None:
        held = m.const("w", np.arange(np.prod(weights)).reshape(weights) + 1.0)
        window = {} if op == "MatMul" else {"strides": [1, 1, 1, 1], "padding": "VALID"}
        m.op(op, "l", "x", held, **window, **more, **F)
        m.op("Mul", "y", "l", m.const("c", c), **F)

    return make


@pytest.mark.parametrize(("op", "c", "shape", "weights", "more"), [
    ("Conv2D", 2.0, (1, 2, 2, 3), (1, 1, 3, 2), {}),
    ("Conv2D", [2.0, 3.0], (1, 2, 2, 3), (1, 1, 3, 2), {}),
    ("Conv2D", [[[[2.0, 3.0]]]], (1, 2, 2, 3), (2, 2, 3, 2), {}),
    ("DepthwiseConv2dNative", [1.0, 2.0, 3.0, 4.0, 5.0, 6.0], (1, 2, 2, 3), (1, 1, 3, 2), {}),
    ("MatMul", [2.0, 3.0], (2, 3), (3, 2), {}),
    ("MatMul", [2.0, 3.0], (2, 3), (2, 3), {"transpose_b": True}),
])  # fmt: skip
def test_fold_output_scale(op: str, c: Any, shape: Any, weights: Any, more: Any) -> None:
    m = made(layer(op, c, weights, **more), shape)
    after, _ = run_pass(m.graph, FOLD, ["y:0"], ["x:0"])
    assert after["y"].op == op
    assert sorted(n.op for n in after) == sorted(["Placeholder", "Const", op])
    feeds = {"x:0": np.random.default_rng(1).normal(size=shape).astype(np.float32)}
    assert_same_values(m.graph, after, ["y:0"], feeds, exact=False)


@pytest.mark.parametrize(("op", "c", "weights", "more"), [
    ("Conv2D", 2.0, (3, 3, 40, 50), {}),
    ("Conv2D", np.linspace(0.1, 2, 50), (3, 3, 40, 50), {}),
    ("DepthwiseConv2dNative", np.linspace(0.1, 2, 3000), (3, 3, 1500, 2), {}),
    ("DepthwiseConv2dNative", np.linspace(0.1, 2, 3000), (3, 3, 3000, 1), {}),
    ("MatMul", np.linspace(0.1, 2, 130), (140, 130), {}),
    ("MatMul", np.linspace(0.1, 2, 130), (130, 140), {"transpose_b": True}),
])  # fmt: skip
def test_weights_in_a_file_stay_there(
    tmp_path: Path, op: str, c: Any, weights: Any, more: Any
) -> None:
    m = made(layer(op, c, weights, **more), None)
    write_graph(m.graph, tmp_path / "model.pb")
    in_file, _ = run_pass(read_graph(tmp_path / "model.pb"), FOLD, ["y:0"], ["x:0"])
    in_memory, _ = run_pass(m.graph, FOLD, ["y:0"], ["x:0"])
    held = in_file["y"].inputs[1][0].attr("value")
    assert isinstance(held, ScaledTensor)
    assert in_file["y"].op == op
    assert in_file.to_bytes() == in_memory.to_bytes()  # the same products, bit by bit


def test_weights_in_a_file_that_would_vanish_stay_as_they_are(tmp_path: Path) -> None:
    m = made(layer("MatMul", 1e-39, (140, 130)), None)
    write_graph(m.graph, tmp_path / "model.pb")
    graph = read_graph(tmp_path / "model.pb")
    after, _ = run_pass(graph, FOLD, ["y:0"], ["x:0"])
    assert after["y"].op == "Mul"


@pytest.mark.parametrize(("op", "c", "shape", "weights", "more"), [
    ("Conv2D", np.full((1, 2, 2, 1), 2.0), (1, 2, 2, 3), (1, 1, 3, 2), {}),
    ("MatMul", [[2.0], [3.0]], (2, 3), (3, 2), {}),
    ("MatMul", np.inf, (2, 3), (3, 2), {}),
    ("MatMul", 1e-39, (2, 3), (3, 2), {}),
])  # fmt: skip
def test_factors_that_weights_cannot_take(
    op: str, c: Any, shape: Any, weights: Any, more: Any
) -> None:
    assert_unchanged(made(layer(op, c, weights, **more), shape), FOLD, ["y:0"], ["x:0"])


def test_weights_that_others_use_stay() -> None:
    m = made(layer("MatMul", 2.0, (3, 2)), (2, 3))
    m.op("MatMul", "z", "x", "w", **F)
    assert_unchanged(m, FOLD, ["y:0", "z:0"], ["x:0"])
    assert_unchanged(made(layer("MatMul", 2.0, (3, 2)), (2, 3)), FOLD, ["y:0", "l:0"], ["x:0"])
