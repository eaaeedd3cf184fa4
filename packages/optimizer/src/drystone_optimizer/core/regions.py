"""Regions: nodes that one node is to stand for, of which only the last is read from outside."""

from __future__ import annotations

from collections.abc import Collection

from drystone_base.graph import Node
from drystone_optimizer.core.context import Context

__all__ = ["is_inner"]


def is_inner(ctx: Context, node: Node, root: Node, region: Collection[Node]) -> bool:
    """Whether nothing but the region, which runs where ``root`` does, would miss the node."""
    if node.controls or ctx.kept(node) or not ctx.may_rewrite(node) or node.device != root.device:
        return False
    users = ctx.graph.consumers(node)
    return not ctx.graph.control_consumers(node) and all(user in region for user, _ in users)
