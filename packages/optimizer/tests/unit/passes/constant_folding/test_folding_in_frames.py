"""Row C6: constant folding across loops, branches and updates, each rule with its limits."""

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

from drystone_base.api.session import Session, SessionConfig
from drystone_base.core.dtypes import BOOL, FLOAT32, INT32, QINT32, QUINT8

F = {"T": FLOAT32}
FOLD = "constant_folding"
X = {"x:0": np.array([[1, -0.0, 3], [0.0, -5, 6]], np.float32)}


# ---- a constant that enters a loop ---------------------------------------------------------------


def loop(is_constant: bool = True, enter: str = "Enter") -> Maker:
    """``x`` times the square of two, three times."""
    m = Maker()
    frame = {"frame_name": "f", "parallel_iterations": 10}
    start = m.op("Enter", "start", m.const("zero", 0), T=INT32, **frame)
    value = m.op("Enter", "value", m.x(), **F, **frame)
    factor = m.op(enter, "factor", m.const("two", 2.0), **F, **frame, is_constant=is_constant)
    end = m.op("Enter", "end", m.const("three", 3), T=INT32, **frame, is_constant=True)
    k = m.op("Merge", "k", start, start, N=2, T=INT32)
    v = m.op("Merge", "v", value, value, N=2, **F)
    go = m.op("LoopCond", "go", m.op("Less", "less", k, end, T=INT32))
    for name, merged, dtype in (("k", k, INT32), ("v", v, FLOAT32)):
        m.op("Switch", f"{name}s", merged, go, T=dtype)
    m.op("Square", "squared", factor, **F)
    step = m.op("Mul", "step", "vs:1", "squared", **F)
    kept = m.op("Identity", "kt", "ks:1", T=INT32)
    one = m.const("one", 1, controls=[kept])
    following = m.op("AddV2", "next", "kt", one, T=INT32)
    back = m.op("NextIteration", "kn", following, T=INT32)
    m.graph.set_input(k[0], 1, back)
    m.graph.set_input(v[0], 1, m.op("NextIteration", "vn", step, **F))
    m.op("Exit", "y", "vs:0", **F)
    return m


def test_a_constant_goes_into_the_loop_and_is_folded_there() -> None:
    m = loop()
    after, report = run_pass(m.graph, FOLD, ["y:0"], ["x:0"])
    lines = as_lines(after)
    assert "squared = Const(4.0, ^factor/inside)" in lines
    assert "less = Less(k, end)" in lines
    assert report.steps[0].rewrites["constant-into-loop"] == 1
    assert_same_values(m.graph, after, ["y:0"], X, exact=True)
    assert_same_natively(m.graph, after, ["y:0"], X)
    again, _ = run_pass(after, FOLD, ["y:0"], ["x:0"])
    assert again is after


def test_what_enters_anew_or_as_a_variable_stays() -> None:
    assert_unchanged(loop(is_constant=False), FOLD, ["y:0"], ["x:0"])
    assert_unchanged(loop(), FOLD, ["y:0"], ["x:0", "two:0"])
    assert_unchanged(loop(), FOLD, ["y:0"], ["x:0", "factor:0"])


def test_a_variable_enters_by_reference_as_it_did() -> None:
    m = Maker()
    m.op("VariableV2", "v", dtype=FLOAT32, shape=(2,))
    m.op("RefEnter", "e", "v", frame_name="f", is_constant=True, **F)
    m.op("Exit", "y", m.op("Identity", "i", "e", **F), **F)
    assert_unchanged(m, FOLD, ["y:0"])


# ---- branches ------------------------------------------------------------------------------------


def switched(same: bool = True) -> Maker:
    m = Maker()
    m.x("p", (), BOOL)
    m.x("q", (), BOOL)
    m.op("Switch", "s", "p", "p" if same else "q", T=BOOL)
    m.op("LogicalNot", "no", "s:0")
    m.op("LogicalNot", "yes", "s:1")
    m.op("Merge", "y", "no", "yes", N=2, T=BOOL)
    return m


def test_switch_by_itself_is_known_on_both_sides() -> None:
    m = switched()
    after, _ = run_pass(m.graph, FOLD, ["y:0", "y:1"], ["p:0", "q:0"])
    assert {"no = Const(True, ^s/side_0)", "s/side_1 = Const(True, ^s/anchor_1)"} <= set(
        as_lines(after)
    )
    for value in (False, True):
        feeds = {"p:0": value, "q:0": True}
        assert_same_values(m.graph, after, ["y:0", "y:1"], feeds, exact=True)
    again, _ = run_pass(after, FOLD, ["y:0", "y:1"], ["p:0", "q:0"])
    assert again is after


def test_a_bool_switched_by_another_or_fetched_stays() -> None:
    assert_unchanged(switched(same=False), FOLD, ["y:0"], ["p:0", "q:0"])
    m = switched()
    m.graph.set_attr(m.graph["s"], "_grappler_do_not_remove", True)
    assert_unchanged(m, FOLD, ["y:0"], ["p:0", "q:0"])


def merged(**more: Any) -> Maker:
    m = Maker()
    m.x("p", (), BOOL)
    m.op("Switch", "s", m.x(), "p", **F)
    m.op("Merge", "m", "s:1", m.const("c", 7.0, **more), N=2, **F)
    m.op("Neg", "y", "m", **F)
    m.op("Identity", "which", "m:1", T=INT32)
    return m


def test_merge_of_constant_is_that_constant() -> None:
    m = merged()
    after, _ = run_pass(m.graph, FOLD, ["y:0", "which:0"], ["x:0", "p:0"])
    assert {"y = Const(-7.0, ^m/known_0)", "m/known_1 = Const(1, ^m)"} <= set(as_lines(after))
    assert_same_values(m.graph, after, ["y:0", "which:0"], X | {"p:0": False}, exact=True)
    again, _ = run_pass(after, FOLD, ["y:0", "which:0"], ["x:0", "p:0"])
    assert again is after


def test_a_merge_of_a_constant_of_one_branch_stays() -> None:
    assert_unchanged(merged(controls=["p"]), FOLD, ["y:0", "which:0"], ["x:0", "p:0"])
    assert_unchanged(merged(), FOLD, ["y:0"], ["x:0", "p:0", "c:0"])


# ---- several constants ---------------------------------------------------------------------------


def test_identity_of_constants_passes_them_on() -> None:
    m = Maker()
    m.op("IdentityN", "i", m.x(), m.const("c", 2.0), T=[FLOAT32, FLOAT32])
    m.op("Mul", "y", "i:0", "i:1", **F)
    check(m, FOLD, ["y:0"], ["x = Placeholder()", "c = Const(2.0)", "i = IdentityN(x, c)",
                             "y = Mul(i, c)"], X)  # fmt: skip


def test_identities_that_wait_are_waited_for() -> None:
    m = Maker()
    m.op("Print", "p", m.x(), "x", U=[FLOAT32], **F)
    m.op("IdentityN", "i", "x", m.const("c", 2.0), T=[FLOAT32, FLOAT32], controls=["p"])
    m.op("Mul", "y", "i:0", "i:1", **F)
    after, _ = run_pass(m.graph, FOLD, ["y:0"], ["x:0"])
    assert "i/known_1 = Const(2.0, ^i)" in as_lines(after)
    assert_same_values(m.graph, after, ["y:0"], X, exact=True)


def test_constant_terms_of_an_accumulation() -> None:
    m = Maker()
    m.x(shape=(2, 3))
    ones = [m.const(f"c{k}", np.full((2, 3), 1.5)) for k in range(2)]
    m.op("AccumulateNV2", "y", ones[0], "x", ones[1], N=3, shape=(2, 3), **F)
    after, _ = run_pass(m.graph, FOLD, ["y:0"], ["x:0"])
    assert "y = AccumulateNV2(x, y/constants)" in as_lines(after)
    assert_same_values(m.graph, after, ["y:0"], X, exact=False)


def biases(first: str, second: str, **more: Any) -> Maker:
    m = Maker()
    m.x()
    m.op(first, "s", "x", m.const("a", [1.0, 2.0, 3.0]), **F, **more)
    m.op(second, "y", "s", m.const("b", [0.5, 0.25, 4.0]), **F, **more)
    return m


@pytest.mark.parametrize(
    ("first", "second", "op"),
    [("BiasAdd", "BiasAdd", "BiasAdd"), ("BiasAdd", "AddV2", "AddV2"),
     ("AddV2", "BiasAdd", "AddV2"), ("BiasAddV1", "Add", "AddV2")],
)  # fmt: skip
def test_merge_biases_one_after_the_other(first: str, second: str, op: str) -> None:
    expected = ["x = Placeholder()", "y/joined = Const([1.5, 2.25, 7.0])", f"y = {op}(x, y/joined)"]
    check(biases(first, second), FOLD, ["y:0"], expected, X, exact=False)


def test_biases_of_two_layouts_or_read_twice_stay() -> None:
    m = Maker()
    m.x(shape=(2, 3, 3, 3))
    m.op("BiasAdd", "s", "x", m.const("a", [1.0, 2.0, 3.0]), data_format="NCHW", **F)
    m.op("BiasAdd", "y", "s", m.const("b", [0.5, 0.25, 4.0]), **F)
    assert_unchanged(m, FOLD, ["y:0"], ["x:0"])
    assert_unchanged(biases("BiasAdd", "BiasAdd"), FOLD, ["y:0", "s:0"], ["x:0"])
    assert_unchanged(biases("BiasAdd", "BiasAdd"), FOLD, ["y:0"], ["x:0", "a:0"])
    assert_unchanged(biases("BiasAdd", "BiasAdd"), FOLD, ["y:0"], ["x:0"], numeric="exact")


def long_chain(constants: list[Any], op: str = "AddV2") -> Maker:
    m = Maker()
    last = m.x()
    for k, value in enumerate(constants):
        name = "y" if k == len(constants) - 1 else f"n{k}"
        last = m.op(op if k % 2 else "AddV2", name, last, m.const(f"c{k}", value), **F)
    return m


def test_a_long_chain_is_joined_at_once() -> None:
    m = long_chain([1.0, 2.0, [0.5, 0.25, 0.125], 4.0, -1.0], "Sub")
    after, report = run_pass(m.graph, FOLD, ["y:0"], ["x:0"])
    assert {"y = AddV2(x, y/joined)", "y/joined = Const([-5.5, -5.75, -5.875])"} <= set(
        as_lines(after)
    )
    assert len(after) == 3
    assert report.steps[0].rewrites == {"reassociate-constants": 1}
    assert_same_values(m.graph, after, ["y:0"], X, exact=False)


def test_a_chain_ends_at_what_is_larger_kept_fed_or_not_finite() -> None:
    larger = long_chain([1.0, 2.0, np.ones((4, 1, 3))])
    after, _ = run_pass(larger.graph, FOLD, ["y:0"], ["x:0"])
    assert {"n1 = AddV2(x, n1/joined)", "y = AddV2(n1, c2)"} <= set(as_lines(after))
    assert_same_values(larger.graph, after, ["y:0"], X, exact=False)
    m = long_chain([1.0, 2.0, 3.0, 4.0])
    after, _ = run_pass(m.graph, FOLD, ["y:0", "n1:0"], ["x:0"])
    assert {"n1 = AddV2(x, n1/joined)", "y = AddV2(n1, y/joined)"} <= set(as_lines(after))
    fed, _ = run_pass(m.graph, FOLD, ["y:0"], ["x:0", "n1:0"])
    assert {"n1 = AddV2(n0, c1)", "n2 = AddV2(n1, c2)"} <= set(as_lines(fed))
    much = long_chain([3e38, 3e38, 1.0])
    after, _ = run_pass(much.graph, FOLD, ["y:0"], ["x:0"])
    assert {"n0 = AddV2(x, c0)", "y = AddV2(n0, y/joined)"} <= set(as_lines(after))


# ---- neutral and absorbing, of another shape -----------------------------------------------------


def grown(op: str, value: float, shape: Any = (2, 3), **more: Any) -> Maker:
    m = Maker()
    m.x(shape=(1, 3))
    m.op(op, "y", "x", m.const("c", np.full(shape, float(value))), **F)
    return m


@pytest.mark.parametrize(("op", "value"), [("Mul", 1), ("RealDiv", 1), ("AddV2", -0.0), ("Sub", 0)])
def test_identity_with_broadcast(op: str, value: float) -> None:
    expected = ["x = Placeholder()", "y/shape = Const([2, 3])", "y = BroadcastTo(x, y/shape)"]
    feeds = {"x:0": X["x:0"][:1]}
    check(grown(op, value), FOLD, ["y:0"], expected, feeds, numeric="exact")


@pytest.mark.parametrize(
    ("op", "value"), [("Mul", 2), ("AddV2", 0.0), ("Sub", -0.0), ("Maximum", 0), ("AddV2", 1)]
)
def test_an_operand_that_does_more_than_broadcast_stays(op: str, value: float) -> None:
    assert_unchanged(grown(op, value), FOLD, ["y:0"], ["x:0"], numeric="exact")


def test_zeros_absorb_floats_only_if_asked_to() -> None:
    m = grown("Mul", 0.0)
    assert_unchanged(m, FOLD, ["y:0"], ["x:0"])
    assert_unchanged(m, FOLD, ["y:0"], ["x:0"], numeric="approximate")
    assert_unchanged(m, FOLD, ["y:0"], ["x:0"], constant_folding="aggressive")
    asked = {"constant_folding": "aggressive", "numeric": "approximate"}
    after, _ = run_pass(m.graph, FOLD, ["y:0"], ["x:0"], **asked)
    assert "y = Const([[0.0, 0.0, 0.0], [0.0, 0.0, 0.0]])" in as_lines(after)
    assert_unchanged(grown("Mul", 1e-30), FOLD, ["y:0"], ["x:0"], **asked)


# ---- reductions and sizes ------------------------------------------------------------------------


def reduced(count: int, shape: Any = (-1, 3)) -> Maker:
    m = Maker()
    m.x(shape=shape)
    m.op("Sum", "y", "x", m.x("k", (count,), INT32), keep_dims=True, Tidx=INT32, **F)
    return m


def test_reduce_all_axes_where_there_are_as_many() -> None:
    m = reduced(2)
    after, _ = run_pass(m.graph, FOLD, ["y:0"], ["x:0", "k:0"])
    assert "y = Sum(x, y/axes)" in as_lines(after)
    assert_same_values(
        m.graph, after, ["y:0"], X | {"k:0": np.array([-1, 0], np.int32)}, exact=True
    )


def test_fewer_axes_or_an_unknown_rank_stay() -> None:
    assert_unchanged(reduced(1), FOLD, ["y:0"], ["x:0", "k:0"])
    assert_unchanged(reduced(-1), FOLD, ["y:0"], ["x:0", "k:0"])
    assert_unchanged(reduced(2, None), FOLD, ["y:0"], ["x:0", "k:0"])


def array(**more: Any) -> Maker:
    m = Maker()
    m.op("TensorArrayV3", "a", m.const("n", 5), dtype=FLOAT32, **more)
    m.op("TensorArraySizeV3", "y", "a:0", "a:1")
    return m


def test_tensor_array_size_where_it_does_not_grow() -> None:
    after, _ = run_pass(array().graph, FOLD, ["y:0"])
    assert after["y"].op == "Const"
    assert_same_values(array().graph, after, ["y:0"], {}, exact=True)
    assert_unchanged(array(dynamic_size=True), FOLD, ["y:0"])
    assert_unchanged(array(), FOLD, ["y:0"], ["n:0"])


def quantized(fed: bool = False) -> tuple[Maker, dict[str, Any]]:
    m = Maker()
    m.x("a", (2, 3), QUINT8)
    m.x("b", (3, 2), QUINT8)
    ends = [m.const(f"r{k}", v) for k, v in enumerate((-1.0, 2.0, 0.0, 4.0))]
    m.op("QuantizedMatMul", "q", "a", "b", *ends, T1=QUINT8, T2=QUINT8, Toutput=QINT32,
         Tactivation=QUINT8)  # fmt: skip
    m.op("Identity", "low", "q:1", **F)
    m.op("Identity", "high", "q:2", **F)
    values = np.arange(6, dtype=np.uint8)
    return m, {"a:0": values.reshape(2, 3), "b:0": values.reshape(3, 2)}


def test_the_range_of_a_quantized_product() -> None:
    m, feeds = quantized()
    after, report = run_pass(m.graph, FOLD, ["low:0", "high:0"], list(feeds))
    assert report.steps[0].rewrites["range-of-product"] == 1
    assert_same_values(m.graph, after, ["low:0", "high:0"], feeds, exact=True)
    assert_unchanged(m, FOLD, ["low:0", "high:0"], [*feeds, "r1:0"])
    assert_unchanged(m, FOLD, ["q:0", "q:1", "q:2"], list(feeds))


# ---- updates -------------------------------------------------------------------------------------


def updated(op: str, value: Any) -> Maker:
    m = Maker()
    m.op("VarHandleOp", "v", dtype=FLOAT32, shape=(3,))
    m.op("AssignVariableOp", "set", "v", m.const("c", [1.0, 2.0, 4.0]), dtype=FLOAT32)
    delta = m.const("d", value)
    if op.startswith("Resource"):
        at = m.const("at", [0, 2])
        attrs = {"dtype": FLOAT32, "Tindices": INT32}
        m.op(op, "u", "v", at, delta, controls=["set"], **attrs)
    else:
        m.op(op, "u", "v", delta, controls=["set"], dtype=FLOAT32)
    m.op("ReadVariableOp", "y", "v", controls=["u"], dtype=FLOAT32)
    return m


@pytest.mark.parametrize(
    ("op", "value"),
    [("AssignAddVariableOp", [-0.0] * 3), ("AssignSubVariableOp", [0.0] * 3),
     ("ResourceScatterMul", [1.0, 1.0]), ("ResourceScatterDiv", [1.0, 1.0])],
)  # fmt: skip
def test_identity_update_only_waits(op: str, value: Any) -> None:
    m = updated(op, value)
    after, _ = run_pass(m.graph, FOLD, ["y:0"], numeric="exact")
    assert "u = NoOp(^set)" in as_lines(after)
    assert_same_values(m.graph, after, ["y:0"], {}, exact=True)
    again, _ = run_pass(after, FOLD, ["y:0"], numeric="exact")
    assert again is after


@pytest.mark.parametrize(
    ("op", "value"),
    [("AssignAddVariableOp", [0.0] * 3), ("AssignAddVariableOp", [1.0, -0.0, -0.0]),
     ("AssignSubVariableOp", [-0.0] * 3), ("ResourceScatterMul", [1.0, 2.0]),
     ("ResourceScatterAdd", [1.0, 1.0]), ("AssignVariableOp", [0.0] * 3)],
)  # fmt: skip
def test_an_update_that_changes_something_stays(op: str, value: Any) -> None:
    assert_unchanged(updated(op, value), FOLD, ["y:0"], numeric="exact")


def test_by_default_a_zero_of_either_sign_is_nothing() -> None:
    m = updated("AssignAddVariableOp", [0.0] * 3)
    after, report = run_pass(m.graph, FOLD, ["y:0"])
    assert after["u"].op == "NoOp"
    assert report.steps[0].numeric == "reassociates"
    assert_unchanged(m, FOLD, ["y:0"], ["d:0"])


def test_a_variable_by_reference_is_updated_as_before() -> None:
    m = Maker()
    m.op("VariableV2", "v", dtype=FLOAT32, shape=(3,))
    m.op("Assign", "set", "v", m.const("c", [1.0, 2.0, 4.0]), **F)
    m.op("AssignAdd", "u", "v", m.const("d", [-0.0] * 3), controls=["set"], **F)
    m.op("Identity", "y", "u", **F)
    assert_unchanged(m, FOLD, ["y:0"])
    off = SessionConfig(executor="reference", optimizer="off")
    assert np.asarray(Session(m.graph, off).run("y:0")).tolist() == [1, 2, 4]
