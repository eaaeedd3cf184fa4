"""Damaged graphs: whatever the bytes, reading and running end in a result or a DrystoneError."""

from __future__ import annotations

from contextlib import suppress

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from drystone_abi.protos import GraphDef
from drystone_base import Graph, Session, SessionConfig, infer
from drystone_base.core import dtypes
from drystone_base.core.errors import DrystoneError
from drystone_base.graph import from_text, topological_order, validate
from drystone_base.graph._wire import LARGE
from drystone_base.graph.validate import output_dtypes
from drystone_base.ops.attrs import TensorAttr

SLOW = settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True
)


def sample() -> bytes:
    """A small graph with a constant, arithmetic, a branch and a shape computation."""
    graph = Graph()
    floats = dtypes.FLOAT32
    value = np.arange(12, dtype=np.float32).reshape(3, 4)
    x = graph.add("Const", "x", attrs={"dtype": floats, "value": TensorAttr(array=value)})
    y = graph.add("AddV2", "y", [x, x], attrs={"T": floats})
    shape = graph.add("Shape", "shape", [y], attrs={"T": floats, "out_type": dtypes.INT32})
    flat = graph.add("Reshape", "flat", [y, shape], attrs={"T": floats, "Tshape": dtypes.INT32})
    flag = TensorAttr(array=np.array(True))
    p = graph.add("Const", "p", attrs={"dtype": dtypes.BOOL, "value": flag})
    branch = graph.add("Switch", "s", [flat, p], attrs={"T": floats})
    graph.add("Neg", "n", [(branch, 1)], attrs={"T": floats}, controls=[y])
    return graph.to_bytes()


def exercise(data: bytes) -> None:
    """Read, check, infer and run; a DrystoneError is a fine end, anything else is not."""
    with suppress(DrystoneError):
        graph = Graph.from_bytes(data)
        validate(graph)
        topological_order(graph)
        infer(graph)
        session = Session(graph, SessionConfig(deadline=2))
        for node in list(graph):
            if output_dtypes(node):
                session.run(f"{node.name}:0")


SAMPLE = sample()


def test_the_sample_runs() -> None:
    assert Session(Graph.from_bytes(SAMPLE)).run("n:0").sum() == -132


@SLOW
@given(st.binary(max_size=300))
def test_random_bytes(data: bytes) -> None:
    exercise(data)


@SLOW
@given(st.integers(0, len(SAMPLE) - 1))
def test_truncated(size: int) -> None:
    exercise(SAMPLE[:size])


@SLOW
@given(st.lists(st.tuples(st.integers(0, len(SAMPLE) - 1), st.integers(0, 255)), max_size=6))
def test_changed_bytes(changes: list[tuple[int, int]]) -> None:
    data = bytearray(SAMPLE)
    for position, value in changes:
        data[position] = value
    exercise(bytes(data))


@SLOW
@given(st.data())
def test_shuffled_fields(draws: st.DataObject) -> None:
    """Well-formed protos with attributes, inputs and ops exchanged between nodes."""
    proto = GraphDef.FromString(SAMPLE)
    nodes = list(proto.node)
    for _ in range(draws.draw(st.integers(1, 3))):
        a, b = draws.draw(st.sampled_from(nodes)), draws.draw(st.sampled_from(nodes))
        what = draws.draw(st.sampled_from(["op", "input", "attr", "name"]))
        if what == "op":
            a.op = b.op
        elif what == "name":
            a.name = b.name
        elif what == "input":
            a.input.append(
                draws.draw(st.sampled_from([b.name, f"{b.name}:1", f"^{b.name}", "^", ":"]))
            )
        elif b.attr:
            key = draws.draw(st.sampled_from(sorted(b.attr)))
            target = draws.draw(st.sampled_from(["T", "value", "dtype", "Tshape", key]))
            kept = b.attr[key].SerializeToString()
            a.attr[target].ParseFromString(kept)
    exercise(proto.SerializeToString())


@SLOW
@given(st.lists(st.sampled_from([-1, -2, 0, 1, 3, 4, 12, 2**31, 2**62, -(2**63)]), max_size=5))
def test_absurd_constant_shapes(dims: list[int]) -> None:
    """A constant that claims any shape is refused, or kept without being written out."""
    proto = GraphDef.FromString(SAMPLE)
    shape = proto.node[0].attr["value"].tensor.tensor_shape
    del shape.dim[:]
    for size in dims:
        shape.dim.add(size=size)
    exercise(proto.SerializeToString())
    tensor = proto.node[0].attr["value"].tensor
    tensor.tensor_content = b""
    tensor.float_val.append(1.0)
    graph = Graph.from_bytes(proto.SerializeToString())
    codes, value = set(), None
    try:
        value = Session(graph).run("x:0")
    except DrystoneError as error:
        codes.add(error.code)
    assert codes == {"bad-tensor"} or (value is not None and value.shape == tuple(dims))


@SLOW
@given(st.integers(1, 2 * LARGE))
def test_a_large_node_cut_anywhere(size: int) -> None:
    graph = Graph()
    array = np.zeros(LARGE, np.float32)
    graph.add("Const", "c", attrs={"dtype": dtypes.FLOAT32, "value": TensorAttr(array=array)})
    data = graph.to_bytes()
    exercise(data[: min(size, len(data) - 1)])


@SLOW
@given(st.text(alphabet='node{}:" attrkeyvlu0123\n#', max_size=200))
def test_random_text(text: str) -> None:
    codes = set()
    try:
        from_text(text)
    except DrystoneError as error:
        codes.add(error.code)
    assert codes <= {"bad-pbtxt", "missing-input", "duplicate-node", "bad-node-name"}
