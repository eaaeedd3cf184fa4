"""Row C11: arithmetic optimization, stage by stage, each with what it must leave alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from pass_checks import Maker, as_lines, assert_same_values, assert_unchanged, run_pass

from drystone_base.core.dtypes import BOOL, COMPLEX64, FLOAT32, FLOAT64, INT32

F = {"T": FLOAT32}
ARITH = "arithmetic_optimization"
X = np.array([[1, -0.0, 3], [0.0, -5, np.nan]], np.float32)
Make = Callable[[Maker], Any]


def made(make: Make, shape: Any = (-1, 3), dtype: Any = FLOAT32) -> Maker:
    m = Maker()
    m.x(shape=shape, dtype=dtype)
    m.x("z", shape=shape, dtype=dtype)
    make(m)
    return m


def ops(*names: str, **attrs: Any) -> Make:
    """A chain of unary ops on x; the last is y."""

    def make(m: Maker) -> None:
        last = "x"
        for k, name in enumerate(names):
            here = "y" if k == len(names) - 1 else f"n{k}"
            m.op(name, here, last, **({} if name == "LogicalNot" else F | attrs))
            last = here

    return make


def transposes(*orders: list[int]) -> Make:
    def make(m: Maker) -> None:
        last = "x"
        for k, order in enumerate(orders):
            here = "y" if k == len(orders) - 1 else f"n{k}"
            m.op("Transpose", here, last, m.const(f"p{k}", order), Tperm=INT32, **F)
            last = here

    return make


def binary(op: str, left: Any, right: Any, *before: Any) -> Make:
    """``op`` of two names, after nodes ``(op, name, *inputs)``."""

    def make(m: Maker) -> None:
        for name, node, *inputs in before:
            m.op(name, node, *inputs, **F)
        m.op(op, "y", left, right, **F)

    return make


def const(op: str, value: Any, *before: Any, **attrs: Any) -> Make:
    def make(m: Maker) -> None:
        last = "x"
        for name, node, *inputs in before:
            m.op(name, node, *inputs, **F)
            last = node
        m.op(op, "y", last, m.const("c", value), **(F | attrs))

    return make


def product(**flags: Any) -> Make:
    def make(m: Maker) -> None:
        m.op("Transpose", "t", "z", m.const("p", [1, 0]), Tperm=INT32, **F)
        m.op("MatMul", "y", "x", "t", **F, **flags)

    return make


def casts(first: Any, second: Any) -> Make:
    def make(m: Maker) -> None:
        m.op("Bitcast", "b", "x", T=FLOAT32, type=first)
        m.op("Bitcast", "y", "b", T=first, type=second)

    return make


def reshapes(op: str = "Reshape") -> Make:
    def make(m: Maker) -> None:
        if op == "Reshape":
            m.op("Reshape", "r", "x", m.const("s", [-1]), Tshape=INT32, **F)
        else:
            m.op(op, "r", "x", m.const("s", 0), Tdim=INT32, **F)
        m.op("Reshape", "y", "r", m.const("s2", [3, -1]), Tshape=INT32, **F)

    return make


def element(begin: int, axis: int = 0, shrink: int = 1, step: int = 1) -> Make:
    def make(m: Maker) -> None:
        m.op("Pack", "p", "x", "z", N=2, axis=axis, **F)
        at = [m.const(n, [v]) for n, v in (("b", begin), ("e", begin + 1), ("s", step))]
        m.op("StridedSlice", "y", "p", *at, Index=INT32, shrink_axis_mask=shrink, **F)

    return make


# name: (graph, the line of y, whether every bit must stay)
BECOMES: dict[str, tuple[Make, str, bool]] = {
    "transpose-of-transpose: they undo each other": (
        transposes([1, 0], [1, 0]),
        "y = Identity(x)",
        True,
    ),
    "neg of neg": (ops("Neg", "Neg"), "y = Identity(x)", True),
    "idempotent-op: relu of relu": (ops("Relu", "Relu"), "y = Identity(n0)", True),
    "transpose-into-matmul": (product(), "y = MatMul(x, z)", True),
    "product of a transpose, transposed": (product(transpose_b=True), "y = MatMul(x, z)", True),
    "identity-cast": (
        lambda m: m.op("Cast", "y", "x", SrcT=FLOAT32, DstT=FLOAT32),
        "y = Identity(x)",
        True,
    ),
    "bitcast-of-bitcast": (casts(INT32, FLOAT32), "y = Identity(x)", True),
    "reshape-of-reshape": (reshapes(), "y = Reshape(x, s2)", True),
    "reshape of expand": (reshapes("ExpandDims"), "y = Reshape(x, s2)", True),
    "add-of-negation: a - -b": (
        binary("Sub", "x", "n", ("Neg", "n", "z")),
        "y = AddV2(x, z)",
        True,
    ),
    "add-of-negation: a + -b": (
        binary("AddV2", "x", "n", ("Neg", "n", "z")),
        "y = Sub(x, z)",
        True,
    ),
    "add-of-negation: -a + b": (
        binary("AddV2", "n", "z", ("Neg", "n", "x")),
        "y = Sub(z, x)",
        True,
    ),
    "square": (binary("Mul", "x", "x"), "y = Square(x)", True),
    "pow 1": (const("Pow", 1.0), "y = Identity(x)", True),
    "pow 0": (const("Pow", 0.0), "y = OnesLike(x)", True),
    "constant-power: 2": (const("Pow", 2.0), "y = Square(x)", False),
    "pow -1": (const("Pow", -1.0), "y = Reciprocal(x)", False),
    "rsqrt": (binary("RealDiv", "x", "r", ("Sqrt", "r", "z")), "y = Mul(x, r)", False),
    "expm1": (const("Sub", 1.0, ("Exp", "e", "x")), "y = Expm1(x)", False),
    "merge-add-n": (
        binary("AddV2", "s", "x", ("AddV2", "s", "x", "z")),
        "y = AddN(x, z, x)",
        False,
    ),
    "slice-of-pack": (element(1), "y = Identity(z)", True),
    "pow 3": (const("Pow", 3.0), "y = Mul(x, y/square)", False),
    "part of a pack": (element(0, shrink=0), "y = ExpandDims(x, y/axis)", True),
    "element from the end": (element(-2), "y = Identity(x)", True),
}
STAYS: dict[str, Make] = {
    "one transpose": transposes([1, 0]),
    "relu of abs": ops("Abs", "Relu"),
    "reciprocal of reciprocal": ops("Reciprocal", "Reciprocal"),
    "exp of exp": ops("Exp", "Exp"),
    "cast to another type": lambda m: m.op("Cast", "y", "x", SrcT=FLOAT32, DstT=FLOAT64),
    "-b * c - a": binary("Sub", "p", "x", ("Neg", "n", "z"), ("Mul", "p", "n", "z")),
    "-a - b": binary("Sub", "n", "z", ("Neg", "n", "x")),
    "product of two": binary("Mul", "x", "z"),
    "pow 0.5": const("Pow", 0.5),
    "pow 4": const("Pow", 4.0),
    "pow 2 of a larger shape": lambda m: m.op(
        "Pow", "y", m.x("w", ()), m.const("c", [2.0, 2.0]), **F
    ),
    "exp(x) - 2": const("Sub", 2.0, ("Exp", "e", "x")),
    "sum of two": binary("AddV2", "x", "z"),
    "element along another axis": element(1, axis=1),
    "log-softmax": ops("Softmax", "Log"),
    "quotient by exp": binary("RealDiv", "x", "r", ("Exp", "r", "z")),
}
STAYS["sum of shapes that may differ"] = lambda m: m.op(
    "AddV2", "y", m.op("AddV2", "s", "x", m.x("u", (-1, 3)), **F), "x", **F
)


def feeds(m: Maker) -> dict[str, Any]:
    one = np.array([[1, -0.0, 3], [0.5, -5, 2], [1, 7, 1]], np.float32)
    return {f"{n.name}:0": one if n.name == "x" else one.T.copy() for n in m.graph
            if n.op == "Placeholder"}  # fmt: skip


@pytest.mark.parametrize("name", BECOMES)
def test_becomes(name: str) -> None:
    make, line, exact = BECOMES[name]
    m = made(make, (3, 3))
    after, report = run_pass(m.graph, ARITH, ["y:0"], ["x:0", "z:0"])
    assert line in as_lines(after)
    assert report.steps[0].numeric == ("exact" if exact else "reassociates")
    with np.errstate(all="ignore"):
        assert_same_values(m.graph, after, ["y:0"], feeds(m), exact=exact)
    again, _ = run_pass(after, ARITH, ["y:0"], ["x:0", "z:0"])
    assert again is after
    if not exact:
        assert_unchanged(m, ARITH, ["y:0"], ["x:0", "z:0"], numeric="exact")


@pytest.mark.parametrize("name", STAYS)
def test_stays(name: str) -> None:
    m = made(STAYS[name])
    assert_unchanged(m, ARITH, ["y:0"], ["x:0", "z:0"])


@pytest.mark.parametrize("name", [n for n in BECOMES if "(n0)" not in BECOMES[n][1]])
def test_fed_in_between_it_stays(name: str) -> None:
    """The inner node's value comes from outside."""
    m = made(BECOMES[name][0], (3, 3))
    inner = [n.name for n in m.graph if n.op not in ("Placeholder", "Const") and n.name != "y"]
    if not inner:
        pytest.skip("one node")
    after, _ = run_pass(m.graph, ARITH, ["y:0"], ["x:0", "z:0", f"{inner[0]}:0"])
    assert any(source.name == inner[0] for source, _ in after["y"].inputs)


def test_transposes_join() -> None:
    m = made(transposes([1, 2, 0], [0, 2, 1]), (2, 3, 4))
    after, _ = run_pass(m.graph, ARITH, ["y:0"], ["x:0"])
    assert "y = Transpose(x, y/order)" in as_lines(after)
    value = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    assert_same_values(m.graph, after, ["y:0"], {"x:0": value}, exact=True)


def test_a_transpose_that_others_read_is_not_joined() -> None:
    m = made(transposes([1, 2, 0], [0, 2, 1]), (2, 3, 4))
    assert_unchanged(m, ARITH, ["y:0", "n0:0"], ["x:0"])


@pytest.mark.parametrize("op", ["BatchMatMul", "BatchMatMulV2"])
def test_batches_of_matrices(op: str) -> None:
    m = made(lambda m: m.op(op, "y", m.op("Transpose", "t", "x", m.const("p", [0, 2, 1]),
                                          Tperm=INT32, **F), "z", **F), (2, 3, 4))  # fmt: skip
    after, _ = run_pass(m.graph, ARITH, ["y:0"], ["x:0", "z:0"])
    assert f"y = {op}(x, z)" in as_lines(after)
    assert after["y"].attrs["adj_x"] is True
    value = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    assert_same_values(m.graph, after, ["y:0"], {"x:0": value, "z:0": value}, exact=True)


def test_a_transpose_of_batches_is_no_transpose_of_matrices() -> None:
    m = made(lambda m: m.op("BatchMatMulV2", "y", m.op("Transpose", "t", "x", m.const(
        "p", [1, 0, 2]), Tperm=INT32, **F), "z", **F), (3, 3, 3))  # fmt: skip
    assert_unchanged(m, ARITH, ["y:0"], ["x:0", "z:0"])


def test_complex_matrices_are_not_conjugated() -> None:
    m = made(lambda m: m.op("BatchMatMulV2", "y", m.op("Transpose", "t", "x", m.const(
        "p", [1, 0]), Tperm=INT32, T=COMPLEX64), "z", T=COMPLEX64), (3, 3), COMPLEX64)  # fmt: skip
    assert_unchanged(m, ARITH, ["y:0"], ["x:0", "z:0"])


def test_conjugate_transpose() -> None:
    m = made(lambda m: m.op("Conj", "y", m.op("Transpose", "t", "x", m.const("p", [1, 0]),
                                              Tperm=INT32, T=COMPLEX64), T=COMPLEX64),
             (3, 3), COMPLEX64)  # fmt: skip
    after, _ = run_pass(m.graph, ARITH, ["y:0"], ["x:0"])
    assert "y = ConjugateTranspose(x, p)" in as_lines(after)
    value = (np.arange(9) * (1 + 2j)).astype(np.complex64).reshape(3, 3)
    assert_same_values(m.graph, after, ["y:0"], {"x:0": value}, exact=True)


def negated(op: str, dtype: Any) -> Maker:
    return made(lambda m: m.op("LogicalNot", "y", m.op(op, "c", "x", "z", T=dtype)), (3,), dtype)


@pytest.mark.parametrize(("op", "opposite"), [
    ("Less", "GreaterEqual"), ("LessEqual", "Greater"), ("Equal", "NotEqual"),
])  # fmt: skip
def test_opposite_comparisons_of_integers(op: str, opposite: str) -> None:
    m = negated(op, INT32)
    after, _ = run_pass(m.graph, ARITH, ["y:0"], ["x:0", "z:0"])
    assert f"y = {opposite}(x, z)" in as_lines(after)
    values = {"x:0": np.array([1, 2, 3], np.int32), "z:0": np.array([2, 2, 2], np.int32)}
    assert_same_values(m.graph, after, ["y:0"], values, exact=True)


def test_negated_comparison_of_floats_is_of_equality_only() -> None:
    """B: NaN is neither less than anything nor not less."""
    assert_unchanged(negated("Less", FLOAT32), ARITH, ["y:0"], ["x:0", "z:0"])
    m = negated("Equal", FLOAT32)
    after, _ = run_pass(m.graph, ARITH, ["y:0"], ["x:0", "z:0"])
    assert "y = NotEqual(x, z)" in as_lines(after)
    values = {"x:0": np.array([np.nan, 1, 2], np.float32), "z:0": np.ones(3, np.float32)}
    assert_same_values(m.graph, after, ["y:0"], values, exact=True)


def test_logical_not_twice() -> None:
    m = made(lambda m: m.op("LogicalNot", "y", m.op("LogicalNot", "n", "x")), (3,), BOOL)
    after, _ = run_pass(m.graph, ARITH, ["y:0"], ["x:0"])
    assert "y = Identity(x)" in as_lines(after)


@pytest.mark.parametrize(("make", "line"), [
    (ops("Softmax", "Log"), "y = LogSoftmax(x)"),
    (const("Pow", 0.5), "y = Sqrt(x)"),
    (ops("Reciprocal", "Reciprocal"), "y = Identity(x)"),
])  # fmt: skip
def test_approximations_on_request(make: Make, line: str) -> None:
    after, report = run_pass(made(make).graph, ARITH, ["y:0"], ["x:0"], numeric="approximate")
    assert line in as_lines(after)
    assert report.steps[0].numeric == "approximate"


def test_log1p() -> None:
    m = made(lambda m: m.op("Log", "y", m.op("AddV2", "s", m.const("c", 1.0), "x", **F), **F))
    after, _ = run_pass(m.graph, ARITH, ["y:0"], ["x:0"])
    assert "y = Log1p(x)" in as_lines(after)
    assert_same_values(m.graph, after, ["y:0"], {"x:0": np.ones((1, 3), np.float32)}, exact=False)


def test_squared_difference() -> None:
    m = made(lambda m: m.op("Square", "y", m.op("Sub", "d", "x", "z", **F), **F), (2, 3))
    after, _ = run_pass(m.graph, ARITH, ["y:0"], ["x:0", "z:0"])
    assert "y = SquaredDifference(x, z)" in as_lines(after)
    value = np.array([[1, -0.0, 3], [0.0, -5, np.inf]], np.float32)
    assert_same_values(m.graph, after, ["y:0"], {"x:0": value, "z:0": value[::-1]}, exact=True)
    assert_unchanged(m, ARITH, ["y:0", "d:0"], ["x:0", "z:0"])


def test_add_n_of_one_tensor() -> None:
    m = made(lambda m: m.op("AddN", "y", "x", "x", N=2, **F))
    after, report = run_pass(m.graph, ARITH, ["y:0"], ["x:0"], numeric="exact")
    assert "y = Mul(x, y/times)" in as_lines(after)
    assert report.steps[0].numeric == "exact"
    assert_same_values(m.graph, after, ["y:0"], {"x:0": X}, exact=True)
    m = made(lambda m: m.op("AddN", "y", "x", "x", "x", N=3, **F))
    assert_unchanged(m, ARITH, ["y:0"], ["x:0"], numeric="exact")


def test_fold_input_scale_into_the_weights_of_a_layer() -> None:
    def make(m: Maker) -> None:
        m.op("Mul", "s", "x", m.const("c", 0.5), **F)
        m.op("MatMul", "y", "s", m.const("w", np.arange(6.0).reshape(3, 2)), **F)

    m = made(make)
    after, _ = run_pass(m.graph, ARITH, ["y:0"], ["x:0"])
    assert "y = MatMul(x, y/weights)" in as_lines(after)
    assert_same_values(m.graph, after, ["y:0"], {"x:0": np.ones((2, 3), np.float32)}, exact=False)
    assert_unchanged(m, ARITH, ["y:0", "s:0"], ["x:0"])
    assert_unchanged(m, ARITH, ["y:0"], ["x:0"], numeric="exact")


def padded(m: Maker) -> None:
    scaled = m.op("Mul", "s", "x", m.const("c", 0.5), **F)
    around = m.op("Pad", "p", scaled, m.const("sizes", [[0, 0], [1, 2], [0, 1], [0, 0]]), **F,
                  Tpaddings=INT32)  # fmt: skip
    m.op("Conv2D", "y", around, m.const("w", np.arange(6.0).reshape(1, 1, 3, 2) + 1),
         strides=[1, 1, 1, 1], padding="VALID", **F)  # fmt: skip


def test_a_factor_before_zeros_around_goes_into_weights() -> None:
    m = made(padded, (1, 2, 3, 3))
    after, _ = run_pass(m.graph, ARITH, ["y:0"], ["x:0"])
    assert {"p = Pad(x, sizes)", "y = Conv2D(p, y/weights)"} <= set(as_lines(after))
    assert "s" not in after
    x = np.random.default_rng(1).normal(size=(1, 2, 3, 3)).astype(np.float32)
    assert_same_values(m.graph, after, ["y:0"], {"x:0": x}, exact=False)
    again, _ = run_pass(after, ARITH, ["y:0"], ["x:0"])
    assert again is after


@pytest.mark.parametrize("seen", ["s:0", "p:0"])
def test_a_factor_before_zeros_that_others_see_stays(seen: str) -> None:
    m = made(padded, (1, 2, 3, 3))
    assert_unchanged(m, ARITH, ["y:0", seen], ["x:0"])
    assert_unchanged(m, ARITH, ["y:0"], ["x:0", seen])


NEGATED = ("Neg", "n", "z")


@pytest.mark.parametrize(("make", "line"), [
    (binary("AddV2", "x", "p", NEGATED, ("Mul", "p", "n", "x")), "y = Sub(x, p)"),
    (binary("Add", "p", "x", NEGATED, ("Mul", "p", "x", "n")), "y = Sub(x, p)"),
    (binary("Sub", "x", "p", NEGATED, ("Mul", "p", "n", "x")), "y = AddV2(x, p)"),
])  # fmt: skip
def test_add_of_negated_product(make: Make, line: str) -> None:
    m = made(make)
    after, _ = run_pass(m.graph, ARITH, ["y:0"], ["x:0", "z:0"])
    assert line in as_lines(after)
    assert "n" not in after
    value = np.array([[1, -0.0, 3], [0.0, -5, np.inf]], np.float32)
    assert_same_values(m.graph, after, ["y:0"], {"x:0": value, "z:0": value[::-1]}, exact=True)
    again, _ = run_pass(after, ARITH, ["y:0"], ["x:0", "z:0"])
    assert again is after
    assert_unchanged(m, ARITH, ["y:0"], ["x:0", "z:0", "n:0"])


def test_a_product_of_a_negation_that_others_read_stays() -> None:
    m = made(binary("AddV2", "x", "p", NEGATED, ("Mul", "p", "n", "z")))
    for fetched in ("n:0", "p:0"):
        assert_unchanged(m, ARITH, ["y:0", fetched], ["x:0", "z:0"])


def slopes(slope: Any, above: str = "x", under: str = "x", outer: str = "Sub") -> Maker:
    """Relu(above) - slope * Relu(-under)."""

    def make(m: Maker) -> None:
        m.op("Relu", "r", m.op("Neg", "n", under, **F), **F)
        m.op("Mul", "p", m.const("a", slope), "r", **F)
        m.op(outer, "y", m.op("Relu", "u", above, **F), "p", **F)

    return made(make, (2, 3))


def test_relu_pair() -> None:
    m = slopes([0.5, -1.5, 2.0])
    after, _ = run_pass(m.graph, ARITH, ["y:0"], ["x:0"])
    lines = [line for line in as_lines(after) if " = Placeholder" not in line]
    assert lines == sorted([
        "a = Const([0.5, -1.5, 2.0])", "r/below = Minimum(x, y/zero)", "p = Mul(a, r/below)",
        "u = Relu(x)", "y = AddV2(u, p)", "y/zero = Const(0.0)",
    ])  # fmt: skip
    value = np.array([[1, -2, 0], [-3, np.inf, -np.inf]], np.float32)
    assert_same_values(m.graph, after, ["y:0"], {"x:0": value}, exact=False)
    again, _ = run_pass(after, ARITH, ["y:0"], ["x:0"])
    assert again is after
    assert_unchanged(m, ARITH, ["y:0"], ["x:0"], numeric="exact")


@pytest.mark.parametrize("m", [
    slopes([0.5, np.inf, 1.0]), slopes(0.5, above="z"), slopes(0.5, outer="AddV2"),
], ids=["a slope that is not finite", "parts of two tensors", "a sum"])  # fmt: skip
def test_other_rectified_parts_stay(m: Maker) -> None:
    assert_unchanged(m, ARITH, ["y:0"], ["x:0", "z:0"])


def test_rectified_parts_that_others_read_stay() -> None:
    assert_unchanged(slopes(0.5), ARITH, ["y:0", "r:0"], ["x:0"])
