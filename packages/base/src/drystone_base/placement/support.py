"""Which types of devices have a kernel for a node."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from drystone_base.graph import Node

__all__ = ["Supports", "by_kernels", "by_op", "everywhere"]

Supports: TypeAlias = Callable[[Node], Mapping[str, int]]
"""The types of devices that a node can run on, with the priority of the kernel there."""


def everywhere(types: Sequence[str]) -> Supports:
    """Every node runs on each of these types, the first of them first."""
    found = {kind: len(types) - k for k, kind in enumerate(types)}
    return lambda _node: found


def by_op(types: Sequence[str], ops: Mapping[str, Sequence[str]]) -> Supports:
    """The types in order; an op that ``ops`` lists runs only on those that it names."""
    rank = {kind: len(types) - k for k, kind in enumerate(types)}
    every = dict(rank)
    listed = {op: {kind: rank[kind] for kind in kinds} for op, kinds in ops.items()}
    return lambda node: listed.get(node.op, every)


def by_kernels(types: Sequence[str]) -> Supports:
    """These types of devices of plugins where they have a kernel for a node, and the CPU.

    A plugin's kernel comes before the CPU's. What the executor does itself is done on the host, and
    may be said to be anywhere.
    """
    from drystone_base.executor.encode import CALLS, FORWARDS
    from drystone_base.executor.plan import can_run, runs_itself
    from drystone_base.executor.plugin_devices import types_of
    from drystone_base.ops.properties import OF_VARIABLES

    own = {"CPU": 2} | dict.fromkeys(types, 1)
    either = {"CPU": 1} | dict.fromkeys(types, 1)  # a variable goes with what changes it
    hosts = FORWARDS | CALLS.keys() | {"Const", "NoOp", "Placeholder", "PlaceholderV2"}

    def found(node: Node) -> Mapping[str, int]:
        there = dict.fromkeys(types_of(node, types), 2)
        if there:
            return there | ({"CPU": 1} if can_run(node.op) else {})
        if node.op in OF_VARIABLES:
            return either
        return own if node.op in hosts or runs_itself(node.op) else {"CPU": 1}

    return found
