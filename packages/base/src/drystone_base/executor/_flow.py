"""A plan seen from its consumers, which can be rewritten: what the finding of loops works on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from drystone_base.executor._wiring import order
from drystone_base.executor.plan import Instruction, Kind, Plan

__all__ = ["FEED", "Flow", "FlowNode", "Frame", "Value", "assemble", "find_frames"]

Value = tuple[int, int]
"""An output of a node: the node's number, and which output. A feed: FEED, and its number."""

FEED: Final = -1
_MISSING: Final = -2


@dataclass(slots=True)
class FlowNode:
    """An instruction with what it takes, from wherever in the plan it comes."""

    instruction: Instruction
    inputs: list[Value]
    controls: list[int]

    @property
    def kind(self) -> Kind:
        """How the executor treats it."""
        return self.instruction.kind


class Flow:
    """The nodes of a plan by number. What took the place of an output is found by ``inputs``."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.order = order(plan)
        self.nodes = {
            k: FlowNode(i, [(_MISSING, 0)] * i.input_count, [])
            for k, i in enumerate(plan.instructions)
        }
        self._moved: dict[int, tuple[int, int]] = {}
        for feed, places in enumerate(plan.feeds):
            for consumer, slot in places:
                self.nodes[consumer].inputs[slot] = (FEED, feed)
        for k, instruction in enumerate(plan.instructions):
            for output, consumer, slot in instruction.edges:
                self.nodes[consumer].inputs[slot] = (k, output)
            for consumer in instruction.control_edges:
                self.nodes[consumer].controls.append(k)
        self.fetches = [(FEED, -1 - k) if k < 0 else self.nodes[k].inputs[0] for k in plan.fetches]
        for k in {k for k in plan.fetches if k >= 0}:
            del self.nodes[k]

    def is_whole(self) -> bool:
        """Whether every input comes from somewhere."""
        return all(k != _MISSING for node in self.nodes.values() for k, _ in node.inputs)

    def add(self, node: FlowNode) -> int:
        """The number of a new node."""
        number = max(self.nodes) + 1
        self.nodes[number] = node
        return number

    def move(self, exit_node: int, loop: int, output: int) -> None:
        """Output ``output`` of ``loop`` takes the place of an Exit."""
        self._moved[exit_node] = (loop, output)

    def value(self, value: Value) -> Value:
        """The output that stands for ``value`` now."""
        return self._moved.get(value[0], value)

    def inputs(self, k: int) -> list[Value]:
        """What node ``k`` takes now."""
        return [self._moved.get(v[0], v) for v in self.nodes[k].inputs]

    def controls(self, k: int) -> list[int]:
        """Whom node ``k`` waits for now, each once."""
        return list(dict.fromkeys(self._moved.get(c, (c,))[0] for c in self.nodes[k].controls))

    def sorted(
        self, members: Iterable[int], more: Mapping[int, Iterable[int]] | None = None
    ) -> list[int] | None:
        """The nodes, each after those of them that it needs; None where there is a cycle.

        ``more``: what else a node needs.
        """
        waits = dict.fromkeys(members, 0)
        users: dict[int, list[int]] = {}
        for k in waits:
            sources = [p for p, _ in self.inputs(k) if not self._is_back(p)]
            others = () if more is None else more.get(k, ())
            for source in {*sources, *self.controls(k), *others} & waits.keys():
                waits[k] += 1
                users.setdefault(source, []).append(k)
        found = [k for k, count in waits.items() if not count]
        for k in found:
            for user in users.get(k, ()):
                waits[user] -= 1
                if not waits[user]:
                    found.append(user)
        return found if len(found) == len(waits) else None

    def _is_back(self, k: int) -> bool:
        return k in self.nodes and self.nodes[k].kind is Kind.NEXT_ITERATION


@dataclass(eq=False, slots=True)
class Frame:
    """The nodes that run in a loop; an Enter is one of the frame that it comes from."""

    name: str = ""
    parent: Frame | None = None
    enters: list[int] = field(default_factory=list)
    members: list[int] = field(default_factory=list)
    children: dict[str, Frame] = field(default_factory=dict)

    def child(self, name: str) -> Frame:
        """The frame of that name that is entered from this one."""
        return self.children.setdefault(name, Frame(name, self))

    def inner_first(self) -> list[Frame]:
        """All frames in this one, each after those in it."""
        return [f for c in self.children.values() for f in (*c.inner_first(), c)]


def find_frames(flow: Flow) -> tuple[Frame, dict[int, Frame]] | None:
    """The outermost frame and the frame of each node; None where frames are mixed up."""
    root = Frame()
    inside: dict[int, Frame] = {}  # where a node runs
    leads: dict[int, Frame | None] = {FEED: root}  # where its outputs go
    nodes = flow.nodes
    for k in flow.order:
        node = nodes[k]
        sources = [p for p, _ in node.inputs if p < 0 or nodes[p].kind is not Kind.NEXT_ITERATION]
        found = {leads[p] for p in (*sources, *node.controls)} or {root}
        frame = found.pop()
        if found or frame is None:
            return None
        inside[k] = frame
        frame.members.append(k)
        leads[k] = frame
        if node.kind is Kind.ENTER:
            leads[k] = inner = frame.child(node.instruction.attrs["frame_name"])
            inner.enters.append(k)
        elif node.kind is Kind.EXIT:
            leads[k] = frame.parent
    back = [
        (p, k)
        for k, node in nodes.items()
        for p, _ in node.inputs
        if p >= 0 and nodes[p].kind is Kind.NEXT_ITERATION
    ]
    fits = all(inside[p] is inside[k] for p, k in back)
    return (root, inside) if fits and all(leads[p] is root for p, _ in flow.fetches) else None


def assemble(flow: Flow, nodes: dict[int, FlowNode], feeds: int, fetches: Sequence[Value]) -> Plan:
    """A plan of ``nodes``, whose inputs are among them or feeds."""
    index = {k: at for at, k in enumerate(nodes)}
    instructions = [
        replace(n.instruction, edges=[], control_edges=[], control_count=len(n.controls))
        for n in nodes.values()
    ]
    places: list[list[tuple[int, int]]] = [[] for _ in range(feeds)]
    for me, node in enumerate(nodes.values()):
        for slot, (k, output) in enumerate(node.inputs):
            if k == FEED:
                places[output].append((me, slot))
            else:
                instructions[index[k]].edges.append((output, me, slot))
        for k in node.controls:
            instructions[index[k]].control_edges.append(me)
    sources = [k for k, i in enumerate(instructions) if not i.input_count and not i.control_count]
    ends = []
    for k, output in fetches:
        ends.append(-1 - output if k == FEED else len(instructions))
        if k != FEED:
            instructions[index[k]].edges.append((output, len(instructions), 0))
            instructions.append(Instruction(Kind.FETCH, None, "", "", {}, 1, 0, deref=(0,)))
    return Plan(
        instructions,
        sources,
        places,
        ends,
        [],
        [],
        flow.plan.has_plugins,
        flow.plan.producer,
    )
