"""What ops do besides computing."""

from __future__ import annotations

import pytest

from drystone_base.graph import Graph
from drystone_optimizer.core.purity import Effects, is_pure


@pytest.mark.parametrize("op", [
    "Unbatch", "ReadFile", "FractionalMaxPool", "RandomUniform", "ReadVariableOp", "Assign", "NoOp",
    "Switch", "Placeholder", "InplaceAdd", "TensorArrayWriteV2", "PyFuncStateless", "MapDataset",
    "PartitionedCall", "TensorListStack", "OpOfNobody", "Print",
])  # fmt: skip
def test_not_pure(op: str) -> None:
    assert not is_pure(Graph().add(op, "n"))


@pytest.mark.parametrize("op", ["Add", "MatMul", "Const", "StringLower", "StatelessRandomUniform"])
def test_pure(op: str) -> None:
    assert is_pure(Graph().add(op, "n"))


@pytest.mark.parametrize(("op", "level"), [
    ("Add", 0), ("VarHandleOp", 0), ("ReadVariableOp", 1), ("ReadFile", 1), ("AssignVariableOp", 2),
    ("Assign", 2), ("Print", 2), ("QueueEnqueue", 2), ("OpOfNobody", 2), ("Unbatch", 2),
    ("RandomUniform", 2),
])  # fmt: skip
def test_effects(op: str, level: int) -> None:
    graph = Graph()
    assert Effects(graph.functions).level(graph.add(op, "n")) == level
