"""Inference that goes along with editing: nodes are inferred when asked for, and again when edited.

A pass over a graph asks for the shapes of a few nodes. What they depend on is inferred then, once;
after an edit only what it reaches is inferred again, and no further than something changes.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from drystone_base.core.arguments import blame, explaining
from drystone_base.core.errors import ShapeError
from drystone_base.core.gc_pause import paused_gc
from drystone_base.graph.functions import Bodies
from drystone_base.graph.graph import Graph
from drystone_base.graph.node import Node, Output
from drystone_base.graph.topology import topological_order
from drystone_base.graph.validate import Signatures
from drystone_base.inference.shapes._engine import MAX_VALUE, Engine, Known, same_knowledge
from drystone_base.inference.shapes._registry import PartialValue, Shape
from drystone_base.ops.properties import MERGES

if TYPE_CHECKING:
    from drystone_base.inference.calls import Calls, Given

__all__ = ["Shapes"]


@explaining("__init__", "items", "forget", "refresh")
class Shapes:
    """Shapes and small constants of a graph's outputs, kept while the graph is edited.

    A node is inferred when it is first asked for, with what it depends on; nodes that are added
    later are, too. ``given`` states shapes of outputs, fed ones for example; it wins over what is
    inferred. After an edit of a node (its op, attributes or inputs) :meth:`refresh` takes the nodes
    edited. Edits must leave the value of every other output as it was: what is known can only
    become more. ``signatures`` and ``bodies`` are shared with other callers. ``arguments``: what is
    known of those of a body; ``calls`` is told what functions are given. What contradicts its op is
    of unknown shape; :func:`~drystone_base.infer` says why.
    """

    def __init__(
        self,
        graph: Graph,
        given: Mapping[Output, Shape] | None = None,
        signatures: Signatures | None = None,
        bodies: Bodies | None = None,
        *,
        arguments: Mapping[Node, Given] | None = None,
        calls: Calls | None = None,
    ) -> None:
        if not isinstance(graph, Graph):
            raise TypeError("no graph")
        self.graph = graph
        self._engine = Engine(graph, dict(given or {}), False, 0)
        self._engine.signatures = signatures or Signatures()
        self._engine.bodies = bodies or Bodies()
        self._engine.args.update(arguments or {})
        self._engine.calls = calls
        self._known = self._engine.result.known
        self._were: dict[Node, Known] = {}
        self._circles = False

    def __len__(self) -> int:
        """How many nodes were inferred so far."""
        return len(self._known)

    def known(self, node: Node) -> Known:
        """What is known of a node's outputs: shapes and values, one of each for an output."""
        try:
            found = self._known.get(node)
            if found is None:
                self._infer(node)
                found = self._known[node]
            return found
        except Exception as error:
            blame(Shapes.known, error, self, node)

    def shape(self, output: Output) -> Shape:
        """Shape of an output: None for an unknown rank, symbols (below -1) for unknown sizes."""
        try:
            shapes = self.known(output[0]).shapes
            return shapes[output[1]] if output[1] < len(shapes) else None
        except Exception as error:
            blame(Shapes.shape, error, self, output)

    def contradiction(self, node: Node) -> ShapeError | None:
        """What is wrong with a node whose inputs contradict its op; None for any other."""
        self.known(node)
        return self._engine.result.errors.get(node)

    @property
    def contradictions(self) -> Mapping[Node, ShapeError]:
        """Of the nodes inferred so far, those whose inputs contradict their op, and how."""
        return self._engine.result.errors

    def value(self, output: Output) -> np.ndarray[Any, Any] | None:
        """The value of an output if it is a small known constant."""
        try:
            values = self.known(output[0]).values
            value = values[output[1]] if output[1] < len(values) else None
            return value if isinstance(value, np.ndarray) else None
        except Exception as error:
            blame(Shapes.value, error, self, output)

    def items(self, output: Output) -> list[tuple[int, bool]] | None:
        """What is known of a small int tensor, element by element: the number, or a dimension.

        With whether it is the number itself; a dimension is -1 (unknown) or a symbol.
        """
        values = self.known(output[0]).values
        value = values[output[1]] if output[1] < len(values) else None
        if isinstance(value, PartialValue):
            return list(zip(value.items, value.known, strict=True))
        if isinstance(value, np.ndarray) and value.dtype.kind in "iu":
            return [(int(item), True) for item in value.reshape(-1)]
        return None

    def _infer(self, node: Node) -> None:
        """Infer a node and, before it, all of its fan-in that is not known yet."""
        known, entered, stack = self._known, set[Node](), [node]
        while stack:
            one = stack[-1]
            if one in known:
                stack.pop()
                continue
            missing = [source for source, _ in one.inputs if source not in known]
            if one.op in MERGES or (missing and one in entered):
                self._infer_loop(node)
                return
            if missing:
                entered.add(one)
                stack.extend(missing)
            else:
                self._engine.update(one, widen=False)

    def _infer_loop(self, node: Node) -> None:
        """As :meth:`_infer`, where what is missing goes in a circle."""
        self._circles = True
        missing: dict[Node, None] = {}
        stack = [node]
        while stack:
            one = stack.pop()
            if one in missing or one in self._known:
                continue
            missing[one] = None
            stack.extend(source for source, _ in one.inputs)
        with paused_gc():
            self._engine.run(missing)

    def forget(self, node: Node) -> None:
        """Drop what is known of a node whose op or attributes changed, or that was removed.

        What reads the node goes by that until :meth:`refresh`, which compares.
        """
        was = self._known.pop(node, None)
        if was is not None:
            self._were.setdefault(node, was)
        elif not isinstance(node, Node):
            raise TypeError("no node")
        self._engine.signatures.forget(node)

    def refresh(self, edited: Iterable[Node]) -> list[Node]:
        """Infer edited nodes again, then those that read from one of which more is known now.

        Gives the nodes of which something else is known now. In a graph with loops what is reached
        from edited nodes of which more could become known is forgotten instead, and none are given.
        """
        alive = [n for n in dict.fromkeys(edited) if self.graph.get(n.name) is n]
        if self._circles:
            were, known = self._were, self._known
            self._forget_reached(
                n for n in alive if (was := were.get(n, known.get(n))) and not _is_settled(was)
            )
            self._were.clear()
            return []
        before = {n: was for n in alive if (was := self._were.get(n, self._known.get(n)))}
        self._were.clear()
        for node in alive:
            self._engine.signatures.forget(node)
        before = {node: was for node, was in before.items() if not _is_settled(was)}
        return self._propagate(before) if before else []

    def _forget_reached(self, nodes: Iterable[Node]) -> None:
        seen: set[Node] = set()
        stack = list(nodes)
        while stack:
            node = stack.pop()
            if node not in seen:
                seen.add(node)
                self.forget(node)
                stack.extend(user for user, _ in self.graph.consumers(node))

    def _propagate(self, before: Mapping[Node, Known]) -> list[Node]:
        """Infer nodes again, then what reads those of which something else was known before."""
        for node in before:
            self._known.pop(node, None)
        changed = [n for n, was in before.items() if not same_knowledge(was, self.known(n))]
        users = dict.fromkeys(u for n in changed for u in self.graph.users(n))
        reached = [user for user in users if user in self._known]
        return changed + self._follow(reached) if reached else changed

    def _follow(self, nodes: list[Node]) -> list[Node]:
        import heapq  # most edits change nothing below them

        changed: list[Node] = []
        rank = {node: k for k, node in enumerate(topological_order(self.graph))}
        heap = [(rank[node], id(node), node) for node in nodes]
        heapq.heapify(heap)
        queued = set(nodes)
        while heap:
            _, _, node = heapq.heappop(heap)
            queued.discard(node)
            before = self._known.pop(node, None)
            self._infer(node)
            if before is not None and same_knowledge(before, self._known[node]):
                continue
            changed.append(node)
            for user, _ in self.graph.consumers(node):
                if user in self._known and user not in queued:
                    queued.add(user)
                    heapq.heappush(heap, (rank[user], id(user), user))
        return changed


def _is_settled(known: Known) -> bool:
    """Whether no more can become known: all sizes are, and each value is or is too large for it."""
    for shape, value in zip(known.shapes, known.values, strict=True):
        if shape is None or (shape and min(shape) < 0):
            return False
        if value.__class__ is not np.ndarray and math.prod(shape) <= MAX_VALUE:
            return False
    return True
