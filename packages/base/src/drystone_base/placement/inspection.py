"""Looking into functions: where the resources that a call makes are to live."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from drystone_base.core import dtypes
from drystone_base.core.errors import DrystoneError
from drystone_base.graph import Graph, Node
from drystone_base.graph.calls import called
from drystone_base.graph.validate import output_dtypes
from drystone_base.ops.defs import find

__all__ = ["Makers"]


class Makers:
    """Nodes of functions that make a resource and state a device; each function is read once."""

    def __init__(self, graph: Graph) -> None:
        self.library = graph.functions
        self._found: dict[str, Node | None] = {}

    def of(self, node: Node) -> Node | None:
        """The first such node of the functions that ``node`` calls, and of those that they call."""
        if not len(self.library):
            return None
        found = (self._inside(name) for name in called(node, self.library))
        return next((maker for maker in found if maker is not None), None)

    def _inside(self, name: str) -> Node | None:
        """The first such node of a function; calls may be nested as deep as they like."""
        if name in self._found:
            return self._found[name]
        self._found[name] = None  # what calls itself has no other
        stack = [(name, self._met(name))]
        while stack:
            at, met = stack[-1]
            item = next(met, None)
            found = self._found.get(item) if isinstance(item, str) else item
            if found is not None:
                self._found[at] = found
            if found is not None or item is None:
                stack.pop()
            elif isinstance(item, str) and item not in self._found:
                self._found[item] = None
                stack[-1] = (at, chain([item], met))  # to look at what it gave
                stack.append((item, self._met(item)))
        return self._found[name]

    def _met(self, name: str) -> Iterator[Node | str]:
        """Such nodes of a function, and the functions that it calls, as they come."""
        function = self.library.get(name)
        try:
            body = None if function is None else function.body(self.library)
        except DrystoneError:
            return  # a body that does not hang together is reported when it is called
        for node in () if body is None else body.graph:
            if node.device and _makes_resource(node):
                yield node
            else:
                yield from called(node, self.library)


def _makes_resource(node: Node) -> bool:
    definition = find(node.op)
    if definition is None or not definition.is_stateful:
        return False
    return any(dtype.base is dtypes.RESOURCE for dtype in output_dtypes(node) or ())
