"""The placer: a device for every node, and the reason why it is that one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final, NoReturn

from drystone_base.core.errors import GraphError
from drystone_base.core.payloads import at_node
from drystone_base.graph import Graph, Node, topological_order
from drystone_base.graph.validate import output_dtypes
from drystone_base.ops.properties import SHAPE_ONLY
from drystone_base.placement.device import Device, parse_device
from drystone_base.placement.groups import Group, find_groups
from drystone_base.placement.support import Supports

__all__ = ["Decision", "Placement", "place"]

_IDENTITY: Final = frozenset({"Identity", "IdentityN", "Snapshot", "StopGradient"})


@dataclass(frozen=True)
class Decision:
    """Where a node went: what it asked for, what it got, and why."""

    node: str
    op: str
    asked: str
    device: str
    why: str


@dataclass(frozen=True)
class Placement:
    """The device of every node."""

    devices: dict[Node, str]
    decisions: list[Decision]

    def apply(self) -> None:
        """Write the devices into the graph."""
        for node, device in self.devices.items():
            if node.device != device:
                node.graph.set_device(node, device)


def place(
    graph: Graph,
    devices: Sequence[str],
    supports: Supports,
    *,
    soft: bool = False,
    nodes: Sequence[Node] | None = None,
) -> Placement:
    """A whole device name for every one of ``nodes`` (default: all); the graph is not changed.

    What a node asks for is kept; nodes joined by colocation, references or resources share a
    device; a node without kernels for what it asked goes elsewhere only with ``soft``. What is left
    open goes to the type whose kernels have the highest priority, then to the first name; shape
    ops and identities follow their input, nodes without inputs and with one output their consumers,
    if these are on one device. A call goes where its function's resources are to live.

    Raises ``GraphError``: ``no-such-device``, ``no-kernel-on-device``, ``cannot-colocate``,
    ``bad-device``. Source: TensorFlow's ``Placer``.
    """
    chosen = list(graph) if nodes is None else list(nodes)
    return _Placer(graph, chosen, [parse_device(d) for d in devices], supports, soft).run()


class _Placer:
    def __init__(
        self, graph: Graph, nodes: list[Node], devices: list[Device], supports: Supports, soft: bool
    ) -> None:
        self.graph, self.nodes, self.devices, self.soft = graph, nodes, devices, soft
        self.groups = find_groups(graph, nodes, supports, soft=soft)
        self.chosen: dict[int, tuple[Device, str]] = {}
        self.options: dict[int, list[Device]] = {}

    def run(self) -> Placement:
        order = topological_order(self.nodes)
        followers = [node for node in order if self.follows_consumer(node)]
        waiting = set(followers)
        for node in order:
            if node not in waiting:
                self.decide(node)
        for node in reversed(followers):
            self.decide_by_consumers(node)
        decisions = [self.decision(node) for node in self.nodes]
        devices = {n: d.device for n, d in zip(self.nodes, decisions, strict=True)}
        return Placement(devices, decisions)

    def decision(self, node: Node) -> Decision:
        device, why = self.chosen[id(self.groups[node])]
        return Decision(node.name, node.op, node.device, str(device), why)

    # ---- choosing --------------------------------------------------------------------------------

    def follows_consumer(self, node: Node) -> bool:
        """Whether a node without inputs, alone in its group, may go where its only edge leads."""
        if node.inputs or node.device or len(self.groups[node].nodes) > 1:
            return False
        types = output_dtypes(node)
        return types is not None and len(types) == 1 and bool(self.graph.consumers(node))

    def decide(self, node: Node) -> None:
        group = self.groups[node]
        if id(group) in self.chosen:
            return
        options = self.candidates(group)
        follows = len(group.nodes) == 1 and node.op in SHAPE_ONLY | _IDENTITY and node.inputs
        if follows:
            source = node.inputs[0][0]
            there = self.chosen.get(id(self.groups.get(source)))
            if there is not None and there[0] in options:
                self.chosen[id(group)] = (there[0], f"follows its input {source.name!r}")
                return
        self.chosen[id(group)] = (options[0], self.reason(group, options))

    def decide_by_consumers(self, node: Node) -> None:
        group = self.groups[node]
        options = self.candidates(group)
        users = [u for u, _ in self.graph.consumers(node) if u in self.groups]
        placed = [self.chosen.get(id(self.groups[user])) for user in users]
        there = {found[0] for found in placed if found is not None}
        if len(there) == 1 and (device := there.pop()) in options:
            self.chosen[id(group)] = (device, "follows its consumers")
        else:
            self.chosen[id(group)] = (options[0], self.reason(group, options))

    def reason(self, group: Group, options: list[Device]) -> str:
        others = len(group.nodes) - 1
        shared = f"with {others} colocated nodes, " if others > 1 else ""
        shared = "with 1 colocated node, " if others == 1 else shared
        if group.asking is None:
            return f"{shared}first of {len(options)} devices with a kernel"
        if not group.asked.matches(options[0]):
            return f"{shared}soft placement: what was asked for cannot be had"
        by = "" if group.asking in group.nodes[:1] and not others else f" by {group.asking.name!r}"
        return f"{shared}asked for{by}"

    def candidates(self, group: Group) -> list[Device]:
        """The devices that a group may use, the best first; never empty."""
        known = self.options.get(id(group))
        if known is not None:
            return known
        found = list(self.fitting(group, group.asked))
        if not found and self.soft:
            found = list(self.fitting(group, group.asked.anywhere())) or list(
                self.fitting(group, Device())
            )
        if not found:
            self.fail(group)
        found.sort(
            key=lambda d: (-group.types[str(d.type)], str(replace(d, index=None)), d.index or 0)
        )
        self.options[id(group)] = found
        return found

    def fitting(self, group: Group, asked: Device) -> Iterator[Device]:
        return (d for d in self.devices if asked.matches(d) and d.type in group.types)

    def fail(self, group: Group) -> NoReturn:
        node = group.asking or group.nodes[0]
        there = [d for d in self.devices if group.asked.matches(d)]
        names = ", ".join(map(str, self.devices))
        if not there:
            raise GraphError(
                f"node {node.name!r} asks for a device that is not there",
                details=at_node(node.name, node.op),
                check="some device of the session must fit what a node asks for",
                found=str(group.asked),
                needed=f"one of {names}",
                remedy="SessionConfig(allow_soft_placement=True) places it elsewhere",
                code="no-such-device",
                status="INVALID_ARGUMENT",
            )
        asked = f" on {group.asked}" if str(group.asked) else ""
        raise GraphError(
            f"node {node.name!r} ({node.op}) has no kernel{asked}",
            details=at_node(node.name, node.op),
            check="the device of a node must have a kernel for its op and dtypes",
            found=f"kernels on {', '.join(group.types) or 'no type of device'}",
            needed=f"one on {', '.join(sorted({str(d.type) for d in there}))}",
            remedy="SessionConfig(allow_soft_placement=True), or a plugin with the kernel",
            code="no-kernel-on-device",
            status="INVALID_ARGUMENT",
        )
