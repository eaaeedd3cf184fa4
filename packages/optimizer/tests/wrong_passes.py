"""Deliberately wrong optimizers: what the tools that find such must find."""

from __future__ import annotations

from typing import Any

import pytest

from drystone_abi.protos import DataType, FunctionDef
from drystone_base.graph import Graph, Node
from drystone_base.passes import Grouping, Pass, PassOptions
from drystone_optimizer.core.context import Context
from drystone_optimizer.core.rules import Numeric, Rule, apply_rules
from drystone_optimizer.passes._registry import PASSES, BuiltIn
from drystone_optimizer.pipeline import schedule

__all__ = [
    "exchanges_operands", "fails_on_tanh", "install", "minus_tanh", "negates", "reorders_sums",
]  # fmt: skip


def _sub(_: Context, node: Node) -> bool | None:
    return None if node.attrs.get("_exchanged") else True


def _exchange(ctx: Context, node: Node, _: bool) -> None:
    ctx.graph.set_inputs(node, list(reversed(node.inputs)))
    ctx.graph.set_attr(node, "_exchanged", True)
    ctx.forget(node)


exchanges_operands = Rule("a - b is b - a", ("Sub",), _sub, _exchange)


def _tanh(_: Context, node: Node) -> bool | None:
    raise ZeroDivisionError(f"deliberate, at {node.name}")


fails_on_tanh = Rule("tanh", ("Tanh",), _tanh, _exchange)


def _sum(ctx: Context, node: Node) -> bool | None:
    left = node.inputs[0][0]
    return True if left.op == "AddV2" and ctx.only_user(left) else None


def _reorder(ctx: Context, node: Node, _: bool) -> None:
    """(a + b) + c becomes (c + b) + a."""
    left = node.inputs[0][0]
    (a, b), c = left.inputs, node.inputs[1]
    ctx.graph.set_inputs(left, [c, b])
    ctx.graph.set_inputs(node, [(left, 0), a])
    ctx.graph.set_attr(node, "_exchanged", True)
    ctx.graph.set_op(node, "Add")


def reorders_sums(numeric: Numeric) -> Rule:
    """Sums in another order, under whatever class it claims."""
    return Rule("sums", ("AddV2",), _sum, _reorder, numeric)


def install(monkeypatch: pytest.MonkeyPatch, *rules: Rule, toggle: str = "remapping") -> None:
    """Let a pass of that toggle apply the rules, beside the built-in passes."""

    def run(ctx: Context) -> None:
        apply_rules(ctx, rules)

    wrong = BuiltIn(toggle, toggle, toggle, run)
    others = [one for one in PASSES if one.name != toggle]
    monkeypatch.setattr(schedule, "PASSES", (*others, wrong))


def _negate(options: PassOptions) -> bool:
    """Every Square is a Neg."""
    assert isinstance(options.graph, Graph)
    found = [node for node in options.graph if node.op == "Square"]
    for node in found:
        options.graph.set_op(node, "Neg")
    return bool(found)


negates: Any = Pass("negates", Grouping.PRE_PLACEMENT, 0, _negate, frozenset({"Square"}))


def crashes(_: bytes) -> bytes:
    """An optimizer in Python that takes its process down."""
    import os

    os.abort()


def hangs(_: bytes) -> bytes:
    """One that never answers."""
    while True:
        pass


def neg_to_abs(work: Any) -> bytes:
    """One that does something; its parameter says what."""
    data: bytes = work.graph
    return data.replace(b"\x12\x03Neg", b"\x12\x03" + work.parameters.get("op", "Abs").encode())


neg_to_abs.takes = "work"  # type: ignore[attr-defined]


def notes_facts(work: Any) -> bytes | None:
    """One that writes down, as the name of a node, what it was told beside the graph."""
    if work.iteration > 1:
        return None
    graph = Graph.from_bytes(work.graph)
    facts = (work.iteration, work.config.numeric, work.config.keep, work.config.custom_optimizers,
             work.deadline is not None, len(work.feeds), work.where)  # fmt: skip
    graph.add("NoOp", "told", attrs={"_facts": repr(facts).encode()})
    return graph.to_bytes()


notes_facts.takes = "work"  # type: ignore[attr-defined]
notes_facts.custom = True  # type: ignore[attr-defined]


def minus_tanh() -> FunctionDef:
    """``f(a) = a - tanh(a)``: a function whose body there is something to exchange in."""
    proto = FunctionDef()
    proto.signature.name = "f"
    proto.signature.input_arg.add(name="a", type=1)
    proto.signature.output_arg.add(name="r", type=1)
    for name, op, reads in (("h", "Tanh", ["a"]), ("d", "Sub", ["a", "h:y:0"])):
        proto.node_def.add(name=name, op=op, input=reads).attr["T"].type = DataType.DT_FLOAT
    proto.ret["r"] = "d:z:0"
    return proto
