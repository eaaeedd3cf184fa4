"""Nodes of many inputs: where they read a source, and one edge changed, without a look at all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from drystone_base.graph.graph import Graph
    from drystone_base.graph.node import Node, Output

__all__ = ["WIDE", "Places", "swap"]

_Reads = dict["Node", dict[int, dict[int, None]]]
"""By source and output, the inputs that read it."""

WIDE: Final = 32
"""Nodes of more inputs, or that wait for more nodes, are wide."""


class Places:
    """By wide node, at which inputs it reads each of its sources, and which it waits for.

    Worked out when first asked for, and again when a node has another fan-in.
    """

    def __init__(self) -> None:
        self._reads: dict[Node, tuple[tuple[Output, ...], _Reads]] = {}
        self._waits: dict[Node, tuple[tuple[Node, ...], frozenset[Node]]] = {}

    def slots(self, user: Node, source: Node) -> Sequence[int]:
        """The inputs of ``user`` at which it reads ``source``, ascending."""
        inputs = user.inputs
        if len(inputs) <= WIDE:
            return [k for k, output in enumerate(inputs) if output[0] is source]
        found = self._of(user).get(source, {})
        return sorted([k for slots in found.values() for k in slots])

    def slots_of(self, user: Node, output: Output) -> list[int]:
        """The inputs of a wide node at which it reads that output."""
        return list(self._of(user).get(output[0], {}).get(output[1], ()))

    def _of(self, user: Node) -> _Reads:
        inputs = user.inputs
        found = self._reads.get(user)
        if found is None or found[0] is not inputs:
            reads: _Reads = {}
            for k, (source, slot) in enumerate(inputs):
                reads.setdefault(source, {}).setdefault(slot, {})[k] = None
            found = self._reads[user] = (inputs, reads)
        return found[1]

    def waits(self, user: Node, source: Node) -> bool:
        """Whether ``user`` waits for ``source`` by a control edge."""
        controls = user.controls
        if len(controls) <= WIDE:
            return source in controls
        found = self._waits.get(user)
        if found is None or found[0] is not controls:
            found = self._waits[user] = (controls, frozenset(controls))
        return source in found[1]

    def moved(self, user: Node, slots: Sequence[int], old: Output, new: Output) -> None:
        """Note that the inputs at ``slots``, of ``old`` until now, read ``new``."""
        found = self._reads.get(user)
        if found is None:
            return
        reads = found[1]
        left = reads[old[0]][old[1]]
        there = reads.setdefault(new[0], {}).setdefault(new[1], {})
        for k in slots:
            del left[k]
            there[k] = None
        if not left:
            del reads[old[0]][old[1]]
        self._reads[user] = (user.inputs, reads)

    def forget(self, node: Node) -> None:
        """Hold nothing of a node that goes."""
        if self._reads:
            self._reads.pop(node, None)
        if self._waits:
            self._waits.pop(node, None)


def swap(graph: Graph, user: Node, slots: Sequence[int], new: Output) -> None:
    """Let the inputs at ``slots`` of a wide node, which read one output, read another.

    What a graph's general way of giving a node a fan-in does, for the two sources alone.
    """
    was = user.inputs[slots[0]]
    old, source = was[0], new[0]
    inputs = list(user.inputs)
    for k in slots:
        inputs[k] = new
    journal, index = graph.journal, graph._fan_out
    if journal is not None:
        journal.append(user)
    if index is not None:
        users = index[old]
        left = users[user] = users[user] - len(slots)
        if not left:
            del users[user]
            if len(users) == 1 and journal is not None:
                journal.append(old)
        readers = index.setdefault(source, {})
        readers[user] = readers.get(user, 0) + len(slots)
    user.inputs, user.changed = tuple(inputs), True
    graph._places.moved(user, slots, was, new)
