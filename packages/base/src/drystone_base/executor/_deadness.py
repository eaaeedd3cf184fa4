"""What makes a node of a plan with frames dead: nodes with the same answer die together."""

from __future__ import annotations

from typing import Final

from drystone_base.executor._flow import FEED, Flow, FlowNode, Frame, Value
from drystone_base.executor.plan import Kind

__all__ = ["NEVER", "Causes", "Deadness"]

Causes = frozenset[tuple[int, int, int]]
"""Dead as soon as one of these is: a side of the Switch nodes on a value (the value, the side), a
Merge (its number, -1, -1), a loop that may be entered in part (an Enter's number, -2, -2), what is
received (the number of the node that does, -3, -3)."""

NEVER: Final[Causes] = frozenset()


class Deadness:
    """What makes nodes dead, in an iteration of their frame that is under way.

    ``of``: by number of the node; an Enter's says when its own input is dead.
    """

    def __init__(self, flow: Flow, inside: dict[int, Frame]) -> None:
        self._nodes, self._inside = dict(flow.nodes), inside
        self._frames: dict[Frame, Causes] = {}
        self.of: dict[int, Causes] = {}
        exits = (k for k, node in flow.nodes.items() if node.kind is Kind.EXIT)
        for k in flow.sorted(flow.nodes, {k: inside[k].enters for k in exits}) or flow.order:
            self.of[k] = self._causes(k, flow.nodes[k])

    def value(self, value: Value) -> Causes:
        """Of an output, or a feed, for who takes it."""
        k, output = value
        if k == FEED:
            return NEVER
        node = self._nodes[k]
        if node.kind is Kind.SWITCH:
            return self.of[k] | {(*self.choice(node.inputs[1]), output)}
        return self.control(k)

    def control(self, k: int) -> Causes:
        """Of a node, for who waits for it."""
        kind = self._nodes[k].kind
        if kind is Kind.ENTER:
            return NEVER
        return self.frame(self._inside[k]) if kind is Kind.EXIT else self.of[k]

    def frame(self, frame: Frame) -> Causes:
        """Of a loop as a whole."""
        if frame not in self._frames:
            self._frames[frame] = self._of_frame(frame)
        return self._frames[frame]

    def entering(self, frame: Frame) -> set[Causes]:
        """Of the values that enter a loop."""
        unknown = frozenset({(frame.enters[0], -2, -2)})
        return {self.of.get(k, unknown) for k in frame.enters}

    def _of_frame(self, frame: Frame) -> Causes:
        """What makes any of the values dead that enter it, if the loop is not entered then."""
        found = self.entering(frame)
        causes = frozenset[tuple[int, int, int]]().union(*found)
        if len(found) == 1 or causes <= self._of_condition(frame):
            return causes
        return frozenset({(frame.enters[0], -2, -2)})

    def _of_condition(self, frame: Frame) -> Causes:
        """What surely makes the condition dead when the loop is entered."""
        own = [k for k in frame.members if k in self._nodes]  # not loops that were replaced in it
        waiting = [k for k in own if self._nodes[k].instruction.op == "LoopCond"]
        seen, found = set(waiting), NEVER
        while waiting:
            node = self._nodes[waiting.pop()]
            for k in (*(p for p, _ in node.inputs), *node.controls):
                kind = self._nodes[k].kind if k != FEED else Kind.EXIT
                if kind is Kind.ENTER:
                    found |= self.of[k]
                follows = kind is Kind.PLAIN and node.kind is not Kind.MERGE
                if k not in seen and (follows or (kind is Kind.MERGE and self._is_variable(k))):
                    seen.add(k)
                    waiting.append(k)
        return found

    def _is_variable(self, k: int) -> bool:
        """Whether a Merge is the variable of a loop."""
        sources = (p for p, _ in self._nodes[k].inputs if p != FEED)
        return any(self._nodes[p].kind is Kind.NEXT_ITERATION for p in sources)

    def choice(self, value: Value) -> Value:
        """What a Switch goes by: nodes that hand it on count as the value itself."""
        while value[0] != FEED and self._nodes[value[0]].instruction.op == "Identity":
            value = self._nodes[value[0]].inputs[0]
        return value

    def _causes(self, k: int, node: FlowNode) -> Causes:
        if node.kind is Kind.TRIGGER:
            return NEVER
        if node.kind is Kind.MERGE:
            return self._merge(k, node)
        out, inputs = NEVER, node.inputs
        if node.kind is Kind.TRANSFER:
            out, inputs = frozenset({(k, -3, -3)}), []
        for causes in (*map(self.value, inputs), *map(self.control, node.controls)):
            out = out if causes <= out else out | causes
        return out

    def _merge(self, k: int, node: FlowNode) -> Causes:
        """A Merge is dead once all of its inputs are; of the two sides of a Switch one is not."""
        if self._is_variable(k):
            return NEVER
        sides = [self.value(v) for v in node.inputs]
        common = frozenset.intersection(*sides)
        own = [side - common for side in sides]
        if len(sides) == 2 and [len(side) for side in own] == [1, 1]:
            (a,), (b,) = own
            if a[:2] == b[:2] and a[1] >= 0 and {a[2], b[2]} == {0, 1}:
                return common
        return common if not any(own) else common | {(k, -1, -1)}
