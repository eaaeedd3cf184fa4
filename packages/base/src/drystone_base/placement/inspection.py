"""Looking into functions: where the resources that a call makes are to live."""

from __future__ import annotations

from drystone_base import dtypes
from drystone_base.errors import DrystoneError
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
        if name not in self._found:
            self._found[name] = None  # what calls itself has no other
            self._found[name] = self._read(name)
        return self._found[name]

    def _read(self, name: str) -> Node | None:
        function = self.library.get(name)
        try:
            body = None if function is None else function.body(self.library)
        except DrystoneError:
            return None  # a body that does not hang together is reported when it is called
        for node in () if body is None else body.graph:
            found = node if node.device and _makes_resource(node) else self.of(node)
            if found is not None:
                return found
        return None


def _makes_resource(node: Node) -> bool:
    definition = find(node.op)
    if definition is None or not definition.is_stateful:
        return False
    return any(dtype.base is dtypes.RESOURCE for dtype in output_dtypes(node) or ())
