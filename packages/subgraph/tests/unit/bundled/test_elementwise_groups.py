"""Row D24: groups of element-wise ops, on sample graphs."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from drystone_base.core.dtypes import FLOAT32
from drystone_base.graph import Graph, Node
from drystone_subgraph import (
    ContainOpProperty,
    SubgraphBackend,
    SubgraphProperty,
    partition_with_report,
    register_backend,
)

TYPES = {"T": FLOAT32}


class Elementwise(SubgraphBackend):
    name = "elementwise groups"

    def properties(self) -> list[SubgraphProperty]:
        return [ContainOpProperty({"AddV2", "Mul", "Exp", "Relu", "Tanh"}, minimum_size=2)]


class Maker:
    """Adds nodes by name."""

    def __init__(self) -> None:
        self.graph = Graph()
        self.x = self.graph.add("Placeholder", "x", attrs={"dtype": FLOAT32, "shape": (4, 4)})

    def __call__(self, op: str, name: str, *inputs: Node) -> Node:
        return self.graph.add(op, name, list(inputs), attrs=TYPES)


def chain(add: Maker) -> None:
    add("Tanh", "y", add("Relu", "b", add("Exp", "a", add.x)))


def layer_between(add: Maker) -> None:
    """A product ends one group and begins another."""
    before = add("Relu", "b", add("Exp", "a", add.x))
    product = add("MatMul", "m", before, before)
    add("Tanh", "y", add("Relu", "c", product))


def diamond(add: Maker) -> None:
    top = add("Exp", "a", add.x)
    add("AddV2", "y", add("Relu", "b", top), add("Tanh", "c", top))


def diamond_around_a_layer(add: Maker) -> None:
    """All of it in one group would wait for itself."""
    top = add("Relu", "b", add("Exp", "a", add.x))
    add("AddV2", "y", top, add("Tanh", "c", add("MatMul", "m", top, top)))


def read_twice(add: Maker) -> None:
    """A value that goes out as well is computed in the group all the same."""
    inside = add("Exp", "a", add.x)
    left = add("MatMul", "m", inside, inside)
    add("MatMul", "y", left, add("Relu", "b", inside))


@pytest.mark.parametrize(
    ("make", "groups"),
    [
        (chain, [("a", "b", "y")]),
        (layer_between, [("a", "b"), ("c", "y")]),
        (diamond, [("a", "b", "c", "y")]),
        (diamond_around_a_layer, [("a", "b"), ("c", "y")]),
        (read_twice, [("a", "b")]),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_d24_groups(make: Callable[[Maker], None], groups: list[tuple[str, ...]]) -> None:
    register_backend(Elementwise())
    add = Maker()
    make(add)
    _, report = partition_with_report(add.graph, ["y"], ["x"], "elementwise groups")
    assert [tuple(sorted(s.nodes)) for s in report.taken] == groups
