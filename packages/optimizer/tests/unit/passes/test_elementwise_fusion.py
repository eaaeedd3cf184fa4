"""Element-wise fusion: neighbours that compute element by element become one node."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import random_arithmetic
from pass_checks import Maker, as_lines, assert_same_values, assert_unchanged, check, run_pass, told

from drystone_base.core.dtypes import BOOL, FLOAT16, FLOAT32, INT32, STRING
from drystone_base.ops.own import FUSED_ELEMENTWISE
from drystone_optimizer import OptimizerConfig, optimize_with_report
from drystone_optimizer.passes import elementwise_fusion

F: dict[str, Any] = {"T": FLOAT32}
NAME = "elementwise_fusion"


@pytest.fixture(autouse=True)
def _with_a_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if a plugin had one; the reference runs what comes out."""
    monkeypatch.setattr(elementwise_fusion, "of_plugins", lambda: {FUSED_ELEMENTWISE: ()})


def chain(**between: Any) -> Maker:
    """``Neg(Exp(x) * c)``, with more attributes for the product."""
    m = Maker()
    m.op("Exp", "e", m.x(shape=(2, 3)), **F)
    m.op("Mul", "p", "e", m.const("c", 2.0), **F, **between)
    m.op("Neg", "y", "p", **F)
    return m


FEEDS = {"x:0": np.array([[0, -1, np.nan], [np.inf, -0.0, 3]], np.float32)}


def test_a_chain() -> None:
    m = chain()
    lines = [f"y = {FUSED_ELEMENTWISE}(x, c)", "c = Const(2.0)", "x = Placeholder()"]
    check(m, NAME, ["y:0"], lines, FEEDS)
    after, report = run_pass(m.graph, NAME, ["y:0"], ["x:0"])
    assert after["y"].attrs["ops"] == ["Exp", "Mul", "Neg"]
    assert after["y"].attrs["operands"] == [0, 2, 1, 3]
    assert [s.rewrites for s in report.steps if s.name == NAME] == [{"region": 1}]


def test_results_that_are_read_twice_inside() -> None:
    m = Maker()
    x = m.x(shape=(4,))
    s = m.op("Sigmoid", "s", x, **F)
    m.op("Mul", "y", m.op("Square", "q", s, **F), m.op("AddV2", "a", s, x, **F), **F)
    feeds = {"x:0": np.linspace(-2, 2, 4, dtype=np.float32)}
    check(m, NAME, ["y:0"], [f"y = {FUSED_ELEMENTWISE}(x)", "x = Placeholder()"], feeds)


def test_a_size_that_only_a_reshape_tells_is_not_lost_on_the_way_to_it() -> None:
    m = Maker()
    told_by = m.op("Reshape", "r", m.x(shape=(1, -1)), m.const("s", [1, 1]), Tshape=INT32, **F)
    m.op("AddV2", "y", m.op("Square", "q", told_by, **F), "q", **F)
    passes = OptimizerConfig(min_graph_nodes=-1)
    after, _ = optimize_with_report(m.graph, ["y:0"], ["x:0"], passes, available=())
    assert f"y = {FUSED_ELEMENTWISE}(r)" in as_lines(after)
    again, _ = optimize_with_report(after, ["y:0"], ["x:0"], passes, available=())
    assert again is after


def test_comparisons_logic_and_choice() -> None:
    m = Maker()
    x, z = m.x(shape=(5,)), m.x("z", (5,))
    less = m.op("Less", "l", x, z, **F)
    both = m.op("LogicalAnd", "b", less, m.op("Greater", "g", x, m.const("zero", 0.0), **F))
    m.op("SelectV2", "y", both, m.op("Neg", "n", x, **F), z, **F)
    feeds = {
        name: np.array([1, -1, np.nan, 0, 2], np.float32) + k
        for k, name in enumerate(("x:0", "z:0"))
    }
    check(m, NAME, ["y:0"],
          [f"y = {FUSED_ELEMENTWISE}(x, z, zero)", "x = Placeholder()", "z = Placeholder()",
           "zero = Const(0.0)"], feeds)  # fmt: skip


def test_a_result_of_bools() -> None:
    m = Maker()
    m.op("Less", "y", m.op("Exp", "e", m.x(shape=(3,)), **F), m.const("c", 1.0), **F)
    feeds = {"x:0": np.array([-1, 0, np.nan], np.float32)}
    lines = [f"y = {FUSED_ELEMENTWISE}(x, c)", "x = Placeholder()", "c = Const(1.0)"]
    check(m, NAME, ["y:0"], lines, feeds)
    after, _ = run_pass(m.graph, NAME, ["y:0"], ["x:0"])
    assert after["y"].attrs["Tout"] is BOOL


def test_a_sum_of_many() -> None:
    m = Maker()
    x, z = m.x(shape=(2,)), m.x("z", (2,))
    m.op("Exp", "y", m.op("AddN", "s", x, z, x, N=3, **F), **F)
    feeds = {"x:0": np.float32([1, 2]), "z:0": np.float32([3, 1e8])}
    lines = [f"y = {FUSED_ELEMENTWISE}(x, z)", "x = Placeholder()", "z = Placeholder()"]
    check(m, NAME, ["y:0"], lines, feeds)
    after, _ = run_pass(m.graph, NAME, ["y:0"], ["x:0", "z:0"])
    assert after["y"].attrs["ops"] == ["AddV2", "AddV2", "Exp"]
    assert after["y"].attrs["operands"] == [0, 1, 2, 0, 3]


def test_inputs_that_are_broadcast_stay_inputs() -> None:
    m = Maker()
    row = m.op("Exp", "e", m.x("row", (3,)), **F)  # smaller than the region: it is computed once
    m.op("Neg", "y", m.op("AddV2", "a", m.x(shape=(2, 3)), row, **F), **F)
    feeds = {"x:0": FEEDS["x:0"], "row:0": np.float32([1, 2, 3])}
    lines = [f"y = {FUSED_ELEMENTWISE}(x, e)", "e = Exp(row)", "row = Placeholder()",
             "x = Placeholder()"]  # fmt: skip
    check(m, NAME, ["y:0"], lines, feeds)


def test_two_regions() -> None:
    m = chain()
    m.op("Sqrt", "r", "y", **F)
    m.op("Floor", "z", "r", **F)
    after, _ = run_pass(m.graph, NAME, ["y:0", "z:0"], ["x:0"])
    assert [n.op for n in after if n.op == FUSED_ELEMENTWISE] == [FUSED_ELEMENTWISE] * 2
    assert_same_values(m.graph, after, ["y:0", "z:0"], FEEDS, exact=True)


def assert_partly_fused(m: Maker, fetches: list[str], ops: list[str]) -> None:
    """What is left out is not fused; the values stay."""
    after, _ = run_pass(m.graph, NAME, fetches, ["x:0"])
    assert [n.attrs["ops"] for n in after if n.op == FUSED_ELEMENTWISE] == ([ops] if ops else [])
    assert_same_values(m.graph, after, fetches, FEEDS, exact=True)


def test_not_what_is_fetched() -> None:
    assert_partly_fused(chain(), ["y:0", "e:0"], ["Mul", "Neg"])


def test_not_what_others_read() -> None:
    m = chain()
    m.op("Identity", "z", "e", **F)
    assert_partly_fused(m, ["y:0", "z:0"], ["Mul", "Neg"])


def test_not_what_waits_or_is_waited_for() -> None:
    m = Maker()
    m.op("Exp", "e", m.x(shape=(2, 3)), **F)
    m.op("NoOp", "n", controls=["e"])
    m.op("Neg", "p", "e", **F, controls=["n"])
    m.op("Abs", "y", "p", **F)
    assert_unchanged(m, NAME, ["y:0"], ["x:0"])


def test_not_across_devices() -> None:
    assert_partly_fused(chain(device="/device:CPU:1"), ["y:0"], [])


def test_not_what_is_fed() -> None:
    m = chain()
    m.op("Exp", "z", m.op("EnsureShape", "s", "y", shape=(2, 3), **F), **F)
    after, _ = run_pass(m.graph, NAME, ["z:0"], ["y:0"])
    assert (after["y"].op, after["z"].op) == ("Neg", "Exp")


def test_not_across_dtypes() -> None:
    m = Maker()
    m.op("Neg", "i", m.x(shape=(3,), dtype=INT32), T=INT32)
    m.op("Exp", "e", m.op("Cast", "c", "i", SrcT=INT32, DstT=FLOAT32), **F)
    assert_unchanged(m, NAME, ["e:0"], ["x:0"])


def test_not_what_rounds_elsewhere() -> None:
    """A float16 sum of many is rounded once."""
    m = Maker()
    x = m.x(shape=(3,), dtype=FLOAT16)
    m.op("Neg", "y", m.op("AddN", "s", x, x, N=2, T=FLOAT16), T=FLOAT16)
    assert_unchanged(m, NAME, ["y:0"], ["x:0"])


@pytest.mark.parametrize("shape", [None, (3,), (1, 3), (-1, 1)])
def test_not_what_may_be_smaller(shape: Any) -> None:
    m = Maker()
    first = m.op("Exp", "e", m.x(shape=shape), **F)
    m.op("AddV2", "y", first, m.x("z", (-1, 3)), **F)
    assert_unchanged(m, NAME, ["y:0"], ["x:0", "z:0"])


@pytest.mark.parametrize("rows", [(2, 2), (1, 2), (2, 1), (0, 1)])
def test_sizes_that_are_not_known(rows: tuple[int, int]) -> None:
    """They are the same most of the time; values are what they were where one is 1 after all."""
    m = Maker()
    m.op("AddV2", "y", m.op("Exp", "e", m.x(), **F), m.x("z"), **F)
    feeds = {"x:0": np.ones((rows[0], 3), np.float32), "z:0": np.ones((rows[1], 3), np.float32)}
    lines = [f"y = {FUSED_ELEMENTWISE}(x, z)", "x = Placeholder()", "z = Placeholder()"]
    check(m, NAME, ["y:0"], lines, feeds)


def biased(value: Any, bias: Any, **attrs: Any) -> Maker:
    m = Maker()
    first = m.op("Exp", "e", m.x(shape=value), **F)
    m.op("Tanh", "y", m.op("BiasAdd", "b", first, m.x("z", bias), **F, **attrs), **F)
    return m


def test_a_bias_is_added() -> None:
    m = biased((-1, 3), (3,))
    feeds = {"x:0": FEEDS["x:0"], "z:0": np.float32([1, 2, 3])}
    lines = [f"y = {FUSED_ELEMENTWISE}(x, z)", "x = Placeholder()", "z = Placeholder()"]
    check(m, NAME, ["y:0"], lines, feeds)
    after, _ = run_pass(m.graph, NAME, ["y:0"], list(feeds))
    assert after["y"].attrs["ops"] == ["Exp", "AddV2", "Tanh"]


@pytest.mark.parametrize(
    ("value", "bias", "attrs"),
    [
        ((-1, -1), (3,), {}), ((-1, 3), (-1,), {}), ((-1, 3), (1,), {}), ((3,), (3,), {}),
        ((2, 3, 4, 3), (3,), {"data_format": "NCHW"}),
    ],
)  # fmt: skip
def test_not_a_bias_that_may_not_fit(value: Any, bias: Any, attrs: dict[str, Any]) -> None:
    """It would fail, or not be along the last dimension."""
    assert_unchanged(biased(value, bias, **attrs), NAME, ["y:0"], ["x:0", "z:0"])


def test_not_ops_of_strings() -> None:
    m = Maker()
    x = m.x(shape=(3,), dtype=STRING)
    m.op("Add", "y", m.op("Add", "a", x, x, T=STRING), x, T=STRING)
    assert_unchanged(m, NAME, ["y:0"], ["x:0"])


def test_not_more_results_than_the_kernel_has_room_for() -> None:
    m = Maker()
    x = m.x(shape=(2,))
    terms = [m.op("AddV2", f"t{k}", x, m.const(f"c{k}", float(k)), **F) for k in range(70)]
    m.op("AddN", "y", *terms, N=70, **F)
    assert regions(m, "y:0", shape=(2,)) == [34 + 69]  # half of the 70 nodes


def test_nothing_without_two_that_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(elementwise_fusion, "_MOST_RESULTS", 0)
    assert_unchanged(chain(), NAME, ["y:0"], ["x:0"])


def test_without_a_kernel_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(elementwise_fusion, "of_plugins", dict)
    report = assert_unchanged(chain(), NAME, ["y:0"], ["x:0"])
    assert told(report, NAME) == "no plugin has a kernel for fused element-wise ops"


@pytest.mark.parametrize("seed", range(60))
def test_random_arithmetic_keeps_every_bit(seed: int) -> None:
    made, fetches = random_arithmetic.draw(seed)
    plain = random_arithmetic.run(made, fetches, "off")
    after, _ = run_pass(made.m.graph, NAME, fetches, list(made.feeds))
    assert as_lines(run_pass(after, NAME, fetches, list(made.feeds))[0]) == as_lines(after)
    made.m.graph = after
    for name, one, other in zip(
        fetches, plain, random_arithmetic.run(made, fetches, "off"), strict=True
    ):
        np.testing.assert_array_equal(one, other, name)


def long_chain(count: int) -> Maker:
    """``count`` ops, each of the one before."""
    m = Maker()
    last = m.x(shape=(3,))
    for k in range(count):
        last = m.op(("Tanh", "Neg", "Sigmoid")[k % 3], f"n{k}", last, **F)
    return m


def regions(m: Maker, fetch: str, shape: tuple[int, ...] = (3,)) -> list[int]:
    """How many ops each region holds; the values stay."""
    after, _ = run_pass(m.graph, NAME, [fetch], ["x:0"])
    assert_same_values(
        m.graph, after, [fetch], {"x:0": np.full(shape, 0.5, np.float32)}, exact=True
    )
    return [len(n.attrs["ops"]) for n in after if n.op == FUSED_ELEMENTWISE]


def test_a_long_chain_is_one_region() -> None:
    assert elementwise_fusion._FIRST_STEPS < 2500
    assert regions(long_chain(2500), "n2499:0") == [2500]


def test_not_more_than_the_most_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(elementwise_fusion, "_FIRST_STEPS", 4)
    monkeypatch.setattr(elementwise_fusion, "_MOST_STEPS", 16)
    assert sorted(regions(long_chain(40), "n39:0")) == [8, 16, 16]


def test_not_more_results_than_may_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    m = Maker()
    steps = [m.x(shape=(3,))]
    for k in range(12):
        steps.append(m.op("Sigmoid", f"s{k}", steps[-1], **F))
    last = steps.pop()
    for k, step in enumerate(reversed(steps[1:])):
        last = m.op("AddV2", f"y{k}", last, step, **F)
    assert regions(m, "y10:0") == [23]
    monkeypatch.setattr(elementwise_fusion, "_MOST_RESULTS", 4)
    assert 1 < max(regions(m, "y10:0")) < 23
