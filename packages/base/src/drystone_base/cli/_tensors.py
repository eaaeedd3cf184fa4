"""Names of tensors on the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from drystone_base.core.errors import BadRequest, GraphError, near_matches

if TYPE_CHECKING:
    from drystone_base.graph import Graph

__all__ = ["check_tensor"]


def check_tensor(graph: Graph, role: str, name: str) -> None:
    """Raise ``BadRequest`` unless ``name``, what ``--fetch`` or ``--feed`` says, is in the graph.

    ``role``: ``fetch`` or ``feed``; the code is ``unknown-fetch`` or ``unknown-feed``.
    """
    try:
        graph.output(name)
    except GraphError as error:
        near = near_matches(name.partition(":")[0], (node.name for node in graph))
        raise BadRequest(
            f"{role} {name!r} is not in the graph",
            check=f"--{role} must name a tensor of the graph as node:k",
            found=name,
            needed="the name of a node, with an output index",
            remedy=f"did you mean {', '.join(near)}?" if near else "`drystone inspect` lists names",
            code=f"unknown-{role}",
            status="NOT_FOUND",
        ) from error
