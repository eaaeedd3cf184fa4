"""Patterns: what is found, what is captured, and what keeps a subgraph from being found.

S0-helpers.
"""

from __future__ import annotations

import pytest
from sdk_probe import probe

from drystone_abi.protos import GraphDef


def graph_of(text: str) -> bytes:
    """One node a line: ``NAME OP INPUT...``."""
    graph = GraphDef()
    for line in text.strip().splitlines():
        name, op, *inputs = line.split()
        graph.node.add(name=name, op=op, input=inputs)
    return graph.SerializeToString()


def matches(pattern: str, text: str, preserved: str = "") -> list[str]:
    graph = graph_of(text)
    return probe().call("match", graph, pattern.encode(), preserved.encode()).decode().splitlines()


CHAIN = """
x Placeholder
w Const
c Const
p MatMul x w
b BiasAdd p c
r Relu b
"""


def test_a_chain_is_found_from_its_end() -> None:
    """Row B28."""
    assert matches("chain", CHAIN) == ["r: product=p bias=b b=c"]


def test_any_of_several_ops() -> None:
    assert matches("chain", CHAIN.replace("Relu", "Elu")) == ["r: product=p bias=b b=c"]
    assert matches("chain", CHAIN.replace("Relu", "Tanh")) == []


@pytest.mark.parametrize("reader", ["o Neg p", "o Neg b", "o Neg x ^b", "o Neg p:1"])
def test_nodes_inside_may_not_be_read_from_outside(reader: str) -> None:
    assert matches("chain", CHAIN + reader) == []


def test_nodes_inside_may_be_read_by_each_other() -> None:
    assert matches("chain", CHAIN.replace("r Relu b", "r Relu b ^p")) == ["r: product=p bias=b b=c"]


def test_nodes_inside_may_not_be_preserved() -> None:
    assert matches("chain", CHAIN, preserved="b") == []
    assert matches("chain", CHAIN, preserved="r") == ["r: product=p bias=b b=c"]
    assert matches("chain", CHAIN, preserved="c") == ["r: product=p bias=b b=c"]


def test_fan_ins_are_counted() -> None:
    assert matches("chain", CHAIN.replace("b BiasAdd p c", "b BiasAdd p c c")) == []
    assert matches("chain", CHAIN.replace("b BiasAdd p c", "b BiasAdd p")) == []
    assert matches("starts", "n Neg\nc Concat n n n") == ["c: n=n"]
    assert matches("starts", "n Neg\nm Const\nc Concat m n") == []


def test_two_inputs_in_either_order() -> None:
    assert matches("either", "n Neg\nk Const\na Add n k\nb Add k n\nc Add k k") == [
        "a: n=n x=k",
        "b: n=n x=k",
    ]


def test_every_combination_of_orders_is_tried() -> None:
    for product in ("m Mul k n", "m Mul n k"):
        for total in ("a Add m k", "a Add k m"):
            text = f"n Neg\nk Const\n{product}\n{total}"
            assert matches("either twice", text) == ["a: n=n x=k m=m"]
    # Only one of both orders of the inner node agrees with the outer one.
    assert matches("either twice", "n Neg\nk Neg\nm Mul n k\na Add m n") == ["a: n=k x=n m=m"]
    assert matches("either twice", "n Neg\nk Const\nj Const\nm Mul n k\na Add m j") == []


def test_one_label_is_one_tensor() -> None:
    assert matches("shared", "k Split\nm Mul k k\no Mul k k:1") == ["m: x=k"]


def test_single_reader() -> None:
    assert matches("single", "a Neg\nb Neg a") == ["b: n=a"]
    assert matches("single", "a Neg\nb Neg a\nc Add b ^a") == []


def test_what_may_be_fed_is_not_what_its_op_computes() -> None:
    text = "x Placeholder\na Abs x\nb Abs a\nc Neg a"
    assert matches("computed", text) == ["b: n=a"]
    assert matches("computed", text, preserved="a") == []


def test_control_fan_ins_can_be_ruled_out() -> None:
    assert matches("free", "k Const\na Neg k\nb Neg a\nc Neg b ^k\nd Neg c") == ["b: n=a", "c: n=b"]


def test_port() -> None:
    assert matches("port", "s Split\na Neg s\nb Neg s:1") == ["b: s=s:1"]


def test_a_condition_of_ones_own() -> None:
    graph = GraphDef()
    graph.node.add(name="x", op="Const")
    for name, transposed in (("a", True), ("b", False)):
        node = graph.node.add(name=name, op="MatMul", input=["x", "x"])
        node.attr["transpose_a"].b = transposed
    assert probe().call("match", graph.SerializeToString(), b"when", b"") == b"a:\n"


def test_a_loop_of_nodes_does_not_hang() -> None:
    assert matches("either twice", "m Mul a a\na Add m m") == []
