"""Loops and branches of frames: what is in one region must be alive together, and not go round."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from partitions import Named, Rule, backend, partitioned, regions

import drystone_base as ds
from drystone_base.core.dtypes import as_dtype
from drystone_base.graph import Graph, Node
from drystone_base.ops.attrs import TensorAttr

FLOAT, BOOL = as_dtype("float32"), as_dtype("bool")


class Made:
    """A graph under construction; every node is of float32 numbers."""

    def __init__(self) -> None:
        self.graph = Graph()

    def op(self, op: str, name: str, *inputs: Any, **attrs: Any) -> Node:
        return self.graph.add(op, name, inputs, attrs={"T": FLOAT} | attrs)

    def const(self, name: str, value: float) -> Node:
        tensor = TensorAttr(array=np.array(value, np.float32))
        return self.graph.add("Const", name, attrs={"dtype": FLOAT, "value": tensor})


def loop() -> Graph:
    """``c = a + b``, where ``b`` is four times ``a = -x``, added up in a loop."""
    m = Made()
    x = m.graph.add("Placeholder", "x", attrs={"dtype": FLOAT, "shape": ()})
    a = m.op("Neg", "a", x)
    frame: dict[str, Any] = {"frame_name": "loop", "parallel_iterations": 10}
    merges = {}
    for name, start in (("i", m.const("i0", 0)), ("v", m.const("v0", 0))):
        enter = m.op("Enter", f"enter_{name}", start, **frame)
        merges[name] = m.op("Merge", f"merge_{name}", enter, enter, N=2)
    inside = m.op("Enter", "enter_a", a, is_constant=True, **frame)
    most = m.op("Enter", "enter_4", m.const("four", 4), is_constant=True, **frame)
    less = m.op("Less", "less", merges["i"], most)
    cond = m.graph.add("LoopCond", "cond", [less])
    one = m.op("Enter", "enter_1", m.const("one", 1), is_constant=True, **frame)
    for name, more in (("i", one), ("v", inside)):
        switch = m.op("Switch", f"switch_{name}", merges[name], cond)
        added = m.op("AddV2", f"add_{name}", (switch, 1), more)
        again = m.op("NextIteration", f"next_{name}", added)
        m.graph.set_input(merges[name], 1, (again, 0))
        m.op("Exit", f"exit_{name}", (switch, 0))
    b = m.op("Identity", "b", m.graph["exit_v"])
    m.op("AddV2", "c", a, b)
    return m.graph


def run(graph: Graph, fetches: Sequence[str], **feeds: float | bool) -> list[Any]:
    config = ds.SessionConfig(optimizer="off", subgraphs="off")
    given = {f"{name}:0": np.asarray(v, None if v is True or v is False else np.float32)
             for name, v in feeds.items()}  # fmt: skip
    found: list[Any] = ds.Session(graph, config).run(list(fetches), given)
    return found


def test_a_value_may_come_back_by_way_of_a_loop() -> None:
    graph = loop()
    name = backend("b", Rule(Named(lambda name: name in ("a", "b", "c"))))
    after, report = partitioned(graph, name, ["c"])
    assert regions(report) == [["a"], ["b", "c"]]
    assert run(after, ["c:0"], x=1.5) == run(graph, ["c:0"], x=1.5) == [-7.5]


def test_regions_inside_of_a_loop() -> None:
    graph = loop()
    after, report = partitioned(graph, "default", ["c"], minimum_size=1)
    assert ["add_i"] in regions(report)
    assert ["add_v"] in regions(report)
    assert run(after, ["c:0"], x=1.5) == [-7.5]


def branches() -> Graph:
    """``y``: ``-(-x)`` where ``p``, else ``exp(-x)``; ``z = y + (-x)``."""
    m = Made()
    x = m.graph.add("Placeholder", "x", attrs={"dtype": FLOAT, "shape": ()})
    p = m.graph.add("Placeholder", "p", attrs={"dtype": BOOL, "shape": ()})
    n = m.op("Neg", "n", x)
    switch = m.op("Switch", "switch", n, p)
    yes = m.op("Neg", "yes", (switch, 1))
    also = m.op("Neg", "also", m.op("Neg", "twice", yes))
    no = m.op("Exp", "no", (switch, 0))
    merge = m.op("Merge", "y", also, no, N=2)
    m.op("AddV2", "z", m.op("Neg", "m", m.op("Neg", "k", (merge, 0))), n)
    return m.graph


@pytest.mark.parametrize("taken", [True, False])
def test_branches_are_apart(taken: bool) -> None:
    graph = branches()
    after, report = partitioned(graph, "default", ["z"], minimum_size=1)
    found = sorted(map(sorted, regions(report)))
    assert found == [["also", "twice", "yes"], ["k", "m", "z"], ["n"], ["no"]]
    assert run(after, ["z:0"], x=0.5, p=taken) == run(graph, ["z:0"], x=0.5, p=taken)


def test_conditions_of_branches_in_branches_stay_few_and_right() -> None:
    from drystone_subgraph.regions.context import wiring

    m = Made()
    value: Any = m.graph.add("Placeholder", "x", attrs={"dtype": FLOAT, "shape": ()})
    switches = []
    for k in range(200):
        choice = m.graph.add("Placeholder", f"p{k}", attrs={"dtype": BOOL, "shape": ()})
        switches.append(m.op("Switch", f"s{k}", value, choice))
        value = m.op("Tanh", f"t{k}", (switches[-1], 1))
    merges = []
    for k, switch in enumerate(reversed(switches)):
        value = m.op("Merge", f"m{k}", value, switch, N=2)
        merges.append(value)
    found = wiring(m.graph)
    context = dict(zip(found.order, found.contexts, strict=True))
    assert max(len(one.conditions) for one in found.contexts) <= 64
    for switch, merge in zip(reversed(switches), merges, strict=True):
        assert context[switch] is context[merge], merge.name
    assert len({id(context[m.graph[f"t{k}"]]) for k in range(200)}) == 200
