"""Bodies of functions that are written with a SavedModel, made of parts of its graph."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Sequence
from typing import Final, TypeAlias

from drystone_base.core.dtypes import DType
from drystone_base.graph import Graph, Node, Output
from drystone_base.graph.builder import Builder
from drystone_base.graph.extract import Extract, add_function, output_dtype
from drystone_base.inference.inference import infer
from drystone_base.ops.attrs import FunctionRef, encode_shape

__all__ = ["Bodies"]

_STEM: Final = "saved"
_SHAPES: Final = "_output_shapes"
_Key: TypeAlias = "tuple[tuple[str, ...], tuple[str, ...], tuple[Node, ...]]"


class Bodies:
    """Functions in a graph's library, each of some tensors of it to others.

    ``holder`` tells the number of the object that has what a node gives, or None for a node that
    functions have themselves. ``bound`` are the objects that a function takes behind its arguments.
    """

    def __init__(self, graph: Graph, holder: Callable[[Node], int | None]) -> None:
        self.graph, self._holder = graph, holder
        self.bound: dict[str, list[int]] = {}
        self._shapes = infer(graph)
        self._made: dict[_Key, str] = {}

    def function(
        self, inputs: Sequence[str], outputs: Sequence[str], after: Sequence[Node] = ()
    ) -> str:
        """The function of these tensors, which runs ``after`` too; one for all that ask for it."""
        key = (tuple(inputs), tuple(outputs), tuple(after))
        if key not in self._made:
            self._made[key] = self.another(*key)
        return self._made[key]

    def another(
        self, inputs: Sequence[str], outputs: Sequence[str], after: Sequence[Node] = ()
    ) -> str:
        """A function of its own; it calls the one that has the same tensors in another order."""
        for (given, found, later), name in self._made.items():
            same = set(given) == set(inputs) and set(found) == set(outputs)
            if same and later == tuple(after):
                return self._caller(name, (given, found), (inputs, outputs))
        return self._body(inputs, outputs, after)

    def made_by(self, node: Node) -> str:
        """A function that gives what one node gives."""
        extract = Extract(self.graph, [], [node])
        return self._added(extract, [(extract.place((node, 0)), _dtype((node, 0)))], [], [], [])

    def _body(self, inputs: Sequence[str], outputs: Sequence[str], after: Sequence[Node]) -> str:
        fed, ends = ([self.graph.output(name) for name in side] for side in (inputs, outputs))
        nodes, held = self._reached([*(node for node, _ in ends), *after], set(fed), ends)
        firsts = {number: node for node, number in reversed(held.items())}
        args = [*fed, *((node, 0) for node in firsts.values())]
        same = {(node, 0): (firsts[number], 0) for node, number in held.items()}
        extract = Extract(self.graph, [(o, _dtype(o)) for o in args], nodes, same)
        results = [(extract.place(o), _dtype(o)) for o in ends]
        later = [extract.graph[node.name] for node in after]
        return self._added(extract, results, later, list(firsts), fed)

    def _reached(
        self, ends: Iterable[Node], fed: Container[Output], wanted: Iterable[Output]
    ) -> tuple[list[Node], dict[Node, int]]:
        """The nodes that a body is made of, and those whose objects it takes."""
        nodes: dict[Node, None] = {}
        held: dict[Node, int] = {}
        given = {output[0] for output in wanted if output in fed}
        waiting = [node for node in ends if node not in given]
        while waiting:
            node = waiting.pop()
            if node in nodes or node in held:
                continue
            number = self._holder(node)
            if number is not None:
                held[node] = number
                continue
            nodes[node] = None
            waiting += [source for source, k in node.inputs if (source, k) not in fed]
            waiting += [before for before in node.controls if (before, 0) not in fed]
        return list(nodes), held

    def _caller(
        self,
        name: str,
        known: tuple[Sequence[str], Sequence[str]],
        wanted: tuple[Sequence[str], Sequence[str]],
    ) -> str:
        """A function that calls another one with its arguments and results in other orders."""
        called = self.graph.functions[name].signature
        types, kinds = ([a.type for a in side] for side in (called.inputs, called.outputs))
        graph = Graph()
        graph.functions = self.graph.functions
        b = Builder(graph)
        given = [b("Placeholder", dtype=kind) for kind in types]
        op = "StatefulPartitionedCall" if called.is_stateful else "PartitionedCall"
        call = b.node(op, given, f=FunctionRef(name), Tout=kinds)
        places = dict(zip(known[0], given, strict=False))
        args = [*(places[tensor] for tensor in wanted[0]), *given[len(known[0]) :]]
        extract = Extract(graph, [(o, b.dtype(o)) for o in args], [call])
        outputs = [(call, list(known[1]).index(tensor)) for tensor in wanted[1]]
        results = [(extract.place(o), b.dtype(o)) for o in outputs]
        fed = [self.graph.output(tensor) for tensor in wanted[0]]
        return self._added(extract, results, [], self.bound[name], fed)

    def _added(
        self,
        extract: Extract,
        results: Sequence[tuple[Output, DType]],
        after: Sequence[Node],
        bound: list[int],
        fed: Sequence[Output],
    ) -> str:
        body, proto = extract.finish(results, after)
        for k, output in enumerate(fed):
            shape = self._shapes.shape(output)
            proto.arg_attr[k].attr[_SHAPES].list.shape.append(encode_shape(shape))
        name = add_function(self.graph, _STEM, body, proto)
        self.bound[name] = bound
        return name


def _dtype(output: Output) -> DType:
    found = output_dtype(output)
    assert found is not None, output
    return found
