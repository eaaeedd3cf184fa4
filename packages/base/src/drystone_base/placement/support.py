"""Which types of devices have a kernel for a node."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from drystone_base.graph import Node

__all__ = ["Supports", "by_op", "everywhere"]

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
