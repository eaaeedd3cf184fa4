"""What is known of the shapes of a node that a plugin's kernel runs: the host holds it to them.

An op that a library registered has its own shape function, which the host asks. Of all others
the host knows no shapes, so that they go along with the node: what inference says of inputs and
outputs, where a negative number stands for a size that is unknown, and the same wherever it is.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from functools import cached_property
from typing import TYPE_CHECKING, Final

from drystone_base.core.errors import DrystoneError
from drystone_base.graph import Graph, Node, Output
from drystone_base.ops.attrs import Shape
from drystone_base.ops.defs import origin

if TYPE_CHECKING:
    from drystone_base.inference.inference import Inference

__all__ = ["StatedShapes", "described"]

_ATTR: Final = "_drystone_shapes"
_PLACEHOLDERS: Final = frozenset({"Placeholder", "PlaceholderV2"})
"""Ops whose feeds have the shape that they state."""


class StatedShapes:
    """Shapes of nodes of a graph; inference runs when the first is asked for."""

    def __init__(self, graph: Graph, nodes: Iterable[Node], fed: Collection[Output]) -> None:
        self._graph, self._nodes, self._fed = graph, nodes, fed

    @cached_property
    def _shapes(self) -> Inference:
        from drystone_base.inference.inference import Inference, infer  # few graphs need it

        given: dict[Output, Shape] = {
            output: None for output in self._fed if output[0].op not in _PLACEHOLDERS
        }
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
