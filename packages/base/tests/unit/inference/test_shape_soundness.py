"""Random graphs of several ops, run: every concrete shape is admitted by the inferred one.

The graphs hang recorded random cases of single ops together: constants become placeholders of
partly known shapes, and outputs feed further ops where dtype and rank allow it.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from parity.draft import draw_case
from parity.recorded import load
from tiny_models import constant, placeholder

from drystone_base.api.session import Session, SessionConfig
from drystone_base.core.dtypes import BOOL, FLOAT32, INT32, from_numpy
from drystone_base.core.errors import DrystoneError, GraphError, KernelError
from drystone_base.executor.testing import _infer_attrs, as_array
from drystone_base.graph import Graph, Node, Output
from drystone_base.graph.validate import output_dtypes
from drystone_base.inference.inference import Inference, infer
from drystone_base.inference.shapes._registry import Shape
from drystone_base.ops.attrs import TensorAttr
from drystone_base.ops.defs import op_def

SEEDS: dict[str, list[int]] = {}
for _row in load():
    SEEDS.setdefault(_row["op"], []).append(_row["seed"])
FEW = 12


def admits(inferred: Shape, real: tuple[int, ...]) -> bool:
    return inferred is None or (
        len(inferred) == len(real)
        and all(d < 0 or d == n for d, n in zip(inferred, real, strict=True))
    )


class Growing:
    """A graph to which nodes are added at random, with values for its placeholders."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.graph = Graph()
        self.feeds: dict[str, Any] = {}
        self.made: list[tuple[Output, np.ndarray[Any, Any]]] = []

    def source(self, value: np.ndarray[Any, Any]) -> Output:
        """The value as a constant, a placeholder, or an output that fits in its place."""
        fitting = [
            o
            for o, v in self.made
            if v.dtype == value.dtype and v.ndim == value.ndim and v.size < 99
        ]
        if fitting and self.chance.random() < 0.5:
            return self.chance.choice(fitting)
        name = self.graph.unique_name("in")
        kind = from_numpy(value.dtype)
        if self.chance.random() < 0.4:
            attrs = {"dtype": kind, "value": TensorAttr(array=value)}
            return (self.graph.add("Const", name, attrs=attrs), 0)
        shape = tuple(-1 if self.chance.random() < 0.4 else d for d in value.shape)
        known = None if self.chance.random() < 0.2 else shape
        self.feeds[f"{name}:0"] = value
        return (placeholder(self.graph, name, known, kind), 0)

    def grow(self, op: str) -> None:
        """Add a node that runs; leave the graph as it is where the case does not fit."""
        item = draw_case(op, self.chance.choice(SEEDS[op]))
        values = [as_array(v) for v in item.inputs]
        definition = op_def(op)
        filled = _infer_attrs(definition, values, dict(item.attrs))
        node = self.graph.add(op, self.graph.unique_name(op), [self.source(v) for v in values],
                              attrs=filled)  # fmt: skip
        count = len(output_dtypes(node) or ())
        names = [f"{node.name}:{k}" for k in range(count)]
        try:
            with np.errstate(all="ignore"):
                got = self.run(names)
            infer(self.graph, given=self.shapes(), strict=True)
        except DrystoneError:  # refused, or by TensorFlow too once it knows the shapes
            self.graph.remove(node)
            return
        self.made += [((node, k), v) for k, v in enumerate(got)]

    def shapes(self) -> dict[Output, Shape]:
        """Every fed shape, in full."""
        return {(self.graph[n.split(":")[0]], 0): v.shape for n, v in self.feeds.items()}

    def run(self, names: list[str]) -> list[Any]:
        with Session(self.graph, SessionConfig(deadline=5.0, seed=1)) as session:
            found: list[Any] = session.run(names, self.feeds)
        return found

    def unsound(self) -> Iterator[str]:
        """Outputs whose shape is not admitted by what is inferred."""
        known = infer(self.graph)
        for (node, k), value in self.made:
            inferred = known.shape((node, k))
            if node in known.errors:
                yield f"{node.op} runs, but inference refuses it: {known.errors[node]}"
            if not admits(inferred, value.shape):
                yield f"{node.op}:{k} gives {value.shape}, inferred {inferred}"
            constant = known.value((node, k))
            if constant is not None and constant.shape != value.shape:
                yield f"{node.op}:{k} is held for a constant of shape {constant.shape}"


@settings(max_examples=60, deadline=None, derandomize=True)
@given(seed=st.integers(0, 1 << 32), ops=st.lists(st.sampled_from(sorted(SEEDS)), max_size=FEW))
def test_random_graphs(seed: int, ops: list[str]) -> None:
    growing = Growing(seed)
    for op in ops:
        growing.grow(op)
    wrong = list(growing.unsound())
    assert not wrong, "\n".join(wrong)


def test_an_unsound_shape_would_be_seen() -> None:
    assert admits(None, (3,))
    assert admits((-1, 2), (3, 2))
    assert not admits((2, 2), (3, 2))
    assert not admits((-1,), (3, 2))


# ---- graphs that are corrupt -------------------------------------------------------------------


def known_of(graph: Graph) -> tuple[Inference, Node]:
    return infer(graph), graph["node"]


def test_a_shape_attribute_that_is_none_is_refused_or_unknown() -> None:
    graph = Graph()
    graph.add("Placeholder", "node", attrs={"dtype": FLOAT32, "shape": 7})
    known, node = known_of(graph)
    assert known.shape((node, 0)) is None
    other = Graph()
    other.add("VariableV2", "node", attrs={"dtype": FLOAT32, "shape": 7})
    known, node = known_of(other)
    assert known.shape((node, 0)) is None
    assert "cannot be inferred" in str(known.errors[node])


def test_an_absurd_count_is_refused() -> None:
    graph = Graph()
    attrs = {"T": FLOAT32, "num_split": (1 << 63) - 1}
    graph.add("Split", "node", [constant(graph, "axis", 0, np.int32), constant(graph, "x", [1.0])],
              attrs=attrs)  # fmt: skip
    assert known_of(graph)[0].shape((graph["node"], 0)) is None
    with pytest.raises(GraphError, match="num_split"):
        Session(graph).run("node:0")


def test_too_few_inputs_are_survived() -> None:
    graph = Graph()
    graph.add("Reshape", "node", [placeholder(graph, "p", None, INT32)], attrs={"T": INT32})
    assert known_of(graph)[0].shape((graph["node"], 0)) is None


def test_a_predicate_that_is_no_scalar_is_refused() -> None:
    graph = Graph()
    flag = placeholder(graph, "flag", None, BOOL)
    graph.add("Switch", "node", [constant(graph, "x", [1.0]), flag], attrs={"T": FLOAT32})
    with pytest.raises(KernelError, match=r"node 'node' \(Switch\) failed") as caught:
        Session(graph).run("node:1", {"flag:0": [True, False]})
    assert caught.value.status == "INVALID_ARGUMENT"
