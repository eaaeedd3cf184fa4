"""Loops of frames that a reference variable enters."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import pytest

from drystone_base.api.session import Session, SessionConfig
from drystone_base.core.dtypes import FLOAT32, INT32
from drystone_base.graph import Graph
from drystone_base.ops.attrs import TensorAttr


def doubling(rounds: int) -> Graph:
    """``y`` is what the variable ``v`` holds, plus itself so many times; ``set`` assigns it."""
    graph, floats, ints = Graph(), {"T": FLOAT32}, {"T": INT32}

    def number(name: str, value: int, *controls: Any) -> Any:
        attrs = {"dtype": INT32, "value": TensorAttr(array=np.array(value, np.int32))}
        return graph.add("Const", name, attrs=attrs, controls=controls)

    def enter(name: str, source: Any, types: Any, is_constant: bool = False) -> Any:
        frame = {"frame_name": "loop", "is_constant": is_constant, "parallel_iterations": 10}
        return graph.add("Enter", name, [source], attrs=types | frame)

    x = graph.add("Placeholder", "x", attrs={"dtype": FLOAT32, "shape": (4,)})
    v = graph.add("VariableV2", "v", attrs={"dtype": FLOAT32, "shape": (4,)})
    graph.add("Assign", "set", [v, x], attrs=floats)
    step = enter("step", v, floats, is_constant=True)
    k, total = enter("k", number("zero", 0), ints), enter("total", v, floats)
    k = graph.add("Merge", "merge_k", [k, k], attrs=ints | {"N": 2})
    total = graph.add("Merge", "merge_total", [total, total], attrs=floats | {"N": 2})
    less = graph.add("Less", "less", [k, number("rounds", rounds, k)], attrs=ints)
    goes_on = graph.add("LoopCond", "goes_on", [less])
    switch_k = graph.add("Switch", "switch_k", [k, goes_on], attrs=ints)
    switch_total = graph.add("Switch", "switch_total", [total, goes_on], attrs=floats)
    one = number("one", 1, switch_k)
    more = graph.add("AddV2", "more", [(switch_k, 1), one], attrs=ints)
    added = graph.add("AddV2", "added", [(switch_total, 1), step], attrs=floats)
    graph.set_input(k, 1, (graph.add("NextIteration", "next_k", [more], attrs=ints), 0))
    graph.set_input(total, 1, (graph.add("NextIteration", "next", [added], attrs=floats), 0))
    graph.add("Exit", "y", [(switch_total, 0)], attrs=floats)
    return graph


@pytest.mark.parametrize("executor", ["native", "reference"])
@pytest.mark.parametrize("rounds", [0, 1, 3])
def test_what_enters_once_is_not_there_in_each_round(
    executor: Literal["native", "reference"], rounds: int
) -> None:
    session = Session(doubling(rounds), SessionConfig(executor=executor, optimizer="off"))
    for start in (1, 2):
        x = np.full(4, start, np.float32)
        session.run("set:0", {"x:0": x})
        np.testing.assert_array_equal(session.run("y:0"), x * (1 + rounds))
