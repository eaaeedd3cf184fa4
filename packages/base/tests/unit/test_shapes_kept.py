"""Shapes that are kept while a graph is edited: what reads an edited node is told."""

from __future__ import annotations

import numpy as np

from drystone_base.dtypes import FLOAT32, INT32
from drystone_base.graph import Graph
from drystone_base.ops.attrs import TensorAttr
from drystone_base.ops.inference import Shapes


def test_users_of_a_node_that_was_forgotten_are_inferred_anew() -> None:
    """It may be asked for in between, when nobody knows any more what its users go by."""
    graph = Graph()
    x = graph.add("Placeholder", "x", attrs={"dtype": FLOAT32, "shape": (-1, 3)})
    other = graph.add("Placeholder", "other", attrs={"dtype": FLOAT32, "shape": (-1, 3)})
    node = graph.add("Neg", "node", [x], attrs={"T": FLOAT32})
    user = graph.add("Abs", "user", [node], attrs={"T": FLOAT32})
    shapes = Shapes(graph)
    of_x, of_other = shapes.shape((x, 0)), shapes.shape((other, 0))
    assert of_x != of_other
    assert shapes.shape((user, 0)) == of_x
    graph.set_inputs(node, [(other, 0)])
    shapes.forget(node)
    assert shapes.shape((node, 0)) == of_other
    assert shapes.shape((user, 0)) == of_x, "not yet"
    assert shapes.refresh([node]) == [node, user]
    assert shapes.shape((user, 0)) == of_other
    assert shapes.refresh([node]) == []


def test_what_was_wholly_known_is_not_inferred_anew() -> None:
    graph = Graph()
    value = graph.add(
        "Const", "c", attrs={"dtype": INT32, "value": TensorAttr(array=np.array([1, 2], np.int32))}
    )
    user = graph.add("Neg", "user", [value], attrs={"T": INT32})
    shapes = Shapes(graph)
    assert shapes.shape((user, 0)) == (2,)
    shapes.forget(value)
    assert shapes.refresh([value]) == []
    assert shapes.shape((value, 0)) == (2,)
