"""Layer fusion: attention, as matrix products or as Einsum, becomes one node."""

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

from drystone_base.core.dtypes import BOOL, FLOAT32, FLOAT64, INT32
from drystone_base.graph import Output
from drystone_base.ops.own import ATTENTION
from drystone_optimizer.passes.layer_fusion import attention

F: dict[str, Any] = {"T": FLOAT32}
NAME = "layer_fusion"
B, N, T, S, H = 2, 3, 4, 5, 6


@pytest.fixture(autouse=True)
def _with_a_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if a plugin had one; the reference runs what comes out."""
    monkeypatch.setattr(attention, "of_plugins", lambda: {ATTENTION: ()})


class Heads(Maker):
    """Queries, keys, values, and the parts of attention."""

    def __init__(self, order: str = "BTNH") -> None:
        super().__init__()
        self.order = order
        self.feeds: dict[str, Any] = {}
        self.q = self.input("q", order)
        self.k = self.input("k", order.replace("T", "S"))
        self.v = self.input("v", order.replace("T", "S"))

    def input(self, name: str, order: str) -> Output:
        """A placeholder of these dimensions, of any number of examples."""
        sizes = [{"B": B, "N": N, "T": T, "S": S, "H": H, "1": 1}[d] for d in order]
        rng = np.random.default_rng(len(self.feeds))
        self.feeds[f"{name}:0"] = rng.normal(size=sizes).astype(np.float32)
        shape = tuple(-1 if d == "B" else s for d, s in zip(order, sizes, strict=True))
        return self.x(name, shape)

    def f(self, op: str, name: str, *inputs: Any, **more: Any) -> Output:
        """A node of floats."""
        return self.op(op, name, *inputs, **(F | more))

    def turned(self, name: str, x: Output, order: list[int]) -> Output:
        """A Transpose."""
        return self.f("Transpose", name, x, self.const(f"{name}_order", order), Tperm=INT32)

    def mask(self, order: str = "B11S") -> Output:
        """Numbers to add, some of them very low."""
        out = self.input("m", order)
        self.feeds["m:0"] = np.where(self.feeds["m:0"] > 0.5, np.float32(-1e4), 0)
        return out

    def bools(self, order: str = "B11S") -> Output:
        """Which scores stay."""
        self.mask(order)
        shape = self.graph["m"].attrs["shape"]
        self.feeds["keep:0"] = self.feeds.pop("m:0") == 0
        return self.x("keep", shape, BOOL)


def lines_of(m: Heads, *masks: str, extra: tuple[str, ...] = ()) -> list[str]:
    """The one node, and its inputs."""
    held = ["q = Placeholder()", "k = Placeholder()", "v = Placeholder()"]
    more = [f"{mask} = Placeholder()" for mask in masks]
    unread = ["m = Placeholder()"] if "keep" in masks else []
    return [f"y = {ATTENTION}({', '.join(['q', 'k', 'v', *masks])})", *held, *more, *unread, *extra]


def by_products(m: Heads, scored: Callable[[Heads, Output], Output]) -> Output:
    """As BERT does: heads are turned to the front, and back at the end."""
    q, k, v = (m.turned(f"t{n}", x, [0, 2, 1, 3]) for n, x in (("q", m.q), ("k", m.k), ("v", m.v)))
    product = m.f("BatchMatMulV2", "s", q, k, adj_y=True)
    weights = m.f("Softmax", "w", scored(m, product))
    return m.f("BatchMatMulV2", "c", weights, v)


def by_einsum(m: Heads, scored: Callable[[Heads, Output], Output], name: str = "y") -> None:
    """As Keras does."""
    product = m.op("Einsum", "s", m.q, m.k, **F, equation="BTNH,BSNH->BNTS", N=2)
    weights = m.f("Softmax", "w", scored(m, product))
    m.op("Einsum", name, weights, m.v, **F, equation="BNTS,BSNH->BTNH", N=2)


def scaled(m: Heads, product: Output) -> Output:
    """Over the root of the heads' size."""
    return m.f("Mul", "scaled", product, m.const("by", 0.4))


def divided(m: Heads, product: Output) -> Output:
    """The same by a quotient."""
    return m.f("RealDiv", "scaled", product, m.const("by", 2.5))


def masked(m: Heads, product: Output) -> Output:
    """Scaled, then masked by a sum."""
    return m.f("AddV2", "masked", scaled(m, product), m.mask())


def chosen(m: Heads, product: Output) -> Output:
    """Scaled, then masked by a choice."""
    low = m.const("low", -1e9)
    return m.op("SelectV2", "chosen", m.bools(), scaled(m, product), low, **F)


def chosen_with_ones(m: Heads, product: Output) -> Output:
    """As Keras 3 does: the mask is joined to one that is all true."""
    x = scaled(m, product)
    shape = m.f("Shape", "shape", x, out_type=INT32)
    ones = m.op("Fill", "ones", shape, m.const("true", True), T=BOOL, index_type=INT32)
    both = m.op("LogicalAnd", "both", ones, m.bools())
    return m.op("SelectV2", "chosen", both, x, m.const("low", -1e9), **F)


FORMS: list[tuple[Any, tuple[str, ...]]] = [
    (lambda _, product: product, ()), (scaled, ()), (divided, ()), (masked, ("m",)),
    (chosen, ("keep",)), (chosen_with_ones, ("keep",)),
]  # fmt: skip


@pytest.mark.parametrize(("scored", "masks"), FORMS)
def test_products_of_turned_heads(scored: Any, masks: tuple[str, ...]) -> None:
    m = Heads()
    m.turned("y", by_products(m, scored), [0, 2, 1, 3])
    check(m, NAME, ["y:0"], lines_of(m, *masks), m.feeds, exact=False)
    after, report = run_pass(m.graph, NAME, ["y:0"], list(m.feeds))
    assert after["y"].attrs["layouts"] == ["BTNH", "BSNH", "BSNH", "BTNH"]
    [step] = [s for s in report.steps if s.outcome == "changed"]
    assert (dict(step.rewrites), step.numeric) == ({"attention": 1}, "reassociates")
    assert_same_natively(m.graph, after, ["y:0"], m.feeds)


@pytest.mark.parametrize(("scored", "masks"), FORMS)
def test_einsum(scored: Any, masks: tuple[str, ...]) -> None:
    m = Heads()
    by_einsum(m, scored)
    check(m, NAME, ["y:0"], lines_of(m, *masks), m.feeds, exact=False)
    after, _ = run_pass(m.graph, NAME, ["y:0"], list(m.feeds))
    assert after["y"].attrs["layouts"] == ["BTNH", "BSNH", "BSNH", "BTNH"]
    plain = scored is FORMS[0][0]
    assert after["y"].attrs["scale"] == pytest.approx(1 if plain else 0.4)
    assert_same_natively(m.graph, after, ["y:0"], m.feeds)


def test_products_of_heads_as_they_lie() -> None:
    m = Heads("BNTH")
    weights = m.f("Softmax", "w", m.f("BatchMatMulV2", "s", m.q, m.k, adj_y=True))
    m.f("BatchMatMulV2", "y", weights, m.v)
    check(m, NAME, ["y:0"], lines_of(m), m.feeds, exact=False)
    after, _ = run_pass(m.graph, NAME, ["y:0"], list(m.feeds))
    assert after["y"].attrs["layouts"] == ["BNTH", "BNSH", "BNSH", "BNTH"]


def test_keys_that_are_turned_for_the_product() -> None:
    m = Heads()
    q, v = m.turned("tq", m.q, [0, 2, 1, 3]), m.turned("tv", m.v, [0, 2, 1, 3])
    keys = m.turned("tk", m.k, [0, 2, 3, 1])
    m.f("BatchMatMulV2", "y", m.f("Softmax", "w", m.f("BatchMatMulV2", "s", q, keys)), v)
    after, _ = run_pass(m.graph, NAME, ["y:0"], list(m.feeds))
    assert f"y = {ATTENTION}(q, k, v)" in as_lines(after)
    assert after["y"].attrs["layouts"] == ["BTNH", "BSNH", "BSNH", "BNTH"]
    assert_same_values(m.graph, after, ["y:0"], m.feeds, exact=False)


def test_einsum_with_keys_first() -> None:
    m = Heads()
    product = m.op("Einsum", "s", m.k, m.q, **F, equation="aecd,abcd->acbe", N=2)
    weights = m.f("Softmax", "w", product)
    m.op("Einsum", "y", m.v, weights, **F, equation="aecd,acbe->abcd", N=2)
    after, _ = run_pass(m.graph, NAME, ["y:0"], list(m.feeds))
    assert f"y = {ATTENTION}(q, k, v)" in as_lines(after)
    assert_same_values(m.graph, after, ["y:0"], m.feeds, exact=False)


def test_a_result_that_is_read_as_it_was() -> None:
    m = Heads()
    m.turned("y", by_products(m, scaled), [0, 2, 1, 3])
    after, _ = run_pass(m.graph, NAME, ["y:0", "c:0"], list(m.feeds))
    assert after["c"].attrs["layouts"] == ["BTNH", "BSNH", "BSNH", "BNTH"]
    assert after["y"].op == "Transpose"
    assert_same_values(m.graph, after, ["y:0", "c:0"], m.feeds, exact=False)


@pytest.mark.parametrize("inner", ["s", "scaled", "masked", "w"])
def test_attention_of_which_more_is_read(inner: str) -> None:
    m = Heads()
    by_einsum(m, masked)
    assert_unchanged(m, NAME, ["y:0", f"{inner}:0"], list(m.feeds))


def _scaled_after_the_mask(m: Heads, product: Output) -> Output:
    return m.f("Mul", "late", m.f("AddV2", "masked", product, m.mask()), m.const("by", 0.4))


def _scaled_by_a_tensor(m: Heads, product: Output) -> Output:
    return m.f("Mul", "late", product, m.mask("BN1S"))


def _more_queries(m: Heads, product: Output) -> Output:
    return m.f("AddV2", "masked", product, m.x("m", (-1, N, -1, S)))


def _more_dimensions(m: Heads, product: Output) -> Output:
    return m.f("AddV2", "masked", product, m.x("m", (1, 1, 1, 1, S)))


def _other_fills(m: Heads, product: Output) -> Output:
    keep = m.bools()
    once = m.op("SelectV2", "once", keep, product, m.const("low", -1e9), **F)
    return m.op("SelectV2", "twice", keep, once, m.const("lower", -1e8), **F)


def _chosen_the_other_way(m: Heads, product: Output) -> Output:
    return m.op("SelectV2", "chosen", m.bools(), m.const("low", -1e9), product, **F)


def _clipped(m: Heads, product: Output) -> Output:
    return m.f("Relu", "clipped", product)


@pytest.mark.parametrize(
    "scored",
    [_scaled_after_the_mask, _scaled_by_a_tensor, _more_queries, _more_dimensions, _other_fills,
     _chosen_the_other_way, _clipped],
)  # fmt: skip
def test_scores_that_are_computed_otherwise(scored: Any) -> None:
    m = Heads()
    by_einsum(m, scored)
    assert_unchanged(m, NAME, ["y:0"], list(m.feeds))


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("BTNH,BSNH->BNST", "BNST,BSNH->BTNH"),  # the softmax is over queries
        ("BTNH,BSNH->BNTS", "BNTS,BSNH->BTHN"),
        ("BTNH,BSNH->BTNS", "BTNS,BSNH->BNTH"),
    ],
)
def test_einsum_of_other_equations(first: str, second: str) -> None:
    m = Heads()
    weights = m.f("Softmax", "w", m.op("Einsum", "s", m.q, m.k, **F, equation=first, N=2))
    m.op("Einsum", "y", weights, m.v, **F, equation=second, N=2)
    after, _ = run_pass(m.graph, NAME, ["y:0"], list(m.feeds))
    assert_same_values(m.graph, after, ["y:0"], m.feeds, exact=False)
    if first != "BTNH,BSNH->BTNS":  # which only calls the dimensions otherwise
        assert after is m.graph


def test_products_that_are_flipped_otherwise() -> None:
    for first, second in (({"adj_x": True}, {}), ({"adj_y": True}, {"adj_x": True})):
        m = Maker()
        q, k, v = (m.x(n, (B, N, 4, 4)) for n in "qkv")
        weights = m.op("Softmax", "w", m.op("BatchMatMulV2", "s", q, k, **F, **first), **F)
        m.op("BatchMatMulV2", "y", weights, v, **F, **second)
        assert_unchanged(m, NAME, ["y:0"], ["q:0", "k:0", "v:0"])


def test_other_dtypes_and_ranks() -> None:
    m = Maker()
    q, k, v = (m.x(n, (B, N, 4, 4), FLOAT64) for n in "qkv")
    d: dict[str, Any] = {"T": FLOAT64}
    weights = m.op("Softmax", "w", m.op("BatchMatMulV2", "s", q, k, **d), **d)
    m.op("BatchMatMulV2", "y", weights, v, **d)
    assert_unchanged(m, NAME, ["y:0"], ["q:0", "k:0", "v:0"])
    m = Maker()
    q, k, v = (m.x(n, (B, 4, 4)) for n in "qkv")
    weights = m.op("Softmax", "w", m.op("BatchMatMulV2", "s", q, k, **F), **F)
    m.op("BatchMatMulV2", "y", weights, v, **F)
    assert_unchanged(m, NAME, ["y:0"], ["q:0", "k:0", "v:0"])


def test_nothing_without_a_kernel_or_where_roundings_must_stay(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    m = Heads()
    by_einsum(m, scaled)
    assert_unchanged(m, NAME, ["y:0"], list(m.feeds), numeric="exact")
    monkeypatch.setattr(attention, "of_plugins", dict)
    assert_unchanged(m, NAME, ["y:0"], list(m.feeds))
