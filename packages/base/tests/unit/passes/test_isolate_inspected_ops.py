"""IsolatePlacerInspectionRequiredOpsPass: Identities around calls that give resources."""

from __future__ import annotations

import numpy as np
import pytest
from random_programs.draw import draw
from random_programs.passes import differences

from drystone_abi.protos import FunctionDef
from drystone_base import Graph, Session, SessionConfig
from drystone_base.core import dtypes
from drystone_base.ops.attrs import FunctionRef, TensorAttr
from drystone_base.passes import Grouping, PassOptions, run_grouping

NAME = "IsolatePlacerInspectionRequiredOpsPass"
FLOAT, HANDLE = dtypes.FLOAT32, dtypes.RESOURCE


def calling(kind: dtypes.DType = HANDLE) -> Graph:
    """A function gives back the variable that it gets; the variable is then read."""
    graph = Graph()
    made = FunctionDef()
    made.signature.name = "same"
    made.signature.input_arg.add(name="x", type=kind.number)
    made.signature.output_arg.add(name="y", type=kind.number)
    made.ret["y"] = "x"
    graph.functions.add(made)
    variable = graph.add(
        "VarHandleOp", "v", attrs={"dtype": FLOAT, "shape": (), "shared_name": "v"}
    )
    value = {"dtype": FLOAT, "value": TensorAttr(array=np.array(5, np.float32))}
    five = graph.add("Const", "five", attrs=value)
    graph.add("AssignVariableOp", "init", [variable, five], attrs={"dtype": FLOAT})
    source = variable if kind is HANDLE else five
    attrs = {"f": FunctionRef("same"), "Tin": [kind], "Tout": [kind]}
    call = graph.add("PartitionedCall", "call", [source], attrs=attrs, device="/cpu:0")
    if kind is HANDLE:
        for name in ("a", "b"):
            graph.add("ReadVariableOp", name, [call], attrs={"dtype": FLOAT})
    return graph


def isolated(graph: Graph, feeds: list[str] | None = None) -> Graph:
    graph = graph.copy()
    options = PassOptions(graph=graph, feeds=feeds or [])
    run_grouping(Grouping.PRE_PLACEMENT, options, {NAME: True})
    return graph


def test_each_input_and_output_gets_an_identity() -> None:
    """Row H14. S3-isolate."""
    graph = isolated(calling())
    assert graph["call"].inputs == ((graph["call/input_0"], 0),)
    assert graph["call/input_0"].inputs == ((graph["v"], 0),)
    assert {graph[n].inputs for n in "ab"} == {((graph["call/output_0"], 0),)}
    assert graph["call/output_0"].device == "/cpu:0"
    assert isolated(graph).to_bytes() == graph.to_bytes()


def test_values_stay() -> None:
    """Row H14. S3-isolate."""
    session = Session(calling(), SessionConfig(passes={NAME: True}, optimizer="off"))
    session.run("init")
    assert session.run(["a:0", "b:0"]) == [5, 5]


def test_a_call_that_gives_no_resource_is_left_alone() -> None:
    graph = calling(FLOAT)
    assert isolated(graph).to_bytes() == graph.to_bytes()


def test_a_fed_call_is_left_alone() -> None:
    graph = calling()
    assert isolated(graph, ["call:0"]).to_bytes() == graph.to_bytes()


@pytest.mark.parametrize("seed", range(5))
def test_random_programs(seed: int) -> None:
    """Row H14. S3-isolate."""
    assert not differences(draw(seed), {NAME: True})
