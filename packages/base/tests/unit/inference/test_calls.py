"""What inference notes of calls: what functions are given, what varies, and where it did not go."""

from __future__ import annotations

from typing import Any

import pytest

from drystone_abi.protos import DataType, FunctionDef
from drystone_base.core.dtypes import BOOL, FLOAT32
from drystone_base.executor.stated_shapes import GivenToFunctions
from drystone_base.graph import Graph, Node
from drystone_base.inference.calls import Calls
from drystone_base.inference.inference import Shapes
from drystone_base.ops.attrs import FunctionRef

ONE: dict[str, Any] = {"Tin": [FLOAT32], "Tout": [FLOAT32]}
SQUARE = FunctionRef("square")


def function(name: str, op: str, **attrs: Any) -> FunctionDef:
    proto = FunctionDef()
    proto.signature.name = name
    proto.signature.input_arg.add(name="a", type=DataType.DT_FLOAT)
    proto.signature.output_arg.add(name="b", type=DataType.DT_FLOAT)
    node = proto.node_def.add(name="n", op=op, input=["a"])
    proto.ret["b"] = "n:y:0" if op == "Square" else "n:output:0"
    if attrs:
        node.attr["Tin"].list.type.append(DataType.DT_FLOAT)
        node.attr["Tout"].list.type.append(DataType.DT_FLOAT)
        node.attr["f"].func.name = attrs["calls"]
    else:
        node.attr["T"].type = DataType.DT_FLOAT
    return proto


@pytest.fixture
def graph() -> Graph:
    made = Graph()
    made.functions.add(function("square", "Square"))
    made.functions.add(function("sum", "L2Loss"))
    made.functions.add(function("through", "PartitionedCall", calls="square"))
    return made


def fed(graph: Graph, name: str, shape: tuple[int, ...] | None) -> Node:
    return graph.add("Placeholder", name, attrs={"dtype": FLOAT32, "shape": shape})


def call(graph: Graph, source: Node, name: str = "square") -> Node:
    attrs = {**ONE, "f": FunctionRef(name)}
    return graph.add("PartitionedCall", f"{name} of {source.name}", [source], attrs=attrs)


def calls_of(graph: Graph) -> Calls:
    calls = Calls()
    shapes = Shapes(graph, calls=calls)
    for node in graph:
        shapes.known(node)
    return calls


def given(graph: Graph, function: FunctionRef = SQUARE) -> Any:
    found = calls_of(graph).given(function)
    return None if found is None else [shape for shape, _, _ in found]


def test_what_a_function_is_given(graph: Graph) -> None:
    assert given(graph) is None
    call(graph, fed(graph, "x", (2, 3)))
    assert given(graph) == [(2, 3)]
    call(graph, fed(graph, "y", (5, 3)))
    assert given(graph) == [(-1, 3)]
    call(graph, fed(graph, "z", (4,)), "through")
    assert given(graph, FunctionRef("through")) == [(4,)]
    assert given(graph) == [None]


def test_branches_that_give_other_shapes_vary(graph: Graph) -> None:
    p = graph.add("Placeholder", "p", attrs={"dtype": BOOL, "shape": ()})
    both = {"then_branch": SQUARE, "else_branch": FunctionRef("sum")}
    x = fed(graph, "x", (2, 3))
    graph.add("StatelessIf", "y", [p, x], attrs={"Tcond": BOOL, **ONE, **both})
    call(graph, x)
    assert calls_of(graph).varying == {"y": ((2, 3), ())}


def test_calls_around_what_does_not_fit_are_not_all(graph: Graph) -> None:
    x = fed(graph, "x", (2, 3))
    call(graph, x)
    assert calls_of(graph).is_complete
    attrs = {"T": FLOAT32, "transpose_a": False, "transpose_b": False}
    graph.add("MatMul", "m", [x, x], attrs=attrs)
    assert not calls_of(graph).is_complete
    assert GivenToFunctions(graph, []).of(SQUARE) is None


def test_a_function_that_others_call_too_is_not_told_of(graph: Graph) -> None:
    """Of a gradient's functions nobody knows what they are given, nor of those that they call."""
    x = fed(graph, "x", (2, 3))
    call(graph, x)
    call(graph, x, "sum")
    told = GivenToFunctions(graph, []).of(SQUARE)
    assert told is not None
    assert told[0][0] == (2, 3)
    gradient = {"Tin": [FLOAT32, FLOAT32], "Tout": [FLOAT32], "f": FunctionRef("through")}
    graph.add("SymbolicGradient", "g", [x, x], attrs=gradient)
    assert GivenToFunctions(graph, []).of(SQUARE) is None
    assert GivenToFunctions(graph, []).of(FunctionRef("sum")) is not None


def test_what_is_fed_in_the_middle_may_have_any_shape(graph: Graph) -> None:
    x = fed(graph, "x", (2, 3))
    middle = graph.add("Neg", "middle", [x], attrs={"T": FLOAT32})
    call(graph, middle)
    known, unknown = (GivenToFunctions(graph, fed).of(SQUARE) for fed in ([(x, 0)], [(middle, 0)]))
    assert known is not None
    assert known[0][0] == (2, 3)
    assert unknown is not None
    assert unknown[0][0] is None
