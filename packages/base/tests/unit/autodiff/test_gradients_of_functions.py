"""Gradients through calls, branches and loops, against differences, once and twice."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from drystone_base.api.session import Session, SessionConfig
from drystone_base.autodiff import gradients
from drystone_base.core.dtypes import FLOAT64, INT32, DType
from drystone_base.core.errors import GraphError
from drystone_base.graph import Builder, Graph, Output
from drystone_base.graph.extract import Extract, add_function
from drystone_base.ops.attrs import FunctionRef

Build = Callable[..., "Any"]


def function(graph: Graph, name: str, dtypes: Sequence[DType], build: Build) -> FunctionRef:
    """Add a function to a graph's library: ``build`` is given a builder and the arguments."""
    blank = Graph()
    blank.functions = graph.functions
    extract = Extract(blank, [], [])
    for k, dtype in enumerate(dtypes):
        node = extract.graph.add("_Arg", f"arg_{k}", attrs={"T": dtype, "index": k})
        extract.args.append(node)
    b = Builder(extract.graph)
    results = build(b, *((arg, 0) for arg in extract.args))
    body, signature = extract.finish([(o, b.dtype(o)) for o in results])
    return FunctionRef(add_function(graph, name, body, signature))


class Program:
    """A graph of x (float64 [3]) and n (int32) with a result, and its gradients."""

    def __init__(self, build: Callable[[Builder, Output, Output], Output]) -> None:
        self.graph = Graph()
        self.b = Builder(self.graph)
        self.x = self.b("Placeholder", dtype="float64", shape=(3,), name="x")
        self.n = self.b("Placeholder", dtype="int32", shape=(), name="n")
        self.y = self.b("Sum", build(self.b, self.x, self.n), self.b.const([0]))

    def check(self, *numbers: int) -> None:
        """First and second derivatives, on both executors."""
        x = np.array([0.3, -0.7, 0.5])
        (first,) = gradients(self.y, self.x)
        total = self.b("Sum", self.b("Square", first), self.b.const([0]))
        (second,) = gradients(total, self.x)
        names = [f"{o[0].name}:{o[1]}" for o in (self.y, total, first, second)]
        reference, native = (
            Session(self.graph, SessionConfig(executor=one)) for one in ("reference", "native")
        )
        values = reference.make_callable(names[:2], ["x:0", "n:0"])
        for n in map(np.int32, numbers):
            ends = [[values(x + sign * step, n) for sign in (1, -1)] for step in np.eye(3) * 1e-6]
            expected = [[(up[k] - down[k]) / 2e-6 for up, down in ends] for k in (0, 1)]
            for session in (reference, native):
                found = session.run(names[2:], {"x:0": x, "n:0": n})
                np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-7)


def call(b: Builder, x: Output, _: Output) -> Output:
    f = function(b.graph, "f", [FLOAT64], lambda b, v: [b("Sin", b("Square", v)), b("Exp", v)])
    node = b.node("PartitionedCall", [x], Tout=[FLOAT64, FLOAT64], f=f)
    return b("Mul", (node, 0), (node, 1))


def call_by_name(b: Builder, x: Output, _: Output) -> Output:
    f = function(b.graph, "f", [FLOAT64], lambda b, v: [b("Sin", b("Square", v))])
    return b(f.name, x)


def nested(b: Builder, x: Output, _: Output) -> Output:
    inner = function(b.graph, "inner", [FLOAT64], lambda b, v: [b("Sin", b("Square", v))])
    outer = function(
        b.graph, "outer", [FLOAT64],
        lambda b, v: [b("Mul", v, (b.node("PartitionedCall", [v], Tout=[FLOAT64], f=inner), 0))],
    )  # fmt: skip
    return (b.node("StatefulPartitionedCall", [x], Tout=[FLOAT64], f=outer), 0)


def branch(b: Builder, x: Output, n: Output) -> Output:
    then = function(b.graph, "then", [FLOAT64] * 2, lambda b, v, _: [b("Sin", b("Square", v))])
    other = function(b.graph, "other", [FLOAT64] * 2, lambda b, v, w: [b("Mul", v, b("Exp", w))])
    test = b("Greater", n, b.const(0))
    node = b.node("If", test, [x, b("Neg", x)], Tout=[FLOAT64], then_branch=then,
                  else_branch=other)  # fmt: skip
    return node, 0


def stateless_branch(b: Builder, x: Output, n: Output) -> Output:
    then = function(b.graph, "then", [FLOAT64], lambda b, v: [b("Sin", v)])
    other = function(b.graph, "other", [FLOAT64], lambda b, _: [b.const([1.0, 2, 3], "float64")])
    test = b("Greater", n, b.const(0))
    node = b.node("StatelessIf", test, [x], Tout=[FLOAT64], then_branch=then, else_branch=other)
    return b("Square", (node, 0))


def switch(op: str) -> Callable[[Builder, Output, Output], Output]:
    def build(b: Builder, x: Output, n: Output) -> Output:
        ops = ["Sin", "Exp", "Tanh"]
        branches = [
            function(b.graph, f"case_{op}", [FLOAT64], lambda b, v, op=op: [b(op, b("Square", v))])
            for op in ops
        ]
        return b.node(op, n, [x], Tout=[FLOAT64], branches=branches), 0

    return build


def loop(op: str) -> Callable[[Builder, Output, Output], Output]:
    """``v = sin(v * x) + v`` n times: x is the same in each round."""

    def build(b: Builder, x: Output, n: Output) -> Output:
        types = [INT32, INT32, FLOAT64, FLOAT64]
        cond = function(b.graph, "cond", types, lambda b, k, n, *_: [b("Less", k, n)])
        body = function(
            b.graph, "body", types,
            lambda b, k, n, v, x: [
                b("AddV2", k, b.const(1)), n, b("AddV2", b("Sin", b("Mul", v, x)), v), x,
            ],
        )  # fmt: skip
        node = b.node(op, [b.const(0), n, b("Neg", x), x], cond=cond, body=body)
        return node, 2

    return build


def branch_in_loop(b: Builder, x: Output, n: Output) -> Output:
    then = function(b.graph, "then", [FLOAT64], lambda b, v: [b("Sin", v)])
    other = function(b.graph, "other", [FLOAT64], lambda b, v: [b("Square", b("Exp", v))])
    types = [INT32, INT32, FLOAT64]

    def step(b: Builder, k: Output, n: Output, v: Output) -> list[Output]:
        odd = b("Equal", b("FloorMod", k, b.const(2)), b.const(0))
        made = b.node("If", odd, [v], Tout=[FLOAT64], then_branch=then, else_branch=other)
        return [b("AddV2", k, b.const(1)), n, (made, 0)]

    cond = function(b.graph, "cond", types, lambda b, k, n, *_: [b("Less", k, n)])
    body = function(b.graph, "body", types, step)
    return b.node("While", [b.const(0), n, x], cond=cond, body=body), 2


def growing(b: Builder, x: Output, n: Output) -> Output:
    """A list that a loop fills, read by a second loop's work."""
    kind = {"element_dtype": FLOAT64}
    held = b("TensorListReserve", b.const([3]), n, **kind)
    variant = b.dtype(held)
    types = [INT32, INT32, FLOAT64, variant]

    def step(b: Builder, k: Output, n: Output, v: Output, held: Output) -> list[Output]:
        more = b("TensorListSetItem", held, k, b("Sin", v), **kind)
        return [b("AddV2", k, b.const(1)), n, b("Mul", v, b("Exp", v)), more]

    cond = function(b.graph, "cond", types, lambda b, k, n, *_: [b("Less", k, n)])
    body = function(b.graph, "body", types, step)
    node = b.node("While", [b.const(0), n, x, held], cond=cond, body=body)
    rows = b("TensorListStack", (node, 3), b.const([3]), **kind)
    return b("Sum", b("Square", rows), b.const([0]))


INNER: dict[str, Build] = {
    "call": call, "If": branch, "While": loop("While"), "growing": growing
}  # fmt: skip


def around(outer: str, inner: Build) -> Build:
    """A call, a branch or a loop in whose function the inner one is."""

    def build(b: Builder, x: Output, n: Output) -> Output:
        types = [FLOAT64, INT32]
        within = function(
            b.graph, "within", types, lambda b, v, n: [b("Mul", b("Sin", v), inner(b, v, n))]
        )
        plain = function(b.graph, "plain", types, lambda b, v, _: [b("Sin", v)])
        made: dict[str, Any] = {"Tout": [FLOAT64]}
        if outer == "call":
            return b.node("PartitionedCall", [x, n], f=within, **made), 0
        if outer == "If":
            test = b("Greater", n, b.const(1))
            return b.node("If", test, [x, n], then_branch=within, else_branch=plain, **made), 0
        if outer == "Case":
            return b.node("Case", n, [x, n], branches=[plain, plain, within], **made), 0

        def step(b: Builder, k: Output, n: Output, v: Output) -> list[Output]:
            node = b.node("PartitionedCall", [v, n], f=within, **made)
            return [b("AddV2", k, b.const(1)), n, (node, 0)]

        rounds = [INT32, INT32, FLOAT64]
        cond = function(b.graph, "rounds", rounds, lambda b, k, n, _: [b("Less", k, n)])
        body = function(b.graph, "round", rounds, step)
        return b.node("While", [b.const(0), n, x], cond=cond, body=body), 2

    return build


@pytest.mark.cases_in_gate(4)
@pytest.mark.parametrize("inner", INNER)
@pytest.mark.parametrize("outer", ["call", "If", "Case", "While"])
def test_one_within_another(outer: str, inner: str) -> None:
    Program(around(outer, INNER[inner])).check(2)


PROGRAMS: dict[str, tuple[Callable[[Builder, Output, Output], Output], tuple[int, ...]]] = {
    "call": (call, (0,)), "call_by_name": (call_by_name, (0,)), "nested": (nested, (0,)),
    "If": (branch, (0, 1)), "StatelessIf": (stateless_branch, (0, 1)),
    "Case": (switch("Case"), (0, 2)), "StatelessCase": (switch("StatelessCase"), (1,)),
    "While": (loop("While"), (0, 1, 3)), "StatelessWhile": (loop("StatelessWhile"), (2,)),
    "branch_in_loop": (branch_in_loop, (3,)), "growing": (growing, (1, 3)),
}  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
def test_against_differences(name: str) -> None:
    build, numbers = PROGRAMS[name]
    Program(build).check(*numbers)


def test_random_numbers_stay_what_they_were() -> None:
    """The way back uses the numbers that were drawn, and draws none."""

    def drop(b: Builder, v: Output) -> list[Output]:
        drawn = b("RandomUniform", b.const([3]), dtype=FLOAT64)
        mask = b("Cast", b("Greater", drawn, b.const(0.5, FLOAT64)), DstT=FLOAT64)
        return [b("Mul", v, mask)]

    graph = Graph()
    b = Builder(graph)
    x = b("Placeholder", dtype="float64", shape=(3,), name="x")
    f = function(graph, "drop", [FLOAT64], drop)
    y = (b.node("StatefulPartitionedCall", [x], Tout=[FLOAT64], f=f), 0)
    (dx,) = gradients(y, x)
    session = Session(graph, SessionConfig(executor="reference"))
    for _ in range(5):
        names = [f"{o[0].name}:{o[1]}" for o in (y, dx)]
        dropped, slope = session.run(names, {"x:0": np.ones(3)})
        assert dropped.tolist() == slope.tolist()


def test_what_is_not_asked_for_needs_no_rule() -> None:
    """A variable of a loop that nobody asks the gradient of may use any op."""

    def build(b: Builder, x: Output, n: Output) -> Output:
        types = [INT32, INT32, FLOAT64, FLOAT64]
        cond = function(b.graph, "cond", types, lambda b, k, n, *_: [b("Less", k, n)])
        body = function(
            b.graph, "body", types,
            lambda b, k, n, v, w: [b("AddV2", k, b.const(1)), n, b("Mul", v, w), b("XlaSort", w)],
        )  # fmt: skip
        node = b.node(
            "While", [b.const(0), n, x, b.const([1.0] * 3, FLOAT64)], cond=cond, body=body
        )
        return node, 2

    Program(build).check(2)


def test_an_op_without_a_rule_inside_is_named() -> None:
    graph = Graph()
    b = Builder(graph)
    x = b("Placeholder", dtype="float64", shape=(3,), name="x")
    f = function(graph, "f", [FLOAT64], lambda b, v: [b("XlaSort", v)])
    y = (b.node("PartitionedCall", [x], Tout=[FLOAT64], f=f), 0)
    with pytest.raises(GraphError) as caught:
        gradients(y, x)
    assert caught.value.code == "no-gradient"
    assert "XlaSort" in caught.value.what
    assert caught.value.calls == [("f", "PartitionedCall")]


def test_a_condition_passes_nothing() -> None:
    graph = Graph()
    b = Builder(graph)
    x = b("Placeholder", dtype="float64", shape=(), name="x")
    then = function(graph, "then", [], lambda b: [b.const(1.0)])
    node = b.node("If", x, [], Tout=[b.dtype(b.const(1.0))], then_branch=then, else_branch=then)
    assert gradients((node, 0), x) == [None]
