"""What is known of a graph under optimization: values, shapes, devices, uses, and its edits."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from drystone_base.core.dtypes import DType
from drystone_base.core.errors import DrystoneError
from drystone_base.graph import Bodies, Graph, Node, Output, held_tensor, topological_order
from drystone_base.graph.validate import Signatures
from drystone_optimizer.core.config import OptimizerConfig
from drystone_optimizer.core.devices import DEFAULT_TYPE, device_type, types_there
from drystone_optimizer.core.purity import Effects, gives_reference, may_be_dead

if TYPE_CHECKING:
    from drystone_base.inference.inference import Shapes

__all__ = ["Facts", "same_shape"]

# How many edges below an edit rules look again; no rule looks further up than that.
_REACH: Final = 4


class Facts:
    """One graph, looked at while it is edited; ``journal`` has the nodes that were.

    ``preserve``: names of nodes that must stay, under their name; ``roots``: of those that must be
    computed. ``fed``: outputs whose values come from outside. ``where``: "" or the function whose
    body this is. ``config``: what the user chose. ``signatures``, ``bodies``: what is worked out
    once for the graph and the bodies of its functions. ``arguments``: gives shapes of a body's
    arguments by name, as its one caller has them. ``learned``: nodes of which more became known.
    """

    def __init__(
        self,
        graph: Graph,
        preserve: frozenset[str],
        roots: frozenset[str],
        fed: Mapping[Output, Any],
        *,
        where: str = "",
        config: OptimizerConfig | None = None,
        signatures: Signatures | None = None,
        bodies: Bodies | None = None,
        arguments: Callable[[], Mapping[str, tuple[int, ...]]] | None = None,
    ) -> None:
        self.config = config or OptimizerConfig()
        self.graph, self.preserve, self.roots, self.where = graph, preserve, roots, where
        self.fed = dict(fed)
        self.fed_nodes = {node for node, _ in self.fed}
        self.signatures, self.bodies = signatures or Signatures(), bodies or Bodies()
        self.effects = Effects(graph.functions)
        self.journal: list[Node] = []
        graph.journal = self.journal
        self.learned: list[Node] = []
        self._shapes: Shapes | None = None
        self._arguments = arguments
        self._devices: frozenset[str] | None = None
        self._refreshed = 0
        self._noticed: set[Node] | None = None
        self._order: tuple[int, list[Node]] | None = None

    # ---- what was edited -----------------------------------------------------------------------

    def refresh(self) -> None:
        """Infer again what was edited since the last time, and what reads it."""
        edited, self._refreshed = self.journal[self._refreshed :], len(self.journal)
        if edited:
            self._noticed = None
            if self._shapes is not None:
                self.learned += self._shapes.refresh(edited)

    def order(self) -> list[Node]:
        """The nodes in topological order, for looking only; the same list until an edit."""
        edits = len(self.journal)
        if self._order is None or self._order[0] != edits:
            self._order = (edits, topological_order(self.graph))
        return self._order[1]

    def now(self) -> tuple[int, int]:
        """How many edits there were, and how often more became known of some node."""
        return len(self.journal), len(self.learned)

    def near_edits(self, since: tuple[int, int]) -> list[Node]:
        """The nodes edited since, or of which more is known, and those some edges below."""
        edits, learned = since
        found = dict.fromkeys(self.journal[edits:])
        found.update(dict.fromkeys(self.learned[learned:]))
        users, level = self.graph.users, list(found)
        for _ in range(_REACH):
            below: list[Node] = []
            for node in level:
                for user in users(node):
                    if user not in found:
                        found[user] = None
                        below.append(user)
            level = below
        return list(found)

    @property
    def shapes(self) -> Shapes:
        """Shapes and small constants, inferred when asked for."""
        if self._shapes is None:
            from drystone_base.inference.inference import Shapes

            self._shapes = Shapes(self.graph, self.fed, self.signatures, self.bodies)
        return self._shapes

    def shapes_in_use(self) -> Shapes:
        """As :attr:`shapes`; those of a body with what its one caller gives it, until an edit."""
        given = self._arguments() if self._arguments is not None else {}
        if not given:
            return self.shapes
        from drystone_base.inference.inference import Shapes

        there = {(self.graph[name], 0): given[name] for name in given if name in self.graph}
        return Shapes(self.graph, {**self.fed, **there}, self.signatures, self.bodies)

    def forget(self, node: Node) -> None:
        """Drop what is known of a node that is removed, or computes something else now."""
        if self._shapes is None:
            self.signatures.forget(node)
        else:
            self._shapes.forget(node)  # the signature with it

    # ---- looking -------------------------------------------------------------------------------

    @property
    def devices(self) -> frozenset[str]:
        """The types of devices that are there: as the config states, else of this process."""
        if self._devices is None:
            self._devices = frozenset(self.config.devices) or types_there()
        return self._devices

    def device_type(self, node: Node) -> str:
        """The type of device that runs a node: what it asks for if that is there, else the CPU.

        Raises ``GraphError`` (``bad-device``).
        """
        asked = device_type(node.device, node.name) if node.device else None
        return asked if asked is not None and asked in self.devices else DEFAULT_TYPE

    def is_accelerated(self, node: Node) -> bool:
        """Whether something else than a CPU runs the node; raises as above."""
        return self.device_type(node) != DEFAULT_TYPE

    def kept(self, node: Node) -> bool:
        """Whether the node must stay, under its name, with its outputs."""
        return node.name in self.preserve

    def may_rewrite(self, node: Node) -> bool:
        """Whether a rule may replace the node: it is not fed, and reads no variable in place."""
        if node in self.fed_nodes:
            return False
        for source, _ in node.inputs:  # noqa: SIM110 - all() costs twice as much, for every node
            if gives_reference(source.op):
                return False
        return True

    def constant(self, output: Output) -> np.ndarray[Any, Any] | None:
        """The value of a Const that is not fed."""
        node = output[0]
        if node.op != "Const" or output[1] or output in self.fed:
            return None
        try:
            value = held_tensor(node)
            return None if value is None else value.array
        except DrystoneError:
            return None

    def value(self, output: Output) -> np.ndarray[Any, Any] | None:
        """The value of an output that is constant, as far as inference knows."""
        found = self.constant(output)
        return self.shapes.value(output) if found is None else found

    def ints(self, output: Output) -> list[int] | None:
        """The value of an output as a flat list of ints, if it is a known integer."""
        found = self.value(output)
        if found is None or found.dtype.kind not in "iu":
            return None
        return [int(item) for item in found.reshape(-1)]

    def shape(self, output: Output) -> tuple[int, ...] | None:
        """Shape of an output; symbols (below -1) stand for unknown sizes."""
        return self.shapes.shape(output)

    def dtype(self, output: Output) -> DType | None:
        """Dtype of an output, without a reference mark; None where it is not known."""
        try:
            signature = self.signatures.of(output[0])
        except DrystoneError:
            return None
        types = signature.outputs if signature else None
        return types[output[1]].base if types is not None and output[1] < len(types) else None

    def users(self, output: Output) -> list[tuple[Node, int]]:
        """Every (consumer, input index) that reads this output."""
        node = output[0]
        return [(u, k) for u, k in self.graph.consumers(node) if u.inputs[k] == output]

    def used(self, node: Node) -> set[int]:
        """The outputs of a node that are read."""
        return {k for user in self.graph.users(node) for source, k in user.inputs if source is node}

    def only_user(self, node: Node) -> bool:
        """Whether just one edge, of data, leaves the node, which need not stay."""
        user = None if self.kept(node) else self.graph.only_user(node)
        if user is None or node in user.controls:
            return False
        return sum(source is node for source, _ in user.inputs) == 1

    def noticed(self, node: Node) -> bool:
        """Whether a run of ``node``, or of what it needs, shows otherwise than by values.

        So it is where something has an effect, where a branch or loop decides whether it runs, and
        where a variable is read that something writes.
        """
        if self._noticed is None:
            self._noticed = _noticed_nodes(self)
        return node in self._noticed

    def note(self, node: Node) -> None:
        """Keep :meth:`noticed` right for a node that was added."""
        found = self._noticed
        if found is not None and (_begins(node, self.effects.level(node)) or _after(node, found)):
            found.add(node)


def _noticed_nodes(facts: Facts) -> set[Node]:
    graph, effects = facts.graph, facts.effects
    found: set[Node] = set()
    levels = {op: effects.of_op(op) for op in {node.op for node in graph}}
    writes = 2 in levels.values()
    if None in levels.values() and not writes:
        writes = any(levels[node.op] is None and effects.level(node) == 2 for node in graph)
    if not writes and not any(map(may_be_dead, levels)):
        return found
    for node in facts.order():
        level = (levels[node.op] or effects.level(node)) if writes else 0
        if _begins(node, level) or _after(node, found):
            found.add(node)
    return found


def _begins(node: Node, level: int) -> bool:
    if level or may_be_dead(node.op):
        return True
    return any(gives_reference(source.op) for source, _ in node.inputs)


def _after(node: Node, found: set[Node]) -> bool:
    for source, _ in node.inputs:  # rather than any(): asked of every node, often
        if source in found:
            return True
    return not found.isdisjoint(node.controls)


def same_shape(a: tuple[int, ...] | None, b: tuple[int, ...] | None) -> bool:
    """Whether two inferred shapes are provably equal."""
    return a is not None and a == b and -1 not in a
