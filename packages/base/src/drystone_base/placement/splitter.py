"""Splitting a placed graph: one graph per device, with Send and Recv where edges were cut."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

import numpy as np

from drystone_base.core import dtypes
from drystone_base.core.dtypes import DType
from drystone_base.graph import Graph, Node, Output
from drystone_base.graph.deadness import Predicate
from drystone_base.graph.topology import DEAD_WITH
from drystone_base.graph.validate import Signatures
from drystone_base.ops.attrs import TensorAttr
from drystone_base.placement.partitions import Partitions, Transfer
from drystone_base.placement.rounds import Crossing, Rounds

__all__ = ["partition"]


def home_of(device: str, of_plugins: Collection[str]) -> str:
    """The device whose part runs what is on a device: the first CPU for a plugin's type."""
    task, _, place = device.rpartition("/device:")
    return f"{task}/device:CPU:0" if place.partition(":")[0] in of_plugins else device


def partition(
    graph: Graph, nodes: Iterable[Node] | None = None, of_plugins: Collection[str] = ()
) -> Partitions:
    """Split ``graph`` by the devices of its nodes, which must all be whole names.

    ``nodes``: only these, such as what the fetches reach (default: all). ``of_plugins``: types of
    devices that need no part of their own, as executors copy to and from them. An edge between
    devices becomes a ``_Send`` and a ``_Recv``, one pair for all consumers of a value on a device;
    a control edge sends an empty tensor. The transfers of a device wait for one another in an order
    that holds for all devices, so that parts that run node by node never wait for each other in
    a circle. A loop of frames over several devices makes its rounds on all of them
    (:mod:`drystone_base.placement.rounds`). A value of a branch is sent dead or alive. Nodes keep
    names and order. What goes round in a loop must be on one device, as :func:`place` puts it.
    Source: TensorFlow's ``Partition``.
    """
    return _Splitter(graph, list(graph if nodes is None else nodes), of_plugins).run()


class _Splitter:
    def __init__(self, graph: Graph, nodes: list[Node], of_plugins: Collection[str]) -> None:
        self.graph, self.nodes, self.of_plugins = graph, nodes, of_plugins
        self.signatures = Signatures()
        self.out = Partitions({}, {})
        self.twins: dict[Node, Node] = {}
        self.received: dict[tuple[Output, str], Node] = {}
        self.awaited: dict[tuple[Node, str], Node] = {}
        self.crossings: list[Crossing] = []

    def run(self) -> Partitions:
        for node in self.nodes:
            self.adopt(node)
        self.rounds = Rounds(self.nodes, self.out.graphs, self.twins, self.receive_any, self.home)
        for node in self.nodes:
            self.connect(node)
        self.rounds.put_in_order(self.crossings)
        return self.out

    def home(self, node: Node) -> str:
        """The device whose part the node is in."""
        return home_of(node.device, self.of_plugins) if self.of_plugins else node.device

    def adopt(self, node: Node) -> None:
        """The node's twin on its device, still without inputs."""
        home = self.home(node)
        part = self.out.graphs.get(home)
        if part is None:
            part = self.out.graphs[home] = Graph()
            part.functions = self.graph.functions
            self.out.sends[home] = []
        attrs = dict(node.attrs)
        self.twins[node] = part.add(node.op, node.name, device=node.device, attrs=attrs)

    def connect(self, node: Node) -> None:
        twin, home = self.twins[node], self.home(node)
        inputs = [
            (self.twins[source], k) if self.home(source) == home
            else (self.receive((source, k), home), 0)
            for source, k in node.inputs if source in self.twins
        ]  # fmt: skip
        controls = [
            self.twins[c] if self.home(c) == home else self.wait(c, home)
            for c in node.controls if c in self.twins
        ]  # fmt: skip
        twin.graph.set_inputs(twin, inputs)
        twin.graph.set_controls(twin, controls)

    def receive(self, output: Output, device: str) -> Node:
        """The node on ``device`` that gives the value of ``output``."""
        if output[0].op == "LoopCond":
            return self.rounds.go(output[0], device)
        return self.receive_any(output, device)

    def receive_any(self, output: Output, device: str) -> Node:
        """The same, of whatever op it is."""
        known = self.received.get((output, device))
        if known is None:
            source, k = output
            signature = self.signatures.of(source)
            types = signature.outputs if signature is not None else None
            assert types is not None, f"{source.op} has no known dtypes"
            twin = self.twins[source]
            label = f"{source.name}:{k}"
            when = self.rounds.when(source, k)
            known = self.transfer(source, (twin, k), types[k].base, device, label, when)
            self.received[output, device] = known
        return known

    def wait(self, before: Node, device: str) -> Node:
        """The node on ``device`` that runs once ``before`` has run."""
        known = self.awaited.get((before, device))
        if known is None:
            twin = self.twins[before]
            part = twin.graph
            value = TensorAttr(array=np.zeros(0, np.float32))
            attrs: dict[str, Any] = {"dtype": dtypes.FLOAT32, "value": value}
            name = part.unique_name(f"{before.name}/ran")
            ran = part.add("Const", name, controls=[twin], device=self.home(twin), attrs=attrs)
            when, label = self.rounds.when(before, None), f"^{before.name}"
            recv = self.transfer(before, (ran, 0), dtypes.FLOAT32, device, label, when)
            there = recv.graph
            name = there.unique_name(f"{before.name}/ran")
            known = there.add("Identity", name, [recv], device=device, attrs={"T": dtypes.FLOAT32})
            self.awaited[before, device] = known
        return known

    def transfer(
        self, source: Node, value: Output, dtype: DType, device: str, label: str,
        when: Predicate,
    ) -> Node:  # fmt: skip
        """Add a Send beside ``value``, which ``source`` gives, and its Recv; returns the Recv."""
        after = self.rounds.trigger(source, when, device)
        group = self.rounds.dead_with(when)
        twin = value[0]
        sender = self.home(twin)
        key = f"edge_{len(self.out.transfers)}_{label}"
        self.out.transfers.append(Transfer(key, label, sender, device))
        attrs: dict[str, Any] = {
            "tensor_name": key,
            "send_device": sender,
            "send_device_incarnation": 1,
            "recv_device": device,
            "client_terminated": False,
        }
        before: list[Node] = []
        if group:
            attrs[DEAD_WITH] = group
            before = self.rounds.trigger(source, when, sender)
        stem = f"{twin.name}/{{}}_{len(self.out.transfers) - 1}"
        part, there = twin.graph, self.out.graphs[device]
        send = part.add(
            "_Send", part.unique_name(stem.format("send")), [value], controls=before,
            device=sender, attrs={"T": dtype} | attrs,
        )  # fmt: skip
        self.out.sends[sender].append(send.name)
        recv = there.add(
            "_Recv", there.unique_name(stem.format("recv")), controls=after, device=device,
            attrs={"tensor_type": dtype} | attrs,
        )  # fmt: skip
        self.crossings.append(Crossing(source, when, (send, recv)))
        return recv
