"""Small constants are copied for each of their consumers."""

from __future__ import annotations

from typing import Final

from drystone_base.graph import Node, held_tensor
from drystone_base.passes._clusters import needed_nodes
from drystone_base.passes._registry import graph_pass
from drystone_base.passes._types import Grouping, PassOptions

__all__ = ["clone_constants"]

_MOST: Final = 16
"""Elements of what counts as small."""


@graph_pass(
    Grouping.POST_REWRITE_FOR_EXEC, 5, name="CloneConstantsForBetterClusteringPass",
    ops=("Const",), is_default=False,
)  # fmt: skip
def clone_constants(options: PassOptions) -> bool:
    """Give each consumer of a small constant a copy of its own (exact).

    A constant that several clusters read would have to be in one of them, and be handed to the
    others. The first consumer keeps the original; fetched and fed ones are left alone. Source:
    TensorFlow's ``CloneConstantsForBetterClusteringPass``.
    """
    assert options.graph is not None
    needed, kept = needed_nodes(options)
    found = [n for n in options.graph if n.op == "Const" and n in needed and n not in kept]
    cloned = [_apply(node) for node in found if _is_small(node)]
    return any(cloned)


def _is_small(node: Node) -> bool:
    value = held_tensor(node)
    return value is not None and value.array.size <= _MOST


def _apply(node: Node) -> bool:
    graph = node.graph
    users = list(dict.fromkeys(user for user, _ in graph.consumers(node)))
    for k, user in enumerate(users[1:], 1):
        twin = graph.adopt(node, graph.unique_name(f"{node.name}/clone_{k}"))
        graph.set_controls(twin, node.controls)
        graph.set_inputs(user, [(twin, 0) if o[0] is node else o for o in user.inputs])
    return len(users) > 1
