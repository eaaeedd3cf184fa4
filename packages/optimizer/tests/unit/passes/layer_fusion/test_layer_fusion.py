"""Layer fusion: normalizations and GELUs, as frameworks write them, become one node each."""

from __future__ import annotations

from collections.abc import Callable
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

from drystone_base.core.dtypes import FLOAT32, FLOAT64, INT32
from drystone_base.graph import Output
from drystone_base.ops.own import GELUS, LAYER_NORM
from drystone_optimizer.passes.layer_fusion import _norms, gelu

F: dict[str, Any] = {"T": FLOAT32}
D: dict[str, Any] = {"T": FLOAT64}
NAME = "layer_fusion"
EXACT, APPROXIMATE = GELUS
SCALE = np.array([1.5, -2, 0.25, 1], np.float32)
OFFSET = np.array([0.5, 0, -1, 3], np.float32)


@pytest.fixture(autouse=True)
def _with_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if a plugin had them; the reference runs what comes out."""
    for module in (_norms, gelu):
        monkeypatch.setattr(module, "of_plugins", lambda: dict.fromkeys((LAYER_NORM, *GELUS), ()))


# ---- layer normalization -----------------------------------------------------------------------


def rows() -> np.ndarray[Any, Any]:
    """Ordinary rows, and those of one number, of NaN, of infinities, of what overflows squared."""
    rng = np.random.default_rng(1)
    special = [
        [2, 2, 2, 2], [0, 0, 0, 0], [1, np.nan, 2, 3], [np.inf, 1, 2, 3], [1e30, -1e30, 1, 2],
    ]  # fmt: skip
    return np.array([*rng.normal(1, 2, (4, 4)), *special], np.float32)[None]


FEEDS = {"x:0": rows()}


class Layer(Maker):
    """The beginning of a normalization: its moments, and one over the deviation."""

    def __init__(self, squares: str = "SquaredDifference", axis: Any = (-1,), **more: Any) -> None:
        super().__init__()
        self.attrs = {"T": more.get("dtype", FLOAT32)}
        self.input = self.x(shape=more.get("shape", (-1, -1, 4)), dtype=self.attrs["T"])
        self.axis = self.const("axis", axis)
        keep = more.get("keep_dims", True)
        self.mean = self.average("mean", self.input, keep)
        self.variance = self.average("variance", self.squared(squares), keep)
        epsilon = self.const("epsilon", more.get("epsilon", 1e-3), self.attrs["T"])
        self.shifted = self.f("AddV2", "shifted", self.variance, epsilon)

    def f(self, op: str, name: str, *inputs: Any, **more: Any) -> Output:
        """A node of floats."""
        return self.op(op, name, *inputs, **self.attrs, **more)

    def average(self, name: str, of: Output, keep: bool) -> Output:
        """A mean over the axis."""
        return self.f("Mean", name, of, self.axis, keep_dims=keep, Tidx=INT32)

    def squared(self, squares: str) -> Output:
        """The squares that the variance is the mean of."""
        if squares == "SquaredDifference":
            stopped = self.f("StopGradient", "stopped", self.mean)
            return self.f("SquaredDifference", "squares", self.input, stopped)
        less = self.f("Sub", "less", self.input, self.mean)
        if squares == "Square":
            return self.f("Square", "squares", less)
        return self.f("Mul", "squares", less, less)

    def rsqrt(self) -> Output:
        """One over the deviation."""
        return self.f("Rsqrt", "r", self.shifted)

    def scale(self) -> Output:
        """The scale."""
        return self.const("scale", SCALE, self.attrs["T"])

    def offset(self) -> Output:
        """The offset."""
        return self.const("offset", OFFSET, self.attrs["T"])


def as_batch_normalization(m: Layer) -> None:
    """As ``tf.nn.batch_normalization`` does."""
    factor = m.f("Mul", "factor", m.rsqrt(), m.scale())
    rest = m.f("Sub", "rest", m.offset(), m.f("Mul", "mf", m.mean, factor))
    m.f("AddV2", "y", m.f("Mul", "xf", m.input, factor), rest)


def as_keras(m: Layer) -> None:
    """As Keras 3 does, with a scale of the input's rank."""
    scale = m.const("scale", SCALE[None, None])
    inverse = m.f("Mul", "inverse", m.rsqrt(), scale)
    less = m.f("Mul", "less_mean", m.f("Neg", "minus", m.mean), inverse)
    rest = m.f("AddV2", "rest", less, m.offset())
    m.f("AddV2", "y", m.f("Mul", "xi", m.input, inverse), rest)


def by_hand(m: Layer) -> None:
    """As papers have it."""
    left = m.f("Sub", "centered", m.input, m.mean)
    scaled = m.f("Mul", "scaled", m.f("Mul", "normal", left, m.rsqrt()), m.scale())
    m.f("AddV2", "y", m.offset(), scaled)


def by_division(m: Layer) -> None:
    """With a root and a quotient."""
    left = m.f("Sub", "centered", m.input, m.mean)
    normal = m.f("RealDiv", "normal", left, m.f("Sqrt", "root", m.shifted))
    m.f("Add", "y", m.f("Mul", "scaled", m.scale(), normal), m.offset())


@pytest.mark.parametrize("squares", ["SquaredDifference", "Square", "Mul"])
@pytest.mark.parametrize(
    "form", [as_batch_normalization, as_keras, by_hand, by_division], ids=lambda f: f.__name__
)
def test_layer_norm(form: Callable[[Layer], None], squares: str) -> None:
    m = Layer(squares)
    form(m)
    held = SCALE[None, None] if form is as_keras else SCALE
    lines = [
        f"y = {LAYER_NORM}(x, scale, offset)", "x = Placeholder()",
        f"scale = Const({held.tolist()})", f"offset = Const({OFFSET.tolist()})",
    ]  # fmt: skip
    report = check(m, NAME, ["y:0"], lines, FEEDS, exact=False)
    [step] = [s for s in report.steps if s.outcome == "changed"]
    assert dict(step.rewrites) == {"layer-norm": 1}
    assert step.numeric == "reassociates"
    after, _ = run_pass(m.graph, NAME, ["y:0"], ["x:0"])
    assert after["y"].attrs["epsilon"] == pytest.approx(1e-3)
    assert_same_natively(m.graph, after, ["y:0"], FEEDS)


def without_offset(m: Layer) -> None:
    """``x r s - m r s``, as folding leaves it of an offset of zeros."""
    factor = m.f("Mul", "factor", m.rsqrt(), m.scale())
    m.f("Sub", "y", m.f("Mul", "xf", m.input, factor), m.f("Mul", "mf", m.mean, factor))


def without_scale(m: Layer) -> None:
    """With an offset alone."""
    normal = m.f("Mul", "normal", m.f("Sub", "centered", m.input, m.mean), m.rsqrt())
    m.f("AddV2", "y", normal, m.offset())


def with_neither(m: Layer) -> None:
    """Neither scale nor offset."""
    m.f("Mul", "y", m.rsqrt(), m.f("Sub", "centered", m.input, m.mean))


@pytest.mark.parametrize(
    ("form", "args"),
    [(without_offset, ["scale"]), (without_scale, ["offset"]), (with_neither, [])],
)
def test_layer_norm_with_less(form: Callable[[Layer], None], args: list[str]) -> None:
    m = Layer()
    form(m)
    after, _ = run_pass(m.graph, NAME, ["y:0"], ["x:0"])
    assert f"y = {LAYER_NORM}({', '.join(['x', *args])})" in as_lines(after)
    assert after["y"].attrs["has_scale"] is ("scale" in args)
    assert after["y"].attrs["has_offset"] is ("offset" in args)
    assert_same_values(m.graph, after, ["y:0"], FEEDS, exact=False)
    assert_same_natively(m.graph, after, ["y:0"], FEEDS)


def test_what_follows_stays() -> None:
    m = Layer()
    by_hand(m)
    m.f("Mul", "more", "y", m.const("two", 2.0))
    after, _ = run_pass(m.graph, NAME, ["more:0"], ["x:0"])
    assert {"more = Mul(y, two)", f"y = {LAYER_NORM}(x, scale, offset)"} <= set(as_lines(after))


def _wrong_mean(m: Layer) -> None:
    other = m.average("other", m.f("Neg", "n", m.input), True)
    m.f("Mul", "y", m.rsqrt(), m.f("Sub", "centered", m.input, other))


def _twice_the_input(m: Layer) -> None:
    r = m.rsqrt()
    twice = m.f("Mul", "twice", m.f("Mul", "xr", m.input, r), m.const("two", 2.0))
    m.f("Sub", "y", twice, m.f("Mul", "mr", m.mean, r))


def _sum_instead(m: Layer) -> None:
    m.f("Mul", "y", m.rsqrt(), m.f("AddV2", "sum", m.input, m.mean))


def _scale_of_rows(m: Layer) -> None:
    factor = m.f("Mul", "factor", m.rsqrt(), m.const("scale", np.ones((3, 1), np.float32) * 2))
    m.f("Sub", "y", m.f("Mul", "xf", m.input, factor), m.f("Mul", "mf", m.mean, factor))


def _another_rank(m: Layer) -> None:
    centered = m.f("Sub", "centered", m.input, m.mean)
    normal = m.f("Mul", "normal", centered, m.const("one", np.full((1, 1, 1, 1), 1, np.float32)))
    m.f("Mul", "y", m.rsqrt(), normal)


def _offset_in_one_term(m: Layer) -> None:
    r = m.rsqrt()
    m.f(
        "Sub",
        "y",
        m.f("Mul", "xr", m.input, r),
        m.f("Mul", "mr", m.f("Mul", "ms", m.mean, m.scale()), r),
    )


def _deviation_twice(m: Layer) -> None:
    r = m.rsqrt()
    centered = m.f("Sub", "centered", m.input, m.mean)
    m.f("Mul", "y", m.f("Mul", "once", centered, r), r)


@pytest.mark.parametrize(
    "form",
    [_wrong_mean, _twice_the_input, _sum_instead, _scale_of_rows, _another_rank,
     _offset_in_one_term],
)  # fmt: skip
def test_what_is_no_layer_norm(form: Callable[[Layer], None]) -> None:
    m = Layer()
    form(m)
    assert_unchanged(m, NAME, ["y:0"], ["x:0"])


@pytest.mark.parametrize(
    "more",
    [
        {"axis": (1,)}, {"axis": (0, 2)}, {"axis": (1, 2)},
        {"keep_dims": False, "shape": (4, 4)}, {"epsilon": -1e-3},
        {"epsilon": np.inf}, {"epsilon": [1e-3] * 4}, {"dtype": FLOAT64}, {"shape": (-1, -1, 1)},
        {"shape": (-1, -1, -1)},
    ],
    ids=str,
)  # fmt: skip
def test_layers_that_the_kernel_does_not_do(more: dict[str, Any]) -> None:
    m = Layer(**more)
    with_neither(m)
    assert_unchanged(m, NAME, ["y:0"], ["x:0"])


@pytest.mark.parametrize("inner", ["mean", "squares", "variance", "shifted", "r", "centered"])
def test_layer_norm_of_which_more_is_read(inner: str) -> None:
    m = Layer()
    with_neither(m)
    assert_unchanged(m, NAME, ["y:0", f"{inner}:0"], ["x:0"])
    m.op("NoOp", "after", controls=[inner])
    assert_unchanged(m, NAME, ["y:0", "after"], ["x:0"])


def test_layer_norm_that_waits_inside() -> None:
    m = Layer()
    wait = m.op("NoOp", "wait")
    centered = m.f("Sub", "centered", m.input, m.mean, controls=[wait])
    m.f("Mul", "y", m.rsqrt(), centered)
    assert_unchanged(m, NAME, ["y:0"], ["x:0"])


def test_deviation_squared_normalizes_once() -> None:
    m = Layer()
    _deviation_twice(m)
    assert_unchanged(m, NAME, ["y:0"], ["x:0"])


# ---- gelu --------------------------------------------------------------------------------------

NUMBERS = np.array(
    [[0, -0.0, 1, -1, 0.5, -3], [6, -9, 40, -40, 1e-20, -1e20], [np.nan, np.inf, -np.inf, 2, 3, 4]],
    np.float32,
)
ROOT = float(np.float32(np.sqrt(0.5)))
SLOPE = float(np.float32(np.sqrt(2 / np.pi)))


def half(m: Maker, factor: Output, of: Output) -> None:
    """``factor * 0.5 * (1 + of)``."""
    m.op("Mul", "y", m.op("Mul", "h", m.const("half", 0.5), factor, **F),
         m.op("AddV2", "one_more", m.const("one", 1.0), of, **F), **F)  # fmt: skip


def by_erf(m: Maker, x: Output) -> None:
    """``0.5 x (1 + erf(x / sqrt(2)))``, as Keras 2 does."""
    half(m, x, m.op("Erf", "e", m.op("RealDiv", "d", x, m.const("r", 1 / ROOT), **F), **F))


def by_distribution(m: Maker, x: Output) -> None:
    """``x (0.5 (1 + erf(sqrt(0.5) x)))``, as the first BERT does."""
    erf = m.op("Erf", "e", m.op("Mul", "d", m.const("r", ROOT), x, **F), **F)
    more = m.op("Add", "a", erf, m.const("one", 1.0), **F)
    m.op("Mul", "y", x, m.op("Mul", "cdf", more, m.const("half", 0.5), **F), **F)


def by_erfc(m: Maker, x: Output) -> None:
    """``0.5 x erfc(-x sqrt(0.5))``, as Keras 3 does."""
    inside = m.op("Mul", "d", m.op("Neg", "n", x, **F), m.const("r", ROOT), **F)
    m.op("Mul", "y", m.op("Mul", "h", m.const("half", 0.5), x, **F),
         m.op("Erfc", "e", inside, **F), **F)  # fmt: skip


def by_sum(m: Maker, x: Output) -> None:
    """``0.5 x + 0.5 x erf(x sqrt(0.5))``."""
    h = m.op("Mul", "h", m.const("half", 0.5), x, **F)
    erf = m.op("Erf", "e", m.op("Mul", "d", x, m.const("r", ROOT), **F), **F)
    m.op("AddV2", "y", h, m.op("Mul", "he", h, erf, **F), **F)


def by_tanh(m: Maker, x: Output) -> None:
    """With the third power by Pow, as ``tf.nn.gelu(approximate=True)`` does."""
    cube = m.op("Pow", "p", x, m.const("three", 3.0), **F)
    bent = m.op("AddV2", "b", x, m.op("Mul", "c", m.const("k", 0.044715), cube, **F), **F)
    half(m, x, m.op("Tanh", "e", m.op("Mul", "d", m.const("s", SLOPE), bent, **F), **F))


def by_tanh_of_product(m: Maker, x: Output) -> None:
    """``tanh(x s (1 + 0.044715 x x))``, as some do who save an operation."""
    square = m.op("Mul", "p", m.const("k", 0.044715), m.op("Square", "q", x, **F), **F)
    bent = m.op("AddV2", "b", m.const("uno", 1.0), square, **F)
    straight = m.op("Mul", "d", x, m.const("s", SLOPE), **F)
    half(m, x, m.op("Tanh", "e", m.op("Mul", "i", straight, bent, **F), **F))


FORMS = [
    (by_erf, EXACT), (by_distribution, EXACT), (by_erfc, EXACT), (by_sum, EXACT),
    (by_tanh, APPROXIMATE), (by_tanh_of_product, APPROXIMATE),
]  # fmt: skip


@pytest.mark.parametrize(("form", "op"), FORMS, ids=lambda f: getattr(f, "__name__", ""))
def test_gelu(form: Callable[[Maker, Output], None], op: str) -> None:
    m = Maker()
    form(m, m.x(shape=(-1, 6)))
    check(m, NAME, ["y:0"], [f"y = {op}(x)", "x = Placeholder()"], {"x:0": NUMBERS}, exact=False)
    after, report = run_pass(m.graph, NAME, ["y:0"], ["x:0"])
    assert [dict(s.rewrites) for s in report.steps if s.outcome == "changed"] == [{"gelu": 1}]
    assert_same_natively(m.graph, after, ["y:0"], {"x:0": NUMBERS})


W = np.random.default_rng(3).normal(size=(6, 5)).astype(np.float32)


def product(m: Maker, biased: bool) -> Output:
    """A product, with a bias or without."""
    layer = m.op("MatMul", "l", m.x(shape=(-1, 6)), m.const("w", W), **F)
    if not biased:
        return layer
    m.graph["l"]  # the layer and its bias, as remapping leaves them
    return m.op("_FusedMatMul", "lb", "x:0", "w:0", m.const("bias", W[0]), **F,
                fused_ops=["BiasAdd"], num_args=1)  # fmt: skip


@pytest.mark.parametrize("biased", [False, True])
def test_gelu_after_a_product(biased: bool) -> None:
    m = Maker()
    by_tanh(m, product(m, biased))
    after, _ = run_pass(m.graph, NAME, ["y:0"], ["x:0"])
    assert after["y"].op == "_FusedMatMul"
    name = "GeluApproximate"
    assert after["y"].attrs["fused_ops"] == (["BiasAdd", name] if biased else [name])
    feeds = {"x:0": np.random.default_rng(1).normal(size=(3, 6)).astype(np.float32)}
    assert_same_values(m.graph, after, ["y:0"], feeds, exact=False)
    assert_same_natively(m.graph, after, ["y:0"], feeds)


def test_gelu_after_a_product_and_a_reshape() -> None:
    m = Maker()
    shape = m.const("shape", [2, -1, 5])
    by_tanh(m, m.op("Reshape", "wide", product(m, True), shape, **F))
    after, _ = run_pass(m.graph, NAME, ["y:0"], ["x:0"])
    lines = as_lines(after)
    assert {"y = Reshape(wide, shape)", "wide = _FusedMatMul(x, w, bias)"} <= set(lines)
    feeds = {"x:0": np.random.default_rng(1).normal(size=(4, 6)).astype(np.float32)}
    assert_same_values(m.graph, after, ["y:0"], feeds, exact=False)
    again, _ = run_pass(after, NAME, ["y:0"], ["x:0"])
    assert again is after


def test_gelu_after_a_product_that_others_read() -> None:
    m = Maker()
    by_tanh(m, product(m, False))
    after, _ = run_pass(m.graph, NAME, ["y:0", "l:0"], ["x:0"])
    assert {f"y = {APPROXIMATE}(l)", "l = MatMul(x, w)"} <= set(as_lines(after))


def test_gelu_by_the_error_function_stays_beside_the_product() -> None:
    m = Maker()
    by_erfc(m, product(m, False))
    after, _ = run_pass(m.graph, NAME, ["y:0"], ["x:0"])
    assert {f"y = {EXACT}(l)", "l = MatMul(x, w)"} <= set(as_lines(after))


def _other_root(m: Maker, x: Output) -> None:
    half(m, x, m.op("Erf", "e", m.op("Mul", "d", x, m.const("r", 0.7), **F), **F))


def _other_bend(m: Maker, x: Output) -> None:
    cube = m.op("Pow", "p", x, m.const("three", 3.0), **F)
    bent = m.op("AddV2", "b", x, m.op("Mul", "c", m.const("k", 0.0447), cube, **F), **F)
    half(m, x, m.op("Tanh", "e", m.op("Mul", "d", m.const("s", SLOPE), bent, **F), **F))


def _other_factor(m: Maker, x: Output) -> None:
    erf = m.op("Erf", "e", m.op("Mul", "d", x, m.const("r", ROOT), **F), **F)
    half(m, m.op("Exp", "z", x, **F), erf)


def _other_sign(m: Maker, x: Output) -> None:
    m.op("Mul", "y", m.op("Mul", "h", m.const("half", 0.5), x, **F),
         m.op("Erfc", "e", m.op("Mul", "d", x, m.const("r", ROOT), **F), **F), **F)  # fmt: skip


def _grows(m: Maker, x: Output) -> None:
    erf = m.op("Erf", "e", m.op("Mul", "d", x, m.const("r", np.full((1, 1, 1), ROOT)), **F), **F)
    half(m, x, erf)


@pytest.mark.parametrize("form", [_other_root, _other_bend, _other_factor, _other_sign, _grows])
def test_what_is_no_gelu(form: Callable[[Maker, Output], None]) -> None:
    m = Maker()
    form(m, m.x(shape=(-1, 6)))
    assert_unchanged(m, NAME, ["y:0"], ["x:0"])


@pytest.mark.parametrize("inner", ["d", "e", "one_more", "h"])
def test_gelu_of_which_more_is_read(inner: str) -> None:
    m = Maker()
    by_erf(m, m.x(shape=(-1, 6)))
    assert_unchanged(m, NAME, ["y:0", f"{inner}:0"], ["x:0"])


# ---- both --------------------------------------------------------------------------------------


def test_nothing_without_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (_norms, gelu):
        monkeypatch.setattr(module, "of_plugins", dict)
    m = Layer()
    by_hand(m)
    assert_unchanged(m, NAME, ["y:0"], ["x:0"])
    other = Maker()
    by_erf(other, other.x(shape=(-1, 6)))
    assert_unchanged(other, NAME, ["y:0"], ["x:0"])


def test_nothing_where_roundings_must_stay() -> None:
    m = Layer()
    by_hand(m)
    assert_unchanged(m, NAME, ["y:0"], ["x:0"], numeric="exact")
    other = Maker()
    by_erf(other, other.x(shape=(-1, 6)))
    assert_unchanged(other, NAME, ["y:0"], ["x:0"], numeric="exact")
