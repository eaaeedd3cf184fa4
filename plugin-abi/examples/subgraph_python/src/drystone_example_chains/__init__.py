"""A subgraph backend: regions of element-wise ops as lists of NumPy calls."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from drystone_base.graph import Node, topological_order
from drystone_subgraph import (
    CompileRequest,
    ContainOpSelector,
    Executable,
    Subgraph,
    SubgraphBackend,
    SubgraphNode,
    SubgraphProperty,
    SubgraphSelector,
)

__all__ = ["Chains"]

Array = np.ndarray[Any, Any]

FUNCTIONS: Final[Mapping[str, Callable[..., Array]]] = {
    "AddV2": np.add,
    "Sub": np.subtract,
    "Mul": np.multiply,
    "Neg": np.negative,
    "Tanh": np.tanh,
}


class _Chain(SubgraphProperty):
    """Two ops and more, all of float32."""

    name = "chains"
    minimum_size = 2

    def create_subgraph_selector(self) -> SubgraphSelector:
        return ContainOpSelector(FUNCTIONS.keys())

    def create_subgraph_node(self, subgraph: Subgraph) -> SubgraphNode | None:
        types = [i.dtype for i in subgraph.inputs] + [o.dtype for o in subgraph.outputs]
        if any(str(dtype) != "float32" for dtype in types):
            return subgraph.refuse("not all of float32")
        return subgraph.node()


class Chains(SubgraphBackend):
    """The backend."""

    name = "chains"
    compiles = True

    def properties(self) -> Sequence[SubgraphProperty]:
        """One rule."""
        return [_Chain()]

    def compile(self, request: CompileRequest) -> Executable:
        """A list of calls: a function, where its operands are, and where its result goes."""
        body = request.body
        places: dict[Node, int] = {node: k for k, node in enumerate(body.args)}
        calls: list[tuple[Callable[..., Array], list[int]]] = []
        for node in topological_order(body.graph):
            if node.op in FUNCTIONS:
                calls.append((FUNCTIONS[node.op], [places[source] for source, _ in node.inputs]))
                places[node] = len(places)
        results = [places[result.inputs[0][0]] for result in body.results]

        def run(inputs: Sequence[Array]) -> Sequence[Array]:
            values = list(inputs)
            with np.errstate(all="ignore"):  # overflow is a value, as in any kernel
                for function, operands in calls:
                    values.append(np.asarray(function(*(values[k] for k in operands))))
            return [values[k] for k in results]

        return run
