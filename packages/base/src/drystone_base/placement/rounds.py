"""Loops of frames over several devices: on each of them a loop that makes the same rounds.

A device that takes part in a loop gets a control loop: Enter, Merge, Switch, NextIteration and Exit
around a value that nothing reads. It hears from the device of the LoopCond whether there is another
round, and what it receives waits for it, so that a value is awaited in the rounds in which it is
sent. All transfers of a device in one round come before the next round, in an order that holds for
all devices; a loop as a whole is one place in the order around it. So whatever two devices do to
each other they do in the same order, and values need no number of the round.

A value that may be dead in a round that begins, because it belongs to a branch, is sent and
received dead or alive. What comes after it in the order waits for a ControlTrigger, which does not
die.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from drystone_base.core import dtypes
from drystone_base.graph import Graph, Node, Output, topological_order
from drystone_base.graph.deadness import Deadness, Predicate, Round, Side
from drystone_base.graph.topology import DEAD_WITH, waits_for
from drystone_base.ops.attrs import TensorAttr

__all__ = ["Crossing", "Rounds", "in_blocks"]

Path: TypeAlias = tuple[str, ...]


@dataclass(frozen=True)
class Crossing:
    """A transfer: the node that it is for, when it is alive, and the two nodes that make it."""

    source: Node
    when: Predicate
    ends: tuple[Node, Node]


class _Round:
    """The control loop of one loop on one device."""

    def __init__(
        self, part: Graph, device: str, path: Path, limit: int, after: Node | None
    ) -> None:
        self.part, self.device, self.stem = part, device, f"{path[-1]}/rounds"
        floats = {"T": dtypes.FLOAT32}
        value = TensorAttr(array=np.zeros((), np.float32))
        attrs: dict[str, Any] = {"dtype": dtypes.FLOAT32, "value": value}
        self.start = self.add("Const", "start", [], attrs, [] if after is None else [after])
        frame = {"frame_name": path[-1], "is_constant": False, "parallel_iterations": limit}
        enter = self.add("Enter", "enter", [(self.start, 0)], floats | frame)
        self.merge = self.add("Merge", "merge", [(enter, 0), (enter, 0)], floats | {"N": 2})

    def close(self, go: Node) -> None:
        """Go on while ``go`` says so."""
        floats = {"T": dtypes.FLOAT32}
        self.go = go
        self.switch = self.add("Switch", "switch", [(self.merge, 0), (go, 0)], floats)
        self.pivot = self.add("Identity", "pivot", [(self.switch, 1)], floats)
        self.back = self.add("NextIteration", "next", [(self.pivot, 0)], floats)
        self.part.set_input(self.merge, 1, (self.back, 0))
        self.leave = self.add("Exit", "leave", [(self.switch, 0)], floats)

    def add(
        self, op: str, stem: str, inputs: Sequence[Output], attrs: Mapping[str, Any],
        controls: Sequence[Node] = (),
    ) -> Node:  # fmt: skip
        name = self.part.unique_name(f"{self.stem}/{stem}")
        return self.part.add(op, name, inputs, controls=controls, device=self.device, attrs=attrs)


def _of_rounds(part: object) -> bool:
    """Whether a part of a predicate is that a round has begun, or that its condition holds."""
    if isinstance(part, Round):
        return part.variable is None
    return isinstance(part, Side) and part.choice[0].op == "LoopCond" and part.index == 1


class Rounds:
    """The control loops of all loops that take part in transfers, made where they are needed.

    ``parts``: the graph of each device, with ``twins`` of the nodes of the whole. ``receive`` gives
    the node on a device that has an output of another one; ``home`` the device of a node's part.
    """

    def __init__(
        self, nodes: Iterable[Node], parts: Mapping[str, Graph], twins: Mapping[Node, Node],
        receive: Callable[[Output, str], Node], home: Callable[[Node], str],
    ) -> None:  # fmt: skip
        self.deadness = Deadness(nodes)
        self.home = home
        self._passed: dict[Node, Node] = {}
        self._skipped: set[Node] = set()
        self._groups: dict[Predicate, str] = {}
        self.parts, self.twins, self.receive = parts, twins, receive
        self.found: dict[tuple[Path, str], _Round] = {}
        self.goes = {self.path(n): n for n in self.deadness.frames if n.op == "LoopCond"}
        self.enters: dict[Path, Node] = {}
        for node in self.deadness.frames:
            if node.op in ("Enter", "RefEnter"):
                known = self.enters.get(self.path(node))
                if known is None or known.attr("is_constant"):
                    self.enters[self.path(node)] = node

    def path(self, node: Node) -> Path:
        """The loops that a node runs in."""
        return self.deadness.frames[node]

    def go(self, source: Node, device: str) -> Node:
        """What a LoopCond of another device is on this one."""
        return self.of(self.path(source), device).go

    def when(self, source: Node, output: int | None) -> Predicate:
        """In which rounds an output is there; None: in which the node runs."""
        if output is None:
            return self.deadness.of(source)
        return self.deadness.of_output((source, output))

    def trigger(self, source: Node, when: Predicate, device: str) -> list[Node]:
        """What a transfer waits for on a device, so that both ends run in the same rounds."""
        path = self.path(source)
        if not path:
            return []
        self.of(path, self.home(source))  # the sender takes part, too
        made = self.of(path, device)
        return [made.pivot if self._in_body(when, path) else made.merge]

    def dead_with(self, when: Predicate) -> str:
        """A name for values that die together in rounds that begin; "" for those that never do.

        These are sent and received in every such round, dead or alive.
        """
        if all(map(_of_rounds, when)):
            return ""
        return self._groups.setdefault(when, f"when_{len(self._groups)}")

    def of(self, path: Path, device: str) -> _Round:
        """The control loop of a loop on a device."""
        known = self.found.get((path, device))
        if known is not None:
            return known
        after = None
        enter = self.enters[path]
        if len(path) > 1:
            outer = self.of(path[:-1], device)
            is_in_body = self._in_body(self.deadness.of(enter), path[:-1])
            after = outer.pivot if is_in_body else outer.merge
        limit = int(enter.attr("parallel_iterations", 10))
        made = self.found[path, device] = _Round(self.parts[device], device, path, limit, after)
        condition = self.goes[path]
        if self.home(condition) == device:
            made.close(self.twins[condition])
        else:
            heard = self.receive((condition, 0), device)
            made.close(made.add("LoopCond", "go", [(heard, 0)], {}))
        return made

    def _in_body(self, when: Predicate, path: Path) -> bool:
        """Whether something runs only in rounds that the condition lets begin."""
        return any(
            isinstance(part, Side) and part.index == 1
            and part.choice[0].op == "LoopCond" and self.path(part.choice[0]) == path
            for part in when
        )  # fmt: skip

    # ---- the order of transfers ------------------------------------------------------------------

    def put_in_order(self, crossings: Sequence[Crossing]) -> None:
        """Chain the transfers of each device, and its loops, as they come in the whole graph."""
        nodes = list(self.deadness.frames)
        self._place = {n: k for k, n in enumerate(in_blocks(nodes, self.deadness.frames))}
        self._here: dict[Path, list[Crossing]] = {}
        for crossing in crossings:
            self._here.setdefault(self.path(crossing.source), []).append(crossing)
        self._chain((), {})

    def _chain(self, path: Path, last: dict[str, Node]) -> None:
        inner = dict.fromkeys(
            p for p, _ in self.found if len(p) == len(path) + 1 and p[:-1] == path
        )
        items: list[Crossing | Path] = [*self._here.get(path, ()), *inner]
        keys = {id(item): self._key(item, path) for item in items}
        always = [item for item in items if not keys[id(item)][0]]
        for item in sorted(always, key=lambda i: keys[id(i)]):
            self._link(item, last)
        for (found, device), made in self.found.items():
            if found == path and last[device] is not made.merge:
                made.part.add_control(made.switch, self.passed(last[device]))  # it may be over then
        for item in sorted((i for i in items if keys[id(i)][0]), key=lambda i: keys[id(i)]):
            self._link(item, last)

    def _link(self, item: Crossing | Path, last: dict[str, Node]) -> None:
        if not isinstance(item, Crossing):
            self._chain_loop(item, last)
            return
        for end in item.ends:
            if end.device in last:
                end.graph.add_control(end, self.passed(last[end.device]))
            last[end.device] = end

    def passed(self, end: Node) -> Node:
        """What runs after ``end``, also where that is dead: received so, or of no round."""
        is_received = end.op == "_Recv" and end.states(DEAD_WITH)
        if not is_received and end not in self._skipped:
            return end
        known = self._passed.get(end)
        if known is None:
            name = end.graph.unique_name(f"{end.name}/passed")
            known = end.graph.add("ControlTrigger", name, controls=[end], device=end.device)
            self._passed[end] = known
        return known

    def _key(self, item: Crossing | Path, path: Path) -> tuple[bool, int]:
        if isinstance(item, Crossing):
            return self._in_body(item.when, path), self._place[item.source]
        enter = self.enters[item]
        return self._in_body(self.deadness.of(enter), path), self._place[enter]

    def _chain_loop(self, path: Path, last: dict[str, Node]) -> None:
        loops = {device: made for (p, device), made in self.found.items() if p == path}
        within: dict[str, Node] = {}
        for device, made in loops.items():
            if device in last:
                made.part.add_control(made.start, self.passed(last[device]))
            within[device], last[device] = made.merge, made.leave
            if self.dead_with(self.deadness.of(self.goes[path])):
                self._skipped.add(made.leave)
        self._chain(path, within)
        for device, made in loops.items():
            if within[device] is not made.merge:
                made.part.add_control(made.back, self.passed(within[device]))


def in_blocks(nodes: Sequence[Node], frames: Mapping[Node, Path], depth: int = 0) -> list[Node]:
    """A topological order in which the nodes of each loop, and of each loop in it, are together."""
    keys: dict[Node, Any] = {
        n: frames[n][: depth + 1] if len(frames[n]) > depth else n for n in nodes
    }
    members: dict[Any, list[Node]] = {}
    for node, key in keys.items():
        members.setdefault(key, []).append(node)
    if len(members) == len(nodes):
        return topological_order(nodes)
    blocks = Graph()
    stand_ins = {key: blocks.add("NoOp", str(k)) for k, key in enumerate(members)}
    for node, key in keys.items():
        before = [stand_ins[keys[s]] for s in waits_for(node) if s in keys and keys[s] != key]
        if before:
            blocks.set_controls(stand_ins[key], [*stand_ins[key].controls, *before])
    whose = {stand_in: key for key, stand_in in stand_ins.items()}
    out: list[Node] = []
    for stand_in in topological_order(blocks):
        key = whose[stand_in]
        block = members[key]
        out += in_blocks(block, frames, depth + 1) if isinstance(key, tuple) else block
    return out
