"""The networks of MXNet's partition tests in our terms: each a graph, fetches, and ops to take.

Source: features of MXNet's ``test_subgraph_op``: chains, several outputs, state, values that are
read or given out twice, and shapes that would become cycles.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from drystone_base.core.dtypes import as_dtype
from drystone_base.graph import Graph, Node, Output
from drystone_base.ops.attrs import TensorAttr

__all__ = ["CASES", "FEEDS", "Network"]

_FLOAT: Final = as_dtype("float32")
FEEDS: Final = {
    "data1:0": np.linspace(-1, 1, 6, dtype=np.float32).reshape(2, 3),
    "data2:0": np.linspace(0, 2, 6, dtype=np.float32).reshape(2, 3),
}
Network = Callable[[], tuple[Graph, list[str]]]


class _Maker:
    def __init__(self) -> None:
        self.graph = Graph()
        attrs: dict[str, Any] = {"dtype": _FLOAT, "shape": (2, 3)}
        self.one = self.graph.add("Placeholder", "data1", attrs=attrs)
        self.two = self.graph.add("Placeholder", "data2", attrs=attrs)

    def op(self, op: str, *inputs: Node | Output, name: str = "", **attrs: Any) -> Node:
        name = self.graph.unique_name(name or op.lower())
        return self.graph.add(op, name, inputs, attrs={"T": _FLOAT} | attrs)

    def done(self, *fetched: Node | Output) -> tuple[Graph, list[str]]:
        ends = [f if isinstance(f, tuple) else (f, 0) for f in fetched]
        return self.graph, [f"{node.name}:{k}" for node, k in ends]


def _chain() -> tuple[Graph, list[str]]:
    m = _Maker()
    return m.done(m.op("Sin", m.op("Cos", m.op("AddV2", m.op("Exp", m.one), m.two))))


def _inputs_twice() -> tuple[Graph, list[str]]:
    m = _Maker()
    both = m.op("AddV2", m.one, m.one)
    return m.done(m.op("Mul", both, m.op("Sin", m.one)), m.op("Mul", both, both))


def _would_be_cyclic() -> tuple[Graph, list[str]]:
    m = _Maker()
    first = m.op("Sin", m.one)
    beside = m.op("Cos", first)
    return m.done(m.op("AddV2", first, m.op("Exp", m.op("AddV2", beside, m.two))))


def _crossing() -> tuple[Graph, list[str]]:
    m = _Maker()
    a, b = m.op("Sin", m.one), m.op("Cos", m.two)
    return m.done(m.op("AddV2", a, m.op("Exp", b)), m.op("Mul", b, m.op("Exp", a)))


def _many_outputs() -> tuple[Graph, list[str]]:
    m = _Maker()
    parts = m.op("Unpack", m.op("Exp", m.one), num=2, axis=0)
    return m.done((parts, 0), m.op("Sin", (parts, 1)), m.op("AddV2", (parts, 0), (parts, 1)))


def _fetched_twice() -> tuple[Graph, list[str]]:
    m = _Maker()
    value = m.op("Sin", m.one)
    graph, fetches = m.done(value, m.op("Exp", value), m.op("Cos", value))
    return graph, [*fetches, fetches[0]]


def _both_twice() -> tuple[Graph, list[str]]:
    m = _Maker()
    value = m.op("Sin", m.op("AddV2", m.one, m.one))
    graph, fetches = m.done(m.op("Mul", value, value), m.op("AddV2", value, m.one), value)
    return graph, [*fetches, *fetches]


def _with_state() -> tuple[Graph, list[str]]:
    m = _Maker()
    graph = m.graph
    attrs: dict[str, Any] = {"dtype": _FLOAT, "shape": (2, 3)}
    handle = graph.add("VarHandleOp", "v", attrs={**attrs, "shared_name": "v"})
    value = TensorAttr(array=np.full((2, 3), 2, np.float32))
    start = graph.add("Const", "start", attrs={"dtype": _FLOAT, "value": value})
    kind = {"dtype": _FLOAT}
    set_ = graph.add("AssignVariableOp", "set", [handle, start], attrs=kind)
    more = graph.add("AssignAddVariableOp", "more", [handle, m.one], controls=[set_], attrs=kind)
    read = graph.add("ReadVariableOp", "read", [handle], controls=[more], attrs=kind)
    return m.done(m.op("Mul", m.op("Sin", read), m.op("Exp", m.two)), read)


CASES: Final[Sequence[tuple[str, Network, tuple[str, ...]]]] = [
    ("chain-ends", _chain, ("Exp", "Sin")),
    ("chain-middle", _chain, ("AddV2", "Cos")),
    ("chain-all", _chain, ("Exp", "AddV2", "Cos", "Sin")),
    ("inputs-twice-some", _inputs_twice, ("AddV2", "Sin")),
    ("inputs-twice-all", _inputs_twice, ("AddV2", "Sin", "Mul")),
    ("cyclic-some", _would_be_cyclic, ("Sin", "AddV2")),
    ("cyclic-most", _would_be_cyclic, ("Sin", "AddV2", "Cos")),
    ("crossing-some", _crossing, ("Sin", "Mul")),
    ("crossing-all", _crossing, ("Sin", "Cos", "Exp", "AddV2", "Mul")),
    ("many-outputs-one", _many_outputs, ("Unpack",)),
    ("many-outputs-some", _many_outputs, ("Exp", "Unpack", "Sin")),
    ("fetched-twice-one", _fetched_twice, ("Sin",)),
    ("fetched-twice-all", _fetched_twice, ("Sin", "Exp", "Cos")),
    ("both-twice-some", _both_twice, ("Sin", "Mul")),
    ("both-twice-all", _both_twice, ("Sin", "Mul", "AddV2")),
    ("state-beside", _with_state, ("Sin", "Exp", "Mul")),
    ("state-inside", _with_state, (
        "AssignVariableOp", "AssignAddVariableOp", "ReadVariableOp", "Sin", "Exp", "Mul",
    )),
]  # fmt: skip
