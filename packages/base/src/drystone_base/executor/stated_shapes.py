"""What is known of the shapes of a node that a plugin's kernel runs: the host holds it to them.

An op that a library registered has its own shape function, which the host asks. Of all others
the host knows no shapes, so that they go along with the node: what inference says of inputs and
outputs, where a negative number stands for a size that is unknown, and the same wherever it is.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Final

from drystone_abi.protos import NodeDef
from drystone_base.core.errors import DrystoneError
from drystone_base.graph import Graph, Node, Output
from drystone_base.ops.attrs import FunctionRef, Shape
from drystone_base.ops.defs import origin

if TYPE_CHECKING:
    from drystone_base.inference.calls import Calls, Given
    from drystone_base.inference.inference import Inference, Shapes

__all__ = ["GivenToFunctions", "StatedShapes", "described"]

_ATTR: Final = "_drystone_shapes"
_PLACEHOLDERS: Final = frozenset({"Placeholder", "PlaceholderV2"})
"""Ops whose feeds have the shape that they state."""


class GivenToFunctions:
    """What is known of the arguments of the functions that a graph calls, while ``fed`` are given.

    A function is told of where all its calls are known: not where a dataset or a gradient calls it,
    or a function that these call, as inference does not go there.
    """

    def __init__(self, graph: Graph, fed: Collection[Output]) -> None:
        self._graph, self._fed = graph, fed

    def of(self, function: FunctionRef) -> Sequence[Given] | None:
        """What is known of each argument; None for nothing."""
        calls = self._calls
        if calls is None or function.name in self._elsewhere:
            return None
        return calls.given(function)

    @cached_property
    def _calls(self) -> Calls | None:
        from drystone_base.inference.calls import Calls
        from drystone_base.inference.inference import Shapes

        calls = Calls()
        shapes = Shapes(self._graph, _of_feeds(self._fed), calls=calls)
        try:
            for node in self._graph:
                shapes.known(node)
        except DrystoneError:
            return None
        return calls if calls.is_complete else None

    @cached_property
    def _elsewhere(self) -> frozenset[str]:
        from drystone_base.inference.calls import FOLLOWED

        library = self._graph.functions
        protos = [n.to_proto() for n in self._graph]
        protos += [proto for function in library for proto in function.proto.node_def]
        found = dict.fromkeys(
            name
            for proto in protos
            if proto.op not in FOLLOWED and proto.op not in library
            for name in _named(proto)
        )
        queue = list(found)
        for name in queue:
            function = library.get(name)
            for proto in function.proto.node_def if function else ():
                new = [n for n in (*_named(proto), proto.op) if n in library and n not in found]
                found.update(dict.fromkeys(new))
                queue += new
        return frozenset(found)


def _named(proto: NodeDef) -> Iterator[str]:
    """The functions that attributes of a node name."""
    for value in proto.attr.values():
        if value.HasField("func"):
            yield value.func.name
        yield from (one.name for one in value.list.func)


def _of_feeds(fed: Iterable[Output]) -> dict[Output, Shape]:
    """What is known of feeds: nothing, but of placeholders, which have the shape they state."""
    return {output: None for output in fed if output[0].op not in _PLACEHOLDERS}


class StatedShapes:
    """Shapes of nodes of a graph; inference runs when the first is asked for.

    ``given`` says what is known of what is fed, in its order, where the graph is a body.
    """

    def __init__(
        self,
        graph: Graph,
        nodes: Iterable[Node],
        fed: Collection[Output],
        given: Callable[[], Sequence[Given] | None] | None = None,
    ) -> None:
        self._graph, self._nodes, self._fed, self._given = graph, nodes, fed, given

    @cached_property
    def _shapes(self) -> Inference | Shapes:
        from drystone_base.inference.inference import Inference, Shapes, infer  # few need it

        known = self._given() if self._given is not None else None
        if known is not None and len(known) == len(self._fed):
            arguments = {node: one for (node, _), one in zip(self._fed, known, strict=True)}
            return Shapes(self._graph, arguments=arguments)
        given = _of_feeds(self._fed)
        nodes = dict.fromkeys([*self._nodes, *(node for node, _ in self._fed)])
        try:
            return infer(self._graph, nodes, given=given)
        except DrystoneError:  # lowering says what is wrong, or a feed cuts the cycle
            return Inference()

    def of(self, node: Node, output_count: int) -> tuple[int, ...]:
        """Rank (-1: unknown) and sizes of each input, then of each output; () for nothing known."""
        if origin(node.op):
            return ()
        outputs = [self._shapes.shape((node, k)) for k in range(output_count)]
        if all(shape is None for shape in outputs):
            return ()
        shapes = [*(self._shapes.shape(output) for output in node.inputs), *outputs]
        return tuple(
            word for shape in shapes for word in ((-1,) if shape is None else (len(shape), *shape))
        )


def described(node: Node, stated: Collection[int]) -> bytes:
    """The bytes of a NodeDef for a kernel, with what :meth:`StatedShapes.of` gave."""
    proto = node.to_proto()
    if stated:
        proto.attr[_ATTR].list.i.extend(stated)
    return proto.SerializeToString()
