"""Loops of frames as single instructions: what the native executor makes of Enter to Exit.

A loop that is written as TensorFlow's ``while_loop`` writes it (each variable an Enter, a Merge, a
Switch on the one LoopCond, a NextIteration and an Exit) is a condition and a body that take turns.
Any other one stays as it is, and the loops around it. Source of the form: Yu et al., "Dynamic
Control Flow in Large-Scale Machine Learning" (EuroSys 2018).
"""

from __future__ import annotations

import enum
from typing import Final, NoReturn

from drystone_base.executor._deadness import NEVER, Causes, Deadness
from drystone_base.executor._flow import FEED, Flow, FlowNode, Frame, Value, assemble, find_frames
from drystone_base.executor.plan import Instruction, Kind, Loop, Plan

__all__ = ["with_loops"]


def with_loops(plan: Plan) -> Plan:
    """The plan with one instruction for each loop of frames that is a condition and a body."""
    if all(i.kind is not Kind.ENTER for i in plan.instructions):
        return plan
    flow = Flow(plan)
    found = find_frames(flow) if flow.is_whole() else None
    if found is None:
        return plan
    root, inside = found
    deadness = Deadness(flow, inside)
    done: set[Frame] = set()
    for frame in root.inner_first():
        try:
            if done.issuperset(frame.children.values()):
                _Loop(flow, frame, deadness).take_place()
                done.add(frame)
        except _Mismatch:
            pass
    nodes = {k: FlowNode(n.instruction, flow.inputs(k), flow.controls(k))
             for k, n in flow.nodes.items()}  # fmt: skip
    if not done or flow.sorted(nodes) is None:  # a loop that waits for what it gives itself
        return plan
    out = assemble(flow, nodes, len(plan.feeds), [flow.value(v) for v in flow.fetches])
    out.feed_names, out.fetch_names = plan.feed_names, plan.fetch_names
    return out


class _Mismatch(Exception):  # no error: the loop is left as it is
    pass


def _mismatch() -> NoReturn:
    raise _Mismatch


class _Part(enum.IntEnum):
    """Where a node of the loop belongs; the greatest of what its inputs say."""

    INVARIANT = 0  # the same in all iterations
    CONDITION = 1  # also in the iteration that finds that the loop is over
    BODY = 2


_FREE: Final = frozenset({"Const", "NoOp"})
"""Ops whose nodes may as well not run in the iteration that finds that the loop is over."""


class _Loop:
    """One loop, taken apart. Raises ``_Mismatch`` where it is none of the form."""

    def __init__(self, flow: Flow, frame: Frame, deadness: Deadness) -> None:
        self.flow, self.frame, self.deadness = flow, frame, deadness
        frame.members = [k for k in frame.members if k in flow.nodes]  # not those of inner loops
        entering = deadness.entering(frame)
        self.causes = deadness.frame(frame)
        if any(flow.nodes[k].kind is Kind.TRANSFER for k in frame.members):
            _mismatch()  # its blocks have no dead values
        if self.causes != Causes().union(*entering):
            _mismatch()  # parts of it may run while others are dead
        self.enters_in_part = len(entering) > 1  # its condition may begin, and will be dead
        self.constants: dict[int, Value] = {}
        self.starts: dict[int, Value] = {}
        self.variables: dict[int, int] = {}  # Merge: number of its variable
        self.first: list[Value] = []
        self.following: list[int] = []  # the NextIteration of each variable
        self.switches: dict[int, Value] = {}
        self.exits: dict[int, int] = {}
        self.work: list[int] = []
        self.shared: dict[Value, int] = {}
        self.part: dict[int, _Part] = {}
        self.condition = self._find_condition()
        self._enters()
        self._members()
        self._parts()
        self._check_condition_and_next()

    # ---- what the nodes are --------------------------------------------------------------------

    def _find_condition(self) -> int:
        nodes = self.flow.nodes
        found = [
            k
            for k in self.frame.members
            if self._op(k) == "LoopCond" and nodes[k].kind is Kind.PLAIN
        ]
        return found[0] if len(found) == 1 else _mismatch()

    def _op(self, k: int) -> str:
        return self.flow.nodes[k].instruction.op

    def _enters(self) -> None:
        for k in self.frame.enters:
            instruction = self.flow.nodes[k].instruction
            value = self.flow.inputs(k)[0]
            if self._op(k) != "Enter" or self._is_reference(value):
                _mismatch()
            is_constant = instruction.attrs.get("is_constant")
            (self.constants if is_constant else self.starts)[k] = value

    def _is_reference(self, value: Value) -> bool:
        if value[0] == FEED:
            return False
        return self.flow.nodes[value[0]].instruction.output_types[value[1]].ref

    def _members(self) -> None:
        for k in self.frame.members:
            if self.flow.nodes[k].kind is Kind.MERGE and self._is_of_variable(k):
                self._variable(k)
        exits = []
        for k in self.frame.members:
            kind = self.flow.nodes[k].kind
            if k in self.variables:
                continue
            if kind is Kind.SWITCH and self.flow.inputs(k)[1] == (self.condition, 0):
                self._switch(k)
            elif kind is Kind.EXIT:
                exits.append(k)
            elif kind is not Kind.NEXT_ITERATION:
                self.work.append(k)
            elif k not in self.following:
                _mismatch()
        for k in exits:
            self._exit(k)
        if not self.variables:
            _mismatch()

    def _is_of_variable(self, k: int) -> bool:
        return any(p in self.starts for p, _ in self.flow.inputs(k))

    def _variable(self, k: int) -> None:
        inputs = self.flow.inputs(k)
        if self._op(k) != "Merge" or len(inputs) != 2 or self.flow.controls(k):
            _mismatch()
        start = [p for p, _ in inputs if p in self.starts]
        following = [p for p, _ in inputs if p != FEED and self._op(p) == "NextIteration"]
        if len(start) != 1 or len(following) != 1:
            _mismatch()
        self.variables[k] = len(self.first)
        self.first.append(self.starts[start[0]])
        self.following.append(following[0])

    def _switch(self, k: int) -> None:
        data = self.flow.inputs(k)[0]
        if self._op(k) != "Switch" or self.flow.controls(k):
            _mismatch()
        if data[0] not in self.constants and (data[0] not in self.variables or data[1] != 0):
            _mismatch()
        self.switches[k] = data

    def _exit(self, k: int) -> None:
        switch, side = self.flow.inputs(k)[0]
        if self._op(k) != "Exit" or self.flow.controls(k) or switch not in self.switches:
            _mismatch()
        merge = self.switches[switch][0]
        if side != 0 or merge not in self.variables:
            _mismatch()
        self.exits[k] = self.variables[merge]

    # ---- where they belong ---------------------------------------------------------------------

    def _parts(self) -> None:
        ordered = self.flow.sorted(self.work)
        if ordered is None:
            _mismatch()
        self.work = ordered
        needed = self._needed_by_condition()
        for k in ordered:
            data = [self._part_of(v) for v in self.flow.inputs(k)]
            waits = [self._part_after(c) for c in self.flow.controls(k)]
            part = max([*data, *waits], default=_Part.INVARIANT)
            is_free = self._op(k) in _FREE and k not in needed
            if is_free and part is _Part.CONDITION:
                part = _Part.BODY
            self.part[k] = part
            if part is _Part.BODY:
                self._check_of_body(k, is_free)
            elif (part is _Part.INVARIANT or self.enters_in_part) and not self._is_pure(k):
                _mismatch()

    def _check_of_body(self, k: int, is_free: bool) -> None:
        """A node of the body must not run in the last iteration, where there is none."""
        taken = [p for p, _ in self.flow.inputs(k)]
        if any(self.part.get(p) is _Part.CONDITION for p in taken):
            _mismatch()
        is_trigger = self.flow.nodes[k].kind is Kind.TRIGGER
        if not is_free and not is_trigger and (self.condition, 0, 1) not in self.deadness.of[k]:
            _mismatch()

    def _needed_by_condition(self) -> set[int]:
        inside, waiting = set(self.work), [self.condition]
        found = set(waiting)
        while waiting:
            k = waiting.pop()
            sources = {p for p, _ in self.flow.inputs(k)} | set(self.flow.controls(k))
            more = (sources & inside) - found
            found |= more
            waiting += more
        return found

    def _part_of(self, value: Value) -> _Part:
        k, output = value
        if k in self.constants:
            return _Part.INVARIANT
        if k in self.variables and output == 0:
            return _Part.CONDITION
        if k in self.switches and output == 1:
            return _Part.BODY
        return self.part[k] if k in self.part and k != self.condition else _mismatch()

    def _part_after(self, k: int) -> _Part:
        if k in self.constants:
            return _Part.INVARIANT
        if k in self.variables or k in self.switches:
            return _Part.CONDITION
        return self.part[k] if k in self.part else _mismatch()

    def _is_pure(self, k: int) -> bool:
        """Whether it may as well run before the loop."""
        instruction = self.flow.nodes[k].instruction
        known = instruction.definition
        return instruction.kind is Kind.PLAIN and known is not None and not known.is_stateful

    def _check_condition_and_next(self) -> None:
        end = self.part[self.condition]
        value = self.flow.nodes[self.condition].inputs[0]
        if end is not _Part.CONDITION or self.deadness.value(value) != NEVER:
            _mismatch()
        going_on = frozenset({(self.condition, 0, 1)})
        for k in self.following:
            node = self.flow.nodes[k]
            waits = [self.deadness.control(c) for c in node.controls]
            if self.deadness.value(node.inputs[0]) != going_on:
                _mismatch()
            if any(not causes <= going_on for causes in waits):
                _mismatch()
            self._part_of(self.flow.inputs(k)[0])

    # ---- the one instruction -------------------------------------------------------------------

    def take_place(self) -> None:
        """Put the instruction where the loop's nodes are."""
        flow, frame = self.flow, self.frame
        assert frame.parent is not None
        for k in self.work:
            if self.part[k] is _Part.INVARIANT:
                self._move_out(k)
        condition, condition_end = self._block(_Part.CONDITION, [(self.condition, 0)])
        body, body_end = self._block(_Part.BODY, [flow.inputs(k)[0] for k in self.following])
        feeds = len(self.first) + len(self.shared)
        loop = Loop(
            assemble(flow, condition, feeds, condition_end),
            assemble(flow, body, feeds, body_end),
            frame.name,
        )
        number = flow.add(self._instruction(loop))
        self.deadness.of[number] = self.causes
        frame.parent.members.append(number)
        for k, variable in self.exits.items():
            flow.move(k, number, variable)
        for k in (*frame.enters, *frame.members):
            if self.part.get(k) is not _Part.INVARIANT:
                del flow.nodes[k]

    def _instruction(self, loop: Loop) -> FlowNode:
        flow = self.flow
        name = flow.nodes[self.condition].instruction.node
        types = [flow.nodes[k].instruction.output_types[0] for k in self.variables]
        inputs = [*self.first, *self.shared]
        controls = dict.fromkeys(c for k in self.frame.enters for c in flow.controls(k))
        instruction = Instruction(
            Kind.LOOP, None, name, "LoopCond", {}, len(inputs), len(types), output_types=types,
            loop=loop,
        )  # fmt: skip
        return FlowNode(instruction, inputs, list(controls))

    def _move_out(self, k: int) -> None:
        """A node that gives the same in all iterations runs before the loop."""
        flow = self.flow
        assert self.frame.parent is not None
        taken = flow.inputs(k)
        entered = [p for p in (*(p for p, _ in taken), *flow.controls(k)) if p in self.constants]
        stays = [c for c in flow.controls(k) if c not in self.constants]
        waits = [*stays, *(c for p in entered for c in flow.controls(p))]
        inputs = [self.constants.get(v[0], v) for v in taken]
        flow.nodes[k] = FlowNode(flow.nodes[k].instruction, inputs, list(dict.fromkeys(waits)))
        self.deadness.of[k] = self.causes
        self.frame.parent.members.append(k)

    def _block(self, part: _Part, ends: list[Value]) -> tuple[dict[int, FlowNode], list[Value]]:
        """The nodes of a part, with feeds for what comes from outside of it, and its fetches."""
        flow = self.flow
        members = [k for k in self.work if self.part[k] is part]
        inside = set(members)
        nodes = {
            k: FlowNode(
                flow.nodes[k].instruction,
                [self._local(v) for v in flow.inputs(k)],
                [c for c in flow.controls(k) if c in inside],
            )
            for k in members
        }
        return nodes, [self._local(v) for v in ends]

    def _local(self, value: Value) -> Value:
        k = value[0]
        if k in self.variables:
            return FEED, self.variables[k]
        if k in self.switches:
            return self._local(self.switches[k])
        if k in self.constants or self.part[k] is _Part.INVARIANT:
            outside = self.constants.get(k, value)
            return FEED, len(self.first) + self.shared.setdefault(outside, len(self.shared))
        return value
