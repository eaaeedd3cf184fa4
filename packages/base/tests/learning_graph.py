"""A graph with every kind of state that is saved, for tests of saving."""

from __future__ import annotations

import numpy as np
from tiny_models import constant, placeholder

from drystone_base.core.dtypes import FLOAT32, INT64, STRING
from drystone_base.core.tensor import string_array
from drystone_base.graph import Graph, Node
from drystone_base.ops.attrs import TensorAttr

__all__ = ["learning_graph"]

TYPED = {"T": FLOAT32}
WORDS_TO_NUMBERS = {"Tin": STRING, "Tout": INT64}


def learning_graph() -> Graph:
    """``y = x @ w + b``; ``step`` changes w (by reference) and b (a resource).

    ``learn`` puts "new" into a table that ``seen`` looks up; ``fill`` fills the table behind ``id``
    from the file of ``asset``; ``init`` gives the variables values and fills that table.
    """
    graph = Graph()
    x = placeholder(graph, "x", (-1, 3))
    words = placeholder(graph, "words", (-1,), STRING)
    ready = [*_variables(graph, x), *_tables(graph, words)]
    graph.add("NoOp", "init", controls=ready)
    return graph


def _variables(graph: Graph, x: Node) -> list[Node]:
    w = graph.add("VariableV2", "w", attrs={"dtype": FLOAT32, "shape": (3, 2)})
    b = graph.add("VarHandleOp", "b", attrs={"dtype": FLOAT32, "shape": (2,)})
    read = graph.add("ReadVariableOp", "b/read", [b], attrs={"dtype": FLOAT32})
    product = graph.add("MatMul", "product", [x, w], attrs=TYPED)
    y = graph.add("AddV2", "y", [product, read], attrs=TYPED)
    pull = graph.add("MatMul", "pull", [x, y], attrs={**TYPED, "transpose_a": True})
    small = graph.add("Mul", "small", [pull, constant(graph, "rate", 0.1)], attrs=TYPED)
    down = graph.add("AssignSub", "down", [w, small], attrs=TYPED)
    half = constant(graph, "half", [0.5, 0.5])
    up = graph.add("AssignAddVariableOp", "up", [b, half], attrs={"dtype": FLOAT32}, controls=[y])
    graph.add("NoOp", "step", controls=[down, up])
    first = constant(graph, "first", np.arange(6).reshape(3, 2))
    return [
        graph.add("Assign", "w/init", [w, first], attrs=TYPED),
        graph.add("AssignVariableOp", "b/init", [b, half], attrs={"dtype": FLOAT32}),
    ]


def _text(graph: Graph, name: str, value: bytes, shape: tuple[int, ...]) -> Node:
    attrs = {"dtype": STRING, "value": TensorAttr(array=string_array([value], shape))}
    return graph.add("Const", name, attrs=attrs)


def _tables(graph: Graph, words: Node) -> list[Node]:
    types = {"key_dtype": STRING, "value_dtype": INT64}
    unknown = constant(graph, "unknown", -1, np.int64)
    learnt = graph.add("MutableHashTableV2", "learnt", attrs=types)
    new, number = _text(graph, "new", b"new", (1,)), constant(graph, "number", [42], np.int64)
    graph.add("LookupTableInsertV2", "learn", [learnt, new, number], attrs=WORDS_TO_NUMBERS)
    graph.add("LookupTableFindV2", "seen", [learnt, words, unknown], attrs=WORDS_TO_NUMBERS)
    vocabulary = graph.add(
        "HashTableV2", "vocabulary", attrs={**types, "shared_name": "vocabulary_1"}
    )
    asset = _text(graph, "asset", b"nowhere", ())
    fill = graph.add(
        "InitializeTableFromTextFileV2",
        "fill",
        [vocabulary, asset],
        attrs={"key_index": -2, "value_index": -1},
    )
    graph.add("LookupTableFindV2", "id", [vocabulary, words, unknown], attrs=WORDS_TO_NUMBERS)
    return [fill]
