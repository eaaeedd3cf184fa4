"""Stacks of references as stacks of resources: the ops that plugins have kernels for."""

from __future__ import annotations

from collections.abc import Container
from typing import Any, Final

import numpy as np

from drystone_base.core.dtypes import INT32, RESOURCE
from drystone_base.graph import Graph, Node
from drystone_base.graph.rewiring import replace
from drystone_base.ops.attrs import TensorAttr

__all__ = ["with_resource_stacks"]

_STACK: Final = "Stack"
_USES: Final = {"StackPush": "StackPushV2", "StackPop": "StackPopV2", "StackClose": "StackCloseV2"}
_HANDS_ON: Final = {
    "RefEnter": "Enter", "RefExit": "Exit", "RefNextIteration": "NextIteration",
    "RefIdentity": "Identity", "RefMerge": "Merge", "RefSwitch": "Switch", "Identity": "Identity",
}  # fmt: skip


def with_resource_stacks(graph: Graph, asked: Container[Node]) -> Graph:
    """The graph in which stacks of TensorFlow 1 are those of later versions; itself without any.

    Left as it is is a stack whose handle is fed or fetched, ``asked``, or goes to other ops. The
    values are the same: both live as long as the step.
    """
    stacks = [node for node in graph if node.op == _STACK and node not in asked]
    found = [handles for stack in stacks if (handles := _handles(graph, stack, asked))]
    if not found:
        return graph
    twin = graph.copy()
    for handles in found:
        _convert(twin, [twin[node.name] for node in handles])
    return twin


def _handles(graph: Graph, stack: Node, asked: Container[Node]) -> dict[Node, None]:
    """The stack, and the nodes that use it or hand it on; none where one is not known to do so."""
    found = {stack: None}
    queue = [stack]
    for node in queue:
        if node.op in _USES:
            continue  # what it gives is no handle
        for user, slot in graph.consumers(node):
            is_known = slot == 0 if user.op in _USES else user.op in _HANDS_ON
            if not is_known or user in asked or (user.op in ("RefMerge", "RefSwitch") and slot):
                return {}
            if user not in found:
                found[user] = None
                queue.append(user)
    return found


def _convert(graph: Graph, nodes: list[Node]) -> None:
    for node in nodes:
        attrs: dict[str, Any] = {k: v for k, v in node.attrs.items() if k != "T"}
        if node.op == _STACK:
            size = {"dtype": INT32, "value": TensorAttr(array=np.full((), -1, np.int32))}
            name = graph.unique_name(f"{node.name}/max_size")
            most = graph.add("Const", name, attrs=size, device=node.device)
            replace(graph, node, "StackV2", [(most, 0)], attrs)
        elif node.op in _USES:
            kept = {"T": node.attrs["T"]} if "T" in node.attrs else {}
            replace(graph, node, _USES[node.op], node.inputs, attrs | kept)
        else:
            replace(graph, node, _HANDS_ON[node.op], node.inputs, attrs | {"T": RESOURCE})
