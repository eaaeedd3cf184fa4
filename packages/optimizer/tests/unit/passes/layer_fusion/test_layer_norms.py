"""Layer fusion: normalizations as Keras 2 writes them, over several dimensions, of short floats."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from pass_checks import (
    Maker,
    as_lines,
    assert_same_natively,
    assert_same_values,
    assert_unchanged,
    check,
    run_pass,
)

from drystone_base.core.dtypes import BFLOAT16, FLOAT16, FLOAT32, INT32, DType
from drystone_base.graph import Output
from drystone_base.ops.own import LAYER_NORM
from drystone_optimizer.passes.layer_fusion import _norms

NAME = "layer_fusion"
SCALE = np.array([1.5, -2, 0.25, 1], np.float32)
OFFSET = np.array([0.5, 0, -1, 3], np.float32)


@pytest.fixture(autouse=True)
def _with_a_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if a plugin had one; the reference runs what comes out."""
    monkeypatch.setattr(_norms, "of_plugins", lambda: {LAYER_NORM: ()})


def numbers(*shape: int) -> Any:
    return np.random.default_rng(0).normal(1, 2, shape).astype(np.float32)


# ---- rows as channels of a batch normalization -------------------------------------------------


class Keras2(Maker):
    """``x`` of (-1, 3, 4), rows as channels, and back."""

    def __init__(self, dtype: DType = FLOAT32, shape: Any = (-1, 3, 4), **more: Any) -> None:
        super().__init__()
        self.f = {"T": dtype}
        x = self.x(shape=shape, dtype=dtype)
        target = self.const("to", more.get("to", [1, -1, 4, 1]))
        rows = self.op("Reshape", "rows", x, target, Tshape=INT32, **self.f)
        dims = self.op("Shape", "shape", x, out_type=INT32, **self.f)
        edges = (self.const(f"at{k}", [k]) for k in (0, 1))
        first = self.op("StridedSlice", "first", dims, *edges, self.const("by", [1]), T=INT32,
                        Index=INT32)  # fmt: skip
        count = self.op("Mul", "count", first, self.const("three", [3]), T=INT32)
        ones = self.op("Fill", "ones", count, self.const("one", more.get("one", 1.0)), T=FLOAT32)
        zeros = self.op("Fill", "zeros", count, self.const("zero", more.get("zero", 0.0)),
                        T=FLOAT32)  # fmt: skip
        none = self.const("none", np.zeros(0, np.float32))
        norm = self.op("FusedBatchNormV3", "norm", rows, ones, zeros, none, none, U=FLOAT32,
                       epsilon=1e-3, data_format=more.get("data_format", "NCHW"),
                       is_training=more.get("is_training", True), **self.f)  # fmt: skip
        back = more.get("back")
        to = dims if back is None else self.const("back_to", back)
        self.back = self.op("Reshape", "back", norm, to, Tshape=INT32, **self.f)

    def with_parameters(self) -> None:
        """Scale and offset."""
        y = self.op("Mul", "scaled", self.back, self.const("scale", SCALE, self.f["T"]), **self.f)
        self.op("AddV2", "y", y, self.const("offset", OFFSET, self.f["T"]), **self.f)


ROWS = np.array([[[2, 2, 2, 2], [1, np.nan, 2, 3], [np.inf, 1, 2, 3]]], np.float32)
FEEDS = {"x:0": np.concatenate([numbers(2, 3, 4), ROWS])}
HELD = ["x = Placeholder()", f"scale = Const({SCALE.tolist()})",
        f"offset = Const({OFFSET.tolist()})"]  # fmt: skip


def test_rows_of_keras_2() -> None:
    m = Keras2()
    m.with_parameters()
    lines = [f"y = {LAYER_NORM}(x, scale, offset)", *HELD]
    report = check(m, NAME, ["y:0"], lines, FEEDS, exact=False)
    [step] = [s for s in report.steps if s.outcome == "changed"]
    assert dict(step.rewrites) == {"layer-norm-of-rows": 1}
    assert step.numeric == "reassociates"
    after, _ = run_pass(m.graph, NAME, ["y:0"], ["x:0"])
    assert after["y"].attrs["epsilon"] == pytest.approx(1e-3)
    assert_same_natively(m.graph, after, ["y:0"], FEEDS)


@pytest.mark.parametrize("dtype", [FLOAT16, BFLOAT16], ids=lambda d: d.label)
def test_rows_of_keras_2_of_short_floats(dtype: DType) -> None:
    """Batch normalization computes in float32, so the one node is as exact in float16, too."""
    m = Keras2(dtype)
    m.with_parameters()
    after, _ = run_pass(m.graph, NAME, ["y:0"], ["x:0"])
    assert f"y = {LAYER_NORM}(x, scale, offset)" in as_lines(after)
    feeds = {"x:0": numbers(2, 3, 4).astype(dtype.np)}
    plain, found = (values(g, feeds) for g in (m.graph, after))
    np.testing.assert_allclose(found, plain, rtol=0.02, atol=0.05)


def values(graph: Any, feeds: Any) -> Any:
    from drystone_base.api.session import Session, SessionConfig

    config = SessionConfig(executor="reference", optimizer="off")
    return np.asarray(Session(graph, config).run("y:0", feeds)).astype(np.float64)


def test_rows_without_parameters_of_a_shape_that_is_constant() -> None:
    m = Keras2(back=[-1, 3, 4])
    m.op("Identity", "y", "back", **m.f)
    after, _ = run_pass(m.graph, NAME, ["y:0"], ["x:0"])
    assert f"y = {LAYER_NORM}(x)" in as_lines(after)
    assert_same_values(m.graph, after, ["y:0"], FEEDS, exact=False)


@pytest.mark.parametrize(
    "more",
    [
        {"one": 2.0}, {"zero": 1.0}, {"data_format": "NHWC", "to": [1, 4, 1, -1]},
        {"to": [1, -1, 6, 1]}, {"back": [-1, 4, 3]}, {"back": [-1, 12]}, {"back": [2, 3, 4]},
        {"shape": (-1, -1, -1)}, {"to": [-1, 1, 4, 1]},
    ],
    ids=str,
)  # fmt: skip
def test_what_are_no_rows(more: dict[str, Any]) -> None:
    m = Keras2(**more)
    m.op("Identity", "y", "back", **m.f)
    assert_unchanged(m, NAME, ["y:0"], ["x:0"])


@pytest.mark.parametrize("inner", ["rows:0", "norm:0", "norm:1", "back:0"])
def test_rows_of_which_more_is_read(inner: str) -> None:
    m = Keras2()
    m.with_parameters()
    after, _ = run_pass(m.graph, NAME, ["y:0", inner], ["x:0"])
    assert f"y = {LAYER_NORM}(x, scale, offset)" not in as_lines(after)
    fused = f"back = {LAYER_NORM}(x)" in as_lines(after)
    assert fused is (inner == "back:0")


def test_inference_is_no_normalization_of_rows() -> None:
    m = Keras2(is_training=False)
    for k in (3, 4):
        m.graph.set_input(m.graph["norm"], k, m.graph.output(("ones", "zeros")[k - 3] + ":0"))
    m.op("Identity", "y", "back", **m.f)
    assert_unchanged(m, NAME, ["y:0"], ["x:0"])


# ---- over several dimensions -------------------------------------------------------------------


def moments(
    axes: Any, shape: Any = (-1, 3, 4), dtype: DType = FLOAT32, scale: Any = (3, 4)
) -> tuple[Maker, Output]:
    """``(x - mean) / deviation * scale + offset`` over axes."""
    m, f = Maker(), {"T": dtype}
    x = m.x(shape=shape, dtype=dtype)
    axis = m.const("axis", axes)
    keep = {"keep_dims": True, "Tidx": INT32, **f}
    mean = m.op("Mean", "mean", x, axis, **keep)
    squares = m.op("SquaredDifference", "squares", x, mean, **f)
    variance = m.op("Mean", "variance", squares, axis, **keep)
    shifted = m.op("AddV2", "shifted", variance, m.const("epsilon", 1e-3, dtype), **f)
    less = m.op("Sub", "less", x, mean, **f)
    normal = m.op("Mul", "normal", less, m.op("Rsqrt", "r", shifted, **f), **f)
    scaled = m.op("Mul", "scaled", normal, m.const("scale", numbers(*scale), dtype), **f)
    return m, m.op("AddV2", "y", scaled, m.const("offset", numbers(*scale), dtype), **f)


@pytest.mark.parametrize("axes", [[1, 2], [-1, -2], [2, -2]], ids=str)
def test_over_the_last_two_dimensions(axes: list[int]) -> None:
    m, _ = moments(axes)
    after, report = run_pass(m.graph, NAME, ["y:0"], ["x:0"])
    assert {
        "y/rows = Const([-1, 12])", "y/flat = Reshape(x, y/rows)",
        f"y/normal = {LAYER_NORM}(y/flat, scale, offset)", "y/shape = Const([-1, 3, 4])",
        "y = Reshape(y/normal, y/shape)",
    } < set(as_lines(after))  # fmt: skip
    assert len(after) == 8
    assert report.steps[-1].rewrites == {"layer-norm": 1}
    feeds = {"x:0": numbers(2, 3, 4)}
    assert_same_values(m.graph, after, ["y:0"], feeds, exact=False)
    assert_same_natively(m.graph, after, ["y:0"], feeds)
    again, _ = run_pass(after, NAME, ["y:0"], ["x:0"])
    assert again is after


def test_between_other_reshapes_it_reads_and_gives_what_those_do() -> None:
    m, y = moments([1, 2], shape=(2, 3, 4))
    rows = m.op("Reshape", "before", m.x("wide", (2, 12)), m.const("s", [2, 3, 4]), T=FLOAT32,
                Tshape=INT32)  # fmt: skip
    for name in ("mean", "squares", "less"):
        node = m.graph[name]
        m.graph.set_inputs(node, [rows if s.name == "x" else (s, k) for s, k in node.inputs])
    m.op("Reshape", "z", y, m.const("t", [6, 4]), T=FLOAT32, Tshape=INT32)
    after, _ = run_pass(m.graph, NAME, ["z:0"], ["wide:0"])
    assert {"y/flat = Reshape(wide, y/rows)", "z = Reshape(y/normal, t)"} < set(as_lines(after))
    assert {"before", "y"}.isdisjoint(node.name for node in after)
    assert_same_values(m.graph, after, ["z:0"], {"wide:0": numbers(2, 12)}, exact=False)


def test_dimensions_of_one_element_make_no_reshapes() -> None:
    m, _ = moments([1, 2], shape=(-1, 1, 4), scale=(1, 4))
    after, _ = run_pass(m.graph, NAME, ["y:0"], ["x:0"])
    assert f"y = {LAYER_NORM}(x, scale, offset)" in as_lines(after)
    assert_same_values(m.graph, after, ["y:0"], {"x:0": numbers(2, 1, 4)}, exact=False)


def test_two_of_them_have_their_sizes_in_common() -> None:
    m, first = moments([1, 2])
    m.op("Neg", "z", first, T=FLOAT32)
    other, _ = moments([1, 2])
    names = {node.name: m.graph.adopt(node, f"o/{node.name}") for node in other.graph}
    for node in other.graph:
        twin = names[node.name]
        m.graph.set_inputs(twin, [(names[s.name], k) for s, k in node.inputs])
    after, _ = run_pass(m.graph, NAME, ["z:0", "o/y:0"], ["x:0", "o/x:0"])
    assert {"o/y = Reshape(o/y/normal, y/shape)", "o/y/flat = Reshape(o/x, y/rows)"} < set(
        as_lines(after)
    )


@pytest.mark.parametrize(
    ("axes", "more"),
    [
        ([0, 1], {"shape": (3, 4, 2), "scale": (3, 4, 1)}), ([1], {"scale": (3, 1)}),
        ([1, 2], {"shape": (-1, -1, 4)}), ([1, 2], {"shape": (-1, -1, 3, 4), "scale": (3, 4)}),
        ([2, 3], {"shape": (-1, -1, 3, 4), "scale": (3, 4)}), ([1, 2], {"shape": (0, 3, 4)}),
    ],
    ids=str,
)  # fmt: skip
def test_over_dimensions_that_the_kernel_does_not_do(axes: Any, more: dict[str, Any]) -> None:
    m, _ = moments(axes, **more)
    assert_unchanged(m, NAME, ["y:0"], ["x:0"])


@pytest.mark.parametrize("scale", [(1, 4), (4,), (3, 1)], ids=str)
def test_a_scale_that_is_repeated_stays_behind_it(scale: Any) -> None:
    m, _ = moments([1, 2], scale=scale)
    after, _ = run_pass(m.graph, NAME, ["y:0"], ["x:0"])
    assert {"scaled = Mul(normal, scale)", "normal = Reshape(normal/normal, normal/shape)"} < set(
        as_lines(after)
    )
    assert_same_values(m.graph, after, ["y:0"], {"x:0": numbers(2, 3, 4)}, exact=False)


# ---- short floats ------------------------------------------------------------------------------


def test_of_bfloat16() -> None:
    m, _ = moments([-1], dtype=BFLOAT16, scale=(4,))
    after, report = run_pass(m.graph, NAME, ["y:0"], ["x:0"])
    assert f"y = {LAYER_NORM}(x, scale, offset)" in as_lines(after)
    assert report.steps[-1].numeric == "reassociates"
    feeds = {"x:0": numbers(2, 3, 4).astype(BFLOAT16.np)}
    plain, found = (values(g, feeds) for g in (m.graph, after))
    np.testing.assert_allclose(found, plain, rtol=0.05, atol=0.1)


def test_of_float16_over_the_first_dimension_stays() -> None:
    m, _ = moments([0], dtype=FLOAT16, scale=(4,))
    assert_unchanged(m, NAME, ["y:0"], ["x:0"], numeric="approximate")


def test_of_float16_where_squares_may_overflow_only_if_that_is_allowed() -> None:
    m, _ = moments([-1], dtype=FLOAT16, scale=(4,))
    assert_unchanged(m, NAME, ["y:0"], ["x:0"])
    after, report = run_pass(m.graph, NAME, ["y:0"], ["x:0"], numeric="approximate")
    assert f"y = {LAYER_NORM}(x, scale, offset)" in as_lines(after)
    assert report.steps[-1].rewrites == {"layer-norm-float16": 1}
    assert report.steps[-1].numeric == "approximate"
    feeds = {"x:0": numbers(2, 3, 4).astype(np.float16)}
    plain, found = (values(g, feeds) for g in (m.graph, after))
    np.testing.assert_allclose(found, plain, rtol=0.02, atol=0.02)
    feeds = {"x:0": np.array([[[1000, -1000, 500, 0]] * 3], np.float16)}
    assert np.ptp(values(after, feeds)) > np.ptp(values(m.graph, feeds)), "which loses all there"
