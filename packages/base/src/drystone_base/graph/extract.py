"""A function made of some nodes of a graph: what a region, a branch or a loop's body becomes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from drystone_abi.protos import FunctionDef
from drystone_base.core.dtypes import DType
from drystone_base.graph.functions import Body, body_to_function
from drystone_base.graph.graph import Graph
from drystone_base.graph.node import Node, Output
from drystone_base.graph.topology import topological_order
from drystone_base.graph.validate import Signatures
from drystone_base.ops.defs import find

__all__ = ["Extract", "add_function", "output_dtype"]

_ENDS: Final = frozenset({"_Arg", "_Retval"})


def output_dtype(output: Output, signatures: Signatures | None = None) -> DType | None:
    """The dtype of an output; None where it is not known, or is that of a reference."""
    signature = (signatures or Signatures()).of(output[0])
    types = signature.outputs if signature is not None else None
    if types is None or output[1] >= len(types) or types[output[1]].ref:
        return None
    return types[output[1]]


class Extract:
    """A body that is put together from nodes of ``graph``.

    ``arguments``: outputs with their dtypes, which the body gets from its caller. ``same``: outputs
    that are read as one of the arguments. Data that comes from neither these nor ``nodes`` is a
    ``KeyError``; control edges from elsewhere are left out.
    """

    def __init__(
        self,
        graph: Graph,
        arguments: Sequence[tuple[Output, DType]],
        nodes: Iterable[Node],
        same: Mapping[Output, Output] | None = None,
    ) -> None:
        self.graph = Graph()
        self.graph.functions = graph.functions
        self.places: dict[Output, Output] = {}
        self.args: list[Node] = []
        kept = topological_order(nodes)
        twins = {node: self.graph.adopt(node, node.name) for node in kept}
        for k, (output, dtype) in enumerate(arguments):
            name = self.graph.unique_name(f"arg_{k}")
            self.args.append(self.graph.add("_Arg", name, attrs={"T": dtype, "index": k}))
            self.places.setdefault(output, (self.args[-1], 0))
        for output, other in (same or {}).items():
            self.places.setdefault(output, self.places[other])
        self._twins = twins
        for node in kept:
            inputs = [self.place(o) for o in node.inputs]
            self.graph.set_inputs(twins[node], inputs)
            self.graph.set_controls(twins[node], [twins[c] for c in node.controls if c in twins])

    def place(self, output: Output) -> Output:
        """Where an output of the graph is in the body."""
        found = self.places.get(output)
        return found if found is not None else (self._twins[output[0]], output[1])

    def finish(
        self, results: Sequence[tuple[Output, DType]], after: Iterable[Node] = ()
    ) -> tuple[Body, FunctionDef]:
        """The body with its results, which are places in it, and a signature for it, unnamed.

        The nodes of ``after`` run whatever is fetched.
        """
        ends = []
        signature = FunctionDef()
        for arg in self.args:
            signature.signature.input_arg.add(name=arg.name, type=arg.attrs["T"].number)
        for k, (place, dtype) in enumerate(results):
            name = self.graph.unique_name(f"result_{k}")
            ends.append(self.graph.add("_Retval", name, [place], attrs={"T": dtype, "index": k}))
            signature.signature.output_arg.add(name=name, type=dtype.number)
        effects = list(dict.fromkeys([*after, *filter(_is_stateful, self.graph)]))
        for node in effects:
            signature.control_ret[node.name] = node.name
            signature.signature.control_output.append(node.name)
        signature.signature.is_stateful = any(map(_is_stateful, self.graph))
        return Body(self.graph, self.args, ends, effects), signature


def add_function(graph: Graph, stem: str, body: Body, signature: FunctionDef) -> str:
    """Put a body into the graph's library under a new name, which is returned."""
    name, k = stem, 0
    while name in graph.functions:
        k += 1
        name = f"{stem}_{k}"
    signature.signature.name = name
    graph.functions.add(body_to_function(body, signature))
    return name


def _is_stateful(node: Node) -> bool:
    definition = find(node.op)
    return definition is not None and definition.is_stateful and node.op not in _ENDS
