"""Row C11: arithmetic stages that change where work is done, each with what it must leave alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from pass_checks import Maker, as_lines, assert_same_values, assert_unchanged, run_pass

from drystone_base.core.dtypes import BOOL, FLOAT32, FLOAT64, INT8, INT32, INT64

F = {"T": FLOAT32}
ARITH = "arithmetic_optimization"
Make = Callable[[Maker], Any]
VALUES = np.array([[1, -0.0, 3], [0.5, -5, 2], [1, 7, 1]], np.float32)


@dataclass
class Case:
    """A graph, lines that the pass leaves of it, and of what class the rewrite is."""

    make: Make
    lines: Sequence[str]
    numeric: str = "exact"
    aggressive: bool = False
    fetches: Sequence[str] = ("y:0",)
    gone: Sequence[str] = field(default=())


def options(case: Case) -> dict[str, Any]:
    toggle = "aggressive" if case.aggressive else "on"
    return {ARITH: toggle, "numeric": case.numeric}


def feeds(m: Maker) -> dict[str, Any]:
    """A value for each placeholder, unknown sizes being three."""
    found = {}
    for node in m.graph:
        if node.op == "Placeholder":
            shape = [3 if d < 0 else d for d in node.attrs["shape"] or ()]
            size = int(np.prod(shape))
            value = np.resize(VALUES, size).reshape(shape).astype(node.attrs["dtype"].np)
            found[f"{node.name}:0"] = value
    return found


def chain(*steps: tuple[str, str, Any, dict[str, Any]], shape: Any = (3, 3), dtype: Any = FLOAT32
          ) -> Make:  # fmt: skip
    """Ops one after the other on x: ``(op, name, constants after the data, attributes)``."""

    def make(m: Maker) -> None:
        last = "x"
        m.x(shape=shape, dtype=dtype)
        for op, name, constants, attrs in steps:
            held = [m.const(f"{name}_{k}", value) for k, value in enumerate(constants)]
            m.op(op, name, last, *held, **attrs)
            last = name

    return make


def reshape(name: str, to: Sequence[int], dtype: Any = FLOAT32) -> tuple[str, str, Any, Any]:
    return ("Reshape", name, [list(to)], {"T": dtype, "Tshape": INT32})


def unary(op: str, name: str) -> tuple[str, str, Any, Any]:
    return (op, name, [], {} if op == "LogicalNot" else F)


def cast(name: str, a: Any, b: Any) -> tuple[str, str, Any, Any]:
    return ("Cast", name, [], {"SrcT": a, "DstT": b})


def reduction(op: str, axis: int = 1) -> tuple[str, str, Any, Any]:
    return (op, "y", [[axis]], {"Tidx": INT32, **F})


def index(op: str) -> tuple[str, str, Any, Any]:
    return (op, "y", [1], {"Tidx": INT32, **F})


def factors(op: str = "AddN", shape: Any = (3, 3)) -> Make:
    """a b + c a."""

    def make(m: Maker) -> None:
        for name in "abc":
            m.x(name, shape)
        m.op("Mul", "p", "a", "b", **F)
        m.op("Mul", "q", "c", "a", **F)
        m.op(op, "y", "p", "q", **(F | ({"N": 2} if op == "AddN" else {})))

    return make


def three(op: str, shapes: Sequence[Any], dtype: Any = FLOAT32, left: bool = True) -> Make:
    """``(a op b) op c``, or the other way round."""

    def make(m: Maker) -> None:
        for name, shape in zip("abc", shapes, strict=True):
            m.x(name, shape, dtype)
        m.op(op, "s", "a", "b", T=dtype)
        m.op(op, "y", *(("s", "c") if left else ("c", "s")), T=dtype)

    return make


def packs(*axes: int, shape: Any = (2, 3), same: bool = True) -> Make:
    """Packs, each of the one before it twice."""

    def make(m: Maker) -> None:
        last = m.x(shape=shape)
        other = m.x("z", shape)
        for k, axis in enumerate(axes):
            name = "y" if k == len(axes) - 1 else f"p{k}"
            second = last if same else other if not k else last
            last = m.op("Pack", name, last, second, N=2, axis=axis, **F)

    return make


def enlarged(merged: bool = True) -> Make:
    """Rows and columns of images are there twice."""

    def make(m: Maker) -> None:
        m.x(shape=(2, 3, 5, 4))
        apart = m.op("Reshape", "apart", "x", m.const("s", [2, 3, 1, 5, 1, 4]), Tshape=INT32, **F)
        times = [1, 1, 2, 1, 2, 1] if merged else [2] * 6
        tiled = m.op("Tile", "t", apart, m.const("k", times), Tmultiples=INT32, **F)
        to = [2, 6, 10, 4] if merged else [4, 12, 20, 8]
        m.op("Reshape", "y", tiled, m.const("to", to), Tshape=INT32, **F)

    return make


def parts(op: str = "Neg", second: str = "Neg", above: str = "", count: int = 2) -> Make:
    """A concatenation of one op of each part; ``above`` is done before that."""

    def make(m: Maker) -> None:
        held = []
        for k in range(count):
            last = m.x(f"x{k}", (3, 3))
            if above:
                last = m.op(above, f"a{k}", last, **F)
            held.append(m.op(second if k else op, f"n{k}", last, **F))
        m.op("ConcatV2", "y", *held, m.const("axis", 1), N=count, Tidx=INT32, **F)

    return make


def split(op: str = "Neg", second: str = "Neg", last: str = "") -> Make:
    def make(m: Maker) -> None:
        m.op("Split", "s", m.const("axis", 0), m.x(shape=(4, 3)), num_split=2, **F)
        m.op(op, "a", "s:0", **F)
        m.op(second, "b", "s:1", **F)
        ends = ["a", "b"]
        if last:
            ends = [m.op(last, f"e{k}", name, **F)[0].name for k, name in enumerate(ends)]
        m.op("Pack", "y", *ends, N=2, axis=0, **F)

    return make


def embedding(axis: int = 0, at: str = "unique:1", kind: str = "Mean", **more: Any) -> Make:
    def make(m: Maker) -> None:
        table = m.const("table", np.arange(12.0).reshape(4, 3))
        ids = m.const("ids", [3, 1, 3, 0])
        unique = m.op("Unique", "unique", ids, T=INT32, out_idx=INT32)
        attrs = {"Tparams": FLOAT32, "Tindices": INT32, "Taxis": INT32, **more}
        rows = m.op("GatherV2", "rows", table, unique, m.const("axis", axis), **attrs)
        m.op(f"SparseSegment{kind}", "y", rows, at, m.const("seg", [0, 0, 1, 2]), Tidx=INT32,
             Tsegmentids=INT32, **F)  # fmt: skip

    return make


def segments(op: str = "SegmentSum", to: Any = INT64, of: Any = INT32) -> Make:
    def make(m: Maker) -> None:
        m.x(shape=(3, 3))
        at = m.op("Cast", "c", m.const("at", np.array([0, 0, 1]), of), SrcT=of, DstT=to)
        m.op(op, "y", "x", at, Tindices=to, **F)

    return make


def taken(op: str, axis: int, *constants: Any, **masks: Any) -> Make:
    def make(m: Maker) -> None:
        m.op("Pack", "p", m.x(shape=(3, 2)), m.x("z", (3, 2)), N=2, axis=axis, **F)
        held = [m.const(f"c{k}", value) for k, value in enumerate(constants)]
        m.op(op, "y", "p", *held, Index=INT32, **F, **masks)

    return make


def broadcasts(first: Any = (2, 3), second: Any = (4, 2, 3)) -> Make:
    return chain(
        ("BroadcastTo", "b", [list(first)], {"Tidx": INT32, **F}),
        ("BroadcastTo", "y", [list(second)], {"Tidx": INT32, **F}),
        shape=(1, 3),
    )


ORDER = ("Transpose", "t", [[1, 0]], {"Tperm": INT32, **F})
BECOMES: dict[str, Case] = {
    "common-factor": Case(factors(), ["y/sum = AddN(b, c)", "y = Mul(a, y/sum)"], "approximate",
                          True, gone=["p", "q"]),
    "common factor of two": Case(factors("AddV2"), ["y = Mul(a, y/sum)"], "approximate", True),
    "reassociate-small-first": Case(
        three("AddV2", [(3, 3), (3,), (3,)]),
        ["s = AddV2(b, c)", "y = AddV2(a, s)"], "reassociates"),
    "products, small first": Case(three("Mul", [(3,), (-1, 3), (1, 3)], left=False),
                                  ["s = Mul(a, c)", "y = Mul(b, s)"], "approximate"),
    "integers, small first": Case(three("Add", [(3, 3), (), ()], INT32),
                                  ["s = Add(b, c)", "y = Add(a, s)"]),
    "involution-across-moves": Case(
        chain(unary("Neg", "n"), ORDER, unary("Neg", "y")),
        ["t = Transpose(x, t_0)", "y = Identity(t)"], gone=["n"]),
    "negated and arranged twice": Case(
        chain(unary("Neg", "n"), ORDER, reshape("r", [9]), unary("Neg", "y")),
        ["t = Transpose(x, t_0)", "y = Identity(r)"], gone=["n"]),
    "not and not": Case(
        chain(unary("LogicalNot", "n"), reshape("r", [9], BOOL), unary("LogicalNot", "y"),
              dtype=BOOL), ["r = Reshape(x, r_0)"], gone=["n"]),
    "pack-to-tile": Case(packs(1, 3), ["y/apart = Reshape(x, y/sizes)",
                                              "y/sizes = Const([2, 1, 3, 1])",
                                              "y/times = Const([1, 2, 1, 2])",
                                              "y = Tile(y/apart, y/times)"], gone=["p0"]),
    "packs at the end": Case(packs(-1, 0), ["y/times = Const([2, 1, 1, 2])"]),
    "tile-of-fewer-axes": Case(
        enlarged(), ["apart = Reshape(x, y/sizes)", "t = Tile(apart, y/times)",
        "y/sizes = Const([6, 1, 5, 1, 4])",
        "y/times = Const([1, 2, 1, 2, 1])"]),
    "broadcast-of-broadcast": Case(
        broadcasts(), ["y = BroadcastTo(x, y_0)"], gone=["b"]),
    "move-before-widening": Case(
        chain(cast("c", INT8, FLOAT32), ("Transpose", "y", [[1, 0]], {"Tperm": INT32, **F}),
              dtype=INT8),
        ["y/first = Transpose(x, y_0)", "y = Cast(y/first)"], gone=["c"]),
    "narrow-before-moving": Case(
        chain(ORDER, cast("y", FLOAT32, INT8)),
        ["y/first = Cast(x)", "y = Transpose(y/first, t_0)"], gone=["t"]),
    "move-before-widening: sliced": Case(
        chain(cast("c", INT8, FLOAT32),
              ("Slice", "y", [[0, 0], [1, 2]], {"Index": INT32, **F}), dtype=INT8),
        ["y = Cast(y/first)"], gone=["c"]),
    "hoist-unary-after-concat": Case(
        parts(), ["y/whole = ConcatV2(x0, x1, axis)", "y = Neg(y/whole)"],
        gone=["n0", "n1"]),
    "hoist-unary-after-concat: chains": Case(
        parts("Exp", "Exp", "Abs", 3),
        ["y/whole = ConcatV2(x0, x1, x2, axis)", "y/once = Abs(y/whole)", "y = Exp(y/once)"],
        "reassociates"),
    "hoist-unary-before-split": Case(
        split(), ["s/whole = Neg(x)", "s = Split(axis, s/whole)", "y = Pack(s, s:1)"],
        gone=["a", "b"]),
    "reduce-of-monotone": Case(
        chain(unary("Tanh", "f"), reduction("Max")),
        ["y/extreme = Max(x, y_0)", "y = Tanh(y/extreme)"], "reassociates",
        gone=["f"]),
    "reduce-of-monotone: it falls": Case(
        chain(unary("Neg", "f"), reduction("Max")),
        ["y/extreme = Min(x, y_0)", "y = Neg(y/extreme)"], "reassociates"),
    "reduce-of-monotone: least of Relu": Case(
        chain(unary("Relu", "f"), reduction("Min", -1)), ["y = Relu(y/extreme)"],
        "reassociates"),
    "reduce-of-partial-monotone": Case(
        chain(unary("Sqrt", "f"), reduction("Max")), ["y = Sqrt(y/extreme)"],
        "approximate"),
    "pool-of-monotone": Case(
        chain(unary("Tanh", "f"),
              ("MaxPool", "y", [], {"ksize": [1, 1, 2, 1], "strides": [1, 1, 1, 1],
                                    "padding": "SAME", **F}), shape=(1, 3, 3, 1)),
        ["y = Tanh(y/extreme)"], "approximate"),
    "argmax-of-negation": Case(
        chain(unary("Neg", "f"), index("ArgMax")), ["y = ArgMin(x, y_0)"]),
    "argmax-of-monotone": Case(
        chain(unary("Sigmoid", "f"), index("ArgMax")), ["y = ArgMax(x, y_0)"],
        "approximate"),
    "embedding-sum": Case(
        embedding(), ["y = SparseSegmentMean(table, ids, seg)"],
        gone=["rows", "unique"]),
    "embedding, a root": Case(embedding(kind="SqrtN"), ["y = SparseSegmentSqrtN(table, ids, seg)"]),
    "uncast-indices": Case(
        segments(), ["y = SegmentSum(x, at)"], gone=["c"]),
    "element by Slice": Case(taken("Slice", 1, [0, 1, 0], [-1, 1, -1]),
                             ["y = ExpandDims(z, y/axis)"], gone=["p"]),
    "element along the last axis": Case(
        taken("StridedSlice", -1, [0, 0, 1], [0, 0, 2], [1, 1, 1], begin_mask=3, end_mask=3,
              shrink_axis_mask=4), ["y = Identity(z)"], gone=["p"]),
}  # fmt: skip

STAYS: dict[str, tuple[Make, dict[str, Any]]] = {
    "a common factor, not aggressive": (factors(), {"numeric": "approximate"}),
    "a common factor of unknown shapes": (factors(shape=None), {ARITH: "aggressive",
                                                                "numeric": "approximate"}),
    "sums of one shape": (three("Mul", [(3, 3)] * 3), {}),
    "small ones are first": (three("AddV2", [(3,), (3,), (3, 3)]), {}),
    "shapes that are not known": (three("AddV2", [None, (3,), (3,)]), {}),
    "sums of floats, exactly": (three("AddV2", [(3, 3), (3,), (3,)]), {"numeric": "exact"}),
    "a sum of a product": (lambda m: m.op("AddV2", "y", m.op("Mul", "p", m.x(shape=(3, 3)),
                                          m.x("b", (3,)), **F), m.x("c", (3,)), **F), {}),
    "negated and summed": (chain(unary("Neg", "n"), unary("Exp", "r"), unary("Neg", "y")), {}),
    "negated, arranged, inverted": (
        chain(unary("Neg", "n"), ORDER, unary("Abs", "y")), {}),
    "one pack": (packs(1), {}),
    "packs of two": (packs(0, 1, same=False), {}),
    "packs of an unknown shape": (packs(0, 1, shape=(-1, 3)), {}),
    "everything repeated": (enlarged(False), {}),
    "widened before": (chain(ORDER, cast("y", FLOAT32, FLOAT64)), {}),
    "narrowed first": (chain(cast("c", FLOAT64, FLOAT32),
                             ("Transpose", "y", [[1, 0]], {"Tperm": INT32, **F}),
                             dtype=FLOAT64), {}),
    "of one width": (chain(cast("c", INT32, FLOAT32), reshape("y", [9]), dtype=INT32), {}),
    "narrowed after a slice": (
        chain(("Slice", "s", [[0, 0], [1, 2]], {"Index": INT32, **F}), cast("y", FLOAT32, INT8)),
        {}),
    "parts by different ops": (parts("Neg", "Abs"), {}),
    "parts that softmax": (parts("Softmax", "Softmax"), {}),
    "parts of sums": (lambda m: m.op("ConcatV2", "y", *[
        m.op("Relu", f"r{k}", m.op("AddV2", f"s{k}", m.x(f"x{k}", (3, 3)), f"x{k}", **F), **F)
        for k in range(2)], m.const("axis", 0), N=2, Tidx=INT32, **F), {}),
    "split by different ops": (split("Neg", "Abs"), {}),
    "split and more": (split(last="Exp"), {}),
    "largest, not monotone": (chain(unary("Square", "f"), reduction("Max")), {}),
    "largest of none, perhaps": (chain(unary("Tanh", "f"), reduction("Max", 0), shape=(-1, 3)), {}),
    "largest, exactly": (chain(unary("Tanh", "f"), reduction("Max")), {"numeric": "exact"}),
    "largest root by default": (chain(unary("Sqrt", "f"), reduction("Max")), {}),
    "the mean": (chain(unary("Tanh", "f"), reduction("Mean")), {}),
    "index of Relu": (chain(unary("Relu", "f"), index("ArgMax")), {"numeric": "approximate"}),
    "index of Sigmoid by default": (chain(unary("Sigmoid", "f"), index("ArgMax")), {}),
    "embedding along another axis": (embedding(axis=1), {}),
    "embedding at other rows": (embedding(at="ids"), {}),
    "segments by narrowed numbers": (segments(to=INT32, of=INT64), {}),
    "elements by Slice": (taken("Slice", 1, [0, 0, 0], [-1, 2, -1]), {}),
    "a part of an element": (taken("Slice", 1, [0, 1, 0], [2, 1, -1]), {}),
    "part along the last axis": (
        taken("StridedSlice", -1, [0, 1, 1], [0, 2, 2], [1, 1, 1], begin_mask=1, end_mask=1,
              shrink_axis_mask=4), {}),
}  # fmt: skip


def made(make: Make) -> Maker:
    m = Maker()
    make(m)
    return m


@pytest.mark.parametrize("name", BECOMES)
def test_becomes(name: str) -> None:
    case = BECOMES[name]
    m = made(case.make)
    given, fetches = feeds(m), list(case.fetches)
    if case.numeric == "approximate":  # NaN of numbers below zero is what may be lost
        given = {name: np.abs(value) for name, value in given.items()}
    before = m.graph.to_bytes()
    after, report = run_pass(m.graph, ARITH, fetches, list(given), **options(case))
    assert set(case.lines) <= set(as_lines(after)), as_lines(after)
    assert not [gone for gone in case.gone if gone in after and after[gone].op != "Const"]
    assert m.graph.to_bytes() == before, "the given graph was changed"
    assert report.steps[0].numeric == case.numeric
    with np.errstate(all="ignore"):
        assert_same_values(m.graph, after, fetches, given, exact=case.numeric == "exact")
    again, _ = run_pass(after, ARITH, fetches, list(given), **options(case))
    assert again is after, as_lines(again)


@pytest.mark.parametrize("name", [name for name in BECOMES if BECOMES[name].numeric != "exact"])
def test_stays_below_its_class(name: str) -> None:
    case = BECOMES[name]
    m = made(case.make)
    lower = {"reassociates": "exact", "approximate": "reassociates"}[case.numeric]
    assert_unchanged(m, ARITH, ["y:0"], list(feeds(m)), **(options(case) | {"numeric": lower}))


@pytest.mark.parametrize("name", STAYS)
def test_stays(name: str) -> None:
    make, more = STAYS[name]
    m = made(make)
    assert_unchanged(m, ARITH, ["y:0"], list(feeds(m)), **more)


@pytest.mark.parametrize("name", BECOMES)
def test_what_is_fed_or_fetched_in_between_stays(name: str) -> None:
    """Values are the same, whichever inner node has its value from outside or is read there."""
    case = BECOMES[name]
    m = made(case.make)
    given = feeds(m)
    inner = [n.name for n in m.graph if n.op not in ("Placeholder", "Const", "Unique")]
    for one in (n for n in inner if n != "y"):
        after, _ = run_pass(m.graph, ARITH, ["y:0", f"{one}:0"], list(given), **options(case))
        with np.errstate(all="ignore"):
            exact = case.numeric == "exact"
            assert_same_values(m.graph, after, ["y:0", f"{one}:0"], given, exact=exact)
        after, _ = run_pass(m.graph, ARITH, ["y:0"], [*given, f"{one}:0"], **options(case))
        assert one in after or not after["y"].inputs


def test_other_products_have_no_common_factor() -> None:
    m = Maker()
    for name in "abcd":
        m.x(name, (3, 3))
    m.op("Mul", "p", "a", "b", **F)
    m.op("Mul", "q", "c", "d", **F)
    m.op("AddN", "y", "p", "q", N=2, **F)
    more = {"arithmetic_optimization": "aggressive", "numeric": "approximate"}
    assert_unchanged(m, ARITH, ["y:0"], list(feeds(m)), **more)
